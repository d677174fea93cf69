/** Actions as a module of a worker has them: a flag that is a file. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineAction } from '../../../dist/index.js';

const flag = (name) => join(process.env.FLAGS, name);

export const disable = defineAction('disable_flag', {
  run: ({ target, parameters }) => {
    writeFileSync(flag(target), String(parameters.percent));
    return { baseline: 'restored' };
  },
});

export const enable = defineAction('enable_flag', {
  run: ({ target }) => rmSync(flag(target), { force: true }),
});

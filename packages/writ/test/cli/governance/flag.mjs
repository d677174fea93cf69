// A type of step as a user would export it: a flag that stands in a file; one of them cannot be
// set. And a proposal of it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineStep } from '../../../dist/index.js';

const at = (key) => join(process.env.FLAGS, key);

export const flag = defineStep('flag', {
  target: ({ key }) => `flag:${key}`,
  read: async ({ key }) => {
    try {
      return JSON.parse(readFileSync(at(key), 'utf8'));
    } catch (error) {
      if (error.code === 'ENOENT') return null;
      throw error;
    }
  },
  apply: async ({ key, percent }) => {
    if (key === 'stuck') throw new Error('no such flag');
    writeFileSync(at(key), JSON.stringify(percent));
  },
  revert: async (found, { key }) => {
    if (found === null) rmSync(at(key), { force: true });
    else writeFileSync(at(key), JSON.stringify(found));
  },
  retry: { attempts: 1 },
});

export default {
  title: 'Two flags',
  scope: ['flag:a', 'flag:stuck', 'search'],
  steps: [
    flag({ key: 'a', percent: 5 }),
    { type: 'capability_disable', capability_name: 'search', reason: 'while flags are set' },
    flag({ key: 'stuck', percent: 1 }),
  ],
};

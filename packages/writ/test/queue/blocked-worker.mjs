// @ts-check
// A worker in a process of its own whose handler blocks the event loop, for worker-lease.test.ts. It says on its standard output when the
// handler begins, waits for a word on its standard input, blocks, and says what became of its commit. It stops when that input ends.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { defineJob, Writ } from '../../dist/index.js';

const [connectionString = '', blockMs = '0', lease, stall] = process.argv.slice(2);
const writ = await Writ.connect({ connectionString });
const block = defineJob('block', { retry: { attempts: 3, base: '1ms', cap: '1ms' } });
const handler = block.handle(async ({ commit }) => {
  writeSync(1, 'begun\n'); // not console.log: that may wait for the event loop
  await once(process.stdin, 'data');
  const until = Date.now() + Number(blockMs);
  while (Date.now() < until);
  const said = await commit((tx) => tx.query(`insert into effects values ('child')`)).then(
    () => 'committed',
    (error) => error.code,
  );
  writeSync(1, `${said}\n`);
});
await writ.work([handler], {
  lease: /** @type {import('../../dist/index.js').Duration} */ (lease),
  stall: /** @type {import('../../dist/index.js').Duration} */ (stall),
  onError: () => undefined,
});
process.stdin.resume().once('end', async () => {
  await writ.close();
  process.exit(0);
});

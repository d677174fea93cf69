// @ts-check
// A worker of one version of the package, as a process: node worker-process.mjs FOLDER NAME, its connections in WRIT_UPGRADE. It says when it is ready and
// which slow jobs it has begun; `let go` ends those, `stop` ends it, and so does the end of its parent.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jobs } from './jobs.mjs';

const [folder, name] = process.argv.slice(2);
const writ = await import(pathToFileURL(join(String(folder), 'dist/index.js')).href);
const { handlers, letGo } = jobs(writ);
const say = (/** @type {object} */ word) => process.send?.(word);
process.on('disconnect', () => process.exit(3));

const connection = await writ.Writ.connect(JSON.parse(String(process.env.WRIT_UPGRADE)));
const errors = /** @type {string[]} */ ([]);
const worker = await connection.work(handlers(String(name), say), {
  name,
  concurrency: 4,
  poll: '200ms',
  // Failed attempts are part of the story; faults of the worker itself are not.
  onError: (/** @type {unknown} */ error, /** @type {unknown} */ job) => job || errors.push(String(error)),
});
process.on('message', async (word) => {
  if (word === 'let go') return letGo();
  await worker.stop();
  await connection.close();
  process.send?.({ type: 'stopped', errors }, undefined, undefined, () => process.exit(0));
});
say({ type: 'ready' });

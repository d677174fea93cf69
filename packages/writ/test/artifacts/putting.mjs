// A process that stores something, to be measured or killed. Its argument: { store, options, task
// }.
import { createHash } from 'node:crypto';
import { fileArtifacts, s3Artifacts } from '../../dist/index.js';

const { store: name, options, task } = JSON.parse(process.argv[2]);
const store = { fileArtifacts, s3Artifacts }[name](options);
const mebibyte = 2 ** 20;

/** `bytes` that are never in memory together. */
async function* stream(bytes) {
  for (let at = 0; at < bytes; at += mebibyte) {
    yield Buffer.alloc(mebibyte, at / mebibyte);
    await new Promise((turn) => setImmediate(turn));
  }
}

if (task === 'half') {
  await store.put(
    (async function* () {
      yield* stream(20 * mebibyte);
      console.log('half');
      await new Promise((never) => setInterval(never, 1e9).ref);
    })(),
    { kind: 'half' },
  );
} else {
  await store.put(stream(mebibyte), { kind: 'warm' });
  const before = process.resourceUsage().maxRSS;
  const ref = await store.put(stream(100 * mebibyte), { kind: 'large' });
  const hash = createHash('sha256');
  for await (const chunk of await store.get(ref)) hash.update(chunk);
  console.log(
    JSON.stringify({
      grown: process.resourceUsage().maxRSS - before,
      sizeBytes: ref.sizeBytes,
      same: hash.digest('hex') === ref.sha256,
    }),
  );
}

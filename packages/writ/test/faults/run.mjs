// @ts-check
// The entry of `npm run faults -- --suite NAME [--seed N] [--quick] [--json FILE]`. Exit 0: all zeros; 1: something was lost, repeated, unreceipted,
// stuck or wrong; 2: wrong usage. The seed is printed, and the same seed makes the same faults.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { verdicts } from './checker.mjs';
import { startServer } from './server.mjs';

const folder = new URL('./suites/', import.meta.url);
const suites = readdirSync(folder).flatMap((name) =>
  name.endsWith('.mjs') ? [name.slice(0, -4)] : [],
);

/** @param {string} what @returns {never} */
function usage(what) {
  console.error(
    `faults: ${what}\nusage: npm run faults -- --suite ${suites.join('|')} [--seed N] [--quick] [--json FILE]`,
  );
  process.exit(2);
}

function options() {
  let values;
  try {
    values = parseArgs({
      options: {
        suite: { type: 'string' },
        seed: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
      },
    }).values;
  } catch (error) {
    usage(/** @type {Error} */ (error).message);
  }
  const { suite, quick, json } = values;
  if (!suite || !suites.includes(suite))
    usage(suite ? `there is no suite ${suite}` : 'which suite?');
  const seed =
    values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) usage('a seed is a whole number from 0');
  if (!existsSync(new URL('../../dist/index.js', import.meta.url)))
    usage('dist/ is missing: run `npm run build` first');
  return { suite, quick, json, seed };
}

const { suite, seed, quick, json } = options();
const lively = process.stderr.isTTY;
let lastLine = 0;
const progress = (/** @type {string} */ line) => {
  if (lively) process.stderr.write(`\r\x1b[K${line}`);
  else if (Date.now() - lastLine > 5_000) {
    lastLine = Date.now();
    console.error(line);
  }
};

console.error(`faults: suite ${suite}, seed ${seed}${quick ? ', quick' : ''}`);
const began = Date.now();
const server = await startServer();
/** @type {(() => void)[]} */
const ends = [];
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, async () => {
    for (const end of ends) end();
    await server.stop();
    process.exit(130);
  });
}
let outcome;
try {
  const { run } = await import(new URL(`${suite}.mjs`, folder).href);
  outcome = await run({
    seed,
    quick,
    server,
    progress,
    onEnd: (/** @type {() => void} */ end) => ends.push(end),
  });
} finally {
  for (const end of ends) end();
  await server.stop();
}

const { operations, faults, lost, repeated, unreceipted, stuck, wrong, escaped, details, ...rest } =
  outcome;
const seconds = Math.round((Date.now() - began) / 100) / 10;
const result = {
  suite,
  seed,
  operations,
  faults,
  lost,
  repeated,
  unreceipted,
  stuck,
  wrong,
  ...(escaped !== undefined && { escaped }),
  seconds,
  ...rest,
  details,
};
if (json) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
if (lively) process.stderr.write('\r\x1b[K');
console.log(`${operations} operations, ${faults} faults, ${seconds} s`);
for (const [name, value] of Object.entries(rest))
  console.log(
    `  ${name.replaceAll('_', ' ')}: ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
for (const { verdict, what, times, rows } of details) {
  console.log(`${verdict}: ${what} (${times})`);
  for (const row of rows)
    console.log(`    ${typeof row === 'string' ? row : JSON.stringify(row).slice(0, 500)}`);
}
// What escaped is counted where somebody tries to escape.
const counted = [...verdicts, ...(escaped === undefined ? [] : ['escaped'])];
const bad = counted.some((verdict) => result[verdict] !== 0);
console.log(
  counted.map((verdict) => `${verdict} ${result[verdict]}`).join(' · '),
  bad ? `— seed ${seed}` : '',
);
process.exit(bad ? 1 : 0);

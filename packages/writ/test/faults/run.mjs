// @ts-check
// The entry of `npm run faults -- --suite NAME [--seed N] [--quick] [--json FILE]`. Exit 0: all
// zeros; 1: something was lost, repeated, unreceipted, stuck or wrong; 2: wrong usage. The seed is
// printed, and the same seed makes the same faults. `--suite all [--minutes N] [--totals FILE]` runs
// every suite in turn with seeds of its own, and adds up what they find over all calls.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runAll } from './all.mjs';
import { verdicts } from './checker.mjs';
import { startServer } from './server.mjs';

const folder = new URL('./suites/', import.meta.url);
const suites = readdirSync(folder).flatMap((name) =>
  name.endsWith('.mjs') ? [name.slice(0, -4)] : [],
);

/** @param {string} what @returns {never} */
function usage(what) {
  console.error(`faults: ${what}
usage: npm run faults -- --suite ${suites.join('|')} [--seed N] [--quick] [--json FILE]
       npm run faults -- --suite all [--minutes N] [--seed N] [--quick] [--totals FILE]`);
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
        minutes: { type: 'string', default: '60' },
        totals: { type: 'string', default: '.cache/faults-totals.json' },
      },
    }).values;
  } catch (error) {
    usage(/** @type {Error} */ (error).message);
  }
  const { suite, quick, json, totals } = values;
  if (!suite || (suite !== 'all' && !suites.includes(suite)))
    usage(suite ? `there is no suite ${suite}` : 'which suite?');
  const seed =
    values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) usage('a seed is a whole number from 0');
  const minutes = Number(values.minutes);
  if (!Number.isFinite(minutes) || minutes <= 0) usage('minutes are a number above 0');
  if (!existsSync(new URL('../../dist/index.js', import.meta.url)))
    usage('dist/ is missing: run `npm run build` first');
  return { suite, quick, json, seed, minutes, totals };
}

const { suite, seed, quick, json, minutes, totals } = options();
if (suite === 'all') {
  console.error(`faults: every suite in turn for ${minutes} minutes, seed ${seed}`);
  process.exit(await runAll({ suites, seed, minutes, quick, file: totals }));
}
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
/**
 * What is thrown outside of every call ends the run as well. After its end it is what the end of
 * the server breaks. @type {Promise<never>}
 */
const stray = new Promise((_, broken) => process.on('uncaughtException', broken));
let outcome;
try {
  const { run } = await import(new URL(`${suite}.mjs`, folder).href);
  const onEnd = (/** @type {() => void} */ end) => ends.push(end);
  outcome = await Promise.race([run({ seed, quick, server, progress, onEnd }), stray]);
} catch (error) {
  // A run that broke off shows nothing. Its report says where, for those who see no more than that.
  console.error(error); // before the server stops
  const rows = [/** @type {Error} */ (error)?.stack ?? String(error), ...server.log.slice(-20)];
  outcome = {
    ...{ operations: 0, faults: 0, lost: 0, repeated: 0, unreceipted: 0, stuck: 0, wrong: 1 },
    escaped: undefined,
    details: [{ verdict: 'wrong', what: `the run broke off: ${error}`, times: 1, rows }],
  };
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

// @ts-check
// The harness itself: reads the command line, starts the server, runs the rounds of a suite, and
// writes the table, the chart and the JSON file. Ends with 0 when every case was measured, 1 when
// one is void, 2 when it was called wrongly; a missed target is told in the table and in `met`.
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from '../build.mjs';
import { Bench } from './bench.mjs';
import { chart } from './chart.mjs';
import { killChildren } from './child.mjs';
import { Databases } from './databases.mjs';
import { runRounds } from './rounds.mjs';
import { among, rowOf } from './rows.mjs';
import { startServer } from './server.mjs';
import { table } from './table.mjs';

const bench = join(dirname(fileURLToPath(import.meta.url)), '..');
const usage = `npm run bench -- --suite NAME [--case NAME] [--quick] [--json FILE] [--rounds N] [--subjects A,B]
  --suite     which suite (default: queue)
  --case      only this case; may be given several times
  --quick     fewer jobs: a first impression in some minutes
  --json      write the rows to this file
  --rounds    rounds per case (default: 5, quick: 3)
  --subjects  only these subjects; targets against others are left out`;

/** @param {string} message @returns {never} */
function wrongCall(message) {
  console.error(`bench: ${message}\n\n${usage}`);
  process.exit(2);
}

function options() {
  try {
    return parseArgs({
      options: {
        suite: { type: 'string', default: 'queue' },
        case: { type: 'string', multiple: true },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        rounds: { type: 'string' },
        subjects: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return wrongCall(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} name @returns {Promise<import('./bench.mjs').Suite>} */
async function loadSuite(name) {
  const known = (await readdir(join(bench, 'suites'))).map((file) => file.replace(/\.mjs$/, ''));
  if (!known.includes(name)) wrongCall(`there is no suite ${name}; there is ${known.join(', ')}`);
  return (await import(pathToFileURL(join(bench, 'suites', `${name}.mjs`)).href)).suite;
}

const given = options();
if (given.help) {
  console.log(usage);
  process.exit(0);
}
const suite = await loadSuite(given.suite);
const cases = suite.cases.filter(({ name }) => !given.case || given.case.includes(name));
for (const name of given.case ?? []) {
  if (!cases.some((one) => one.name === name)) {
    wrongCall(
      `suite ${suite.name} has no case ${name}; it has ${suite.cases.map((one) => one.name).join(', ')}`,
    );
  }
}
const rounds = Number(given.rounds ?? (given.quick ? 3 : 5));
if (!Number.isInteger(rounds) || rounds < 1) wrongCall('--rounds takes a whole number from 1');
/**
 * Why a subject cannot take part; without our build the peers are measured alone. @param {string}
 * subject
 */
const absent = (subject) =>
  subject === suite.ours && !existsSync(new URL('index.js', build))
    ? 'index.js of the build is missing; run npm run build first'
    : null;
if (absent(suite.ours)) console.error(`bench: ${absent(suite.ours)}; the peers are measured alone`);

/** @param {string} line */
const progress = (line) => console.error(line);
progress('starting PostgreSQL');
const server = await startServer();
const databases = new Databases(server);
const interruption = new AbortController();
let stopping = false;
/** @param {number} code */
async function stop(code) {
  if (stopping) return;
  stopping = true;
  interruption.abort();
  killChildren();
  await databases.close().catch(() => {});
  await server.stop();
  process.exit(code);
}
process.on('SIGINT', () => stop(130));
process.on('SIGTERM', () => stop(143));
process.on('SIGHUP', () => stop(129));

try {
  const version = await databases.connect();
  const place = `PostgreSQL ${version}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'CPU'}`;
  progress(`suite ${suite.name} on ${place}; medians of ${rounds}`);
  const only = given.subjects?.split(',') ?? null;
  const outcomes = await runRounds(new Bench({ databases, quick: given.quick }), cases, {
    rounds,
    only,
    absent,
    signal: interruption.signal,
    progress,
  });
  const rows = cases.map((one) =>
    rowOf(suite, among(one, only), outcomes.get(one.measurement) ?? []),
  );
  const results = join(bench, 'results');
  await mkdir(results, { recursive: true });
  const picture = join(results, `${suite.name}.svg`);
  const subtitle = `${place}; medians of ${rounds} rounds${given.quick ? ', quick' : ''}`;
  await writeFile(picture, chart(rows, `writ bench: ${suite.name}`, subtitle));
  if (given.json) await writeFile(given.json, `${JSON.stringify(rows, null, 2)}\n`);
  console.log(`\n${table(rows)}\n\n${place}; medians of ${rounds} rounds\nchart: ${picture}`);
  await stop(rows.some((row) => row.void) ? 1 : 0);
} catch (error) {
  if (!stopping) console.error(error);
  await stop(1);
}

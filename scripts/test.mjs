/**
 * `npm test`: build, lint, types, the tests of all packages on one PostgreSQL 18, and the short
 * fault suite of the queue. It needs neither a network nor Python, and ends by naming what it did
 * not run. CI=true adds the matrix: the long tests, PostgreSQL 15, poolers, the newest Node, every
 * short fault suite and short benchmarks. Steps come in the order in which a failure is cheapest to
 * learn, and the last line counts tests and steps, `N passed, N failed`.
 *   --only STEP   one step by its name, whole
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { matrix } from '../packages/writ/test/matrix.mjs';
import { hasPlpgsqlCheck } from '../packages/writ/test/plpgsql-check.mjs';
import { pgbouncerBinary } from '../packages/writ/test/pooler/pgbouncer.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
mkdirSync('.cache', { recursive: true });

const onlyIndex = process.argv.indexOf('--only');
const only = onlyIndex > 0 ? process.argv[onlyIndex + 1] : undefined;
const ci = process.env.CI === 'true';
const totals = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
/** Steps of the matrix that this run leaves out. */
const notRun = [];

function run(command, args, env = {}) {
  return (
    spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0
  );
}

function step(name, what, action, { matrix = false } = {}) {
  if (only && only !== name) return;
  if (matrix && !ci && !only) {
    notRun.push(`  ${name}: ${what}`);
    return;
  }
  const started = Date.now();
  console.log(`\n── ${name}: ${what}`);
  const outcome = action();
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  if (outcome === 'skipped') totals.skipped++;
  else if (outcome) totals.passed++;
  else {
    totals.failed++;
    failures.push(`  the step ${name}`);
  }
  console.log(
    `── ${name}: ${outcome === 'skipped' ? 'SKIPPED' : outcome ? 'passed' : 'FAILED'} in ${seconds} s`,
  );
}

/** Enough of a message to know what went wrong without looking for it further up. */
const excerpt = (message = '') =>
  message
    .split('\n')
    .slice(0, 4)
    .map((line) => `    ${line.slice(0, 300)}`)
    .join('\n');

/** Runs vitest and adds its own counts to the totals. */
function vitest(report, { node = process.execPath, files = [], env = {} } = {}) {
  rmSync(report, { force: true });
  const ok = run(node, ['node_modules/vitest/vitest.mjs', 'run', ...files], {
    ...env,
    WRIT_TEST_REPORT: report,
  });
  if (!existsSync(report)) return false;
  const result = JSON.parse(readFileSync(report, 'utf8'));
  totals.passed += result.numPassedTests;
  totals.failed += result.numFailedTests;
  totals.skipped += result.numPendingTests;
  for (const { name, message, assertionResults } of result.testResults) {
    const file = relative('.', name);
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    for (const { fullName, failureMessages } of failed)
      failures.push(`  ${file}: ${fullName}\n${excerpt(failureMessages[0])}`);
    if (failed.length === 0 && message) failures.push(`  ${file}\n${excerpt(message)}`);
  }
  return ok && result.numPassedTests > 0;
}

/** Runs the short form of a fault suite. The summary names its seed and its findings. */
function faults(suite) {
  const report = `.cache/faults-${suite}.json`;
  rmSync(report, { force: true });
  const ok = run(process.execPath, [
    'packages/writ/test/faults/run.mjs',
    '--suite',
    suite,
    '--quick',
    '--json',
    report,
  ]);
  if (ok || !existsSync(report)) return ok;
  const { seed, details } = JSON.parse(readFileSync(report, 'utf8'));
  for (const { verdict, what, times, rows } of details) {
    failures.push(
      `  --suite ${suite} --seed ${seed}: ${verdict}: ${what} (${times})\n${excerpt(JSON.stringify(rows[0]))}`,
    );
  }
  return false;
}

/** A Node of another line, from the npm package `node`, in a folder of its own. */
function installNode(line) {
  const folder = `.cache/node-${line}`;
  const binary = `${folder}/node_modules/node/bin/node`;
  if (!existsSync(binary))
    run('npm', [
      'install',
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--prefix',
      folder,
      `node@${line}`,
    ]);
  return existsSync(binary) ? binary : undefined;
}

const newest = '24';
/**
 * What a run of all steps takes of the suite a second time, to stay within its time; `--only
 * postgres-15`, `pooler` or `pgbouncer` takes the whole.
 */
const onFifteen = only
  ? []
  : [
      ...['gates', 'alike', 'lanes', 'limits', 'commit', 'workflows', 'subscriptions'].map(
        (name) => `test/queue/${name}`,
      ),
      'test/schedules/gates',
      'test/races/claim',
      'test/races/commit',
      'test/database/roles',
      'test/database/tenancy',
      'test/database/snapshot',
      'test/machines/guard',
      'test/upgrade',
      'test/ledger/sequencing',
      'test/ledger/archive',
      'test/runs/engine/ways',
      'test/runs/engine/lists',
      'test/governor/driver',
      'test/governor/hosts',
      ...['relay', 'order', 'destinations', 'follow'].map((name) => `test/outbox/${name}.test`),
    ];
const throughPooler = only
  ? []
  : [
      ...['worker', 'enqueue', 'commit', 'coalescing', 'lanes'].map((name) => `test/queue/${name}`),
      'test/ledger/sequencing',
      'test/runs/engine/ways',
      'test/governor/driver',
    ];
const throughPgbouncer = [
  'test/queue/worker.test',
  'test/queue/worker-lifecycle',
  'test/queue/commit',
];

const onNewestNode = [
  'test/queue/enqueue.test.ts',
  'test/queue/worker.test.ts',
  'test/queue/commit.test.ts',
  'test/ledger/verify.test.ts',
  'test/cli/governance/files.test.ts',
];

step('build', 'TypeScript to dist/', () => run(process.execPath, ['scripts/build.mjs']));
step('lint', 'linter and formatter', () =>
  run(process.execPath, [
    'node_modules/@biomejs/biome/bin/biome',
    'check',
    '--error-on-warnings',
    '.',
  ]),
);
step('types', 'types of sources, tests and examples', () =>
  run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json']),
);
step('postgres-18', 'the tests of all packages on PostgreSQL 18', () =>
  vitest('.cache/vitest-18.json', {
    env: { WRIT_TEST_POSTGRES: '18', ...(!ci && !only && { WRIT_TEST_QUICK: '1' }) },
  }),
);
if (!ci && !only) notRun.push(...matrix.map(({ files, what }) => `  ${files}: ${what}`));
step('faults', 'kills, stops and outages of the queue, short form', () => faults('queue'));

const inMatrix = { matrix: true };
step(
  'postgres-15',
  'everything in the database on PostgreSQL 15',
  () => vitest('.cache/vitest-15.json', { files: onFifteen, env: { WRIT_TEST_POSTGRES: '15' } }),
  inMatrix,
);
step(
  'pooler',
  'through a pool that changes the backend and discards the session after every transaction',
  () =>
    vitest('.cache/vitest-pooler.json', {
      files: throughPooler,
      env: { WRIT_TEST_POOLER: 'mean' },
    }),
  inMatrix,
);
const suites = {
  limits: 'limits, fairness and poison beside kills',
  load: 'saturated workers',
  wire: 'connections cut, statements delayed and answers swallowed',
  time: 'moved clocks',
  ledger: 'receipts, seals and checkpoints beside kills and outages',
  runs: 'runs through kills, stops and outages',
  outbox: 'destinations beside kills of relays, receivers and the database',
  governance: 'governance beside kills of workers, sick health and outages',
  governor: 'signals beside kills of workers and listeners, outages and a clock that is set back',
  hostile: 'every gate attacked by every role beside honest work',
};
for (const [suite, what] of Object.entries(suites))
  step(suite, `${what}, short form`, () => faults(suite), inMatrix);

step(
  'plpgsql-check',
  'every plpgsql function, by plpgsql_check on PostgreSQL 15',
  () => {
    if (hasPlpgsqlCheck()) return run(process.execPath, ['packages/writ/test/plpgsql-check.mjs']);
    console.log(
      'SKIPPED: plpgsql_check is not installed. On Debian: apt-get install postgresql-15-plpgsql-check',
    );
    return 'skipped';
  },
  inMatrix,
);
step(
  'pgbouncer',
  'through pgbouncer in transaction mode',
  () => {
    if (pgbouncerBinary())
      return vitest('.cache/vitest-pgbouncer.json', {
        files: only ? [] : throughPgbouncer,
        env: { WRIT_TEST_POOLER: 'pgbouncer' },
      });
    console.log('SKIPPED: pgbouncer is not installed. On Debian: apt-get install pgbouncer');
    return 'skipped';
  },
  inMatrix,
);
step(
  'node-newest',
  `jobs, verification and contracts in TypeScript on Node ${newest}`,
  () => {
    const node = installNode(newest);
    if (node) return vitest('.cache/vitest-newest.json', { node, files: onNewestNode });
    console.log(`SKIPPED: the npm package node@${newest} could not be installed.`);
    return 'skipped';
  },
  inMatrix,
);
const benchmarks = {
  'bench-ledger': ['ledger', ['receipts', 'verify'], []],
  'bench-governor': ['governor', ['signals'], []],
  bench: [
    'queue',
    ['drain', 'enqueue-16', 'enqueue-bulk'],
    ['--subjects', 'writ,graphile-worker,raw'],
  ],
};
for (const [name, [suite, cases, rest]] of Object.entries(benchmarks))
  step(
    name,
    `the ${suite} benchmark, short form: figures, no judgement`,
    () =>
      run(process.execPath, [
        ...['bench/run.mjs', '--suite', suite, '--quick', '--rounds', '1', ...rest],
        ...cases.flatMap((each) => ['--case', each]),
      ]),
    inMatrix,
  );

if (notRun.length > 0) console.log(`\nnot run here, only with CI=true:\n${notRun.join('\n')}`);
if (failures.length > 0) console.log(`\nfailed:\n${failures.join('\n')}`);
console.log(
  `\n${totals.passed} passed, ${totals.failed} failed${totals.skipped ? `, ${totals.skipped} skipped` : ''}`,
);
process.exitCode = totals.failed > 0 ? 1 : 0;

/**
 * `npm test`: everything that has to hold, in the order in which a failure is cheapest to learn. Each step says what it is while it runs; the last
 * line counts tests and steps, `N passed, N failed`. With CI=true it adds what needs the network: pgbouncer, the newest Node line
 * and the short benchmark.
 *   --only STEP   one step by its name
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pgbouncerBinary } from '../test/pooler/pgbouncer.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
mkdirSync('.cache', { recursive: true });

const onlyIndex = process.argv.indexOf('--only');
const only = onlyIndex > 0 ? process.argv[onlyIndex + 1] : undefined;
const ci = process.env.CI === 'true';
const totals = { passed: 0, failed: 0, skipped: 0 };
const failures = [];

function run(command, args, env = {}) {
  return (
    spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0
  );
}

function step(name, what, action) {
  if (only && only !== name) return;
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
/** What a run of all steps takes of the suite a second time, to stay within its time; `--only postgres-15`, `pooler` or `pgbouncer` takes the whole. */
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
step('postgres-18', 'the suite on PostgreSQL 18', () =>
  vitest('.cache/vitest-18.json', { env: { WRIT_TEST_POSTGRES: '18' } }),
);
step('postgres-15', 'everything in the database on PostgreSQL 15', () =>
  vitest('.cache/vitest-15.json', { files: onFifteen, env: { WRIT_TEST_POSTGRES: '15' } }),
);
step(
  'pooler',
  'the suite through a pool that changes the backend and discards the session after every transaction',
  () =>
    vitest('.cache/vitest-pooler.json', {
      files: throughPooler,
      env: { WRIT_TEST_POOLER: 'mean' },
    }),
);
step('faults', 'kills, stops and outages, short form', () =>
  run(process.execPath, ['test/faults/run.mjs', '--suite', 'queue', '--quick']),
);
step('limits', 'limits, fairness and poison beside kills, short form', () =>
  run(process.execPath, ['test/faults/run.mjs', '--suite', 'limits', '--quick']),
);
step('ledger', 'receipts, seals and checkpoints beside kills and outages, short form', () =>
  run(process.execPath, ['test/faults/run.mjs', '--suite', 'ledger', '--quick']),
);
step('runs', 'runs through kills, stops and outages, short form', () =>
  run(process.execPath, ['test/faults/run.mjs', '--suite', 'runs', '--quick']),
);
step('outbox', 'destinations beside kills of relays, receivers and the database, short form', () =>
  run(process.execPath, ['test/faults/run.mjs', '--suite', 'outbox', '--quick']),
);
step('governance', 'governance beside kills of workers, sick health and outages, short form', () =>
  run(process.execPath, ['test/faults/run.mjs', '--suite', 'governance', '--quick']),
);
step(
  'governor',
  'signals beside kills of workers and listeners, outages and a clock that is set back, short form',
  () => run(process.execPath, ['test/faults/run.mjs', '--suite', 'governor', '--quick']),
);
step('hostile', 'every gate attacked by every role beside honest work, short form', () =>
  run(process.execPath, ['test/faults/run.mjs', '--suite', 'hostile', '--quick']),
);

if (ci || only) {
  step('pgbouncer', 'the suite through pgbouncer in transaction mode', () => {
    if (!pgbouncerBinary()) {
      console.log(
        'SKIPPED: pgbouncer is not installed, so nothing was tested through it. On Debian: apt-get install pgbouncer',
      );
      return 'skipped';
    }
    return vitest('.cache/vitest-pgbouncer.json', {
      files: only ? [] : throughPgbouncer,
      env: { WRIT_TEST_POOLER: 'pgbouncer' },
    });
  });
  step('node-newest', `jobs, verification and contracts in TypeScript on Node ${newest}`, () => {
    const node = installNode(newest);
    if (!node) {
      console.log(
        `SKIPPED: the npm package node@${newest} could not be installed, so nothing was tested on Node ${newest}.`,
      );
      return 'skipped';
    }
    return vitest('.cache/vitest-newest.json', {
      node,
      files: [
        'test/queue/enqueue.test.ts',
        'test/queue/worker.test.ts',
        'test/queue/commit.test.ts',
        'test/ledger/verify.test.ts',
        'test/cli/governance/files.test.ts',
      ],
    });
  });
  step('bench-ledger', 'the ledger, short form: figures, no judgement', () =>
    run(process.execPath, [
      'bench/run.mjs',
      '--suite',
      'ledger',
      '--quick',
      '--rounds',
      '1',
      '--case',
      'receipts',
      '--case',
      'verify',
    ]),
  );
  step('bench-governor', 'signals to governors, short form: figures, no judgement', () =>
    run(process.execPath, [
      'bench/run.mjs',
      '--suite',
      'governor',
      '--quick',
      '--rounds',
      '1',
      '--case',
      'signals',
    ]),
  );
  step('bench', 'ours beside its peers, short form: figures, no judgement', () =>
    run(process.execPath, [
      ...[
        'bench/run.mjs',
        '--suite',
        'queue',
        '--quick',
        '--rounds',
        '1',
        '--subjects',
        'writ,graphile-worker,raw',
      ],
      ...['drain', 'enqueue-16', 'enqueue-bulk'].flatMap((name) => ['--case', name]),
    ]),
  );
}

if (failures.length > 0) console.log(`\nfailed:\n${failures.join('\n')}`);
console.log(
  `\n${totals.passed} passed, ${totals.failed} failed${totals.skipped ? `, ${totals.skipped} skipped` : ''}`,
);
process.exitCode = totals.failed > 0 ? 1 : 0;

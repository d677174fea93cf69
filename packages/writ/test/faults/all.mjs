// @ts-check
// Every suite in turn with fresh seeds until the time is over, and between two of them the suite
// `wire`, whose faults are cheap: so most faults are of the wire, and every few minutes somebody is
// killed. Each run is a process of its own with a server and a temporary folder of its own. All of
// it is ended and removed when it takes too long, or when this process is told to stop.
//
// Callers: run.mjs. Answers the exit code: 0 if every run since the totals began found zeros, 1 if
// one did not, also one of an earlier call, 130 if it was told to stop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generator } from './plan.mjs';
import { added, boundOf, exitCodeOf, readTotals, writeTotals, zeros } from './totals.mjs';

/** @typedef {import('./totals.mjs').Outcome} Outcome */

const entry = fileURLToPath(new URL('./run.mjs', import.meta.url));
/** A run that has not ended by then never will. */
const limitMs = 15 * 60_000;

/**
 * Ends a process and everybody in its group: first in the orderly way, then at once. @param
 * {import('node:child_process').ChildProcess} child
 */
function end(child) {
  const tell = (/** @type {NodeJS.Signals} */ signal) => {
    try {
      process.kill(-Number(child.pid), signal);
    } catch {
      // Nobody is left in the group.
    }
  };
  child.kill('SIGTERM');
  const late = setTimeout(() => tell('SIGKILL'), 20_000);
  child.once('exit', () => {
    clearTimeout(late);
    tell('SIGKILL');
  });
}

/**
 * One run of a suite. Answers what it found; one that did not come to an end is a finding itself.
 * @param {string} suite @param {number} seed @param {boolean} quick
 * @param {(child: import('node:child_process').ChildProcess) => void} onStarted
 * @returns {Promise<Outcome>}
 */
async function runOf(suite, seed, quick, onStarted) {
  const folder = await mkdtemp(join(tmpdir(), 'writ-faults-all-'));
  // The server may run as another system user than we do.
  await chmod(folder, 0o755);
  const json = join(folder, 'outcome.json');
  const asked = ['--suite', suite, '--seed', String(seed), '--json', json];
  const child = spawn(process.execPath, [entry, ...asked, ...(quick ? ['--quick'] : [])], {
    env: { ...process.env, TMPDIR: folder },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onStarted(child);
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said = (said + chunk).slice(-2_000);
  });
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    end(child);
  }, limitMs);
  const [code] = await once(child, 'exit');
  clearTimeout(limit);
  try {
    if (existsSync(json)) return JSON.parse(readFileSync(json, 'utf8'));
    const what = late ? 'the run did not end in time' : `the run ended with ${code} and no outcome`;
    return { suite, seed, wrong: 1, details: [{ verdict: 'wrong', what, times: 1, rows: [said] }] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The suites in the order of a round: the wire before each other one. @param {readonly string[]}
 * suites @param {number} turn
 */
export function suiteAt(suites, turn) {
  const others = suites.filter((suite) => suite !== 'wire');
  return turn % 2 === 0 ? 'wire' : String(others[((turn - 1) / 2) % others.length]);
}

/**
 * @param {{ suites: readonly string[], seed: number, minutes: number, quick: boolean, file: string
 * }} options
 * @returns {Promise<number>}
 */
export async function runAll({ suites, seed, minutes, quick, file }) {
  const random = generator(seed);
  let totals = readTotals(file);
  const until = Date.now() + minutes * 60_000;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let running;
  let stopped = false;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.once(signal, () => {
      stopped = true;
      if (running) end(running);
    });
  // Where the last call ended the round goes on, so that short calls come to every suite as well.
  const first = Object.values(totals.of).reduce((sum, { runs }) => sum + runs, 0);
  for (let turn = first; Date.now() < until; turn++) {
    const suite = suiteAt(suites, turn);
    const own = random.between(0, 999_999);
    const began = Date.now();
    const outcome = await runOf(suite, own, quick || suite !== 'wire', (child) => {
      running = child;
    });
    if (stopped) break;
    const seconds = Math.round((Date.now() - began) / 1_000);
    totals = added(totals, outcome, seconds);
    writeTotals(file, totals);
    const found = zeros.flatMap((zero) => (outcome[zero] ? [`${zero} ${outcome[zero]}`] : []));
    const verdict = found.length > 0 ? `FAILED: ${found.join(' · ')}` : 'zeros';
    const share = Math.round((totals.faults / Math.max(1, totals.seconds)) * 60);
    console.log(
      `${suite} --seed ${own}: ${outcome.faults ?? 0} faults, ${seconds} s, ${verdict} — ` +
        `${totals.faults} faults so far, ${share} a minute`,
    );
    if (found.length > 0) console.log(JSON.stringify(outcome.details?.[0])?.slice(0, 1_000));
  }
  const runs = Object.entries(totals.of).map(([suite, one]) => `${suite} ${one.runs}`);
  console.log(`${totals.operations} operations, ${totals.faults} faults since ${totals.since}`);
  console.log(`  runs: ${runs.join(', ')}; totals in ${file}`);
  for (const { suite, seed: failed, at } of totals.failures)
    console.log(`  failed at ${at}: --suite ${suite} --seed ${failed}`);
  console.log(zeros.map((zero) => `${zero} ${totals[zero]}`).join(' · '));
  console.log(boundOf(totals));
  if (stopped) return 130;
  return exitCodeOf(totals);
}

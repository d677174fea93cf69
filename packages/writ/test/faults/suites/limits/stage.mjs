// @ts-check
// What the scenes of the limits suite share: a database of their own with Writ in it, worker processes that are killed and replaced, and
// the wait until everything is at rest.
import pg from 'pg';
import { defineJob, Writ } from '../../../../dist/index.js';
import { planOf } from '../../plan.mjs';
import { standstill } from '../../standstill.mjs';
import { WorkerSlots } from '../../worker-slots.mjs';

/** @typedef {import('../../checker.mjs').Verdict} Verdict */
/** @typedef {{ verdict: Verdict, what: string, times: number, rows: unknown[] }} Finding */
/**
 * What a scene found, how many jobs it asked for, how many faults it made, and figures worth
 * knowing. @typedef {{ findings: Finding[], operations: number, faults: number, figures: object }}
 * Outcome
 */
/**
 * @typedef {{ seed: number, quick: boolean, server: Awaited<ReturnType<typeof
 * import('../../server.mjs').startServer>>, progress: (line: string) => void, onEnd: (end: () =>
 * void) => void }} Run
 */

export const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/**
 * @param {string} name @param {object} options @returns
 * {import('../../../../dist/index.js').JobKind<any>}
 */
export const kindOf = (name, options) => defineJob(`limits.${name}`, options);

/** @param {Run} run @param {string} name of the scene and its database */
export async function stage({ seed, server, onEnd, progress }, name) {
  const root = new pg.Client(server.url('postgres'));
  await root.connect();
  await root.query(`create database ${name}`);
  await root.end();
  const url = server.url(name);
  const admin = new pg.Pool({ connectionString: url, max: 6 });
  // its database is dropped, its server stopped; whoever uses a connection hears of it himself
  admin.on('error', () => undefined);
  const writ = await Writ.connect({ connectionString: url, max: 4, actor: 'limits' });
  await writ.migrate({ enable: true });
  /** @type {Finding[]} */
  const findings = [];
  /**
   * @param {Verdict} verdict @param {string} what @param {unknown[]} rows what shows it; none:
   * nothing was found
   */
  const found = (verdict, what, rows) => {
    if (rows.length > 0)
      findings.push({
        verdict,
        what: `${name}: ${what}`,
        times: rows.length,
        rows: rows.slice(0, 5),
      });
  };
  let killed = 0;
  const began = Date.now();
  return {
    url,
    admin,
    writ,
    found,
    /** How many worker processes were killed. */
    get killed() {
      return killed;
    },
    /**
     * Starts worker processes with the handlers of a module, to be killed at random as they work,
     * and waits until each that can be is armed: a fast one must not finish everything before the
     * others have come.
     * @param {{ module: string, count: number, options: object, kills: [point: string, count:
     * number, upTo: number][], selfKilling?: boolean }} crew
     */
    async workers({ module, count, options, kills, selfKilling = false }) {
      const plan = planOf(seed, {
        jobs: 0,
        kills,
        stops: [],
        leaves: [],
        duplicates: [],
        outside: [],
      });
      const onKilled = () => void killed++;
      const slots = new WorkerSlots({
        url,
        folder: server.folder,
        module,
        count,
        options,
        faults: plan.workers,
        leasesOf: async () => 0, // nobody is stopped here
        onFault: onKilled,
        onFinding: (what) => found('wrong', 'the run itself found', [what]),
        ...(selfKilling && { onKilled }),
      });
      onEnd(() => slots.kill());
      slots.start();
      while (slots.armed < Math.min(count, plan.workers.length)) await pause(20);
      return slots;
    },
    /**
     * Waits until nothing is ready, waiting or leased. If that stands still, what is left is stuck.
     */
    async rest() {
      const still = standstill(120_000);
      for (;;) {
        const { backlog, waiting, in_progress: running } = await writ.jobs.health();
        const left = Number(backlog) + Number(waiting) + Number(running);
        if (left === 0) return;
        if (still(left)) {
          found('stuck', 'it stands still', [{ backlog, waiting, running }]);
          return;
        }
        progress(`${name}: ${left} jobs left, ${killed} processes killed`);
        await pause(50);
      }
    },
    /** @param {number} operations @param {object} figures @returns {Promise<Outcome>} */
    async over(operations, figures) {
      await writ.close();
      await admin.end();
      return {
        findings,
        operations,
        faults: killed,
        figures: { ...figures, seconds: Math.round((Date.now() - began) / 100) / 10 },
      };
    },
  };
}

/**
 * Enqueues many jobs in calls of 1,000. @template Item @param {Item[]} items @param {(some: Item[])
 * => Promise<unknown>} enqueue
 */
export async function inThousands(items, enqueue) {
  for (let from = 0; from < items.length; from += 1_000)
    await enqueue(items.slice(from, from + 1_000));
}

// @ts-check
// The jobs of the queue's fault run: kinds that reach their commit in different ways, each owing one row in a table that would take more. The
// producer and the workers import this file, so both mean the same.
import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, PermanentFailure } from '../../../../dist/index.js';

/** @typedef {{ n: number, ms: number }} Work */
/** @typedef {import('../../../../dist/index.js').Writ} Writ */

// Jobs are killed again and again by chance. `frail` has few attempts, and yet no kill may take its
// last.
const patient = {
  attempts: 60,
  base: /** @type {const} */ ('50ms'),
  cap: /** @type {const} */ ('500ms'),
};

/**
 * @param {string} kind @param {object} [options] @returns
 * {import('../../../../dist/index.js').JobKind<Work>}
 */
const job = (kind, options) => defineJob(`fault.${kind}`, { retry: patient, ...options });

export const kinds = {
  /** Writes its effect in the commit. */
  steady: job('steady'),
  /** Never calls commit: returning is its effect, and the mark is what it owes. */
  plain: job('plain'),
  /** Its effect is another job, enqueued in the commit; that job writes the row. */
  chain: job('chain'),
  follow: job('follow'),
  /** Fails its first attempts. */
  flaky: job('flaky'),
  /** Works longer than a lease lasts, and so lives on renewal. */
  slow: job('slow'),
  /** Fails after its commit: the effect stands. */
  late: job('late'),
  /** Has two attempts: it may die, but only by having run. */
  frail: job('frail', { retry: { ...patient, attempts: 2 } }),
  /**
   * Its first attempts do not hear that they have run too long, and write when others may have the
   * job.
   */
  deaf: job('deaf', { timeout: '300ms' }),
  /** Has a deadline that it may miss, waiting or running: it owes at most one. */
  hurried: job('hurried'),
  /** Fails for good and owes nothing. */
  doomed: job('doomed'),
};

/** @param {Writ} writ @param {(line: string) => void} note */
export function handlers(writ, note) {
  /** @typedef {import('../../../../dist/index.js').JobContext<Work>} Context */
  /**
   * @param {Context} context @param {(tx: import('../../../../dist/index.js').Transaction) =>
   * Promise<unknown>} effect
   */
  const committing = async ({ commit, job: { id } }, effect) => {
    try {
      await commit(effect);
    } catch (error) {
      const { code } = /** @type {{ code?: string }} */ (error);
      if (code === 'lease_lost' || code === 'already_committed') note(`fenced ${id}`);
      throw error;
    }
  };
  /** @param {Context} context */
  const write = (context) =>
    committing(context, (tx) =>
      tx.query(
        'insert into fault.effect (n, job_id, execution_no, worker) values ($1, $2, $3, $4)',
        [context.input.n, context.job.id, context.job.executionNo, process.pid],
      ),
    );
  /** @param {Context} context */
  const steady = async (context) => {
    await pause(context.input.ms);
    await write(context);
  };
  return [
    kinds.steady.handle(steady),
    kinds.follow.handle(steady),
    kinds.frail.handle(steady),
    kinds.hurried.handle(steady),
    kinds.deaf.handle(async (context) => {
      await pause(context.job.attempt <= 1 ? 1_600 : context.input.ms);
      await write(context);
    }),
    kinds.slow.handle(async (context) => {
      await pause(context.input.ms * 100);
      await write(context);
    }),
    kinds.plain.handle(async ({ input }) => {
      await pause(input.ms);
      return { n: input.n };
    }),
    kinds.chain.handle(async (context) => {
      await pause(context.input.ms);
      await committing(context, (tx) =>
        writ.enqueue(kinds.follow, context.input, { db: tx, parentJobId: context.job.id }),
      );
    }),
    kinds.flaky.handle(async (context) => {
      await pause(context.input.ms);
      if (context.job.attempt <= 2) throw new Error('not yet');
      await write(context);
    }),
    kinds.late.handle(async (context) => {
      await write(context);
      await pause(context.input.ms);
      throw new Error('after the commit');
    }),
    kinds.doomed.handle(async ({ input }) => {
      await pause(input.ms);
      throw new PermanentFailure('nothing helps');
    }),
  ];
}

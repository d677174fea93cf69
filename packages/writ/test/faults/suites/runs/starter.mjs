// @ts-check
// Starts runs in every way there is, also while the server is down, and sends them signals and what they wait for; and keeps the books: how each run has to end. A call
// that was not answered is repeated with the same ids until it is, so that what was decided is known, except for starts without a request: those may have been taken or not.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { uuidv7 } from '../../../../dist/database/uuid.js';
import { isOutage } from '../../outage.mjs';
import { items, plans, word } from './plans.mjs';

const bag = Object.entries(plans).flatMap(([name, { share }]) => Array(share).fill(name));
const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/**
 * @typedef {{ name: string, n: number, way: 'request' | 'alone' | 'transaction', signal: 'PAUSE' |
 * 'CANCEL' | 'EMERGENCY_STOP' | undefined, afterMs: number, forMs: number, twice: boolean }} Order
 */
/**
 * How a run has to end. `owed`: whether there has to be one. @typedef {{ run_id: string, plan:
 * string, owed: 'one' | 'maybe', ends: string, stopped: boolean, sum: number | null, transaction:
 * boolean }} Entry
 */

/**
 * The next run follows from the seed as the faults do. @param
 * {ReturnType<import('../../plan.mjs').generator>} random @returns {Order}
 */
export function orderOf(random) {
  const name = random.pick(bag);
  const chance = random.next();
  // A run that waits for a person must not be told to go on by another signal.
  const pauses = name !== 'paused' && chance < 0.15;
  return {
    name,
    n: random.between(0, 60),
    way: random.pick(['request', 'request', 'alone', 'transaction']),
    signal: pauses
      ? 'PAUSE'
      : chance < 0.25
        ? 'CANCEL'
        : chance < 0.29
          ? 'EMERGENCY_STOP'
          : undefined,
    afterMs: random.between(0, 400),
    forMs: random.between(0, 600),
    twice: random.next() < 0.3,
  };
}

export class Starter {
  /** @param {import('../../../../dist/index.js').Writ} writ @param {string} url */
  constructor(writ, url) {
    this.writ = writ;
    this.pool = new pg.Pool({ connectionString: url, max: 4 });
    // the server is stopped under it; whoever was using the connection hears of it
    this.pool.on('error', () => undefined);
    /** @type {Entry[]} */
    this.books = [];
    this.answered = 0;
    this.thrown = 0;
    this.open = 0;
    /** @type {Record<string, number>} */
    this.signals = {};
  }

  /**
   * Starts a run and sees to it until nothing more is to be sent. `onStarted` hears of the answer.
   * @param {Order} order @param {() => void} onStarted
   */
  async place(order, onStarted) {
    this.open++;
    try {
      const { plan, ends, sum } = /** @type {(typeof plans)[string]} */ (plans[order.name]);
      const input = { n: order.n, items };
      /** @type {Entry} */
      const entry = {
        run_id: uuidv7(),
        plan: order.name,
        owed: 'one',
        ends,
        stopped: false,
        sum: sum?.(input) ?? null,
        transaction: order.way === 'transaction',
      };
      this.books.push(entry);
      if (!(await this.#start(plan, input, order, entry))) {
        entry.owed = 'maybe';
        // If it is there, nobody will send it what it waits for.
        return;
      }
      this.answered++;
      onStarted();
      await Promise.all([
        this.#signal(order, entry),
        order.name === 'waiting' && this.#deliver(order, entry),
        order.name === 'paused' && this.#mend(entry),
      ]);
    } finally {
      this.open--;
    }
  }

  /**
   * Whether it was answered. @param {import('../../../../dist/index.js').Plan<any>} plan @param
   * {object} input @param {Order} order @param {Entry} entry
   */
  async #start(plan, input, order, entry) {
    const { run_id: runId } = entry;
    // Whoever waits for something needs the run; the others may do without an answer.
    const sure =
      order.way === 'request' ||
      order.name === 'waiting' ||
      order.name === 'paused' ||
      order.signal !== undefined;
    const requestId = sure ? runId : undefined;
    for (;;) {
      try {
        const run = await (order.way === 'transaction'
          ? this.#inTransaction(plan, input, { runId, ...(requestId && { requestId }) })
          : this.writ.runs.start(plan, input, { runId, ...(requestId && { requestId }) }));
        if (run.runId !== runId) throw new Error(`asked for run ${runId}, was given ${run.runId}`);
        return true;
      } catch (error) {
        if (!isOutage(error)) throw error;
        this.thrown++;
        if (!sure) return false;
        await pause(100);
      }
    }
  }

  /**
   * @param {import('../../../../dist/index.js').Plan<any>} plan @param {object} input @param {{
   * runId: string, requestId?: string }} options
   */
  async #inTransaction(plan, input, options) {
    const client = await this.pool.connect();
    const lost = () => undefined; // the statement that was waiting, or the next one, tells
    client.on('error', lost);
    let broken;
    try {
      await client.query('begin');
      const run = await this.writ.runs.start(plan, input, { ...options, db: client });
      await client.query(
        'insert into fault.placed (run_id) select $1 where not exists (select from fault.placed where run_id = $1)',
        [options.runId],
      );
      await client.query('commit');
      return run;
    } catch (error) {
      broken = /** @type {Error} */ (error);
      throw error;
    } finally {
      client.off('error', lost);
      client.release(broken);
    }
  }

  /** @param {Order} order @param {Entry} entry */
  async #signal({ signal, afterMs, forMs, twice }, entry) {
    if (!signal) return;
    await pause(afterMs);
    if (!(await this.#send(entry, { type: signal, reason: 'faults' }, twice))) return;
    if (signal === 'PAUSE') {
      await pause(forMs);
      await this.#send(entry, { type: 'RESUME' }, twice);
    } else {
      entry.ends = 'CANCELLED';
      entry.stopped = signal === 'EMERGENCY_STOP';
    }
  }

  /**
   * Whether it was accepted. @param {Entry} entry @param
   * {import('../../../../dist/index.js').RunSignal} signal @param {boolean} [twice]
   */
  async #send(entry, signal, twice = false) {
    const signalId = randomUUID();
    const accepted = await this.#sure(async () => {
      try {
        await this.writ.runs.signal(entry.run_id, { ...signal, signalId });
        return true;
      } catch (error) {
        const { code } = /** @type {{ code?: string }} */ (error);
        if (code === 'RUN_TERMINAL' || code === 'SIGNAL_NOT_APPLICABLE') return false;
        throw error;
      }
    });
    const word = `${signal.type} ${accepted ? 'accepted' : 'came too late'}`;
    this.signals[word] = (this.signals[word] ?? 0) + 1;
    if (twice && accepted) {
      const { duplicate } = await this.#sure(() =>
        this.writ.runs.signal(entry.run_id, { ...signal, signalId }),
      );
      if (!duplicate) throw new Error(`signal ${signalId} was taken twice`);
    }
    return accepted;
  }

  /** @param {Order} order @param {Entry} entry */
  async #deliver({ afterMs, twice }, entry) {
    await pause(afterMs * 2);
    const id = randomUUID();
    for (let times = twice ? 2 : 1; times > 0; times--) {
      await this.#sure(async () => {
        try {
          await this.writ.runs.deliver(entry.run_id, 'word', word, { id });
        } catch (error) {
          if (/** @type {{ code?: string }} */ (error).code !== 'RUN_TERMINAL') throw error;
        }
      });
    }
  }

  /**
   * The person who looks at a paused run: one of its steps is worth another try, the others are
   * passed over. @param {Entry} entry
   */
  async #mend(entry) {
    for (;;) {
      const { status, steps } = await this.#sure(() => this.writ.runs.snapshot(entry.run_id));
      if (status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED') return;
      const failed =
        status === 'PAUSED' && steps.find((step) => step.status === 'FAILED' && !step.requested);
      if (failed)
        await this.#send(entry, {
          type: failed.stepId === 's3' ? 'RETRY_STEP' : 'SKIP_STEP',
          stepId: failed.stepId,
        });
      await pause(250);
    }
  }

  /**
   * Repeats a call until the server answers it. @template T @param {() => Promise<T>} call @returns
   * {Promise<T>}
   */
  async #sure(call) {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isOutage(error)) throw error;
        this.thrown++;
        await pause(100);
      }
    }
  }

  close() {
    return this.pool.end();
  }
}

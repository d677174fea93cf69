// @ts-check
// Asks for jobs in every way there is, also while the server is down, and keeps the books: the answer to an enqueue decides what is owed. Answered:
// exactly one effect. Thrown: the job may have been taken or not, so none or one, unless its key lets us ask again until there is an answer.
import pg from 'pg';
import { isOutage } from '../../outage.mjs';
import { kinds } from './jobs.mjs';

/** @typedef {'one' | 'maybe' | 'none'} Owed */
/** @typedef {{ n: number, kind: keyof typeof kinds, way: string, key: boolean, cancel: boolean, delay: number, deadline: number,
 *   priority: number, ms: number }} Order */

/** How many of a hundred jobs are of each kind. @type {[keyof typeof kinds, number][]} */
const mix = [
  ['steady', 36],
  ['plain', 12],
  ['chain', 12],
  ['flaky', 10],
  ['late', 8],
  ['frail', 12],
  ['slow', 2],
  ['deaf', 2],
  ['hurried', 2],
  ['doomed', 4],
];
const bag = mix.flatMap(([kind, share]) => Array(share).fill(kind));

/**
 * The nth job of a run follows from the seed as the faults do. @param
 * {ReturnType<import('../../plan.mjs').generator>} random @param {number} n
 */
export function orderOf(random, n) {
  const way = random.pick([
    'together',
    'together',
    'together',
    'alone',
    'alone',
    'many',
    'transaction',
  ]);
  return /** @type {Order} */ ({
    n,
    kind: random.pick(bag),
    way,
    key: random.next() < 0.5,
    cancel: random.next() < 0.03,
    delay: random.next() < 0.1 ? random.between(50, 1500) : 0,
    deadline: random.between(200, 4000),
    priority: random.next() < 0.1 ? random.between(-5, 5) : 0,
    ms: random.between(0, 30),
  });
}

export class Producer {
  /** @param {import('../../../../dist/index.js').Writ} writ @param {string} url */
  constructor(writ, url) {
    this.writ = writ;
    this.pool = new pg.Pool({ connectionString: url, max: 4 });
    // the server is stopped under it; whoever was using the connection hears of it
    this.pool.on('error', () => undefined);
    /**
     * @type {{ n: number, kind: string, owed: Owed, jobId: string | null, transaction: boolean }[]}
     */
    this.books = [];
    this.answered = 0;
    this.thrown = 0;
    this.open = 0;
  }

  /** @param {Order} order */
  async place(order) {
    this.open++;
    try {
      return await this.#place(order);
    } finally {
      this.open--;
    }
  }

  /** @param {Order} order */
  async #place(order) {
    /** @type {Owed} */
    let owed = order.kind === 'doomed' ? 'none' : order.kind === 'hurried' ? 'maybe' : 'one';
    let jobId = null;
    for (let tries = 1; jobId === null; tries++) {
      try {
        jobId = await this.#enqueue(order);
      } catch (error) {
        if (!isOutage(error)) throw error;
        this.thrown++;
        if (!order.key || tries > 100) break;
        await new Promise((resume) => setTimeout(resume, 100));
      }
    }
    if (jobId === null && owed === 'one') owed = 'maybe';
    if (jobId !== null) {
      this.answered++;
      if (order.cancel && owed === 'one') owed = await this.#cancel(jobId);
    }
    this.books.push({
      n: order.n,
      kind: `fault.${order.kind}`,
      owed,
      jobId,
      transaction: order.way === 'transaction',
    });
    return jobId;
  }

  /** @param {Order} order @returns {Promise<string>} */
  async #enqueue({ n, kind, way, key, delay, deadline, priority, ms }) {
    const job = kinds[kind];
    const options = {
      ...(key && { key: `order ${n}` }),
      ...(delay && { delay }),
      ...(kind === 'hurried' && { deadline }),
      priority,
    };
    if (way === 'many')
      return String(
        (await this.writ.enqueueMany(job, [{ input: { n, ms }, ...options }]))[0]?.jobId,
      );
    if (way !== 'transaction')
      return (await this.writ.enqueue(job, { n, ms }, { ...options, coalesce: way === 'together' }))
        .jobId;
    const client = await this.pool.connect();
    const lost = () => undefined; // the statement that was waiting, or the next one, tells
    client.on('error', lost);
    let broken;
    try {
      await client.query('begin');
      const { jobId } = await this.writ.enqueue(job, { n, ms }, { ...options, db: client });
      await client.query('insert into fault.placed (n) values ($1)', [n]);
      await client.query('commit');
      return jobId;
    } catch (error) {
      broken = /** @type {Error} */ (error);
      throw error;
    } finally {
      client.off('error', lost);
      client.release(broken);
    }
  }

  /** @param {string} jobId @returns {Promise<Owed>} */
  async #cancel(jobId) {
    try {
      return (await this.writ.jobs.cancel(jobId, { reason: 'changed our mind' })).status ===
        'cancelled'
        ? 'none'
        : 'maybe';
    } catch (error) {
      const { code } = /** @type {{ code?: string }} */ (error);
      if (code === 'job_terminal' || code === 'committed_cannot_cancel') return 'one';
      if (code === 'job_busy' || isOutage(error)) return 'maybe';
      throw error;
    }
  }

  close() {
    return this.pool.end();
  }
}

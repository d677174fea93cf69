/**
 * A database that is slow on purpose, in the ways that it gets slow: somebody has a lock on what is
 * to be written, its answers do not come, what it is asked does not arrive, or it is not there at
 * all.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach } from 'vitest';
import { type FailOpenEvent, Writ } from '../../../src/index.js';
import { onFaultPoint, type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import { type Wire, wireTo } from '../../queue/wire.js';
import { type Session, session } from '../../races/sessions.js';
import { allEvents, line } from '../engine/scene.js';

export const ways = ['a lock', 'answers that do not come', 'requests that do not arrive'] as const;
export type Way = (typeof ways)[number];

export const budgetMs = 250;

export interface Slow {
  readonly db: TestDatabase;
  readonly wire: Wire;
  /** Past the wire, for looking on. */
  readonly onlooker: Writ;
  /** Through the wire, with a budget of budgetMs unless given. */
  connect(options?: {
    spool?: string;
    writeBudget?: number;
    failOpen?: readonly FailOpenEvent[];
  }): Promise<Writ>;
  /** From now on writes to this run take for ever. */
  slow(way: Way, runId: string): Promise<void>;
  /** No longer; what was on its way goes on. */
  quick(): Promise<void>;
  log(runId: string): Promise<string[]>;
}

export function slowDatabase(): Slow {
  let db: TestDatabase;
  let wire: Wire;
  let onlooker: Writ;
  let holder: Session | undefined;
  let connected: Writ[];
  beforeEach(async () => {
    db = await testDatabase();
    wire = await wireTo(db.connectionString);
    onlooker = await db.connect();
    connected = [];
    holder = undefined;
  });
  const quick = async () => {
    await holder?.query('rollback');
    await holder?.end();
    holder = undefined;
    wire.letGo();
  };
  afterEach(async () => {
    onFaultPoint(undefined);
    await quick();
    wire.cut();
    for (const writ of connected) await writ.close();
    await db.drop();
    await wire.close();
  });
  return {
    get db() {
      return db;
    },
    get wire() {
      return wire;
    },
    get onlooker() {
      return onlooker;
    },
    connect: async (options = {}) => {
      const writ = await Writ.connect({
        connectionString: wire.connectionString,
        writeBudget: budgetMs,
        ...options,
      });
      connected.push(writ);
      return writ;
    },
    slow: async (way, runId) => {
      if (way === 'answers that do not come') wire.holdAnswers();
      else if (way === 'requests that do not arrive') wire.holdRequests();
      else {
        holder = await session({ ...db, connectionString: db.directConnectionString });
        await holder.query('begin');
        await holder.query('select from writ_data.run where run_id = $1 for update', [runId]);
      }
    },
    quick,
    log: async (runId) => (await allEvents(onlooker, runId)).map(line),
  };
}

/** As long as a few budgets last: for what must not happen, which no signal tells of. */
export const aWhile = () => pause(3 * budgetMs);

export const codeOf = (attempt: Promise<unknown>): Promise<string | undefined> =>
  attempt.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );

/** Says something again until it is heard, as whoever executes a run does. */
export async function saidAgain<T>(say: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await say();
    } catch (error) {
      if (!(error as { retryable?: boolean }).retryable) throw error;
    }
  }
}

/**
 * The gates as SQL sees them, for tests: a database of its own per test, calls by parameter names,
 * and the promise that is easiest to break and hardest to notice, "refused, and nothing changed",
 * checked against the contents of every table rather than a sample of them.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { isErrorCode } from '../../../src/errors/index.js';
import { type Duration, milliseconds } from '../../../src/queue/duration.js';
import { type TestDatabase, testDatabase } from '../../../src/testing/index.js';

export type Row = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: answers of gates are JSON documents, and the tests look into them.
export type Answer = any;

export interface Claim {
  readonly token: string;
  readonly ids: string[];
}

export interface HeldJob {
  readonly id: string;
  readonly token: string;
}

export interface HoldOptions {
  readonly definition?: Row;
  readonly job?: Row;
  readonly started?: boolean;
  readonly ttl?: number;
}

export interface DatabaseError {
  code: string;
  message: string;
}

/** A version 4 id: well-formed, and never one of ours. */
export const stranger = '6f1e2d3c-4b5a-4978-8675-94a3b2c1d0e9';

/**
 * Every table of the store with its rows as text, in an order of their own: equal before and after
 * means that nothing changed. Partitions are seen through their table. What the clockwork remembers
 * from one turn to the next, of itself or of a lane, is left out: it says nothing about a job. So
 * are the rows of the record that only say that a call was refused;
 * test/queue/refused-calls.test.ts is about those.
 */
export async function contents(db: Pick<TestDatabase, 'query'>): Promise<Record<string, string[]>> {
  // To plan a query over every table and each day of it takes longer than to run it, and most have
  // never had a row.
  const tables =
    await db.query(`select relname as name, pg_relation_size(c.oid) + (select coalesce(sum(pg_relation_size(t.relid)), 0) from pg_partition_tree(c.oid) t) > 0 as used
    from pg_class c where relnamespace = 'writ_data'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'clockwork' order by 1`);
  const parts = tables
    .filter(({ used }) => used)
    .map(
      ({
        name,
      }) => `select '${name}' as name, coalesce(array_agg(t::text order by t::text), '{}') as rows
      from ${compared[String(name)] ?? `writ_data.${name}`} t`,
    );
  const rows = await db.query(parts.join(' union all '));
  const found = new Map(rows.map((row) => [String(row.name), row.rows as string[]]));
  return Object.fromEntries(
    tables.map(({ name }) => [String(name), found.get(String(name)) ?? []]),
  );
}

const compared: Record<string, string> = {
  lane: '(select lane_id, job_kind, tenant_id, limit_key, priority, alone from writ_data.lane)',
  event_batch: `(select * from writ_data.event_batch where note is null or note not like 'refused: %' or subjects <> '{}' or types <> '{}')`,
};

/**
 * What differs between two looks at the contents, by table: `-` for rows that went, `+` for rows
 * that came.
 */
export function changes(
  before: Record<string, string[]>,
  after: Record<string, string[]>,
): Record<string, string[]> {
  const differing = Object.entries(after).map(([table, rows]): [string, string[]] => {
    const was = before[table] ?? [];
    const gone = was.filter((row) => !rows.includes(row)).map((row) => `- ${row}`);
    const come = rows.filter((row) => !was.includes(row)).map((row) => `+ ${row}`);
    return [table, [...gone, ...come]];
  });
  return Object.fromEntries(differing.filter(([, rows]) => rows.length > 0));
}

export class Gates {
  readonly db: TestDatabase;

  constructor(db: TestDatabase) {
    this.db = db;
  }

  /** Calls a gate with named parameters; those left out take their defaults. */
  async call(gate: string, parameters: Row = {}): Promise<Answer> {
    const names = Object.keys(parameters);
    const list = names.map((name, index) => `p_${name} => $${index + 1}`).join(', ');
    const [row] = await this.db.query(
      `select writ.${gate}(${list}) as answer`,
      Object.values(parameters),
    );
    return row?.answer;
  }

  async register(kind = 'chore', definition: Row = {}): Promise<void> {
    expect(await this.call('fn_job_kind_register', { kind, definition, actor: 'test' })).toEqual({
      registered: kind,
    });
  }

  /** Enqueues one job of a registered kind, and answers its id. */
  async enqueue(job: Row = {}): Promise<string> {
    const id = uuidv7();
    const answer = await this.enqueueMany([{ id, kind: 'chore', ...job }]);
    expect(answer).toEqual({ enqueued: 1, duplicates: [], refused: [] });
    return id;
  }

  enqueueMany(jobs: unknown, parameters: Row = {}): Promise<Answer> {
    return this.call('fn_job_enqueue_many', {
      jobs: JSON.stringify(jobs),
      actor: 'test',
      ...parameters,
    });
  }

  async claim(parameters: Row = {}): Promise<Claim> {
    const answer = await this.call('fn_job_claim_many', {
      kinds: ['chore'],
      executor: 'external_worker',
      lease_holder: 'w1',
      lease_ttl_seconds: 30,
      limit: 1,
      ...parameters,
    });
    return { token: answer.lease_token, ids: answer.jobs.map((job: unknown[]) => job[0]) };
  }

  /** A registered kind, one job of it, claimed and, unless told otherwise, started. */
  async held({
    definition = {},
    job = {},
    started = true,
    ttl = 30,
  }: HoldOptions = {}): Promise<HeldJob> {
    await this.register('chore', definition);
    const id = await this.enqueue(job);
    const { token, ids } = await this.claim({ start: started ? 1 : 0, lease_ttl_seconds: ttl });
    expect(ids).toEqual([id]);
    return { id, token };
  }

  async set(key: string, value: unknown): Promise<void> {
    const answer = await this.call('fn_setting_set', {
      key,
      value: JSON.stringify(value),
      actor: 'test',
    });
    expect(answer).toMatchObject({ key, value });
  }

  async job(id: string): Promise<Answer> {
    const [row] = await this.db.query('select * from writ.job_queue where job_id = $1', [id]);
    return row;
  }

  async statusOf(id: string): Promise<unknown> {
    return (await this.job(id))?.status;
  }

  async executions(id: string): Promise<Answer[]> {
    return this.db.query(
      'select * from writ.job_execution where job_id = $1 order by execution_no',
      [id],
    );
  }

  /** The facts about a job, in the order in which they happened, without their prefix. */
  async history(id: string): Promise<string[]> {
    const rows = await this.db.query(
      'select event_type from writ.event_outbox where event_subject_ref = $1 order by occurred_at, id',
      [id],
    );
    return rows.map((row) => String(row.event_type).replace('dot.job.', ''));
  }

  /** What a job has become, without ids and times: equal for two jobs that were treated alike. */
  async outline(id: string): Promise<Row> {
    const { status, attempts, last_error, last_error_code, result_ref } = await this.job(id);
    const executions = await this.db.query(
      `select execution_no, attempt, status, abort_kind, final, lease_owner, started_at is not null as started, error_code, error_message, result_ref
       from writ.job_execution where job_id = $1 order by execution_no`,
      [id],
    );
    return {
      status,
      attempts,
      last_error,
      last_error_code,
      result_ref,
      executions,
      history: await this.history(id),
    };
  }

  /** Two jobs, each held by a lease of its own; what the two calls make of them is the same. */
  async agree(
    single: (held: HeldJob) => Promise<unknown>,
    many: (held: HeldJob) => Promise<unknown>,
    started = true,
  ): Promise<Row> {
    const one = await this.held({ started });
    await single(one);
    const other = await this.held({ started });
    await many(other);
    const outline = await this.outline(one.id);
    expect(await this.outline(other.id)).toEqual(outline);
    return outline;
  }

  /** Runs a call that must leave every table as it was, and answers what it answered. */
  async unchanged<T>(run: () => Promise<T>): Promise<T> {
    const before = await contents(this.db);
    const answer = await run();
    expect(changes(before, await contents(this.db))).toEqual({});
    return answer;
  }

  /** The gate refuses with this reason, which the registry knows, and nothing changed. */
  async refuses(reason: string, gate: string, parameters: Row = {}): Promise<void> {
    expect(isErrorCode(reason)).toBe(true);
    expect(await this.unchanged(() => this.call(gate, parameters))).toMatchObject({
      refused: true,
      reason,
    });
  }

  /**
   * The gate refuses, with whichever code of the registry, and nothing changed. Raising what
   * PostgreSQL says is no refusal.
   */
  async refusesCoded(gate: string, parameters: Row = {}): Promise<void> {
    const answer = await this.unchanged(() =>
      this.call(gate, parameters).catch((error: DatabaseError) => error),
    );
    expect(answer).toMatchObject({ refused: true, reason: expect.any(String) });
    expect(isErrorCode(answer.reason)).toBe(true);
  }

  /** Each place in an array call is refused with this reason, and nothing changed. */
  async refusesEach(reason: string, gate: string, parameters: Row): Promise<void> {
    expect(isErrorCode(reason)).toBe(true);
    const answer = await this.unchanged(() => this.call(gate, parameters));
    expect([...new Set(answer.refused.map((one: { reason: string }) => one.reason))]).toEqual([
      reason,
    ]);
  }

  /** The call raises an error with this SQLSTATE, and nothing changed. */
  async raises(code: string, message: string | RegExp, run: () => Promise<unknown>): Promise<void> {
    const outcome = await this.unchanged(() =>
      run().then(
        (answer) => answer as DatabaseError,
        (error: DatabaseError) => error,
      ),
    );
    expect(outcome).toMatchObject({ code });
    expect(outcome.message).toMatch(message);
  }
}

/**
 * Gates on a fresh database for each test of a file. The answer stands for whichever database the
 * running test has.
 */
export function freshGates(): Gates {
  let current: Gates | undefined;
  beforeEach(async () => {
    current = new Gates(await testDatabase());
  });
  afterEach(() => current?.db.drop());
  return standIn(() => current as Gates);
}

/** Gates on one database for a whole file: for tests that are about nothing having changed. */
export function sharedGates(prepare?: (gates: Gates) => Promise<unknown>): Gates {
  let current: Gates | undefined;
  beforeAll(async () => {
    current = new Gates(await testDatabase());
    await prepare?.(current);
  });
  afterAll(() => current?.db.drop());
  return standIn(() => current as Gates);
}

/**
 * Gates on one database for a whole file, each test in a transaction that is rolled back, which
 * makes hundreds of them a matter of seconds. Not for tests that need a second connection.
 */
export function rolledBackGates(): Gates {
  let db: TestDatabase | undefined;
  let client: pg.Client | undefined;
  let current: Gates | undefined;
  beforeAll(async () => {
    db = await testDatabase();
    client = new pg.Client({ connectionString: db.connectionString });
    await client.connect();
  });
  beforeEach(async () => {
    await client?.query('begin');
    current = new Gates(within(db as TestDatabase, client as pg.Client));
  });
  afterEach(() => client?.query('rollback'));
  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });
  return standIn(() => current as Gates);
}

/** The database as seen from inside one open transaction, which an error does not end. */
function within(db: TestDatabase, client: pg.Client): TestDatabase {
  let offset = 0;
  const query: TestDatabase['query'] = async (sql, params) => {
    await client.query('savepoint statement');
    try {
      return (await client.query(sql, params)).rows;
    } catch (error) {
      await client.query('rollback to savepoint statement');
      throw error;
    }
  };
  const advance = async (by: Duration) => {
    offset += milliseconds(by);
    await query(`create or replace function writ.now() returns timestamptz language sql volatile
      as $$ select pg_catalog.clock_timestamp() + interval '${offset} milliseconds' $$`);
  };
  return { ...db, query, clock: { ...db.clock, advance } };
}

function standIn(current: () => Gates): Gates {
  return new Proxy({} as Gates, {
    get: (_, property) => {
      const value = Reflect.get(current(), property);
      return typeof value === 'function' ? value.bind(current()) : value;
    },
  });
}

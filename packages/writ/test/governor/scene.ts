/**
 * A governor in a database, driven, with people who may tell it things and a service that does what
 * a test wants.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from 'vitest';
import type { GovernorHandle, SentSignal } from '../../src/governor/governors.js';
import type { Signalled } from '../../src/governor/intake.js';
import type { GovernorPolicy } from '../../src/governor/policy-document.js';
import {
  type ActionGiven,
  action,
  type DriveOptions,
  defineAction,
  definePolicy,
  type Worker,
  type Writ,
} from '../../src/index.js';
import type { Receipt } from '../../src/ledger/receipt.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { session, until } from '../races/sessions.js';
import { patient } from './patient.js';

export interface GovernorScene {
  readonly db: TestDatabase;
  readonly writ: Writ;
  readonly key: string;
  /** Errors that whoever drives has told. */
  readonly errors: unknown[];
  /** What the service did, in order; each call takes the next of `answers`, or succeeds. */
  readonly calls: { readonly type: string; readonly given: ActionGiven }[];
  readonly answers: ((given: ActionGiven) => unknown)[];
  sql<Row = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
  setting(key: string, value: unknown): Promise<void>;
  /** Takes a table away from everybody, until what it answers is called. */
  lock(table: string): Promise<() => Promise<void>>;
  /** A worker that drives, decides everything twice, and carries actions out. */
  work(
    options?: DriveOptions & {
      readonly governance?: true;
      readonly reach?: { allowHttp?: boolean; allowPrivate?: boolean };
      readonly actions?: [];
    },
  ): Promise<Worker>;
  /** The governor of a tenant, stable, with this policy if one is given. */
  stable(
    policy?: GovernorPolicy,
    options?: { tenant?: string; shadow?: boolean },
  ): Promise<GovernorHandle>;
  /**
   * What was decided about a signal, which is sent again, as its sender would, as long as it is
   * only taken: on a slow machine that is longer than a signal waits for its answer.
   */
  decided(
    governor: GovernorHandle,
    given: SentSignal,
  ): Promise<Extract<Signalled, { status: 'decided' }>>;
  /** Waits until the governor is in this state. */
  inState(governor: GovernorHandle, state: string): Promise<void>;
  /** Waits until a receipt of this reason is there, and answers the last. */
  receipt(governor: GovernorHandle, reason: string, n?: number): Promise<Receipt>;
  reasons(governor: GovernorHandle): Promise<string[]>;
}

const scale = (type: string, s: GovernorScene) =>
  defineAction(type, {
    run: async (given) => {
      s.calls.push({ type, given });
      return (await s.answers.shift()?.(given)) as never;
    },
  });

/** Scales up when cpu is over 75, until it is under 60. */
export const scaling = (
  more: Partial<Parameters<typeof definePolicy>[1]> = {},
  rule: object = {},
) =>
  definePolicy('scale-up', {
    when: {
      cpu_utilization: { above: 75, clearBelow: 60, cooldown: '1s' },
      error_rate: { above: 0.1, then: false },
    },
    then: action.handler('scale_up_cloud_run', {
      target: 'catalog',
      parameters: { replicas_delta: 3 },
      bounds: { replicas_delta: { min: 1, max: 5 } },
      ...rule,
    }),
    ...more,
  });

export function governorScene(): GovernorScene {
  let db: TestDatabase;
  let writ: Writ;
  let key: string;
  const errors: unknown[] = [];
  const calls: GovernorScene['calls'] = [];
  const answers: GovernorScene['answers'] = [];
  beforeEach(async () => {
    db = await testDatabase();
    writ = await db.connect();
    for (const list of [errors, calls, answers]) list.length = 0;
    key = await writ.principals.add({
      id: 'olga',
      kind: 'person',
      rights: ['operate', 'activate', 'propose', 'approve'],
    });
    await writ.principals.add({ id: 'governor', kind: 'service' });
    await sql(
      "update writ_data.principal set permissions = '{run.services.update,flags:write}' where principal_id = 'governor'",
    );
    await patient(db);
  });
  afterEach(() => db.drop());

  const sql: GovernorScene['sql'] = async (text, params) => (await db.query(text, params)) as never;
  const setting: GovernorScene['setting'] = async (name, value) => {
    await sql(`select writ.fn_setting_set($1, $2::jsonb, 'test')`, [name, JSON.stringify(value)]);
  };
  const s: GovernorScene = {
    get db() {
      return db;
    },
    get writ() {
      return writ;
    },
    get key() {
      return key;
    },
    errors,
    calls,
    answers,
    sql,
    setting,
    async lock(table) {
      const holder = await session(db);
      await holder.query('begin');
      await holder.query(`lock table writ_data.${table} in access exclusive mode`);
      return () => holder.end();
    },
    work: ({ governance, ...options } = {}) =>
      writ.work([], {
        ...(governance && { governance }),
        governor: {
          twicePercent: 100,
          onError: (error) => errors.push(error),
          actions: [scale('scale_up_cloud_run', s), scale('scale_down_cloud_run', s)],
          ...options,
        },
        poll: '100ms',
      }),
    async stable(policy, { tenant = 'acme', shadow = false } = {}) {
      await writ.governors.entitlements.put({ tier: 'starter' }, { tenant, as: key });
      const governor = await writ.governor({ tenant });
      await s.inState(governor, 'stable');
      if (policy) {
        await governor.publish(policy, { as: key, shadow });
        await s.receipt(governor, 'policy_updated');
      }
      return governor;
    },
    async decided(governor, given) {
      const one = { id: randomUUID(), ...given };
      for (let answer = await governor.signal(one); ; answer = await governor.signal(one))
        if (answer.status === 'decided') return answer;
    },
    // Only the row of the governor: a test may have locked what else `get` shows.
    inState: (governor, state) =>
      until(async () => {
        const [row] = await sql('select state from writ.governor where governor_id = $1', [
          governor.id,
        ]);
        return row?.state === state;
      }),
    async receipt(governor, reason, n = 1) {
      let found: Receipt[] = [];
      await until(async () => {
        found = (await governor.receipts({ limit: 1_000 })).filter((one) => one.reason === reason);
        return found.length >= n;
      });
      return found.at(-1) as Receipt;
    },
    reasons: async (governor) =>
      (await governor.receipts({ limit: 10_000 })).map(({ reason }) => reason),
  };
  return s;
}

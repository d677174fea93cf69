/**
 * Many jobs at once and claims by parameter name, from any session: what the tests of lanes, limits
 * and shares have in common.
 */
import { expect } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';

export interface Asks {
  query(sql: string, params?: unknown[]): Promise<Record<string, unknown>[]>;
}

export interface ClaimAnswer {
  readonly lease_token: string;
  readonly started_upto: number;
  readonly after?: string;
  readonly alone?: boolean;
  readonly limited?: boolean;
  readonly again_ms?: number;
  /** The job's id, kind, tenant, key, attempt and so on. */
  readonly jobs: unknown[][];
}

export const newIds = (count: number): string[] => Array.from({ length: count }, () => uuidv7());

/** Calls a gate or an internal function with named parameters. */
export async function call<T = Record<string, unknown>>(
  db: Asks,
  name: string,
  parameters: Record<string, unknown> = {},
): Promise<T> {
  const list = Object.keys(parameters).map((parameter, index) => `p_${parameter} => $${index + 1}`);
  const [row] = await db.query(
    `select ${name}(${list.join(', ')}) as answer`,
    Object.values(parameters),
  );
  return row?.answer as T;
}

export const register = (db: Asks, kind: string, definition: object = {}) =>
  call(db, 'writ.fn_job_kind_register', {
    kind,
    definition: JSON.stringify(definition),
    actor: 'test',
  });

/** Jobs of one call, in its order. */
export async function bulk(
  db: Asks,
  count: number,
  of: { kind?: string; tenant?: string; priority?: number } = {},
): Promise<string[]> {
  const ids = newIds(count);
  const answer = await call(db, 'writ.fn_job_enqueue_alike', {
    kind: of.kind ?? 'chore',
    ids,
    inputs: null,
    actor: 'test',
    tenant_id: of.tenant ?? 'default',
    priority: of.priority ?? 0,
  });
  expect(answer).toEqual({ enqueued: count, duplicates: [], refused: [] });
  return ids;
}

/** Jobs of one call of the general gate. */
export async function bulkOf(db: Asks, jobs: Record<string, unknown>[]): Promise<string[]> {
  const ids = newIds(jobs.length);
  const items = jobs.map((job, index) => ({ id: ids[index], kind: 'chore', ...job }));
  const answer = await call(db, 'writ.fn_job_enqueue_many', {
    jobs: JSON.stringify(items),
    actor: 'test',
  });
  expect(answer).toEqual({ enqueued: jobs.length, duplicates: [], refused: [] });
  return ids;
}

export const claim = (
  db: Asks,
  limit: number,
  more: Record<string, unknown> = {},
): Promise<ClaimAnswer> =>
  call(db, 'writ.fn_job_claim_many', {
    kinds: ['chore'],
    executor: 'external_worker',
    lease_holder: 'w',
    lease_ttl_seconds: 30,
    limit,
    after: '',
    ...more,
  });

export const idsOf = ({ jobs }: ClaimAnswer): string[] => jobs.map(([id]) => String(id));
export const tenantsOf = ({ jobs }: ClaimAnswer): string[] => jobs.map((job) => String(job[2]));

export const succeed = (db: Asks, { lease_token, jobs }: ClaimAnswer) =>
  call(db, 'writ.fn_job_succeed_many', {
    lease_token,
    positions: jobs.map((_, index) => index + 1),
  });

/** Ends jobs of a lease without success, all of it unless told which. */
export const abort = (
  db: Asks,
  { lease_token, jobs }: ClaimAnswer,
  kind: string,
  positions = jobs.map((_, index) => index + 1),
) =>
  call(db, 'writ.fn_job_abort_many', {
    lease_token,
    positions,
    abort_kinds: positions.map(() => kind),
    codes: positions.map(() => 'x'),
    messages: positions.map(() => 'no'),
  });

/** One turn of the clockwork. */
export const tick = (db: Asks) => call(db, 'writ.fn_job_tick', { actor: 'test' });

/** How many jobs of each status there are. */
export async function statuses(db: Asks): Promise<Record<string, number>> {
  const rows = await db.query(
    'select status, count(*)::int as n from writ.job_queue group by 1 order by 1',
  );
  return Object.fromEntries(rows.map(({ status, n }) => [String(status), Number(n)]));
}

/** Asking how something is: over HTTP, with a query of this database or of Prometheus. What others report, heartbeats among them, is only looked up. */
import type pg from 'pg';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';

export interface Probe {
  readonly tenant: string;
  readonly name: string;
  readonly capability: string;
  readonly type: 'http' | 'sql' | 'prometheus' | 'heartbeat' | 'reported';
  readonly config: Readonly<Record<string, unknown>>;
  readonly timeout_ms: number;
  readonly status?: Status | null;
  readonly detail?: string | null;
  readonly at?: string | null;
}

export type Status = 'HEALTHY' | 'DEGRADED' | 'UNHEALTHY';

export interface Evidence {
  readonly status: Status;
  readonly detail: string;
  readonly at: string;
}

interface Said {
  readonly status: Status;
  readonly detail: string;
}

const mostBytes = 1_000_000;

/** What a probe says now. A probe that cannot be asked says that it is unhealthy, and why. */
export async function ask(probe: Probe, transactions: pg.Pool | undefined): Promise<Evidence> {
  let said: Said;
  try {
    if (probe.type === 'http') said = await askHttp(probe);
    else if (probe.type === 'prometheus') said = await askPrometheus(probe);
    else if (probe.type === 'sql') said = await askDatabase(probe, transactions);
    else
      return { status: probe.status ?? 'UNHEALTHY', detail: probe.detail ?? 'nothing reported', at: probe.at ?? new Date(0).toISOString() };
  } catch (error) {
    const { name, message, cause } = error as Error;
    const why = name === 'TimeoutError' ? `no answer in ${probe.timeout_ms} ms` : ((cause as Error | undefined)?.message ?? message);
    said = { status: 'UNHEALTHY', detail: why.slice(0, 300) };
  }
  return { ...said, at: new Date().toISOString() };
}

async function fetched(probe: Probe, url: URL): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(probe.timeout_ms), redirect: 'manual', headers: { accept: 'application/json, */*' } });
}

async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > mostBytes) throw new Error('its answer is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Healthy: a status from 200 to 299, or the one that is expected; degraded: its JSON says so with "status". */
async function askHttp(probe: Probe): Promise<Said> {
  const response = await fetched(probe, new URL(String(probe.config.url)));
  const expected = probe.config.expect as number | undefined;
  const text = await textOf(response);
  if (expected === undefined ? !response.ok : response.status !== expected)
    return { status: 'UNHEALTHY', detail: `it answered ${response.status}` };
  const word = /"status"\s*:\s*"(degraded|warn|warning)"/i.exec(text.slice(0, 10_000));
  return word ? { status: 'DEGRADED', detail: `it answered ${word[1]}` } : { status: 'HEALTHY', detail: `it answered ${response.status}` };
}

/** The first value of the query, against `below` or `above`: beyond it, unhealthy; beyond `warnBelow` or `warnAbove`, degraded. */
async function askPrometheus(probe: Probe): Promise<Said> {
  const url = new URL(`${String(probe.config.url).replace(/\/$/, '')}/api/v1/query`);
  url.searchParams.set('query', String(probe.config.query));
  const response = await fetched(probe, url);
  if (!response.ok) return { status: 'UNHEALTHY', detail: `Prometheus answered ${response.status}` };
  const answer = JSON.parse(await textOf(response)) as { data?: { result?: { value?: [number, string] }[] } };
  const value = answer.data?.result?.[0]?.value?.[1];
  if (value === undefined) return { status: 'UNHEALTHY', detail: 'the query has no result' };
  return judged(Number(value), probe.config);
}

function judged(value: number, config: Probe['config']): Said {
  const { below, above, warnBelow, warnAbove } = config as Record<string, number | undefined>;
  const out = (low: number | undefined, high: number | undefined) =>
    Number.isNaN(value) || (high !== undefined && !(value < high)) || (low !== undefined && !(value > low));
  const status = out(above, below) ? 'UNHEALTHY' : out(warnAbove, warnBelow) ? 'DEGRADED' : 'HEALTHY';
  return { status, detail: `the value is ${value}` };
}

/** The first value of the first row: true, or a number against the bounds. In a transaction that cannot write, and one statement, so that it cannot end that. */
async function askDatabase(probe: Probe, transactions: pg.Pool | undefined): Promise<Said> {
  if (!transactions) throw new Error('there is no connection for it');
  const client = await transactions.connect();
  try {
    await client.query('begin read only');
    await client.query(`set local statement_timeout = ${Math.round(probe.timeout_ms)}`);
    const { rows } = await client.query({ text: String(probe.config.query), queryMode: 'extended' } as pg.QueryConfig);
    const value: unknown = Object.values((rows[0] ?? {}) as object)[0];
    if (typeof value === 'boolean' || value === undefined || value === null)
      return { status: value === true ? 'HEALTHY' : 'UNHEALTHY', detail: `the query says ${String(value)}` };
    return judged(Number(value), probe.config);
  } finally {
    await client.query('rollback').catch(() => undefined);
    client.release();
  }
}

/** Asks the probes of some capabilities, for a step that relies on them. */
export async function evidenceOf(
  db: Queryable,
  transactions: pg.Pool | undefined,
  tenant: string,
  targets: readonly string[],
): Promise<Record<string, Evidence>> {
  const { probes } = await gate<{ probes: Probe[] }>(db, 'fn_probes_take(0, $1, $2::text::text[])', [
    tenant,
    `{${targets.map((target) => JSON.stringify(target)).join(',')}}`,
  ]);
  return evidenceFrom(probes, transactions);
}

export async function evidenceFrom(probes: readonly Probe[], transactions: pg.Pool | undefined): Promise<Record<string, Evidence>> {
  const asked = await Promise.all(probes.map(async (probe) => [probe.name, await ask(probe, transactions)] as const));
  return Object.fromEntries(asked);
}

/** Asks the probes that are due, whoever's turn it is, and says when the next ones are. */
export async function turnProbes(db: Queryable, transactions: pg.Pool | undefined, workerId: string): Promise<number | undefined> {
  const { probes, next_ms } = await gate<{ probes: Probe[]; next_ms?: number }>(db, 'fn_probes_take(20)', []);
  if (probes.length > 0) {
    const reports = await Promise.all(
      probes.map(async (probe) => ({ tenant: probe.tenant, name: probe.name, ...(await ask(probe, transactions)) })),
    );
    await gate(db, 'fn_probes_report($1::text::jsonb, $2)', [JSON.stringify(reports), workerId]);
  }
  return next_ms;
}

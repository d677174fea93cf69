/**
 * Asks how something is: over HTTP, with a query of a database, or of Prometheus. The gate stores
 * an answer with its own time (fn_probes_report) and judges health by what it stored; nothing that
 * a process says later overrides that. Heartbeats and reports come from principals and are only
 * looked up.
 */
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import pg from 'pg';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { isConnectionLoss } from '../errors/index.js';
import { type AllowPrivate, endpointUrl, lookupWithin } from '../outbox/buses/addresses.js';
import { post } from '../outbox/buses/post.js';
import type { Status } from './health.js';

/** A probe as a process that asks it is handed it. */
export interface DueProbe {
  readonly tenant: string;
  readonly name: string;
  readonly capability: string;
  readonly type: 'http' | 'sql' | 'prometheus' | 'heartbeat' | 'reported';
  readonly config: Readonly<Record<string, unknown>>;
  readonly timeout_ms: number;
  readonly status?: Status | null;
  readonly detail?: string | null;
}

interface Said {
  readonly status: Status;
  readonly detail: string;
}

/** How a process asks probes. */
export interface AskProbes {
  /**
   * Where SQL probes run: a login that reads what they need and has none of Writ's roles.
   * `WRIT_PROBE_URL` unless given. Without either they are not run, and say so.
   */
  readonly connectionString?: string;
  /**
   * Private, loopback and link-local addresses that HTTP and Prometheus probes may reach: these
   * addresses and networks, or all.
   */
  readonly allowPrivate?: AllowPrivate;
}

/**
 * Probes that a process asks at once, in all and of one tenant: slow ones of one tenant do not keep
 * others from their turn.
 */
const atOnce = 40;
const ofTenant = 8;
const mostAnswer = 1_000;

export class Prober {
  readonly #db: Queryable;
  readonly #options: AskProbes;
  readonly #agents: { readonly http: Agent; readonly https: SecureAgent };
  /** How many of each tenant are being asked. */
  readonly #asking = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  #total = 0;

  constructor(db: Queryable, options: AskProbes = {}) {
    this.#db = db;
    this.#options = options;
    const lookup = lookupWithin(options);
    this.#agents = {
      http: new Agent({ keepAlive: false, lookup }),
      https: new SecureAgent({ keepAlive: false, lookup }),
    };
  }

  /**
   * Asks the probes of some targets, because a step or an audit relies on them, and has the answers
   * stored. It asks once more if an answer was ignored, because the clock jumped or the probe was
   * changed meanwhile.
   */
  async refresh(
    tenant: string,
    targets: readonly string[],
    actor: string,
  ): Promise<Record<string, Said>> {
    const first = await this.#refresh(tenant, targets, actor);
    return (first.ignored > 0 ? await this.#refresh(tenant, targets, actor) : first).said;
  }

  async #refresh(tenant: string, targets: readonly string[], actor: string) {
    const { probes } = await gate<{ probes: DueProbe[] }>(
      this.#db,
      'fn_probes_take(0, $1, $2::text::text[])',
      [tenant, `{${targets.map((target) => JSON.stringify(target)).join(',')}}`],
    );
    const said = await Promise.all(
      probes.map(async (probe) => ({ probe, said: await this.#ask(probe) })),
    );
    const ignored = await this.#report(
      said.filter(({ probe }) => asked(probe)),
      actor,
    );
    return {
      ignored,
      said: Object.fromEntries(said.map(({ probe, said: one }) => [probe.name, one])),
    };
  }

  /** Begins to ask probes that are due. Answers in how many milliseconds the next ones are. */
  async turn(actor: string): Promise<number | undefined> {
    if (this.#total >= atOnce) return 100;
    const busy = [...this.#asking].filter(([, n]) => n >= ofTenant).map(([tenant]) => tenant);
    const { probes, next_ms } = await gate<{ probes: DueProbe[]; next_ms?: number }>(
      this.#db,
      'fn_probes_take($1::text::integer, null, null, $2::text::text[])',
      [
        Math.min(20, atOnce - this.#total),
        `{${busy.map((tenant) => JSON.stringify(tenant)).join(',')}}`,
      ],
    );
    for (const probe of probes) this.#begin(probe, actor);
    // Quick answers are stored when this returns; slow ones keep nobody waiting.
    await Promise.race([
      Promise.all([...this.#running]),
      new Promise((enough) => setTimeout(enough, 250).unref()),
    ]);
    return next_ms;
  }

  /** Resolves when what was asked is answered, or given up. */
  async idle(): Promise<void> {
    await Promise.all([...this.#running]);
  }

  #begin(probe: DueProbe, actor: string): void {
    this.#total++;
    this.#asking.set(probe.tenant, (this.#asking.get(probe.tenant) ?? 0) + 1);
    const running: Promise<void> = this.#ask(probe)
      .then(async (said) => void (await this.#report([{ probe, said }], actor)))
      .catch((error) => {
        // The probe is due again soon; until then its last answer grows old.
        if (!isConnectionLoss(error)) process.emitWarning(error as Error);
      })
      .finally(() => {
        this.#total--;
        const left = (this.#asking.get(probe.tenant) ?? 1) - 1;
        if (left > 0) this.#asking.set(probe.tenant, left);
        else this.#asking.delete(probe.tenant);
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  async #report(
    said: readonly { readonly probe: DueProbe; readonly said: Said }[],
    actor: string,
  ): Promise<number> {
    if (said.length === 0) return 0;
    const reports = said.map(({ probe: { tenant, name }, said: one }) => ({
      tenant,
      name,
      ...one,
    }));
    const call = 'fn_probes_report($1::text::jsonb, $2)';
    return (await gate<{ ignored: number }>(this.#db, call, [JSON.stringify(reports), actor]))
      .ignored;
  }

  /** What a probe says now. A probe that cannot be asked is unhealthy, and says why. */
  async #ask(probe: DueProbe): Promise<Said> {
    try {
      if (probe.type === 'http') return await this.#askHttp(probe);
      if (probe.type === 'prometheus') return await this.#askPrometheus(probe);
      if (probe.type === 'sql')
        return await askDatabase(
          probe,
          this.#options.connectionString ?? process.env.WRIT_PROBE_URL,
        );
      return { status: probe.status ?? 'UNHEALTHY', detail: probe.detail ?? 'nothing reported' };
    } catch (error) {
      return { status: 'UNHEALTHY', detail: storable((error as Error).message).slice(0, 300) };
    }
  }

  async #get(probe: DueProbe, url: URL): Promise<{ status: number; text: string | undefined }> {
    const { status, body } = await post({
      method: 'GET',
      url: endpointUrl(url.href, { ...this.#options, allowHttp: true }),
      agent: url.protocol === 'https:' ? this.#agents.https : this.#agents.http,
      headers: { accept: 'application/json, */*' },
      body: Buffer.alloc(0),
      connectTimeoutMs: probe.timeout_ms,
      timeoutMs: probe.timeout_ms,
      signal: new AbortController().signal,
    });
    return { status, text: body?.toString('utf8') };
  }

  /**
   * Healthy: a status from 200 to 299, or the one that is expected; degraded: its JSON says so with
   *          "status".
   */
  async #askHttp(probe: DueProbe): Promise<Said> {
    const { status, text } = await this.#get(probe, new URL(String(probe.config.url)));
    const expected = probe.config.expect as number | undefined;
    if (expected === undefined ? status < 200 || status > 299 : status !== expected)
      return { status: 'UNHEALTHY', detail: `it answered ${status}` };
    if (text === undefined) return { status: 'UNHEALTHY', detail: 'its answer is too large' };
    const word = /"status"\s*:\s*"(degraded|warn|warning)"/i.exec(text.slice(0, 10_000));
    return word
      ? { status: 'DEGRADED', detail: `it answered ${word[1]}` }
      : { status: 'HEALTHY', detail: `it answered ${status}` };
  }

  /**
   * The first value of the query, against `below` or `above`: beyond it, unhealthy; beyond
   * `warnBelow` or `warnAbove`, degraded.
   */
  async #askPrometheus(probe: DueProbe): Promise<Said> {
    const url = new URL(`${String(probe.config.url).replace(/\/$/, '')}/api/v1/query`);
    url.searchParams.set('query', String(probe.config.query));
    const { status, text } = await this.#get(probe, url);
    if (status !== 200) return { status: 'UNHEALTHY', detail: `Prometheus answered ${status}` };
    if (text === undefined) return { status: 'UNHEALTHY', detail: 'its answer is too large' };
    const answer = JSON.parse(text) as { data?: { result?: { value?: [number, string] }[] } };
    const value = answer.data?.result?.[0]?.value?.[1];
    if (value === undefined) return { status: 'UNHEALTHY', detail: 'the query has no result' };
    return judged(Number(value), probe.config);
  }
}

const asked = ({ type }: DueProbe) => type === 'http' || type === 'prometheus' || type === 'sql';

/** Text that the database can hold. */
const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');

function judged(value: number, config: DueProbe['config']): Said {
  const { below, above, warnBelow, warnAbove } = config as Record<string, number | undefined>;
  const out = (low: number | undefined, high: number | undefined) =>
    Number.isNaN(value) ||
    (high !== undefined && !(value < high)) ||
    (low !== undefined && !(value > low));
  const status = out(above, below)
    ? 'UNHEALTHY'
    : out(warnAbove, warnBelow)
      ? 'DEGRADED'
      : 'HEALTHY';
  return { status, detail: `the value is ${value}` };
}

/**
 * The first value of the first row: true, or a number against the bounds. It runs on a connection
 * of its own that is closed afterwards, so no lock or setting outlives it, and as a cursor of one
 * SELECT in a transaction that cannot write. The server cuts the value, so no result fills the
 * memory of this process.
 */
async function askDatabase(probe: DueProbe, connectionString: string | undefined): Promise<Said> {
  if (!connectionString)
    return {
      status: 'UNHEALTHY',
      detail: 'SQL probes are not run here: WRIT_PROBE_URL is not set',
    };
  const client = new pg.Client({
    connectionString,
    application_name: 'writ probe',
    connectionTimeoutMillis: probe.timeout_ms,
    query_timeout: probe.timeout_ms + 1_000,
    statement_timeout: probe.timeout_ms,
  });
  client.on('error', () => undefined); // the query in flight fails with it
  const query = String(probe.config.query);
  const one = (text: string) => client.query({ text, queryMode: 'extended' } as pg.QueryConfig);
  try {
    await client.connect();
    await one('begin read only');
    const { rows: powers } = await one(
      `select exists (select from pg_roles r where pg_has_role(session_user, r.oid, 'member')
         and (r.rolname like 'writ\\_%' or r.rolname in ('dot_executor', 'workflow_admin')
           or r.oid in (select n.nspowner from pg_namespace n where n.nspname in ('writ', 'writ_data')))) as held`,
    );
    if (powers[0].held) {
      const detail =
        "the login of WRIT_PROBE_URL has Writ's roles or owns its schemas, so SQL probes are not run";
      return { status: 'UNHEALTHY', detail };
    }
    // Alone first: a query that is no complete SELECT fails here, and so cannot break out of the
    // parentheses below.
    await one(`declare alone no scroll cursor for ${query}`);
    await one(
      `declare probe no scroll cursor for select left(x.v::text, ${mostAnswer}) as v from (${query}\n) x(v)`,
    );
    const { rows } = await one('fetch 1 from probe');
    const value = (rows[0] as { v: string | null } | undefined)?.v ?? null;
    if (value === null || value === 'true' || value === 'false')
      return {
        status: value === 'true' ? 'HEALTHY' : 'UNHEALTHY',
        detail: `the query says ${value ?? 'nothing'}`,
      };
    return judged(Number(value), probe.config);
  } finally {
    await client.end().catch(() => undefined);
  }
}

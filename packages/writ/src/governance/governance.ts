/** Governance of one connection: principals, targets, contracts, jobs, health. */
import type pg from 'pg';
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { isConnectionLoss, WritRefusal } from '../errors/index.js';
import type { HandledJob, JobKind } from '../queue/job.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type { Secrets } from '../secrets/secrets.js';
import { activations } from './activations.js';
import { type In, put } from './actor.js';
import { Contracts, type ContractsHost } from './contracts.js';
import { Flags, type FollowFlagsOptions } from './flags.js';
import { Freezes } from './freezes.js';
import { governanceHandlers } from './handlers.js';
import { Incidents } from './incidents.js';
import { GovernanceJob, type JobWaiters, waitersForJobs } from './jobs.js';
import { newKey, principal } from './keys.js';
import { GovernancePolicy } from './policy.js';
import { type AskProbes, Probes, type Status } from './probes.js';
import { GovernanceSignals } from './signals.js';
import type { AnyStepType } from './steps.js';

export type Right = 'propose' | 'approve' | 'activate' | 'operate' | 'report' | 'break_glass';

export interface NewPrincipal {
  readonly id: string;
  readonly kind: 'person' | 'service' | 'agent';
  /** Of an agent: for whom it acts. */
  readonly onBehalfOf?: string;
  readonly rights?: readonly Right[];
  /** What it may have done by a governor: names that the actions of policies require. None unless given. */
  readonly permissions?: readonly string[];
  /** In one tenant only; in every one unless given. */
  readonly tenant?: string;
  /** What `newKey` made, where it has to be kept before it is valid; otherwise one is made here. */
  readonly key?: string;
}

export interface PrincipalChange {
  readonly rights?: readonly Right[];
  /** All of them from now on. */
  readonly permissions?: readonly string[];
  /** What `newKey` made: the one before is no longer valid. */
  readonly key?: string;
  readonly disabled?: boolean;
}

export interface CapabilityItem {
  readonly capability_name?: string;
  readonly domain?: string;
  readonly lifecycle?: string;
  readonly monitored?: boolean;
  readonly frozen?: string | null;
  readonly disqualified?: string | null;
  readonly scope?: string;
  readonly owner_capability?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

export interface ProbeOptions {
  readonly name: string;
  readonly capability?: string;
  readonly type?: 'http' | 'sql' | 'prometheus' | 'heartbeat' | 'reported';
  readonly config?: Readonly<Record<string, unknown>>;
  readonly every_ms?: number;
  readonly timeout_ms?: number;
  readonly removed?: boolean;
}

export interface Health {
  readonly system: string;
  readonly domains: Readonly<Record<string, string>>;
  readonly capabilities: readonly {
    readonly capability: string;
    readonly domain: string;
    readonly status: string;
    readonly why: string | null;
    readonly monitored: boolean;
  }[];
}

/** What a worker is told about governance. */
export interface GovernedWork {
  /** It also executes approved changes, audits them and asks probes; with step types of your own, or with `true` for those that are built in. */
  readonly governance?: true | readonly AnyStepType[];
  /** How it asks probes. */
  readonly probes?: AskProbes;
}

export class Governance {
  readonly contracts: Contracts;
  /** Times in which nothing is activated. */
  readonly freezes: Freezes;
  /** What is wrong and somebody is at work on. */
  readonly incidents: Incidents;
  /** What is said about the health of capabilities. */
  readonly signals: GovernanceSignals;
  /** How many approve what, and how long things may take. */
  readonly policy: GovernancePolicy;
  readonly #db: Queryable;
  readonly #actor: string;
  readonly #host: ContractsHost;
  readonly #waiters: JobWaiters;
  readonly #types = new Map<string, AnyStepType>();
  readonly #listenConnection: pg.ClientConfig | undefined;
  readonly #flags = new Set<Flags>();
  readonly #probes = new Set<Probes>();

  constructor(host: {
    readonly db: Queryable;
    readonly actor: string;
    readonly key: string | undefined;
    readonly register: (job: JobKind<never, unknown>) => Promise<void>;
    /** For LISTEN, past any pooler. */
    readonly listening: string | undefined;
    readonly secrets: Secrets;
  }) {
    this.#db = host.db;
    this.#actor = host.actor;
    this.#listenConnection =
      host.listening === undefined
        ? undefined
        : { connectionString: host.listening, application_name: 'writ flags' };
    this.#waiters = waitersForJobs(host.db);
    const { db, key, register, secrets } = host;
    this.#host = {
      db,
      key,
      register,
      secrets,
      types: this.#types,
      waiters: this.#waiters,
      activate: activations(db),
    };
    this.contracts = new Contracts(this.#host);
    this.freezes = new Freezes(this.#host);
    this.incidents = new Incidents(this.#host);
    this.signals = new GovernanceSignals(this.#host);
    this.policy = new GovernancePolicy(this.#host);
  }

  /** Makes step types of your own known to this connection, for proposals, previews and activations. A worker that executes them has them as handlers. */
  use(...types: readonly AnyStepType[]): void {
    for (const type of types) this.#types.set(type.type, type);
  }

  /** The handlers of governance for a worker: built-in step types, audits, what follows a failure, and these types of your own. */
  handlers(probes: Probes, types: readonly AnyStepType[]): HandledJob[] {
    this.use(...types);
    return governanceHandlers(
      { db: this.#db, probes, actor: this.#actor, onMoved: (jobId) => this.#moved(jobId) },
      [...this.#types.values()],
    );
  }

  /** What asks probes for one worker. */
  probes(options: AskProbes = {}): Probes {
    const probes = new Probes(this.#db, options);
    this.#probes.add(probes);
    return probes;
  }

  /** What a worker does by the clock. */
  async look(probes: Probes, workerId: string): Promise<number | undefined> {
    const { next_ms } = await gate<{ next_ms?: number }>(this.#db, 'fn_governance_tick($1)', [
      workerId,
    ]);
    const asked = await probes.turn(workerId);
    const next = Math.min(next_ms ?? Number.POSITIVE_INFINITY, asked ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(next) ? next : undefined;
  }

  /** A job that this process has moved, and one whose rollback it was: whoever waits hears of it at once. */
  #moved(jobId: string): void {
    void this.#rested(jobId).catch((error) => {
      if (!isConnectionLoss(error)) throw error;
    });
  }

  async #rested(jobId: string): Promise<void> {
    if (!this.#waiters.waited) return;
    const rows = await readRows(
      this.#db,
      `select x.job_id::text as id from writ.governance_jobs g join writ.governance_jobs x on x.job_id in (g.job_id, g.of_job_id)
       where g.job_id = $1 and x.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED')`,
      [jobId],
    );
    this.#waiters.hear(rows.map(({ id }) => String(id)));
  }

  /** Adds a principal and answers its key, which is shown once. */
  async addPrincipal({
    id,
    kind,
    onBehalfOf,
    rights,
    permissions,
    tenant,
    key = newKey(id),
  }: NewPrincipal): Promise<string> {
    await this.#putPrincipal({
      principal_id: id,
      kind,
      on_behalf_of: onBehalfOf,
      rights,
      permissions,
      tenant,
      ...kept(id, key),
      new: true,
    });
    return key;
  }

  /** Gives a principal other rights, permissions or another key, or says that it may no longer act. */
  async changePrincipal(
    id: string,
    { rights, permissions, key, disabled }: PrincipalChange,
  ): Promise<void> {
    await this.#putPrincipal({
      principal_id: id,
      rights,
      permissions,
      disabled,
      ...(key !== undefined && kept(id, key)),
      new: false,
    });
  }

  async #putPrincipal(put: object): Promise<void> {
    await gate(this.#db, 'fn_principal_put($1::text::jsonb, $2)', [
      JSON.stringify(put),
      this.#actor,
    ]);
  }

  /** A governance job that exists. */
  job(id: string): GovernanceJob {
    return new GovernanceJob(this.#host, id);
  }

  /** Makes capabilities and configuration known. */
  async put(items: readonly CapabilityItem[], options: In = {}): Promise<void> {
    await put(this.#host, 'fn_capability_put', items, options);
  }

  async putProbe(probe: ProbeOptions, options: In = {}): Promise<void> {
    await put(this.#host, 'fn_probe_put', probe, options);
  }

  /** What a heartbeat, or somebody outside, says about a probe of type heartbeat or reported. For principals with the right to report. */
  async report(
    name: string,
    status: Status,
    { detail, ...options }: In & { readonly detail?: string } = {},
  ): Promise<void> {
    refuseSecrets(detail, 'the detail');
    await put(this.#host, 'fn_probe_report', { name, status, detail }, options);
  }

  health(tenant = 'default'): Promise<Health> {
    return gate<Health>(this.#db, 'fn_health($1)', [tenant]);
  }

  /** Capabilities and values in memory, followed as they change. Begun with its `start`, ended with its `stop` or with this connection. */
  flags(options: FollowFlagsOptions = {}): Flags {
    const flags = new Flags({ db: this.#db, listenConnection: this.#listenConnection }, options);
    this.#flags.add(flags);
    return flags;
  }

  async close(): Promise<void> {
    this.#waiters.close();
    await Promise.all([
      ...[...this.#flags].map((flags) => flags.stop()),
      ...[...this.#probes].map((probes) => probes.idle()),
    ]);
  }
}

/** What the database keeps of a key. */
function kept(id: string, key: string): { auth_sha256: string; public_key: string } {
  const { id: of, authSha256, publicKey } = principal(key);
  if (of !== id)
    throw new WritRefusal('invalid_principal', `this is a key for ${of}, and not for ${id}`);
  return { auth_sha256: authSha256, public_key: publicKey };
}

/** Workers as the database hears them, and how tenants share them. */
import { type Acting, act, actorOf, type Host, tenantOf } from '../database/acting.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';

export interface ListedWorker {
  readonly worker: string;
  readonly executor: string;
  readonly domains: readonly string[];
  /** Empty: it did not say. */
  readonly kinds: readonly string[];
  /** How long it was silent: `warning` after `queue.heartbeat.stale_threshold_seconds`. */
  readonly freshness: 'fresh' | 'warning' | 'stale';
  readonly lastBeatAt: string;
  readonly cadenceSeconds: number;
  readonly idleUntil: string | null;
  /** The database login that speaks for it. */
  readonly login: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly leases: number;
  /** Jobs in its leases that have not ended. */
  readonly jobs: number;
}

export interface TenantWeight {
  readonly tenant: string;
  readonly weight: number;
  readonly setBy: string;
  readonly setAt: string;
}

export class Workers {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** By name. */
  list(options: PageOptions = {}): Promise<Page<ListedWorker>> {
    return readPage<ListedWorker>(
      this.#host.db,
      {
        columns: `executor_id as worker, executor_kind as executor, domain_scope as domains, kinds,
          freshness, last_beat_at as "lastBeatAt", expected_cadence_seconds as "cadenceSeconds",
          idle_until as "idleUntil", login, details, coalesce(l.leases, 0) as leases,
          coalesce(l.jobs, 0) as jobs`,
        from: `writ.v_queue_heartbeat w
          left join (
            select holder, count(*) as leases, sum(open_jobs) as jobs
            from writ.v_queue_lease group by holder
          ) l on l.holder = w.executor_id`,
        key: [
          ['executor_id', 'text'],
          ['login', 'text'],
        ],
        order: 'asc',
      },
      options,
    );
  }

  /** Tenants' shares of the workers. A tenant that is not listed has weight 1. */
  weights(
    options: PageOptions & { readonly tenant?: string | undefined } = {},
  ): Promise<Page<TenantWeight>> {
    return readPage<TenantWeight>(
      this.#host.db,
      {
        columns: 'tenant_id as tenant, weight, set_by as "setBy", set_at as "setAt"',
        from: 'writ.tenant_weight',
        where: [['tenant_id = ?', tenantOf(this.#host, options)]],
        key: [['tenant_id', 'text']],
        order: 'asc',
      },
      options,
    );
  }

  /**
   * Sets a tenant's share beside others that have work: 1 unless set, 0.01 to 100. Twice the
   * weight, twice the jobs.
   */
  setWeight(
    tenant: string,
    weight: number,
    options: Acting = {},
  ): Promise<Pick<TenantWeight, 'tenant' | 'weight'>> {
    return act(
      this.#host,
      'fn_tenant_weight_set($1, $2::text::float8, $3)',
      [tenant, String(weight), actorOf(this.#host, options)],
      options,
    );
  }
}

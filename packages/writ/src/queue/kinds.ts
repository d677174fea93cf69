/** Kinds of jobs as the database knows them, with their work; pausing and resuming them. */
import { type Acting, act, actorOf, type Host } from '../database/acting.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';

export interface ListedKind {
  readonly kind: string;
  readonly domain: string;
  readonly executor: string;
  readonly sourceSystem: string;
  /** Null: the setting `queue.retry.max_attempts_default`. */
  readonly attempts: number | null;
  readonly backoffBaseS: number | null;
  readonly backoffCapS: number | null;
  readonly timeoutS: number | null;
  readonly limitConcurrency: number | null;
  readonly limitRate: number | null;
  readonly limitBurst: number | null;
  readonly registeredBy: string;
  readonly registeredAt: string;
  /** Since when workers receive none of its jobs. */
  readonly pausedAt: string | null;
  readonly pausedBy: string | null;
  readonly backlog: number;
  readonly inProgress: number;
  /** Counted among the 10,000 newest dead letters of all kinds. */
  readonly deadLetters: number;
}

export class Kinds {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** By name. Writ's own kinds are in the list while they have work. */
  list(options: PageOptions = {}): Promise<Page<ListedKind>> {
    return this.#read(undefined, options);
  }

  async get(kind: string): Promise<ListedKind> {
    const [found] = (await this.#read(kind, { limit: 1 })).items;
    if (!found) throw new WritRefusal('unknown_job_kind', kind);
    return found;
  }

  #read(kind: string | undefined, page: PageOptions): Promise<Page<ListedKind>> {
    return readPage<ListedKind>(
      this.#host.db,
      {
        columns: `k.job_kind as kind, event_domain as domain, executor,
          source_system as "sourceSystem", max_attempts as attempts,
          backoff_base_s as "backoffBaseS", backoff_cap_s as "backoffCapS",
          timeout_s as "timeoutS", limit_concurrency as "limitConcurrency",
          limit_rate as "limitRate", limit_burst as "limitBurst",
          registered_by as "registeredBy", registered_at as "registeredAt",
          paused_at as "pausedAt", paused_by as "pausedBy",
          coalesce(b.backlog, 0) as backlog, coalesce(p.in_progress, 0) as "inProgress",
          coalesce(d.n, 0) as "deadLetters"`,
        from: `writ.job_kind k
          left join writ.v_job_queue_backlog b on b.job_kind = k.job_kind
          left join writ.v_job_queue_in_progress p on p.job_kind = k.job_kind
          left join (
            select x.job_kind, count(*) as n
            from (
              select e.job_kind from writ.v_job_by_status e where e.status = 'dead_letter'
              order by e.job_id desc limit 10000
            ) x
            group by x.job_kind
          ) d on d.job_kind = k.job_kind`,
        where: [
          ['k.job_kind = ?', kind],
          [
            // Timers and waits of runs wait for no worker.
            `k.job_kind not like 'writ.%' and (k.registered_by <> 'migration'
              or b.backlog > 0 or p.in_progress > 0 or d.n > 0)`,
            kind === undefined || undefined,
          ],
        ],
        key: [['k.job_kind', 'text']],
        order: 'asc',
      },
      page,
    );
  }

  /**
   * Keeps the jobs of a kind from workers. Running jobs end; jobs can be enqueued, and wait.
   * Answers whether the kind was running.
   */
  pause(kind: string, options: Acting = {}): Promise<{ readonly changed: boolean }> {
    return this.#set(kind, true, options);
  }

  /** Answers whether the kind was paused. */
  resume(kind: string, options: Acting = {}): Promise<{ readonly changed: boolean }> {
    return this.#set(kind, false, options);
  }

  async #set(kind: string, paused: boolean, options: Acting) {
    const { changed } = await act<{ changed: boolean }>(
      this.#host,
      'fn_job_kind_pause($1, $2::text::boolean, $3)',
      [kind, String(paused), actorOf(this.#host, options)],
      options,
    );
    return { changed };
  }
}

/**
 * Subscriptions: which jobs a worker may claim. A worker without subscriptions claims what it asks
 * for; one with subscriptions claims what any of them allows.
 */
import { type Acting, act, actorOf, type Host } from '../database/acting.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';

export interface Subscription {
  /** Only jobs of this kind; all unless given. */
  readonly kind?: string | null | undefined;
  /** Only jobs whose kind belongs to this domain; all unless given. */
  readonly domain?: string | null | undefined;
  /** Only jobs of this priority or higher; any unless given. */
  readonly priorityFloor?: number | undefined;
}

export class Subscriptions {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /**
   * Allows a worker, by the name it was started with, such jobs. The first subscription of a worker
   * rules out everything else.
   */
  async put(
    worker: string,
    { kind, domain, priorityFloor, ...options }: Subscription & Acting,
  ): Promise<void> {
    if (priorityFloor !== undefined && !Number.isSafeInteger(priorityFloor)) {
      throw new WritRefusal('invalid_subscription', `${priorityFloor} is not a priority`);
    }
    const floor = priorityFloor === undefined ? null : String(priorityFloor);
    await act(
      this.#host,
      'fn_job_subscription_put($1, $2, $3, $4::text::integer, $5)',
      [worker, kind ?? null, domain ?? null, floor, actorOf(this.#host, options)],
      options,
    );
  }

  /** Takes one back. `limited` is false without another: the worker claims what it asks for. */
  async remove(
    worker: string,
    { kind, domain, ...options }: Pick<Subscription, 'kind' | 'domain'> & Acting = {},
  ): Promise<{ readonly limited: boolean }> {
    const { limited } = await act<{ limited: boolean }>(
      this.#host,
      'fn_job_subscription_remove($1, $2, $3, $4)',
      [worker, kind ?? null, domain ?? null, actorOf(this.#host, options)],
      options,
    );
    return { limited };
  }

  /** By worker, kind and domain. */
  list(
    options: PageOptions = {},
  ): Promise<Page<Required<Subscription> & { readonly worker: string }>> {
    return readPage(
      this.#host.db,
      {
        columns: `executor_id as worker, job_kind as kind, event_domain as domain,
          priority_floor as "priorityFloor"`,
        from: 'writ.job_subscription',
        key: [
          ['executor_id', 'text'],
          ['(job_kind is null)', 'boolean'],
          [`coalesce(job_kind, '')`, 'text'],
          [`coalesce(event_domain, '')`, 'text'],
        ],
        order: 'asc',
      },
      options,
    );
  }
}

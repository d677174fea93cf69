/** Subscriptions: what a worker may claim. A worker that has none claims what it asks for; one that has some claims what any of them allows. */
import { WritRefusal } from '../errors/index.js';
import type { ConsumerGates } from './consumers.js';

export interface Subscription {
  /** Only jobs of this kind; all unless given. */
  readonly kind?: string | undefined;
  /** Only jobs whose kind belongs to this domain; all unless given. */
  readonly domain?: string | undefined;
  /** Only jobs of this priority or higher; any unless given. */
  readonly priorityFloor?: number | undefined;
}

export class Subscriptions {
  readonly #gates: Pick<ConsumerGates, 'gate' | 'rows'>;
  readonly #actor: string;

  constructor(gates: Pick<ConsumerGates, 'gate' | 'rows'>, actor: string) {
    this.#gates = gates;
    this.#actor = actor;
  }

  /** Allows a worker, by the name it was started with, such jobs. The first subscription of a worker rules out everything else. */
  async put(worker: string, { kind, domain, priorityFloor }: Subscription): Promise<void> {
    if (priorityFloor !== undefined && !Number.isSafeInteger(priorityFloor)) {
      throw new WritRefusal('invalid_subscription', `${priorityFloor} is not a priority`);
    }
    const floor = priorityFloor === undefined ? null : String(priorityFloor);
    await this.#gates.gate('fn_job_subscription_put', [
      worker,
      kind ?? null,
      domain ?? null,
      floor,
      this.#actor,
    ]);
  }

  /** Takes one back. `limited` false: it was the last one, and the worker claims what it asks for. */
  async remove(
    worker: string,
    { kind, domain }: Pick<Subscription, 'kind' | 'domain'> = {},
  ): Promise<{ limited: boolean }> {
    const answer = await this.#gates.gate('fn_job_subscription_remove', [
      worker,
      kind ?? null,
      domain ?? null,
      this.#actor,
    ]);
    return { limited: answer.limited === true };
  }

  async list(): Promise<(Subscription & { readonly worker: string })[]> {
    const text = (value: unknown) => (value === null ? undefined : String(value));
    return (await this.#gates.rows('job_subscription')).map((row) => ({
      worker: String(row.executor_id),
      kind: text(row.job_kind),
      domain: text(row.event_domain),
      priorityFloor: Number(row.priority_floor),
    }));
  }
}

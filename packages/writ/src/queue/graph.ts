/**
 * Jobs that belong together: one workflow and its jobs, emitted in one transaction. No order among
 * them: each can run at once.
 */
import type { EnqueueOptions } from './enqueue.js';
import type { JobKind } from './job.js';

export interface Workflow {
  /** What sort of group this is: `nightly-import`. */
  readonly kind: string;
  /** Who makes such groups. A generator is not a worker: its name can hold no lease. */
  readonly generator: string;
  /**
   * Makes it idempotent: a second workflow of this kind and tenant with the same key is not
   * emitted.
   */
  readonly key?: string;
  /** Or fix its id, a UUIDv7, for the same. */
  readonly id?: string;
  readonly tenant?: string;
  /** For jobs that have none of their own. */
  readonly correlationId?: string;
}

/**
 * One job of a graph: its kind, its input, and what `enqueue` takes; the tenant is the workflow's.
 */
export type GraphJob<Sent> = Omit<EnqueueOptions, 'tenant'> & {
  readonly job: JobKind<Sent, unknown>;
} & (Sent extends undefined ? { readonly input?: Sent } : { readonly input: Sent });

export interface EmittedGraph {
  readonly workflowId: string;
  /** In the order of the jobs. */
  readonly jobIds: readonly string[];
  /** The workflow was there already; nothing was emitted, and these are its ids. */
  readonly duplicate: boolean;
}

export const workflowJson = ({ id, kind, generator, key, correlationId }: Workflow): string =>
  JSON.stringify({ id, kind, generator, key, correlation_id: correlationId });

/** Enqueueing, behind the door: kinds are registered on first use, calls that come at the same time travel together, and a trace goes along where somebody traces. */
import { Coalescer } from '../database/coalescer.js';
import { type AnyConnection, type Queryable, queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { fromDatabase, WritRefusal } from '../errors/index.js';
import { sending, traced } from '../telemetry/sending.js';
import {
  type CallOptions,
  type EnqueueCall,
  type Enqueued,
  type EnqueueOptions,
  type Item,
  JobItem,
  type ManyItem,
  send,
  toItem,
  toItems,
} from './enqueue.js';
import { type EmittedGraph, type GraphJob, type Workflow, workflowJson } from './graph.js';
import type { JobKind } from './job.js';

type AnyKind = JobKind<never, unknown>;

export interface ProducerHost {
  readonly db: Queryable;
  readonly actor: string;
  /** Makes a call that closing waits for; refuses it when closed. */
  readonly calling: <T>(call: () => Promise<T>) => Promise<T>;
  readonly closed: () => boolean;
}

export class Producer {
  readonly #host: ProducerHost;
  readonly #coalescer: Coalescer<Item, Enqueued | WritRefusal>;
  readonly #kinds = new Map<string, Promise<void>>();
  /** Kinds that the database knows, and whose inputs need no look. */
  readonly #known = new WeakSet<AnyKind>();

  constructor(host: ProducerHost) {
    this.#host = host;
    this.#coalescer = new Coalescer(
      (items) => send(host.db, items, host.actor),
      (item) => (item.input?.length ?? 0) + 200,
    );
  }

  /** Resolves when nothing is on its way. */
  idle(): Promise<void> {
    return this.#coalescer.idle();
  }

  enqueue(
    job: AnyKind,
    input: unknown,
    options: EnqueueOptions & EnqueueCall,
  ): Promise<Enqueued | WritRefusal> {
    const span = sending('enqueue', job.kind);
    return span
      ? span.over((traceparent) => this.#enqueue(job, input, options, traceparent))
      : this.#enqueue(job, input, options);
  }

  #enqueue(
    job: AnyKind,
    input: unknown,
    options: EnqueueOptions & EnqueueCall,
    traceparent?: string,
  ) {
    // The ordinary call goes straight to the others that are asked for now: steps that wait for nothing would still cost more than the rest.
    const straight =
      this.#known.has(job) && !options.db && options.coalesce !== false && !this.#host.closed();
    if (straight) return this.#coalescer.add(new JobItem(job, input, options, traceparent));
    return this.#host.calling(() => this.#enqueueOne(job, input, options, traceparent));
  }

  async #enqueueOne(
    job: AnyKind,
    input: unknown,
    options: EnqueueOptions & EnqueueCall,
    traceparent?: string,
  ) {
    const item = await toItem(job, input, options, traceparent);
    await this.register(job);
    if (!job.validated) this.#known.add(job);
    if (!options.db && options.coalesce !== false) return this.#coalescer.add(item);
    const [outcome] = await this.#send(options.db, [item]);
    return outcome as Enqueued | WritRefusal;
  }

  enqueueMany(
    kind: AnyKind,
    items: readonly ManyItem<never>[],
    options: CallOptions,
    atomic: boolean,
  ) {
    const enqueue = (trace?: string) => this.#enqueueAll(kind, items, options, atomic, trace);
    return this.#host.calling(() => traced('enqueue', kind.kind, items.length, enqueue));
  }

  async #enqueueAll(
    kind: AnyKind,
    items: readonly ManyItem<never>[],
    { db }: CallOptions,
    atomic: boolean,
    trace?: string,
  ) {
    await this.register(kind);
    const prepared = await toItems(kind, items, trace);
    const good = prepared.filter((item): item is Item => !(item instanceof WritRefusal));
    if (good.length === 0 || (atomic && good.length < prepared.length))
      return prepared.filter((item) => item instanceof WritRefusal);
    const sent = await this.#send(db, good, atomic);
    let next = 0;
    return prepared.map((item) =>
      item instanceof WritRefusal ? item : (sent[next++] as Enqueued | WritRefusal),
    );
  }

  emitGraph(
    workflow: Workflow,
    jobs: readonly GraphJob<unknown>[],
    options: CallOptions,
  ): Promise<EmittedGraph> {
    const emit = (trace?: string) => this.#emitGraph(workflow, jobs, options, trace);
    return this.#host.calling(() => traced('enqueue', workflow.kind, jobs.length, emit));
  }

  async #emitGraph(
    workflow: Workflow,
    jobs: readonly GraphJob<unknown>[],
    { db }: CallOptions,
    trace?: string,
  ): Promise<EmittedGraph> {
    const kinds = jobs.map(({ job }) => job as unknown as AnyKind);
    await Promise.all(kinds.map((kind) => this.register(kind)));
    const items = await Promise.all(
      jobs.map(({ job: _, input, ...rest }, n) => toItem(kinds[n] as AnyKind, input, rest, trace)),
    );
    const answer = await gate<{ workflow_id: string; job_ids: string[]; duplicate: boolean }>(
      db ? queryable(db) : this.#host.db,
      'fn_mot_graph_emit($1::text::jsonb, $2::text::jsonb, $3, $4)',
      [
        workflowJson(workflow),
        `[${items.map((item) => item.json()).join(',')}]`,
        this.#host.actor,
        workflow.tenant ?? 'default',
      ],
    );
    return {
      workflowId: answer.workflow_id,
      jobIds: answer.job_ids,
      duplicate: answer.duplicate === true,
    };
  }

  async #send(
    db: AnyConnection | undefined,
    items: readonly Item[],
    atomic = false,
  ): Promise<(Enqueued | WritRefusal)[]> {
    try {
      return await send(db ? queryable(db) : this.#host.db, items, this.#host.actor, atomic);
    } catch (error) {
      throw fromDatabase(error);
    }
  }

  /**
   * Tells the database about a kind, once per connection. Outside the caller's transaction: its rollback must not undo it.
   * What stands is changed only where the definition says something; a worker says everything, since it does the jobs.
   */
  register(job: AnyKind, as: 'producer' | 'worker' = 'producer'): Promise<void> {
    const name = `${as} ${job.kind}`;
    const known = this.#kinds.get(name) ?? this.#kinds.get(`worker ${job.kind}`);
    if (known) return known;
    const { db, actor } = this.#host;
    const params = [
      job.kind,
      JSON.stringify(as === 'worker' ? job.wholeDefinition : job.definition),
      actor,
    ];
    const registering = gate(db, 'fn_job_kind_register($1, $2::text::jsonb, $3)', params).then(
      () => undefined,
    );
    registering.catch(() => this.#kinds.delete(name));
    this.#kinds.set(name, registering);
    return registering;
  }
}

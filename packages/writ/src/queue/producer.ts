/**
 * Enqueueing, behind the door: kinds are registered on first use, calls that come at the same time
 * travel together, and a trace goes along where somebody traces.
 */
import { Coalescer } from '../database/coalescer.js';
import { type AnyConnection, type Queryable, transactionOf } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { fromDatabase, WritError, WritRefusal } from '../errors/index.js';
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
type ItemCoalescer = Coalescer<Item, Enqueued | WritRefusal>;

export interface ProducerHost {
  readonly db: Queryable;
  readonly actor: string;
  /** Makes a call that closing waits for; refuses it when closed. */
  readonly calling: <T>(call: () => Promise<T>) => Promise<T>;
  readonly closed: () => boolean;
}

/** `conflict`: who defined the kind before, if the two definitions take turns. */
interface Registered {
  readonly conflict?: string;
}

/** What this connection has said about a kind, and whether a worker has: it says everything. */
interface Definition {
  readonly says: Readonly<Record<string, unknown>>;
  readonly whole: boolean;
}

export class Producer {
  readonly #host: ProducerHost;
  readonly #coalescer: ItemCoalescer;
  /** Of bound connections with calls on their way: a batch has one actor. */
  readonly #bound = new Map<string, { readonly coalescer: ItemCoalescer; open: number }>();
  readonly #kinds = new Map<string, Promise<Registered>>();
  readonly #definitions = new Map<string, Definition>();
  /** Kinds that the database knows, and whose inputs need no look. */
  readonly #known = new WeakSet<AnyKind>();

  constructor(host: ProducerHost) {
    this.#host = host;
    this.#coalescer = this.#coalescerOf(host.actor);
  }

  #coalescerOf(actor: string): ItemCoalescer {
    return new Coalescer(
      (items) => send(this.#host.db, items, actor),
      (item) => (item.input?.length ?? 0) + 200,
    );
  }

  #coalesced(item: Item, actor: string): Promise<Enqueued | WritRefusal> {
    return actor === this.#host.actor ? this.#coalescer.add(item) : this.#ofActor(item, actor);
  }

  async #ofActor(item: Item, actor: string): Promise<Enqueued | WritRefusal> {
    const own = this.#bound.get(actor) ?? { coalescer: this.#coalescerOf(actor), open: 0 };
    this.#bound.set(actor, own);
    own.open += 1;
    try {
      return await own.coalescer.add(item);
    } finally {
      own.open -= 1;
      if (own.open === 0) this.#bound.delete(actor);
    }
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    const bound = [...this.#bound.values()].map(({ coalescer }) => coalescer.idle());
    await Promise.all([this.#coalescer.idle(), ...bound]);
  }

  enqueue(
    job: AnyKind,
    input: unknown,
    options: EnqueueOptions & EnqueueCall,
    actor = this.#host.actor,
  ): Promise<Enqueued | WritRefusal> {
    const span = sending('enqueue', job.kind);
    const outcome = span
      ? span.over((traceparent) => this.#enqueue(job, input, options, actor, traceparent))
      : this.#enqueue(job, input, options, actor);
    return options.once === undefined ? outcome : outcome.then((known) => sameCall(options, known));
  }

  #enqueue(
    job: AnyKind,
    input: unknown,
    options: EnqueueOptions & EnqueueCall,
    actor: string,
    traceparent?: string,
  ) {
    // The ordinary call goes straight to the others that are asked for now: steps that wait for
    // nothing would still cost more than the rest.
    const straight =
      this.#known.has(job) && !options.db && options.coalesce !== false && !this.#host.closed();
    if (straight) return this.#coalesced(new JobItem(job, input, options, traceparent), actor);
    return this.#host.calling(() => this.#enqueueOne(job, input, options, actor, traceparent));
  }

  async #enqueueOne(
    job: AnyKind,
    input: unknown,
    options: EnqueueOptions & EnqueueCall,
    actor: string,
    traceparent?: string,
  ) {
    const item = await toItem(job, input, options, traceparent);
    await this.register(job);
    if (!job.validated) this.#known.add(job);
    if (!options.db && options.coalesce !== false) return this.#coalesced(item, actor);
    const [outcome] = await this.#send(options.db, [item], actor);
    return outcome as Enqueued | WritRefusal;
  }

  enqueueMany(
    kind: AnyKind,
    items: readonly ManyItem<never>[],
    options: CallOptions,
    atomic: boolean,
    actor = this.#host.actor,
  ) {
    const enqueue = (trace?: string) =>
      this.#enqueueAll(kind, items, options, atomic, actor, trace);
    return this.#host.calling(() => traced('enqueue', kind.kind, items.length, enqueue));
  }

  async #enqueueAll(
    kind: AnyKind,
    items: readonly ManyItem<never>[],
    { db }: CallOptions,
    atomic: boolean,
    actor: string,
    trace?: string,
  ) {
    await this.register(kind);
    const prepared = await toItems(kind, items, trace);
    const good = prepared.filter((item): item is Item => !(item instanceof WritRefusal));
    if (good.length === 0 || (atomic && good.length < prepared.length))
      return prepared.filter((item) => item instanceof WritRefusal);
    const sent = await this.#send(db, good, actor, atomic);
    let next = 0;
    return prepared.map((item, n) =>
      item instanceof WritRefusal
        ? item
        : sameCall(
            (items as readonly EnqueueOptions[])[n] ?? {},
            sent[next++] as Enqueued | WritRefusal,
          ),
    );
  }

  emitGraph(
    workflow: Workflow,
    jobs: readonly GraphJob<unknown>[],
    options: CallOptions,
    actor = this.#host.actor,
  ): Promise<EmittedGraph> {
    const emit = (trace?: string) => this.#emitGraph(workflow, jobs, options, actor, trace);
    return this.#host.calling(() => traced('enqueue', workflow.kind, jobs.length, emit));
  }

  async #emitGraph(
    workflow: Workflow,
    jobs: readonly GraphJob<unknown>[],
    { db }: CallOptions,
    actor: string,
    trace?: string,
  ): Promise<EmittedGraph> {
    const kinds = jobs.map(({ job }) => job as unknown as AnyKind);
    await Promise.all(kinds.map((kind) => this.register(kind)));
    const items = await Promise.all(
      jobs.map(({ job: _, input, ...rest }, n) => toItem(kinds[n] as AnyKind, input, rest, trace)),
    );
    const answer = await gate<{ workflow_id: string; job_ids: string[]; duplicate: boolean }>(
      db ? transactionOf(db) : this.#host.db,
      'fn_mot_graph_emit($1::text::jsonb, $2::text::jsonb, $3, $4)',
      [
        workflowJson(workflow),
        `[${items.map((item) => item.json()).join(',')}]`,
        actor,
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
    actor: string,
    atomic = false,
  ): Promise<(Enqueued | WritRefusal)[]> {
    try {
      return await send(db ? transactionOf(db) : this.#host.db, items, actor, atomic);
    } catch (error) {
      throw fromDatabase(error);
    }
  }

  /**
   * Tells the database about a kind, once per connection. Outside the caller's transaction: its
   * rollback must not undo it. What stands is changed only where the definition says something; a
   * worker says everything, since it does the jobs. Two definitions of one kind that differ are a
   * mistake: only one of them could be in force.
   */
  async register(job: AnyKind, as: 'producer' | 'worker' = 'producer'): Promise<Registered> {
    const name = `${as} ${job.kind}`;
    const before = this.#definitions.get(job.kind);
    const given = definitionOf(job, as);
    const merged = before ? mergedDefinition(job.kind, before, given) : given;
    const known = this.#kinds.get(name) ?? this.#kinds.get(`worker ${job.kind}`);
    if (known && merged === before) return known;
    this.#definitions.set(job.kind, merged);
    const { db, actor } = this.#host;
    const params = [
      job.kind,
      JSON.stringify(as === 'worker' ? job.wholeDefinition : job.definition),
      actor,
    ];
    const registering = gate<{ conflict?: string }>(
      db,
      'fn_job_kind_register($1, $2::text::jsonb, $3)',
      params,
    );
    registering.catch(() => {
      this.#kinds.delete(name);
      if (before) this.#definitions.set(job.kind, before);
      else this.#definitions.delete(job.kind);
    });
    this.#kinds.set(name, registering);
    return registering;
  }
}

function definitionOf(job: AnyKind, as: 'producer' | 'worker'): Definition {
  const said = Object.entries(job.definition).filter(([, value]) => value !== undefined);
  return { says: Object.fromEntries(said), whole: as === 'worker' };
}

/** What two definitions of a kind say together; `before` itself if the other adds nothing. */
function mergedDefinition(kind: string, before: Definition, given: Definition): Definition {
  const says = { ...before.says, ...given.says };
  for (const field of Object.keys(says)) {
    const [one, other] = [before.says[field], given.says[field]];
    // What a whole definition leaves out, it takes away.
    const differs =
      one === undefined ? before.whole : other === undefined ? given.whole : one !== other;
    if (differs)
      throw new WritError(
        'kind_conflict',
        `${kind}: ${field} is ${one ?? 'not set'} in one definition, ${other ?? 'not set'} in another`,
      );
  }
  const adds =
    (given.whole && !before.whole) ||
    Object.keys(given.says).some((name) => !(name in before.says));
  return adds ? { says, whole: before.whole || given.whole } : before;
}

/** A key of `once` stands for one call: the job that has it has the same input. */
function sameCall(
  { key, once }: EnqueueOptions,
  outcome: Enqueued | WritRefusal,
): Enqueued | WritRefusal {
  const another =
    once !== undefined &&
    key === undefined &&
    !(outcome instanceof WritRefusal) &&
    outcome.samePayload === false;
  return another ? new WritRefusal('once_conflict', once) : outcome;
}

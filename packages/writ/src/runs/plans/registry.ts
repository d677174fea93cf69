/** `writ.plans`: versions of plans that the database knows. */
import { type Acting, act, actorOf, type Host, tenantOf } from '../../database/acting.js';
import { readJson } from '../../database/gate.js';
import { type Page, type PageOptions, readPage } from '../../database/listing.js';
import { WritRefusal } from '../../errors/index.js';
import type { JobKind } from '../../queue/job.js';
import type { PlanDocument } from './document.js';
import { Plan } from './plan.js';

export interface ListedPlan {
  readonly planId: string;
  readonly planVersion: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly steps: number;
  readonly registeredBy: string;
  readonly registeredAt: string;
  /** The only tenant that has it; null: all. */
  readonly registeredFor: string | null;
}

export interface RegisteredPlan extends ListedPlan {
  readonly document: PlanDocument;
  /** Kinds of its jobs that no worker serves at the moment. */
  readonly unserved: readonly string[];
}

export interface PlanFilter extends PageOptions {
  readonly plan?: string;
  /** Only plans that this tenant alone has. */
  readonly tenant?: string;
}

export interface PlansHost extends Host {
  readonly register: (job: JobKind<never, unknown>) => Promise<void>;
}

const columns = `plan_id as "planId", plan_version as "planVersion", sha256,
  size_bytes as "sizeBytes", json_array_length(document::json -> 'steps') as steps,
  registered_by as "registeredBy", registered_at as "registeredAt",
  registered_for as "registeredFor"`;

export class Plans {
  readonly #host: PlansHost;
  /** By their hashes. */
  readonly #registered = new Map<string, Promise<void>>();
  /** Plans with schemas for what they wait for, by their hashes. */
  readonly #waiting = new Map<string, Plan<never>>();

  constructor(host: PlansHost) {
    this.#host = host;
  }

  /** The versions that were registered last come first. */
  list({ plan, tenant, ...options }: PlanFilter = {}): Promise<Page<ListedPlan>> {
    return readPage<ListedPlan>(
      this.#host.db,
      {
        columns,
        from: 'writ.plan',
        where: [
          ['plan_id = ?', plan],
          ['registered_for = ?', tenant],
        ],
        key: [['plan_no', 'integer']],
      },
      options,
    );
  }

  /** A version of a plan, or the one that was registered last. A tenant's own comes first. */
  async get(
    planId: string,
    { version, ...options }: { readonly version?: string; readonly tenant?: string } = {},
  ): Promise<RegisteredPlan> {
    const { db } = this.#host;
    const [row] = await readJson<ListedPlan & { document: string; unserved: string[] }>(
      db,
      `select ${columns}, document, array(
         select distinct k.kind
         from json_array_elements(p.document::json -> 'steps') s,
           lateral (values (s ->> 'kind'), (s #>> '{compensate,kind}')) k(kind)
         where k.kind is not null and not exists (
           select from writ.v_queue_heartbeat h
           where h.freshness = 'fresh' and (h.kinds = '{}' or k.kind = any (h.kinds)))
         order by 1) as unserved
       from writ.plan p
       where plan_id = $1 and ($2::text is null or plan_version = $2)
         and ($3::text is null or coalesce(registered_for, $3) = $3)
       order by registered_at desc, registered_for is null, plan_version desc
       limit 1`,
      [planId, version ?? null, tenantOf(this.#host, options) ?? null],
    );
    if (row) return { ...row, document: JSON.parse(row.document) as PlanDocument };
    const others = await readJson<{ name: string }>(
      db,
      version === undefined
        ? 'select distinct plan_id as name from writ.plan order by 1 limit 10'
        : `select plan_version as name from writ.plan
           where plan_id = $1 order by registered_at desc limit 10`,
      version === undefined ? [] : [planId],
    );
    const known =
      others.length === 0 ? 'none is' : `there is ${others.map(({ name }) => name).join(', ')}`;
    throw new WritRefusal(
      'PLAN_NOT_FOUND',
      `${planId}${version === undefined ? '' : ` ${version}`}; ${known}`,
    );
  }

  /**
   * Registers a version of a plan and the kinds of its jobs, once per process. It happens outside
   * the caller's transaction: a rollback must not undo it. Of a document the kinds have to be
   * known.
   */
  async register(plan: Plan<never> | PlanDocument, options: Acting = {}): Promise<Plan<never>> {
    const known = 'canonical' in plan ? plan : (new Plan(plan) as Plan<never>);
    if (known !== plan) await this.#assertKinds(known);
    const before = this.#registered.get(known.sha256);
    if (!before && known.waits.size > 0) this.#waiting.set(known.sha256, known);
    const registering = before ?? this.#register(known, options);
    registering.catch(() => this.#registered.delete(known.sha256));
    this.#registered.set(known.sha256, registering);
    await registering;
    return known;
  }

  async #register(plan: Plan<never>, options: Acting): Promise<void> {
    const { register } = this.#host;
    await Promise.all([...plan.kinds.values()].map((job) => job && register(job)));
    // Without `once`: a version is registered once by its content, and a start goes on from here.
    await act({ db: this.#host.db }, 'fn_plan_register($1, $2, $3)', [
      new TextDecoder().decode(plan.canonical),
      plan.sha256,
      actorOf(this.#host, options),
    ]);
  }

  async #assertKinds(plan: Plan<never>): Promise<void> {
    const rows = await readJson<{ kind: string }>(
      this.#host.db,
      `select k.kind from unnest($1::text[]) k(kind)
       where not exists (select from writ.job_kind j where j.job_kind = k.kind) order by 1`,
      [[...plan.kinds.keys()]],
    );
    if (rows.length > 0)
      throw new WritRefusal(
        'unknown_job_kind',
        `${rows.map(({ kind }) => kind).join(', ')}, of plan ${plan.id}`,
      );
  }

  /** A registered plan that is what its hash says. */
  async named<Input>({
    planId,
    planVersion,
  }: {
    readonly planId: string;
    readonly planVersion?: string;
  }): Promise<Plan<Input>> {
    const { document, sha256 } = await this.get(
      planId,
      planVersion === undefined ? {} : { version: planVersion },
    );
    const plan = new Plan<Input>(document);
    if (plan.sha256 !== sha256)
      throw new WritRefusal(
        'PLAN_INTEGRITY_VALIDATION_FAILED',
        `${plan.id} ${plan.version}: it was not registered in its canonical form`,
      );
    return plan;
  }

  /** The numbers of a plan's versions, by which runs are found. */
  async numbers(planId: string): Promise<number[]> {
    const rows = await readJson<{ plan_no: number }>(
      this.#host.db,
      'select plan_no from writ.plan where plan_id = $1',
      [planId],
    );
    return rows.map(({ plan_no }) => plan_no);
  }

  /** Checks what an event carries against the schema of the plan, if this process registered it. */
  async waitingFor(event: string, sha256: () => Promise<string>, payload: unknown): Promise<void> {
    const plans = [...this.#waiting.values()].filter(({ waits }) => waits.has(event));
    if (plans.length === 0) return;
    const wanted = await sha256();
    await plans.find((plan) => plan.sha256 === wanted)?.parseEvent(event, payload);
  }
}

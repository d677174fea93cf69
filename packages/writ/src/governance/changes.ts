/** `writ.changes`: governance jobs, each the execution of one contract, or its undoing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../database/connection.js';
import { readJson, readRows } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { Waiters } from '../database/waiters.js';
import { WritRefusal } from '../errors/index.js';
import type { GovernanceJobState } from '../machines/governance-job.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type ActingHost, actAs, type In, type Reading, tenantRead } from './actor.js';
import type { Audit, Audits, Resolution } from './audits.js';
import type { ChangeStep } from './steps.js';

export type JobWaiters = Waiters;

/**
 * Those of $1 that have come to rest, and those that are not there. One whose audit waits for a
 * person rests, too.
 */
export const waitersForJobs = (db: Queryable, signal?: AbortSignal): JobWaiters =>
  new Waiters(
    db,
    `select u.id::text, g.status from unnest($1::text::uuid[]) u(id)
     left join lateral (select * from writ.governance_jobs x where x.job_id = u.id offset 0) g on true
     where g.job_id is null or g.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED')`,
    'job_not_found',
    signal,
  );

/**
 * Those of $1, contract/review, that an applier has looked at, and those of contracts that wait for
 * no approval any more.
 */
export const waitersForVerdicts = (db: Queryable, signal?: AbortSignal): Waiters =>
  new Waiters(
    db,
    `select u.id, coalesce(r.verdict, c.status) as status from unnest($1::text[]) u(id)
     join writ.contract_review r on r.contract_id = split_part(u.id, '/', 1)::uuid and r.review_no = split_part(u.id, '/', 2)::integer
     join writ.system_contracts c on c.contract_id = r.contract_id
     where r.verdict is not null or c.status <> 'ELIGIBLE'`,
    'contract_not_found',
    signal,
  );

/** Those of $1, queue jobs of reads (contract_read), that no applier has to answer any more. */
export const waitersForReads = (db: Queryable, signal?: AbortSignal): Waiters =>
  new Waiters(
    db,
    `select u.id, 'ended' as status from unnest($1::text[]) u(id)
     where not exists (
       select from writ.contract_read r where r.job_id = u.id::uuid and r.open
     )`,
    'contract_not_found',
    signal,
  );

/** A governance job in a list: fields of the view `governance_jobs`, and the contract's title. */
export interface ListedChange {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly contract_id: string;
  /** Of its contract. */
  readonly title: string;
  readonly kind: 'forward' | 'rollback';
  /** The job that a rollback undoes. */
  readonly of_job_id: string | null;
  readonly version: number;
  readonly status: GovernanceJobState;
  readonly status_reason: string | null;
  /** The worker that began it. */
  readonly executor_id: string | null;
  readonly total_steps: number;
  readonly completed_steps: number;
  readonly audit_verdict: Audit['verdict'] | 'PENDING' | null;
  readonly rollback_job_id: string | null;
  /** The job that undid it later, where its rollback failed at first. */
  readonly resolved_by_job_id: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
}

/** One move of a governance job. */
export interface ChangeMove {
  readonly from_status: string;
  readonly to_status: GovernanceJobState;
  readonly event: string;
  readonly reason: string | null;
  readonly by: string;
  readonly at: string;
}

/** A governance job, by the names of the specification. */
export interface Change extends ListedChange {
  readonly run_id: string;
  readonly duration_ms: number | null;
  readonly current_step: number | null;
  readonly max_duration_ms: number;
  readonly scope_hash: string;
  /** Hashes of the values of its targets, before and after. */
  readonly state_before: string;
  readonly state_after: string | null;
  readonly health_before: unknown;
  readonly rollback_reason: string | null;
  readonly audit_id: string | null;
  readonly updated_at: string;
  readonly history: readonly ChangeMove[];
}

/** A step of a governance job, as the view `governance_job_steps` has it. */
export interface GovernedStep extends ChangeStep {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly step_no: number;
  readonly status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'SKIPPED';
  readonly started_at: string | null;
  readonly completed_at: string | null;
  /** What was found and what was written, by slot. */
  readonly result: {
    readonly before: Readonly<Record<string, unknown>>;
    readonly after: Readonly<Record<string, unknown>>;
  } | null;
  readonly error: string | null;
  readonly rollback_action: Readonly<Record<string, unknown>> | null;
  readonly evidence: Readonly<Record<string, unknown>> | null;
  readonly receipt_no: number | null;
  /** The step that a rollback's step undoes. */
  readonly undo_of: number | null;
}

/** What a governance job proves: its hashes and health, and the evidence of each step. */
export interface ChangeEvidence
  extends Pick<
    Change,
    'job_id' | 'contract_id' | 'scope_hash' | 'state_before' | 'state_after' | 'health_before'
  > {
  readonly steps: readonly Pick<
    GovernedStep,
    'step_no' | 'step_type' | 'target' | 'result' | 'evidence' | 'receipt_no'
  >[];
}

export interface ChangeFilter extends Reading {
  readonly status?: GovernanceJobState | undefined;
  /** Those of this contract. */
  readonly contract?: string | undefined;
  /** Those that this worker began. */
  readonly executor?: string | undefined;
  /** Made at this time or later. */
  readonly since?: Date | undefined;
  /** Made before this time. */
  readonly until?: Date | undefined;
}

/** A governance job with its steps. */
export interface ChangePart {
  readonly job: Change;
  readonly steps: readonly GovernedStep[];
}

/**
 * A governance job as it stands now, with its audit and its rollback: one reading for whoever
 * watches it.
 */
export interface ChangeLook extends ChangePart {
  /** The last audit. */
  readonly audit: Audit | null;
  /** How many audits there were. */
  readonly audits: number;
  readonly rollback: ChangePart | null;
  /** By the clock of the database, in milliseconds. */
  readonly now: number;
}

/** One thing that has happened to a governance job, to its rollback, or to a step of either. */
export interface ChangeEvent {
  /** The same however often it is read. */
  readonly key: string;
  readonly at: string;
  readonly job_id: string;
  readonly rollback: boolean;
  readonly event: 'moved' | 'step';
  readonly status: string;
  /** Why it moved. */
  readonly reason: string | null;
  readonly step?: GovernedStep;
}

export interface JobsHost extends ActingHost {
  readonly waiters: JobWaiters;
}

const title = `(select c.title from writ.system_contracts c
  where c.contract_id = g.contract_id) as title`;
const listed = `g.job_id, g.tenant_id, g.contract_id, ${title}, g.kind, g.of_job_id, g.version,
  g.status, g.status_reason, g.executor_id, g.total_steps, g.completed_steps, g.audit_verdict,
  g.rollback_job_id, g.resolved_by_job_id, g.created_at, g.started_at, g.completed_at`;
const stepsOf = (job: string) => `(
  select coalesce(json_agg(s order by s.step_no), '[]')
  from writ.governance_job_steps s where s.job_id = ${job})`;

export class Changes {
  readonly #host: JobsHost;
  readonly #audits: Audits;

  constructor(host: JobsHost, audits: Audits) {
    this.#host = host;
    this.#audits = audits;
  }

  /** Governance jobs, the newest first. */
  list(filter: ChangeFilter & PageOptions = {}): Promise<Page<ListedChange>> {
    const { status, contract, executor, since, until } = filter;
    if (contract !== undefined && !isUuid(contract))
      return Promise.resolve({ items: [], next: null });
    return readPage<ListedChange>(
      this.#host.db,
      {
        columns: listed,
        from: 'writ.governance_jobs g',
        where: [
          ['g.tenant_id = ?', tenantRead(this.#host, filter)],
          ['g.status = ?', status],
          ['g.contract_id = ?::text::uuid', contract],
          ['g.executor_id = ?', executor],
          ['g.created_at >= ?::text::timestamptz', since?.toISOString()],
          ['g.created_at < ?::text::timestamptz', until?.toISOString()],
        ],
        key: [['g.job_id', 'uuid']],
      },
      filter,
    );
  }

  /** Everything about one, by the names of the specification. */
  async get(id: string, options: Reading = {}): Promise<Change> {
    const [job] = isUuid(id)
      ? await readJson<Change>(
          this.#host.db,
          `select g.*, ${title} from writ.governance_jobs g
           where g.job_id = $1 and g.tenant_id = coalesce($2, g.tenant_id)`,
          [id, tenantRead(this.#host, options) ?? null],
        )
      : [];
    if (!job) throw new WritRefusal('job_not_found', id);
    return job;
  }

  async steps(id: string, options: Reading = {}): Promise<readonly GovernedStep[]> {
    return (await this.look(id, options)).steps;
  }

  /** What it proves: hashes, health, and the evidence of each step. */
  async evidence(id: string, options: Reading = {}): Promise<ChangeEvidence> {
    const { job, steps } = await this.look(id, options);
    const { job_id, contract_id, scope_hash, state_before, state_after, health_before } = job;
    return {
      job_id,
      contract_id,
      scope_hash,
      state_before,
      state_after,
      health_before,
      steps: steps.map(({ step_no, step_type, target, result, evidence, receipt_no }) => ({
        step_no,
        step_type,
        target,
        result,
        evidence,
        receipt_no,
      })),
    };
  }

  /** How it stands: itself, its steps, its last audit, and its last rollback. */
  async look(id: string, options: Reading = {}): Promise<ChangeLook> {
    const [look] = isUuid(id)
      ? await readJson<ChangeLook>(
          this.#host.db,
          `select
             (select to_json(j) from (select g.*, ${title}) j) as job,
             ${stepsOf('g.job_id')} as steps,
             (select to_json(a) from writ.governance_audits a
              where a.job_id = g.job_id order by a.audit_id desc limit 1) as audit,
             (select count(*) from writ.governance_audits a where a.job_id = g.job_id) as audits,
             (select json_build_object(
                'job', (select to_json(j) from (select r.*, null as title) j),
                'steps', ${stepsOf('r.job_id')})
              from writ.governance_jobs r
              where r.of_job_id = g.job_id order by r.job_id desc limit 1) as rollback,
             extract(epoch from writ.now()) * 1000 as now
           from writ.governance_jobs g
           where g.job_id = $1 and g.tenant_id = coalesce($2, g.tenant_id)`,
          [id, tenantRead(this.#host, options) ?? null],
        )
      : [];
    if (!look) throw new WritRefusal('job_not_found', id);
    return look;
  }

  /** What happens to it, from its beginning until it rests or `signal` aborts. */
  async *follow(
    id: string,
    { signal, ...options }: Reading & { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<ChangeEvent, void, void> {
    const known = new Set<string>();
    let pause = pauses.first;
    while (!signal?.aborted) {
      const look = await this.look(id, options);
      const news = eventsOf(look).filter(({ key }) => !known.has(key));
      for (const event of news) {
        known.add(event.key);
        yield event;
      }
      if (rests(look)) return;
      pause = news.length > 0 ? pauses.first : Math.min(pause * 1.25, pauses.longest);
      await sleep(pause, undefined, signal && { signal }).catch(() => undefined);
    }
  }

  /** Answers when it has come to rest: COMPLETED, ROLLED_BACK, ROLLBACK_FAILED or CANCELLED. */
  async finished(
    id: string,
    options: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<Change> {
    if (!isUuid(id)) throw new WritRefusal('job_not_found', id);
    await this.#host.waiters.ended(id, options.timeoutMs);
    return this.get(id);
  }

  /** Cancels it, if it has not begun. */
  async cancel(id: string, { reason, ...options }: In & { readonly reason: string }) {
    refuseSecrets(reason, 'the reason');
    await this.#decide('fn_governance_cancel($1, $2::text::uuid, $3)', id, options, reason);
    this.#host.waiters.hear([id]);
    return { job_id: id, status: 'CANCELLED' as const };
  }

  /**
   * Has a rollback tried again that has failed, when what was in its way is gone. Answers the new
   * rollback job; the failed one says then by which it was resolved.
   */
  async retryRollback(id: string, options: In = {}): Promise<{ rollback_job_id: string }> {
    const call = 'fn_rollback_retry($1, $2::text::uuid)';
    const { job_id } = await this.#decide<{ job_id: string }>(call, id, options);
    return { rollback_job_id: job_id };
  }

  /** Those of these kinds of queue jobs that no worker serves. */
  async unserved(kinds: readonly string[]): Promise<readonly string[]> {
    const rows = await readRows(
      this.#host.db,
      `select k.kind from unnest($1::text::text[]) k(kind)
       where not exists (
         select from writ.v_queue_heartbeat h
         where h.freshness = 'fresh' and (h.kinds = '{}' or k.kind = any (h.kinds))
       )
       order by 1`,
      [`{${[...new Set(kinds)].map((kind) => JSON.stringify(kind)).join(',')}}`],
    );
    return rows.map(({ kind }) => String(kind));
  }

  /** One of them with its methods. */
  handle(id: string): GovernanceJob {
    return new GovernanceJob(this, this.#audits, id);
  }

  async #decide<Answer>(call: string, id: string, options: In, ...more: string[]) {
    if (!isUuid(id)) throw new WritRefusal('job_not_found', id);
    return actAs<Answer>(this.#host, call, [id, ...more], options);
  }
}

/** One governance job of `writ.changes`. */
export class GovernanceJob {
  readonly #changes: Changes;
  readonly #audits: Audits;
  readonly id: string;

  constructor(changes: Changes, audits: Audits, id: string) {
    if (!isUuid(id)) throw new WritRefusal('job_not_found', id);
    this.#changes = changes;
    this.#audits = audits;
    this.id = id;
  }

  get(): Promise<Change> {
    return this.#changes.get(this.id);
  }

  steps(): Promise<readonly GovernedStep[]> {
    return this.#changes.steps(this.id);
  }

  finished(options: { readonly timeoutMs?: number | undefined } = {}): Promise<Change> {
    return this.#changes.finished(this.id, options);
  }

  /** The last audit, if there was one. */
  async audit(): Promise<Audit | undefined> {
    return (await this.#audits.list({ job: this.id, limit: 1 })).items[0];
  }

  cancel(options: In & { readonly reason: string }) {
    return this.#changes.cancel(this.id, options);
  }

  async resolve(options: In & Resolution): Promise<GovernanceJobState> {
    return (await this.#audits.resolve(this.id, options)).status;
  }

  async retryRollback(options: In = {}): Promise<GovernanceJob> {
    const { rollback_job_id } = await this.#changes.retryRollback(this.id, options);
    return this.#changes.handle(rollback_job_id);
  }
}

const pauses = { first: 250, longest: 1_000 };

/** Only a person can tell: two audits were inconclusive. */
export const waitsForPerson = ({ job, audit, audits }: Omit<ChangeLook, 'steps' | 'now'>) =>
  job.status === 'AUDIT_PENDING' && audit?.verdict === 'INCONCLUSIVE' && audits >= 2;

/** Nothing more happens to it without a person. */
export const rests = (look: ChangeLook): boolean =>
  ['COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED'].includes(look.job.status) ||
  waitsForPerson(look);

/** Everything that has happened so far, in its order. */
export function eventsOf({ rollback, ...main }: ChangeLook): ChangeEvent[] {
  const parts = [
    { ...main, undoing: false },
    ...(rollback ? [{ ...rollback, undoing: true }] : []),
  ];
  const all = parts.flatMap(({ job: { job_id, history }, steps, undoing }) => {
    const of = (
      at: string,
      status: string,
      more: Pick<ChangeEvent, 'key' | 'event' | 'reason'>,
    ) => ({
      at: new Date(at).toISOString(),
      job_id,
      rollback: undoing,
      status,
      ...more,
    });
    const moved = history.flatMap(({ to_status, event, at, reason }, n) =>
      // On the way to its audit it passes through COMPLETED: whoever waits for that would believe
      // too much.
      to_status === 'COMPLETED' && event === 'run_completed'
        ? []
        : [of(at, to_status, { key: `${job_id} ${n}`, event: 'moved', reason })],
    );
    const stepped = steps.flatMap((step) => {
      const one = (at: string | null, status: string) =>
        at === null
          ? []
          : [
              {
                ...of(at, status, {
                  key: `${job_id} step ${step.step_no} ${status}`,
                  event: 'step',
                  reason: status === 'FAILED' ? step.error : null,
                }),
                step,
              },
            ];
      const ended = step.status === 'COMPLETED' || step.status === 'FAILED';
      return [
        ...one(step.started_at, 'RUNNING'),
        ...(ended ? one(step.completed_at, step.status) : []),
      ];
    });
    return [...moved, ...stepped];
  });
  // What happened in one transaction happened at one time: a job begins before its steps, and ends
  // after them.
  const rank = ({ event, status }: ChangeEvent) =>
    event === 'step' ? 1 : status === 'PENDING' || status === 'RUNNING' ? 0 : 2;
  return all.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || rank(a) - rank(b));
}

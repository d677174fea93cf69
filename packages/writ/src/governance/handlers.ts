/**
 * The work of governance: the steps of governance jobs, their audits, and what follows when a run
 * has failed. Any worker with these handlers does it.
 */
import { isDeepStrictEqual } from 'node:util';
import { Coalescer } from '../database/coalescer.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import {
  isErrorCode,
  PermanentFailure,
  Postponed,
  refusalIn,
  registry,
  WritRefusal,
} from '../errors/index.js';
import type { Duration } from '../queue/duration.js';
import { type HandledJob, type JobKind, ownJob } from '../queue/job.js';
import type { JobContext, WorkItem } from '../queue/worker/context.js';
import { pass } from '../queue/worker/fault-points.js';
import {
  ApprovalChecks,
  type Approved,
  clockOf,
  trustNow,
  type UndoStep,
  verdictsOn,
  type Waiting,
} from './approvals.js';
import { slotOf } from './document.js';
import { readOutside } from './outside.js';
import type { Prober } from './prober.js';
import {
  type AnyStepType,
  type ChangeContext,
  type ChangeStep,
  inDatabase,
  inputInScope,
  readBy,
  type StepType,
  touchedBy,
} from './steps.js';
import type { TrustSource } from './trust/source.js';

export interface GovernanceHost {
  readonly db: Queryable;
  readonly prober: Prober;
  readonly actor: string;
  /** Whose signatures count. Without it this process applies and verifies nothing. */
  readonly trust: TrustSource | undefined;
  /** A governance job has come to rest, or moved. */
  readonly onMoved: (jobId: string) => void;
  /** Signatures of a contract were looked at. */
  readonly onVerified: (contractId: string, reviewNos: readonly number[]) => void;
  /** What stands outside was read, by the queue job that asked for it. */
  readonly onRead: (jobId: string) => void;
}

interface Item {
  readonly job: string;
  readonly token: string;
  /** What the signatures were judged with, for the receipts. */
  readonly trust: string;
  readonly read?: Record<string, unknown>;
}

type Applied =
  | { readonly done: unknown }
  | { readonly reason: string; readonly detail?: string | undefined };

/** The input of a step's queue job: that of its run. */
interface GovernedInput {
  readonly job: string;
  /** Of the governance job. An undo follows from it, and from nothing that a step says. */
  readonly kind: 'forward' | 'rollback';
  readonly steps: readonly UndoStep[];
}

/** What an audit is made with. */
interface Governed {
  readonly tenant: string;
  readonly steps: readonly ChangeStep[];
  readonly targets: readonly string[];
  /** A target has probes, which the audit needs answers of. */
  readonly monitored: boolean;
}

/**
 * What the worker hands to a handler of governance: with the way to commit by a gate of its own.
 */
type StepContext = JobContext<GovernedInput> & Pick<WorkItem, 'commitWith' | 'databaseTime'>;

/** A queue job about a governance job. */
type AboutJob = JobContext<{ readonly job: string }> & Pick<WorkItem, 'commitWith'>;

/** A queue job about a contract: its signatures, or what stands outside. */
type AboutContract = JobContext<{ readonly contract: string }> &
  Pick<WorkItem, 'commitWith' | 'databaseTime'>;

const isUndo = ({ input }: StepContext) => input.kind === 'rollback';

/** How often the health of a soak is looked at. */
const lookEveryMs = 1_000;

export function governanceHandlers(
  host: GovernanceHost,
  types: readonly AnyStepType[],
): HandledJob[] {
  const byType = new Map(types.map((type) => [type.type, type as unknown as StepType<unknown>]));
  const applying = new Coalescer<{ readonly item: Item; readonly undoing: boolean }, Applied>(
    async (items) => {
      const sent = gate<Applied[]>(host.db, 'fn_changes_apply($1::text::jsonb, $2)', [
        JSON.stringify(items.map(({ item }) => item)),
        host.actor,
      ]);
      sent.catch(() => undefined); // looked at below; a fault point may wait in between
      await pass(items.some(({ undoing }) => undoing) ? 'undo_sent' : 'change_sent');
      return sent;
    },
    () => 1_000,
  );

  const reading = new Coalescer<string, Governed>(
    (jobs) => gate(host.db, 'fn_governed_read($1::text::uuid[])', [`{${jobs.join(',')}}`]),
    () => 1_000,
  );
  const auditing = new Coalescer<string, object>(
    (items) =>
      gate(host.db, 'fn_governance_audits($1::text::jsonb, $2)', [
        `[${items.join(',')}]`,
        host.actor,
      ]),
    (item) => item.length,
  );

  /** The effect, its event, its receipt and what follows, in one transaction. */
  async function apply(
    context: StepContext,
    { trust }: Approved,
    extra: Pick<Item, 'read'> = {},
  ): Promise<void> {
    const undoing = isUndo(context);
    await context.commitWith(async ({ id, token }) => {
      const answer = await applying.add({ item: { job: id, token, trust, ...extra }, undoing });
      if ('reason' in answer) throw failureOf(answer.reason, answer.detail);
    });
    await pass(undoing ? 'undone' : 'after_commit', context.job.id);
  }

  /** Before anything else: persons have signed what is done, or what it undoes. */
  const signed = (
    trust: TrustSource,
    kind: string,
    handle: (context: StepContext, approved: Approved) => Promise<void>,
  ) => {
    const approvals = new ApprovalChecks(host.db, trust);
    return async (context: StepContext): Promise<void> => {
      const approved = await approvals.check({
        runId: String(context.step?.runId),
        kind,
        databaseTime: context.databaseTime,
        tenant: context.job.tenant,
        undoing: isUndo(context),
        first: placeOf(context)[0],
        steps: stepsOf(context),
      });
      await handle(context, approved);
    };
  };

  /** s3 is the third step, s3-5 the third to the fifth: where they begin and end, for slice. */
  function placeOf({ step }: StepContext): readonly [first: number, end: number] {
    const [first = 1, last = first] = (step?.stepId.slice(1) ?? '').split('-').map(Number);
    return [first - 1, last];
  }
  const stepsOf = (context: StepContext): UndoStep[] =>
    context.input.steps.slice(...placeOf(context));
  const stepOf = (context: StepContext) => stepsOf(context)[0] as ChangeStep;
  const askProbes = (context: StepContext, targets: readonly string[]) =>
    host.prober.refresh(context.job.tenant, targets, host.actor);

  /**
   * Targets, as a contract lists them, of which a capability has probes, as far as this process has
   * learnt: a hint that saves a call, for the gate decides.
   */
  const monitored = new Set<string>();

  /** In the database: probes are asked only where the gate misses their answers. */
  async function change(context: StepContext, approved: Approved): Promise<void> {
    const targets = [...new Set(stepsOf(context).map(({ target }) => target))].filter(
      (target) => target !== 'SYSTEM',
    );
    const known = `${context.job.tenant}/${targets.join()}`;
    if (!monitored.has(known)) {
      try {
        return await apply(context, approved);
      } catch (error) {
        if (!(error instanceof PermanentFailure) || error.code !== 'health_block') throw error;
        if (monitored.size >= 10_000) monitored.clear();
        monitored.add(known);
      }
    }
    const asked = await askProbes(context, targets);
    if (Object.keys(asked).length === 0) monitored.delete(known);
    await apply(context, approved);
  }

  async function begin(context: StepContext, found: object) {
    return context.commitWith(
      ({ id, token }) =>
        gate<{
          undo: boolean;
          /** Of a soak. */
          watched_ms: number;
          found: Record<string, unknown>;
          applied?: Record<string, unknown>;
          step?: ChangeStep;
        }>(host.db, 'fn_change_begin($1::text::uuid, $2::text::uuid, $3::text::jsonb, $4)', [
          id,
          token,
          JSON.stringify(found),
          host.actor,
        ]).catch((error) => {
          throw error instanceof WritRefusal ? failureOf(error.code, error.detail) : error;
        }),
      false,
    );
  }

  /**
   * Looks at health until the step was watched as long as approved. The gate adds up the time from
   * look to look, whoever watches; this process measures it with a clock that never jumps.
   */
  async function soak(context: StepContext, approved: Approved): Promise<void> {
    const targets = [...new Set(context.input.steps.map(({ target }) => target))].filter(
      (target) => target !== 'SYSTEM',
    );
    let looked: number | undefined;
    for (;;) {
      const asked = await askProbes(context, targets);
      const sick = Object.entries(asked).find(([, { status }]) => status === 'UNHEALTHY');
      if (sick) throw failureOf('health_block', `probe ${sick[0]} in the soak: ${sick[1].detail}`);
      const now = performance.now();
      const watched = looked === undefined ? 0 : Math.floor(now - looked);
      const { watched_ms } = await begin(context, { watched_ms: watched });
      looked = now;
      const left = Number(stepOf(context).parameters.duration_ms) - watched_ms;
      if (left <= 0) return apply(context, approved);
      await sleep(Math.min(lookEveryMs, left), context.signal);
    }
  }

  /** A type of your own: read, written down as begun, done, and read again. */
  async function own(
    type: StepType<unknown>,
    context: StepContext,
    approved: Approved,
  ): Promise<void> {
    const { tenant } = context.job;
    const undoing = isUndo(context);
    const { undo_of: undoes, ...said } = stepsOf(context)[0] as UndoStep;
    // An undo is of a step that was signed, whatever the database says it is.
    const step = undoes === undefined ? said : approved.step(undoes);
    const slot = slotOf(step) as string;
    const given: ChangeContext = {
      tenant,
      effectKey: context.effectKey,
      signal: context.signal,
      secret: context.secret,
    };
    const readNow = () => readBy(type, step, given).catch(outOfScope);
    const stood = undoing ? undefined : await readNow();
    // After the read, which may take longer than an answer counts.
    await askProbes(context, [said.target]);
    const begun = await begin(context, undoing ? {} : { [slot]: stood });
    if (!undoing) approved.mayFind(placeOf(context)[0] + 1, begun.found[slot] ?? null);
    await pass(undoing ? 'undo_begun' : 'change_begun', context.job.id);
    const input = await inputInScope(type, step).catch(outOfScope);
    const found = begun.found[slot] ?? null;
    if (!undoing) await type.apply(input, given);
    else {
      approved.mayRestore(undoes as number, found);
      const now = await readNow();
      const applied = begun.applied?.[slot];
      // A value of another hand stays; the gate writes down that it was not restored.
      if (
        !isDeepStrictEqual(now, found) &&
        (applied === undefined || isDeepStrictEqual(now, applied))
      )
        await type.revert(found, input, given);
    }
    await pass(undoing ? 'undo_made' : 'change_made', context.job.id);
    const read = { [slot]: await readNow() };
    await askProbes(context, [said.target]);
    await apply(context, approved, { read });
  }

  async function audit(context: AboutJob): Promise<void> {
    const { input, job, signal, secret } = context;
    const {
      tenant,
      steps,
      targets,
      monitored: probed,
    } = await reading.add(input.job).then(orRefusal);
    const read: Record<string, unknown> = {};
    const touched: Record<number, string> = {};
    for (const [n, step] of steps.entries()) {
      const type = byType.get(step.step_type);
      if (type) {
        touched[n + 1] = await touchedBy(type, step);
        // Of a step that touched something else, the check of the scope says so.
        if (touched[n + 1] === step.target)
          read[slotOf(step) as string] = await readBy(type, step, { tenant, signal, secret });
      } else if (!inDatabase.includes(step.step_type) && step.step_type !== 'soak')
        throw new WritRefusal('unknown_step_type', step.step_type);
    }
    if (probed) await host.prober.refresh(tenant, targets, host.actor);
    await context.commitWith(({ id, token }) =>
      auditing.add(JSON.stringify({ job: id, token, read, touched })).then(orRefusal),
    );
    await pass('audited', job.id);
    host.onMoved(input.job);
  }

  async function ended(context: AboutJob): Promise<void> {
    await context.commitWith(({ id, token }) =>
      gate(host.db, 'fn_governance_ended($1::text::uuid, $2::text::uuid, $3)', [
        id,
        token,
        host.actor,
      ]),
    );
    host.onMoved(context.input.job);
  }

  const readingSignatures = new Coalescer<string, Waiting | null>(
    (contracts) =>
      gate(host.db, 'fn_signatures_read($1::text::uuid[])', [`{${contracts.join(',')}}`]),
    () => 10_000,
  );
  const verifying = new Coalescer<string, object>(
    (items) =>
      gate(host.db, 'fn_signatures_verified($1::text::jsonb, $2)', [
        `[${items.join(',')}]`,
        host.actor,
      ]),
    (item) => item.length,
  );

  async function verify(source: TrustSource, context: AboutContract): Promise<void> {
    const { contract } = context.input;
    const trust = await trustNow(source);
    const answer = verdictsOn(
      await readingSignatures.add(contract),
      trust,
      clockOf(trust, context),
    );
    await context.commitWith(
      ({ id: job, token }) =>
        verifying.add(JSON.stringify({ job, token, ...answer })).then(orRefusal),
      !answer.open,
    );
    host.onVerified(
      contract,
      answer.verdicts.map(({ review_no }) => review_no),
    );
    if (answer.open)
      throw new Postponed(`No key is known for a signature of contract ${contract}`, {
        code: 'unknown_key',
      });
  }

  const { trust } = host;
  return [
    ...(trust
      ? [
          kind('verify', { attempts: 100 }).handle(((context: AboutContract) =>
            verify(trust, context)) as never),
          kind('change').handle(signed(trust, 'governance.change', change) as never),
          kind('soak', { attempts: 100, timeout: '7d' }).handle(
            signed(trust, 'governance.soak', soak) as never,
          ),
          ...[...byType.values()].map((type) =>
            type.job.handle(
              signed(trust, type.job.kind, (context, approved) =>
                own(type, context, approved),
              ) as never,
            ),
          ),
        ]
      : []),
    ...[...byType.values()].map((type) =>
      kind(`read.${type.type}`).handle(((context: AboutContract) =>
        readOutside(host, type, context)) as never),
    ),
    kind('audit').handle(audit as never),
    kind('ended', { attempts: 100 }).handle(ended as never),
  ];
}

/** The kinds that the schema has, as it has them. */
function kind(
  name: string,
  { attempts = 10, timeout = '5m' }: { attempts?: number; timeout?: Duration } = {},
): JobKind<never, unknown> {
  return ownJob(`governance.${name}`, { retry: { attempts, base: '200ms', cap: '30s' }, timeout });
}

/** No repetition brings a step back into its scope. */
function outOfScope(error: unknown): never {
  if (error instanceof WritRefusal && error.code === 'scope_violation')
    throw failureOf(error.code, error.detail);
  throw error;
}

/** What a gate has answered about one of many. */
function orRefusal<Answer>(answer: Answer): Answer {
  const refusal = refusalIn(answer);
  if (refusal) throw refusal;
  return answer;
}

/** A refusal of the gate: what no repetition can change fails for good. */
function failureOf(code: string, detail: string | undefined): Error {
  const retryable =
    isErrorCode(code) &&
    registry[code].retryable &&
    code !== 'health_block' &&
    code !== 'changes_frozen';
  if (code === 'lease_lost' || code === 'already_committed' || retryable)
    return new WritRefusal(code as 'lease_lost', detail);
  return new PermanentFailure(detail ?? code, { code });
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

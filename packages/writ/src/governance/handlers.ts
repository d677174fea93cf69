/** The work of governance: the steps of governance jobs, their audits, and what follows when a run has failed. Any worker with these handlers does it. */
import { isDeepStrictEqual } from 'node:util';
import { Coalescer } from '../database/coalescer.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import {
  isErrorCode,
  PermanentFailure,
  refusalIn,
  registry,
  WritRefusal,
} from '../errors/index.js';
import type { Duration } from '../queue/duration.js';
import { defineJob, type HandledJob, type JobKind } from '../queue/job.js';
import type { JobContext, WorkItem } from '../queue/worker/context.js';
import { pass } from '../queue/worker/fault-points.js';
import { ApprovalChecks } from './approvals.js';
import type { Probes } from './probes.js';
import {
  type AnyStepType,
  type ChangeContext,
  type ChangeStep,
  inDatabase,
  readBy,
  type StepType,
} from './steps.js';

export interface GovernanceHost {
  readonly db: Queryable;
  readonly probes: Probes;
  readonly actor: string;
  /** A governance job has come to rest, or moved. */
  readonly onMoved: (jobId: string) => void;
}

interface Item {
  readonly job: string;
  readonly token: string;
  readonly read?: Record<string, unknown>;
}

type Applied = { readonly done: unknown } | { readonly reason: string; readonly detail?: string };

/** The input of a step's queue job: that of its run. */
interface GovernedInput {
  readonly job: string;
  /** Of the governance job. An undo follows from it, and from nothing that a step says. */
  readonly kind: 'forward' | 'rollback';
  readonly steps: readonly ChangeStep[];
}

/** What an audit is made with. */
interface Governed {
  readonly tenant: string;
  readonly steps: readonly ChangeStep[];
  readonly targets: readonly string[];
  /** A target has probes, which the audit needs answers of. */
  readonly monitored: boolean;
}

/** What the worker hands to a handler of governance: with the way to commit by a gate of its own. */
type StepContext = JobContext<GovernedInput> & Pick<WorkItem, 'commitWith'>;

/** A queue job about a governance job. */
type AboutJob = JobContext<{ readonly job: string }> & Pick<WorkItem, 'commitWith'>;

const slotOf = ({ step_type, target, parameters }: ChangeStep) =>
  step_type === 'config_update' ? `${target}#${String(parameters.key)}` : target;

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
  async function apply(context: StepContext, extra: Pick<Item, 'read'> = {}): Promise<void> {
    const undoing = isUndo(context);
    await context.commitWith(async ({ id, token }) => {
      const answer = await applying.add({ item: { job: id, token, ...extra }, undoing });
      if ('reason' in answer) throw failureOf(answer.reason, answer.detail);
    });
    await pass(undoing ? 'undone' : 'after_commit', context.job.id);
  }

  const approvals = new ApprovalChecks(host.db);

  /** Before anything else, of what is done: persons have signed it. What undoes it needs nobody's approval. */
  const signed =
    (handle: (context: StepContext) => Promise<void>) =>
    async (context: StepContext): Promise<void> => {
      const steps = stepsOf(context);
      if (!isUndo(context))
        await approvals.check(String(context.step?.runId), placeOf(context)[0], steps);
      await handle(context);
    };

  /** s3 is the third step, s3-5 the third to the fifth: where they begin and end, for slice. */
  function placeOf({ step }: StepContext): readonly [first: number, end: number] {
    const [first = 1, last = first] = (step?.stepId.slice(1) ?? '').split('-').map(Number);
    return [first - 1, last];
  }
  const stepsOf = (context: StepContext): ChangeStep[] =>
    context.input.steps.slice(...placeOf(context));
  const stepOf = (context: StepContext) => stepsOf(context)[0] as ChangeStep;
  const askProbes = (context: StepContext, targets: readonly string[]) =>
    host.probes.refresh(context.job.tenant, targets, host.actor);

  /** Targets, as a contract lists them, of which a capability has probes, as far as this process has learnt: a hint that saves a call, for the gate decides. */
  const monitored = new Set<string>();

  /** In the database: probes are asked only where the gate misses their answers. */
  async function change(context: StepContext): Promise<void> {
    const targets = [...new Set(stepsOf(context).map(({ target }) => target))].filter(
      (target) => target !== 'SYSTEM',
    );
    const known = `${context.job.tenant}/${targets.join()}`;
    if (!monitored.has(known)) {
      try {
        return await apply(context);
      } catch (error) {
        if (!(error instanceof PermanentFailure) || error.code !== 'health_block') throw error;
        if (monitored.size >= 10_000) monitored.clear();
        monitored.add(known);
      }
    }
    const asked = await askProbes(context, targets);
    if (Object.keys(asked).length === 0) monitored.delete(known);
    await apply(context);
  }

  async function begin(context: StepContext, found: object) {
    return context.commitWith(
      ({ id, token }) =>
        gate<{
          began_at: string;
          now: string;
          undo: boolean;
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

  /** Health is looked at until the time is over; the time goes on from where it began, whoever watches. */
  async function soak(context: StepContext): Promise<void> {
    const targets = [...new Set(context.input.steps.map(({ target }) => target))].filter(
      (target) => target !== 'SYSTEM',
    );
    await askProbes(context, targets);
    const { began_at, now } = await begin(context, {});
    const left =
      Date.parse(began_at) + Number(stepOf(context).parameters.duration_ms) - Date.parse(now);
    const until = Date.now() + left;
    for (;;) {
      const wait = Math.min(lookEveryMs, until - Date.now());
      if (wait > 0) await sleep(wait, context.signal);
      const asked = await askProbes(context, targets);
      const sick = Object.entries(asked).find(([, { status }]) => status === 'UNHEALTHY');
      if (sick) throw failureOf('health_block', `probe ${sick[0]} in the soak: ${sick[1].detail}`);
      if (Date.now() < until) {
        await stillHealthy(context, targets);
        continue;
      }
      await apply(context);
      return;
    }
  }

  /** What signals and incidents say, which no probe does. */
  async function stillHealthy(context: StepContext, targets: readonly string[]): Promise<void> {
    const { capabilities } = await gate<{
      capabilities: { capability: string; status: string; why: string | null }[];
    }>(host.db, 'fn_health($1)', [context.job.tenant]);
    const sick = capabilities.find(
      ({ capability, status, why }) =>
        targets.includes(capability) &&
        status === 'UNHEALTHY' &&
        !why?.startsWith('probe ') &&
        !why?.startsWith('no probe'),
    );
    if (sick) throw failureOf('health_block', `${sick.capability} is unhealthy: ${sick.why}`);
  }

  /** A type of your own: read, written down as begun, done, and read again. */
  async function own(type: StepType<unknown>, context: StepContext): Promise<void> {
    const { tenant } = context.job;
    const said = stepOf(context);
    const undoing = isUndo(context);
    await askProbes(context, [said.target]);
    const given: ChangeContext = {
      tenant,
      effectKey: context.effectKey,
      signal: context.signal,
      secret: context.secret,
    };
    const readNow = (step: ChangeStep) => readBy(type, step, given);
    const begun = await begin(context, undoing ? {} : { [slotOf(said)]: await readNow(said) });
    await pass(undoing ? 'undo_begun' : 'change_begun', context.job.id);
    const step = begun.step ?? said;
    const slot = slotOf(step);
    const input = await type.inputOf(step);
    const found = begun.found[slot] ?? null;
    if (!undoing) await type.apply(input, given);
    else {
      const now = await readNow(step);
      if (!isDeepStrictEqual(now, found)) {
        const applied = begun.applied?.[slot];
        if (applied !== undefined && !isDeepStrictEqual(now, applied))
          throw failureOf('rollback_conflict', `${slot} was changed by another hand`);
        await type.revert(found, input, given);
      }
    }
    await pass(undoing ? 'undo_made' : 'change_made', context.job.id);
    await askProbes(context, [said.target]);
    await apply(context, { read: { [slot]: await readNow(step) } });
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
    for (const step of steps) {
      const type = byType.get(step.step_type);
      if (type) read[slotOf(step)] = await readBy(type, step, { tenant, signal, secret });
      else if (!inDatabase.includes(step.step_type) && step.step_type !== 'soak')
        throw new WritRefusal('unknown_step_type', step.step_type);
    }
    if (probed) await host.probes.refresh(tenant, targets, host.actor);
    await context.commitWith(({ id, token }) =>
      auditing.add(JSON.stringify({ job: id, token, read })).then(orRefusal),
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

  return [
    kind('change').handle(signed(change) as never),
    kind('soak', { attempts: 100, timeout: '7d' }).handle(signed(soak) as never),
    kind('audit').handle(audit as never),
    kind('ended', { attempts: 100 }).handle(ended as never),
    ...[...byType.values()].map((type) =>
      type.job.handle(signed((context) => own(type, context)) as never),
    ),
  ];
}

/** The kinds that the schema has, as it has them. */
function kind(
  name: string,
  { attempts = 10, timeout = '5m' }: { attempts?: number; timeout?: Duration } = {},
): JobKind<never, unknown> {
  return defineJob<never>(`governance.${name}`, {
    retry: { attempts, base: '200ms', cap: '30s' },
    timeout,
  }) as unknown as JobKind<never, unknown>;
}

/** What a gate has answered about one of many. */
function orRefusal<Answer>(answer: Answer): Answer {
  const refusal = refusalIn(answer);
  if (refusal) throw refusal;
  return answer;
}

/** A refusal of the gate: what no repetition can change fails for good. */
function failureOf(code: string, detail: string | undefined): Error {
  const retryable = isErrorCode(code) && registry[code].retryable && code !== 'health_block';
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

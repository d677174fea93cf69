/**
 * Actions that are instances of an approved template. The instance is activated in the transaction
 * that commits the job: a worker that was fenced activates nothing. From then on it is a governance
 * job like any other, and how that comes to rest is how the action ends.
 */
import { unlessBrokenOff } from '../../database/gate.js';
import { uuidOf } from '../../database/uuid.js';
import { WritError, WritRefusal } from '../../errors/index.js';
import { asError } from '../../errors/thrown.js';
import type { Actor } from '../../governance/actor.js';
import type { Contracts } from '../../governance/contracts.js';
import type { GovernanceJobState } from '../../machines/governance-job.js';
import type { Transaction } from '../../queue/worker/context.js';
import type { FailureReason, Result } from '../events.js';
import {
  type ActionContext,
  type ActionJob,
  failed,
  isGone,
  leftOf,
  type Outcome,
  type Report,
  type Reporter,
  resultOf,
} from './job.js';

export interface ContractsActuator {
  readonly contracts: Contracts;
  /** Who activates and stops; the connection's own key unless given. */
  readonly as?: Actor | undefined;
}

/** No deployment gives an action more attempts. */
const mostAttempts = 20;

/**
 * The id of the instance that an attempt activates. It follows from the action, so the gate
 * recognises a repeat and a rollback finds the instance. No contract is proposed under an id of
 * version 8: a proposer could take it first.
 */
export const instanceId = (actionId: string, attempt: number) =>
  uuidOf(`governor|${actionId}|${attempt}`, 8);

export const referenceTo = (jobId: string) => `governance_job:${jobId}`;

export async function carryOut(
  host: ContractsActuator,
  reporter: Reporter,
  context: ActionContext,
): Promise<void> {
  const { input } = context;
  const { actuator } = input.doing;
  const ended = (outcome: Outcome): Report => ({ result: resultOf(input, outcome) });
  try {
    if (actuator.kind !== 'contract')
      return await reporter.result(
        context,
        resultOf(input, failed('rejected', 'it is no contract')),
      );
    if (leftOf(context) <= 0)
      return await reporter.result(
        context,
        resultOf(input, failed('timeout', 'it was due before it was begun')),
      );
    const { template_id } = actuator;
    const effect =
      template_id === undefined
        ? stopping(host, input)
        : await activating(host, input, template_id);
    await unlessBrokenOff(() =>
      reporter.effect(context, async (tx) => {
        try {
          return await effect(tx);
        } catch (error) {
          // A refusal is a gate's answer, and what the gate has written about it stands. An error
          // of PostgreSQL is none, and ends the transaction.
          if (error instanceof WritRefusal && error.cause === undefined)
            return ended(refusedBy(error));
          throw error;
        }
      }),
    );
  } catch (error) {
    if (context.signal.aborted || isGone(error)) throw error;
    await reporter.result(context, resultOf(input, faultOf(error)));
  }
}

async function activating(
  { contracts, as }: ContractsActuator,
  input: ActionJob,
  template: string,
) {
  const { tenant, action_id, attempt, doing } = input;
  const activate = await contracts.handle(template).instance(doing.parameters, {
    tenant,
    ...(as !== undefined && { as }),
  });
  return async (db: Transaction): Promise<Report> => {
    const { id } = await activate({
      id: instanceId(action_id, attempt),
      db,
      ...(as !== undefined && { as }),
    });
    return { acknowledged: referenceTo(id) };
  };
}

/**
 * Stops whatever any attempt at the action has activated. Where nothing was, nothing is to be
 * undone.
 */
function stopping({ contracts, as }: ContractsActuator, input: ActionJob) {
  const { of, tenant, action_id } = input;
  if (of === undefined)
    throw new WritRefusal('invalid_action', 'it does not say which action it undoes');
  const instances = Array.from({ length: mostAttempts }, (_, at) => instanceId(of, at + 1));
  return async (db: Transaction): Promise<Report> => {
    const jobs = await contracts.stop(instances, {
      reason: `The governor undoes action ${of}.`,
      signalId: uuidOf(`governor|${action_id}|stop`),
      tenant,
      db,
      ...(as !== undefined && { as }),
    });
    const ends = jobs.map(({ job_id, status }) => ({ job_id, end: restOf(input, job_id, status) }));
    const open = ends.find(({ end }) => end === undefined);
    const bad = ends.find(({ end }) => end?.ok === false);
    if (bad?.end) return { result: resultOf(input, bad.end) };
    return open
      ? { acknowledged: referenceTo(open.job_id) }
      : { result: resultOf(input, { ok: true }) };
  };
}

/**
 * How an attempt ends whose governance job has this status: undefined while that goes on. What was
 * to be done has to be completed; what was to be stopped, rolled back.
 */
export function restOf(
  { kind, doing }: Pick<ActionJob, 'kind' | 'doing'>,
  jobId: string,
  status: GovernanceJobState,
  reason?: string,
): Outcome | undefined {
  const stops = doing.actuator.kind === 'contract' && doing.actuator.template_id === undefined;
  const why = reason ? `: ${reason}` : '';
  switch (status) {
    case 'COMPLETED':
      if (stops)
        return failed(
          'rejected',
          `governance job ${jobId} is completed, and the policy has no inverse template`,
        );
      return kind === 'action' ? { ok: true, baseline: 'unknown' } : { ok: true };
    case 'ROLLED_BACK':
    case 'CANCELLED':
      return stops
        ? { ok: true }
        : failed('rejected', `governance job ${jobId} is ${status}${why}`);
    case 'ROLLBACK_FAILED':
      return failed('rejected', `governance job ${jobId} is ${status}${why}`);
    default:
      return undefined;
  }
}

/** The result of an attempt that was acknowledged, when its governance job has come to rest. */
export function resultOfRest(
  input: Pick<ActionJob, 'action_id' | 'attempt' | 'kind' | 'doing'>,
  job: { readonly jobId: string; readonly status: GovernanceJobState; readonly reason?: string },
): Result | undefined {
  const outcome = restOf(input, job.jobId, job.status, job.reason);
  return outcome && { action_id: input.action_id, attempt: input.attempt, ...outcome };
}

const denials: readonly string[] = [
  'not_authenticated',
  'not_authorized',
  'agents_only_propose',
  'TENANT_ACCESS_DENIED',
  'permission_denied',
];

function faultOf(error: unknown): Outcome {
  if (error instanceof WritRefusal || (error instanceof WritError && denials.includes(error.code)))
    return refusedBy(error);
  return failed('handler_error', asError(error).message);
}

function refusedBy({ code, message }: WritError): Outcome {
  const reason: FailureReason = denials.includes(code) ? 'permission_denied' : 'rejected';
  return failed(reason, `${code}: ${message}`);
}

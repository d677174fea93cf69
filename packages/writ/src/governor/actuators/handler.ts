/** Actions that are functions of yours. */
import { WritRefusal } from '../../errors/index.js';
import { asError, read } from '../../errors/thrown.js';
import type { HandledJob } from '../../queue/job.js';
import { actionTypes } from '../action-types.js';
import type { Parameters } from '../policy-document.js';
import {
  type ActionContext,
  type Attempt,
  actionJob,
  failed,
  type Outcome,
  succeeded,
} from './job.js';

/** What an action is given. */
export interface ActionGiven {
  readonly tenant: string;
  readonly target: string;
  readonly parameters: Parameters;
  /**
   * The same whenever this action is done again: give it to services that know idempotency keys.
   */
  readonly idempotencyKey: string;
  readonly actionId: string;
  /** Of an undoing: the action that is undone. */
  readonly rollbackOf: string | undefined;
  /** Aborted when the governor gives it up. What comes after that is undone. */
  readonly signal: AbortSignal;
  /** A secret by its name, from where the worker looks for them; it stays in memory. */
  secret(name: string): Promise<string>;
}

/** What changed, for people; and with `baseline` whether what was wrong is right again. */
export type ActionSaid = Readonly<Record<string, unknown>> & {
  readonly baseline?: 'restored' | 'not_restored' | 'unknown';
};

type Run = (given: ActionGiven) => Promise<ActionSaid | undefined> | ActionSaid | undefined;

export interface ActionOptions {
  /**
   * Carries it out. One that throws has failed: with a `status` of 403 for want of a permission, of
   * 500 or more by the service's fault.
   */
  readonly run: Run;
  /** Undoes it, in place of an action of its own. */
  readonly undo?: Run;
}

export interface ActionKind extends ActionOptions {
  readonly type: string;
  /** The type of the undoing, if this has one: `undo_` and its own, unless its name has another. */
  readonly inverse?: string;
}

/** Defines a type of action that a worker of yours carries out. */
export function defineAction(type: string, options: ActionOptions): ActionKind {
  if (!/^[a-z][a-z0-9_.:-]{0,99}$/.test(type))
    throw new WritRefusal('invalid_action', `${type} is not a name for a type of action`);
  const inverse = options.undo && { inverse: actionTypes.get(type)?.inverse ?? `undo_${type}` };
  return { type, ...options, ...inverse };
}

/** The jobs of some types of action. `attempt` does each in its time, and reports. */
export function handlerJobs(actions: readonly ActionKind[], attempt: Attempt): HandledJob[] {
  const runs = new Map<string, { readonly run?: Run; readonly undo?: Run }>();
  const put = (type: string, run: { readonly run?: Run; readonly undo?: Run }) => {
    if (runs.has(type)) throw new WritRefusal('invalid_action', `${type} is defined twice`);
    runs.set(type, run);
  };
  for (const { type, inverse, run, undo } of actions) {
    // One that is its own inverse is undone under its own name.
    put(type, { run, ...(inverse === type && undo && { undo }) });
    if (undo && inverse !== undefined && inverse !== type) put(inverse, { run: undo });
  }
  return [...runs].map(([type, { run, undo }]) =>
    actionJob(`handler.${type}`, async (context) => {
      const does = (context.input.kind === 'rollback' ? (undo ?? run) : run) as Run;
      await attempt(context, (signal) => done(does, context, signal));
    }),
  );
}

async function done(run: Run, context: ActionContext, signal: AbortSignal): Promise<Outcome> {
  const { tenant, action_id, of, doing, idempotency_key } = context.input;
  try {
    const said = await run({
      tenant,
      target: doing.target,
      parameters: doing.parameters,
      idempotencyKey: idempotency_key,
      actionId: action_id,
      rollbackOf: of,
      signal,
      secret: context.secret,
    });
    return succeeded(said);
  } catch (error) {
    if (signal.aborted) throw error; // whoever waits knows why
    return failureOf(error);
  }
}

function failureOf(thrown: unknown): Outcome {
  const error = asError(thrown);
  const message = error.message || error.name;
  const status = statusOf(thrown);
  if (status === 403) return failed('permission_denied', message, status);
  return failed(
    status !== undefined && status >= 500 ? 'service_error' : 'handler_error',
    message,
    status,
  );
}

/** The HTTP status in an error, where the clients of services put it. */
function statusOf(thrown: unknown): number | undefined {
  const response = read(thrown, 'response');
  return [
    read(thrown, 'status'),
    read(thrown, 'statusCode'),
    read(response, 'status'),
    read(response, 'statusCode'),
    read(thrown, 'code'),
  ].find(
    (one): one is number =>
      Number.isInteger(one) && (one as number) >= 100 && (one as number) <= 599,
  );
}

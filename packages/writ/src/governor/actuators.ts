/**
 * Carrying actions out: by a function, a request or a contract. Any worker with these handlers does
 * it, as a job that is tried once; only the governor tries again.
 */
import { errorCode } from '../errors/index.js';
import type { Reach } from '../outbox/buses/addresses.js';
import type { HandledJob } from '../queue/job.js';
import { type ContractsActuator, carryOut } from './actuators/contract.js';
import { type ActionKind, handlerJobs } from './actuators/handler.js';
import {
  type Act,
  type Attempt,
  actionJob,
  inTime,
  type Outcome,
  type Reporter,
  resultOf,
} from './actuators/job.js';
import { asking, askProbe, askWebhook } from './actuators/webhook.js';

export interface ActuatorsHost extends ContractsActuator {
  readonly reporter: Reporter;
  /** Where requests may go besides public addresses over https: for tests and private networks. */
  readonly reach?: Reach;
  /**
   * The secrets that a policy may name for signing: whoever publishes one must not sign with
   * others.
   */
  readonly signingSecrets?: readonly string[];
}

/**
 * Of the time that is left after a success, what the probe may have: a success that is told too
 * late is undone.
 */
const probeShare = 0.5;

export function actuators(
  { reporter, reach = {}, signingSecrets = [], ...contracts }: ActuatorsHost,
  actions: readonly ActionKind[],
): HandledJob[] {
  const ask = asking(reach);
  const signing = new Set(signingSecrets);

  const attempt: Attempt = async (context, act) => {
    const { input } = context;
    await reporter.begin(context);
    const began = performance.now();
    const probed: Act = async (signal, leftMs) => {
      const done = await act(signal, leftMs);
      if (!done.ok || signal.aborted || !input.probe || input.kind === 'rollback') return done;
      const left = leftMs - (performance.now() - began);
      return {
        ...done,
        baseline: await askProbe(
          ask,
          input.probe.url,
          signal,
          Math.max(1, Math.floor(left * probeShare)),
        ),
      };
    };
    // A rollback is judged by itself: what it restores is what was before the action.
    const toldOf = ({ baseline, ...rest }: Outcome) =>
      resultOf(
        input,
        rest.ok && input.kind === 'action' ? { ...rest, baseline: baseline ?? 'unknown' } : rest,
      );
    // A rollback that is late is done once more anyway.
    const late = async (done: Outcome) => {
      if (input.kind === 'action') await reporter.late(context, toldOf(done));
    };
    const outcome = await inTime(context, probed, (done) => void late(done));
    try {
      await reporter.result(context, toldOf(outcome));
    } catch (error) {
      if (outcome.ok && errorCode(error) === 'lease_lost') await late(outcome);
      throw error;
    }
  };

  return [
    actionJob('webhook', (context) =>
      attempt(context, (signal, leftMs) => askWebhook(ask, signing, context, signal, leftMs)),
    ),
    actionJob('contract', (context) => carryOut(contracts, reporter, context)),
    ...handlerJobs(actions, attempt),
  ];
}

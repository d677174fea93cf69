/**
 * What every engine offers, whatever executes the steps: this queue (`native`), or a cluster
 * elsewhere. The log, the snapshot and the rules are the same for all.
 */
import type { RunState } from '../machines/run.js';
import type { RunSignalType } from './events.js';
import type { PlanRef } from './plans/document.js';

/** Whose run it is, and where. */
export interface RunContext {
  readonly tenantId: string;
  readonly projectId: string;
  readonly environmentId: string;
  /** Fixed by the caller, so that a start that was not answered can be repeated. */
  readonly runId: string;
  /** Which engine is to execute it. */
  readonly targetAdapter: string;
}

/** How an engine finds a run again. */
export type EngineRunRef =
  | { readonly engine: 'native'; readonly runId: string }
  | {
      readonly engine: 'temporal';
      readonly runId: string;
      readonly namespace: string;
      readonly workflowId: string;
      readonly taskQueue?: string;
    };

export interface RunStatus {
  readonly runId: string;
  readonly status: RunState;
  readonly substatus?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly completedAt?: string;
}

/** An operator's command to a run. The same signalId again changes nothing. */
export interface RunSignal {
  readonly type: RunSignalType;
  /** A UUID; made here unless given. */
  readonly signalId?: string;
  readonly reason?: string;
  /** For RETRY_STEP and SKIP_STEP. */
  readonly stepId?: string;
  /**
   * For RETRY_STEP: the step gets a new `effectKey`, and so do the elements of a list. Only if
   * services outside must not recognise what an earlier attempt did. Every attempt has the same key
   * otherwise.
   */
  readonly newEffectKey?: boolean;
  /** For UPDATE_PARAMS: merged into the input that later steps are given. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** For RETRY_RUN: the id of the new run. */
  readonly runId?: string;
}

export interface SignalAnswer {
  readonly signalId: string;
  readonly duplicate: boolean;
  readonly status: RunState;
  /** Of RETRY_RUN: the new run. */
  readonly runId?: string;
}

export interface WorkflowEngine {
  readonly name: string;
  startRun(plan: PlanRef, context: RunContext, input?: unknown): Promise<EngineRunRef>;
  cancelRun(run: EngineRunRef, reason?: string): Promise<void>;
  getRunStatus(run: EngineRunRef): Promise<RunStatus>;
  signal(run: EngineRunRef, signal: RunSignal): Promise<SignalAnswer>;
}

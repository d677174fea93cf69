export type { AnyConnection, Queryable } from './database/connection.js';
export { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from './database/embedded.js';
export type { MigrateOptions, MigrationPlan } from './database/migrate.js';
export { type ErrorCode, PermanentFailure, WritError, WritRefusal } from './errors/index.js';
export type { Published } from './ledger/checkpoints.js';
export { type Exported, type ExportProgress, verifyFolder } from './ledger/exports.js';
export type { Ledger, Outside } from './ledger/ledger.js';
export type { EventProof, GrowthProof, ReceiptProof } from './ledger/proofs.js';
export type { LogHead } from './ledger/reader.js';
export type { Receipt } from './ledger/receipt.js';
export type { LogVerdict, Problem, ProblemKind, Verdict } from './ledger/verdict.js';
export type { OutsideCheckpoint } from './ledger/verification/outside.js';
export type { VerifyOptions } from './ledger/verify.js';
export type { ExecutionState, JobState } from './machines/index.js';
export type { Consumer, ConsumerOptions, Consumers, EventReference } from './queue/consumers.js';
export type { Duration } from './queue/duration.js';
export type { Enqueued, EnqueueOptions } from './queue/enqueue.js';
export type { EmittedGraph, GraphJob, Workflow } from './queue/graph.js';
export { defineJob, type HandledJob, type JobHandler, JobKind, type JobOptions } from './queue/job.js';
export type { Subscription, Subscriptions } from './queue/subscriptions.js';
export type { ClaimedJob, JobContext, StepOfRun, Transaction } from './queue/worker/context.js';
export type { WorkerOptions } from './queue/worker/options.js';
export { Worker } from './queue/worker/worker.js';
export type { EngineRunRef, RunContext, RunSignal, RunStatus, SignalAnswer, WorkflowEngine } from './runs/engine.js';
export type { ArtifactRef, RunEvent, RunEventType, RunSignalType } from './runs/events.js';
export { eventId, idempotencyKey } from './runs/events.js';
export { NativeEngine } from './runs/native.js';
export {
  definePlan,
  type EachOptions,
  type JobStepOptions,
  type PlanBuilder,
  type PlanOptions,
  type Step,
  type StepHandle,
  type StepOptions,
  type WaitOptions,
} from './runs/plans/builder.js';
export { above, all, any, below, exists, is, isNot, not } from './runs/plans/conditions.js';
export type {
  Compensation,
  Condition,
  EachStep,
  JobStep,
  PlanDocument,
  PlanRef,
  PlanStep,
  Retry,
  SecretRef,
  Template,
  TimerStep,
  WaitStep,
} from './runs/plans/document.js';
export { type VerifyPlanOptions, verifyPlanRef } from './runs/plans/hash.js';
export { Plan } from './runs/plans/plan.js';
export type { Filled, Reference, RefTo } from './runs/plans/typed.js';
export { validatePlan } from './runs/plans/validate.js';
export type {
  Appended,
  AppendedEvent,
  AuthorizeSignal,
  ListedRun,
  ListOptions,
  RunHandle,
  Runs,
  SignalRequest,
  StartOptions,
} from './runs/runs.js';
export { emptySnapshot, GapDetected, type RunSnapshot, reduce } from './runs/snapshot.js';
export type { StepSnapshot } from './runs/step.js';
export type { CatchUp } from './schedules/due.js';
export type { Schedule, ScheduleCall, ScheduledJobOptions, ScheduleOptions, ScheduleRule, Schedules } from './schedules/schedules.js';
export { type CallOptions, type ConnectOptions, type EnqueueCall, type ManyItem, Writ } from './writ.js';

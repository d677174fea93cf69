export { type FileArtifactsOptions, fileArtifacts } from './artifacts/files.js';
export { type S3ArtifactsOptions, s3Artifacts } from './artifacts/s3.js';
export {
  type Authorizer,
  grantedPermissions,
  type PermissionAnswer,
  type PermissionQuestion,
} from './authorization/authorizer.js';
export type { ConnectOptions } from './connect-options.js';
export type { AnyConnection, Queryable } from './database/connection.js';
export { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from './database/embedded.js';
export type { MigrateOptions, MigrationPlan } from './database/migrate.js';
export { type ErrorCode, PermanentFailure, WritError, WritRefusal } from './errors/index.js';
export type { Actor } from './governance/actor.js';
export type {
  Contract,
  Contracts,
  Preview,
  PreviewedStep,
  Proposal,
  ProposeOptions,
  Reviewed,
} from './governance/contracts.js';
export type { Flag, Flags, FollowFlagsOptions } from './governance/flags.js';
export type { Freeze, Freezes, NewFreeze } from './governance/freezes.js';
export type {
  CapabilityItem,
  Governance,
  GovernedWork,
  Health,
  NewPrincipal,
  PrincipalChange,
  ProbeOptions,
  Right,
} from './governance/governance.js';
export type { Incident, Incidents, NewIncident, Severity } from './governance/incidents.js';
export type { FinishedJob, GovernanceJob } from './governance/jobs.js';
export { newKey, type Principal, principal, signedBy } from './governance/keys.js';
export type { GovernancePolicy, PolicyDocument, PublishedPolicy } from './governance/policy.js';
export type {
  GovernanceSignal,
  GovernanceSignals,
  NewGovernanceSignal,
} from './governance/signals.js';
export {
  type AnyStepType,
  type ChangeContext,
  type ChangeStep,
  configure,
  defineStep,
  disable,
  enable,
  param,
  recordSignal,
  type StepType,
  type StepTypeOptions,
  soak,
} from './governance/steps.js';
export { type ActionGiven, type ActionKind, defineAction } from './governor/actuators/handler.js';
export { type GeneratorOptions, generateSignals } from './governor/generator.js';
export type {
  DriveOptions,
  EntitlementChange,
  Governor,
  Governors,
  GovernorWork,
  SentSignal,
  Signalled,
} from './governor/governors.js';
export {
  contract,
  definePolicy,
  handler,
  type PolicyAction,
  type PolicyOptions,
  policyHash,
  type ThresholdOptions,
  validatePolicy,
  webhook,
} from './governor/policy.js';
export type { PolicyDocument as GovernorPolicyDocument } from './governor/policy-document.js';
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
export type { Bus, NotSent, Outcome, Sent } from './outbox/buses/bus.js';
export type {
  DeadLetter,
  Delivery,
  DestinationSettings,
  ListedDestination,
} from './outbox/destinations.js';
export type { CloudEvent } from './outbox/envelope.js';
export type { Followed, FollowOptions } from './outbox/follow.js';
export { nats, webhooks } from './outbox/makers.js';
export type { BusMaker, Relay, RelayOptions, Told } from './outbox/relay.js';
export type {
  ArtifactContent,
  ArtifactRef,
  ArtifactStore,
  JobArtifacts,
  PutOptions,
} from './queue/artifacts.js';
export type { Consumer, ConsumerOptions, Consumers, EventReference } from './queue/consumers.js';
export type { Duration } from './queue/duration.js';
export type {
  CallOptions,
  EnqueueCall,
  Enqueued,
  EnqueueOptions,
  ManyItem,
} from './queue/enqueue.js';
export type { EmittedGraph, GraphJob, Workflow } from './queue/graph.js';
export {
  defineJob,
  type HandledJob,
  type JobHandler,
  JobKind,
  type JobOptions,
} from './queue/job.js';
export type { Subscription, Subscriptions } from './queue/subscriptions.js';
export type { ClaimedJob, JobContext, StepOfRun, Transaction } from './queue/worker/context.js';
export type { WorkerOptions } from './queue/worker/options.js';
export { Worker } from './queue/worker/worker.js';
export type { Appended, AppendedEvent, Spooled } from './runs/appends.js';
export type {
  EngineRunRef,
  RunContext,
  RunSignal,
  RunStatus,
  SignalAnswer,
  WorkflowEngine,
} from './runs/engine.js';
export type { RunEvent, RunEventType, RunSignalType } from './runs/events.js';
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
  Template,
  TimerStep,
  WaitStep,
} from './runs/plans/document.js';
export { type VerifyPlanOptions, verifyPlanRef } from './runs/plans/hash.js';
export { Plan } from './runs/plans/plan.js';
export type { Filled, Reference, RefTo } from './runs/plans/typed.js';
export { validatePlan } from './runs/plans/validate.js';
export type {
  AdmissionRule,
  AuthorizeSignal,
  ListedRun,
  ListOptions,
  RunDelivery,
  RunHandle,
  Runs,
  SignalRequest,
  StartOptions,
} from './runs/runs.js';
export { emptySnapshot, GapDetected, type RunSnapshot, reduce } from './runs/snapshot.js';
export type { StepSnapshot } from './runs/step.js';
export type { CatchUp } from './schedules/due.js';
export type {
  Schedule,
  ScheduleCall,
  ScheduledJobOptions,
  ScheduleOptions,
  ScheduleRule,
  Schedules,
} from './schedules/schedules.js';
export { type EnvironmentSecretsOptions, environmentSecrets } from './secrets/environment.js';
export { type FileSecretsOptions, fileSecrets } from './secrets/file.js';
export type { SecretContext, SecretRef, SecretsProvider } from './secrets/provider.js';
export { redactSecrets } from './secrets/redaction.js';
export { type VaultSecretsOptions, vaultSecrets } from './secrets/vault.js';
export type { Merged } from './spool/spool.js';
export { type Login, Writ } from './writ.js';

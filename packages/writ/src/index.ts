export { type FileArtifactsOptions, fileArtifacts } from './artifacts/files.js';
export { type S3ArtifactsOptions, s3Artifacts } from './artifacts/s3.js';
export {
  type Authorizer,
  grantedPermissions,
  type PermissionAnswer,
  type PermissionQuestion,
} from './authorization/authorizer.js';
export type { ConnectOptions } from './connect-options.js';
export type { Acting } from './database/acting.js';
export type { AnyConnection, Queryable } from './database/connection.js';
export { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from './database/embedded.js';
export type { Page, PageOptions } from './database/listing.js';
export type { MigrateOptions, MigrationPlan } from './database/migrate.js';
export type { Doctor, Examination, LookOptions } from './doctor/doctor.js';
export type { Finding, FindingCode, Level } from './doctor/finding.js';
export {
  type ErrorCode,
  isConnectionLoss,
  isErrorCode,
  PermanentFailure,
  registry,
  WritError,
  WritRefusal,
} from './errors/index.js';
export type { Actor, Named } from './governance/actor.js';
export type {
  Admitted,
  KnownApiKey,
  MadeApiKey,
  NewApiKey,
  Requester,
} from './governance/api-keys.js';
export type { Audit, AuditCheck, AuditFilter, Audits, Resolution } from './governance/audits.js';
export type { Capabilities, Capability, CapabilityItem } from './governance/capabilities.js';
export type {
  Change,
  ChangeEvent,
  ChangeEvidence,
  ChangeFilter,
  ChangeLook,
  ChangeMove,
  ChangePart,
  Changes,
  GovernanceJob,
  GovernedStep,
  ListedChange,
} from './governance/changes.js';
export type { Configuration, ConfigurationValue } from './governance/configuration.js';
export type {
  ActivateOptions,
  ApproveOptions,
  Contract,
  ContractFilter,
  ContractMove,
  ContractReview,
  ContractRule,
  Contracts,
  ListedContract,
  OutsideRead,
  Preview,
  PreviewedStep,
  PreviewOptions,
  Proposal,
  ProposeOptions,
  Reviewed,
  SystemContract,
} from './governance/contracts.js';
export type { Deployment, DeploymentId, Open, Renewed } from './governance/deployment.js';
export { documentBytes, documentHash, type SignedDocument } from './governance/document.js';
export type { Flag, Flags, FollowFlagsOptions } from './governance/flags.js';
export type { Freeze, Freezes, NewFreeze } from './governance/freezes.js';
export type { GovernedWork } from './governance/governance.js';
export type { Health, Status, SystemHealth } from './governance/health.js';
export type { Incident, Incidents, NewIncident, Severity } from './governance/incidents.js';
export { newKey, type Principal, principal, signedBy } from './governance/keys.js';
export type { ListedLogin, LoginDefinition, LoginPlan, Logins } from './governance/logins.js';
export type { GovernancePolicy, PolicyDocument, PublishedPolicy } from './governance/policy.js';
export type {
  KnownPrincipal,
  NewPrincipal,
  PrincipalChange,
  Principals,
} from './governance/principals.js';
export type { Probe, ProbeOptions, Probes } from './governance/probes.js';
export { type Preset, presets, type Right, rights } from './governance/rights.js';
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
export type { Difference, KnownTrust, Loss, Trust } from './governance/trust/comparison.js';
export type { TrustDocument } from './governance/trust/file.js';
export { type ActionGiven, type ActionKind, defineAction } from './governor/actuators/handler.js';
export type { Awaited as AwaitedTimer, Explained } from './governor/causes.js';
export type { EntitlementChange, Entitlements } from './governor/entitlements.js';
export type {
  AskedAction,
  DriveOptions,
  GovernorHandle,
  Governors,
  GovernorWork,
  SentSignal,
} from './governor/governors.js';
export type { GovernorName, Signalled } from './governor/intake.js';
export type { Policies, PolicyPreview, Publishing } from './governor/policies.js';
export {
  action,
  definePolicy,
  type PolicyAction,
  type PolicyOptions,
  policyHash,
  type ThresholdOptions,
  validatePolicy,
} from './governor/policy.js';
export type { GovernorPolicy } from './governor/policy-document.js';
export type {
  Governor,
  GovernorDetails,
  HandledEvent,
  PublishedVersion,
  TenantEntitlement,
} from './governor/rows.js';
export type { Alert, AlertFilter, Alerts, ClearedAlert } from './ground/alerts.js';
export type { ChangedSetting, Setting, Settings } from './ground/settings.js';
export type { Comparison, Published } from './ledger/checkpoints.js';
export type { Exported, ExportProgress } from './ledger/exports.js';
export type {
  Ledger,
  LedgerMonth,
  LedgerStatus,
  ListedCheckpoint,
  ListedLog,
  Outside,
} from './ledger/ledger.js';
export type { EventProof, GrowthProof, ReceiptProof } from './ledger/proofs.js';
export type { LogHead } from './ledger/reader.js';
export type { Receipt } from './ledger/receipt.js';
export type { ListedReceipt, ReceiptFilter } from './ledger/receipts.js';
export type { LogVerdict, Problem, ProblemKind, Verdict } from './ledger/verdict.js';
export type { OutsideCheckpoint } from './ledger/verification/outside.js';
export type { VerifyOptions } from './ledger/verify.js';
export type { ExecutionState, JobState } from './machines/index.js';
export type { Bus, NotSent, Outcome, Sent } from './outbox/buses/bus.js';
export type {
  DeadLetter,
  Delivery,
  DestinationSettings,
  Destinations,
  EventCount,
  ListedDestination,
  RedeliverOptions,
} from './outbox/destinations.js';
export type { CloudEvent } from './outbox/envelope.js';
export type {
  EventsRead,
  Followed,
  FollowOptions,
  ReadEventsOptions,
} from './outbox/follow.js';
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
export type {
  CancelledJob,
  Execution,
  Job,
  JobEvent,
  JobFilter,
  JobPayload,
  Jobs,
  JobWorkflow,
  ListedJob,
  QueueHealth,
  RefusedRequeue,
  RequeuedJob,
  RequeueOptions,
} from './queue/jobs.js';
export type { Kinds, ListedKind } from './queue/kinds.js';
export type { QueueReading, WatchOptions } from './queue/readings.js';
export type { Subscription, Subscriptions } from './queue/subscriptions.js';
export type { ClaimedJob, JobContext, StepOfRun, Transaction } from './queue/worker/context.js';
export type { WorkerHealth, WorkerOptions } from './queue/worker/options.js';
export { Worker } from './queue/worker/worker.js';
export type { ListedWorker, TenantWeight, Workers } from './queue/workers.js';
export type { Appended, AppendedEvent, FailOpenEvent, Spooled } from './runs/appends.js';
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
export {
  describeHistory,
  type HistoryVerdict,
  type RunHistory,
  verifyHistory,
} from './runs/history.js';
export type { EventsOptions, ListedRun } from './runs/log.js';
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
export { when } from './runs/plans/conditions.js';
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
export type {
  ListedPlan,
  PlanFilter,
  Plans,
  RegisteredPlan,
} from './runs/plans/registry.js';
export { planSchema } from './runs/plans/schema.js';
export type { Filled, Reference, RefTo } from './runs/plans/typed.js';
export { validatePlan } from './runs/plans/validate.js';
export type {
  AdmissionRule,
  AuthorizeSignal,
  ListedAdmission,
  ListedDelivery,
  PlanName,
  QueuedStart,
  RunAlert,
  RunArtifact,
  RunDelivery,
  RunDetail,
  RunFilter,
  RunHandle,
  Runs,
  SignalRequest,
  StartOptions,
  StepTries,
} from './runs/runs.js';
export { emptySnapshot, GapDetected, type RunSnapshot, reduce } from './runs/snapshot.js';
export type { StepSnapshot } from './runs/step.js';
export type { CatchUp } from './schedules/due.js';
export type {
  FiredTick,
  Schedule,
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

/** Verifies an export of the ledger in a folder, without a database. */
export const verifyFolder: typeof import('./ledger/exports.js').verifyFolder = async (...args) =>
  (await import('./ledger/exports.js')).verifyFolder(...args);

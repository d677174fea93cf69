/**
 * The methods of the typed API, by what they do. The compiler derives from their types which answer
 * a page and which take `once`; a test compares all names with the classes.
 */
import type { Page } from '../src/database/listing.js';
import { Audits } from '../src/governance/audits.js';
import { Capabilities } from '../src/governance/capabilities.js';
import { Changes } from '../src/governance/changes.js';
import { Configuration } from '../src/governance/configuration.js';
import { Contracts } from '../src/governance/contracts.js';
import { Deployment } from '../src/governance/deployment.js';
import { Freezes } from '../src/governance/freezes.js';
import { Health } from '../src/governance/health.js';
import { Incidents } from '../src/governance/incidents.js';
import { Logins } from '../src/governance/logins.js';
import { GovernancePolicy } from '../src/governance/policy.js';
import { Principals } from '../src/governance/principals.js';
import { Probes } from '../src/governance/probes.js';
import { GovernanceSignals } from '../src/governance/signals.js';
import { Trust } from '../src/governance/trust/comparison.js';
import { Entitlements } from '../src/governor/entitlements.js';
import { Governors } from '../src/governor/governors.js';
import { Policies } from '../src/governor/policies.js';
import type { Writ } from '../src/index.js';
import { Ledger } from '../src/ledger/ledger.js';

/** The doors of a connection, and the parts of one of them. */
type Doors = {
  readonly [Name in keyof Writ as Writ[Name] extends (...args: never) => unknown
    ? never
    : Name & string]: Writ[Name];
} & {
  readonly 'governors.policies': Writ['governors']['policies'];
  readonly 'governors.entitlements': Writ['governors']['entitlements'];
};

type IsPage<Method> = Method extends (...args: never) => Promise<infer Answer>
  ? Answer extends Page<unknown>
    ? true
    : false
  : false;

/** Not the `once` of an emitter, nor that of a record of anything. */
type HasOnce<Parameter> = Parameter extends object
  ? 'once' extends keyof Parameter
    ? Parameter['once'] extends string | undefined
      ? true
      : never
    : never
  : never;

type TakesOnce<Method> = Method extends (...args: infer Parameters) => unknown
  ? true extends { [Place in keyof Parameters]: HasOnce<Parameters[Place]> }[number]
    ? true
    : false
  : false;

type Paged<Door> = {
  [Name in keyof Door]: IsPage<Door[Name]> extends true ? Name & string : never;
}[keyof Door];
type Acting<Door> = {
  [Name in keyof Door]: TakesOnce<Door[Name]> extends true ? Name & string : never;
}[keyof Door];

/** `jobs.list`, `governors.policies.list`, …: all that answer a page. */
export type PagedMethod = {
  [Name in keyof Doors]: `${Name}.${Paged<Doors[Name]>}`;
}[keyof Doors];

/** All that take `once`. */
export type ActingMethod = {
  [Name in keyof Doors]: `${Name}.${Acting<Doors[Name]>}`;
}[keyof Doors];

/** They act by a key that their call has anyway (docs/decisions/0013-once.md), or keep nothing. */
export const byOwnKey = [
  'governors.open',
  'governors.take',
  'ledger.checkpoint',
  'runs.append',
  'runs.mergeSpool',
  'runs.register',
];

/** They change nothing that is kept, or only this process. */
export const reads = [
  ...['jobs.get', 'jobs.events', 'jobs.payload', 'jobs.workflow', 'jobs.health', 'jobs.watch'],
  ...['jobs.finished', 'jobs.close', 'kinds.get', 'settings.get', 'schedules.get'],
  ...['runs.handle', 'runs.finished', 'runs.hear', 'runs.get', 'runs.snapshot', 'runs.follow'],
  ...['runs.detail', 'runs.tries', 'runs.history', 'runs.verify', 'runs.effects', 'runs.close'],
  ...['plans.get', 'plans.named', 'plans.numbers', 'plans.waitingFor'],
  ...['ledger.status', 'ledger.receipt', 'ledger.compare', 'ledger.month', 'ledger.reader'],
  ...['ledger.assertNotOlder', 'ledger.verify', 'ledger.export', 'ledger.proveReceipt'],
  ...['ledger.proveEvent', 'ledger.proveGrowth'],
  ...['governors.policies', 'governors.entitlements', 'governors.tenantOf', 'governors.find'],
  ...['governors.get', 'governors.follow', 'governors.retrySeconds', 'governors.drive'],
  ...['governors.handlers', 'governors.poke', 'governors.intake', 'governors.look'],
  ...['governors.close', 'governors.policies.get', 'governors.policies.check'],
  ...['governors.policies.preview', 'governors.policies.allowed', 'governors.entitlements.get'],
  ...['apiKeys.admit', 'contracts.use', 'contracts.get', 'contracts.history'],
  ...['contracts.preview', 'contracts.handle', 'changes.get', 'changes.steps'],
  ...['changes.evidence', 'changes.look', 'changes.follow', 'changes.finished'],
  ...['changes.unserved', 'changes.handle', 'audits.get', 'audits.checks', 'audits.evidence'],
  ...['capabilities.get', 'configuration.get', 'health.get', 'probes.get', 'incidents.get'],
  ...['policy.get', 'principals.get', 'logins.plan', 'logins.planRemoval', 'deployment.get'],
  ...['deployment.open', 'trust.known', 'trust.differences', 'trust.losses'],
  ...['trust.document', 'doctor.look'],
  ...['destinations.get', 'destinations.recorded'],
];

/** Doors that are loaded when they are used, and those within doors. */
const later: Readonly<Record<string, { readonly prototype: object }>> = {
  audits: Audits,
  capabilities: Capabilities,
  changes: Changes,
  configuration: Configuration,
  contracts: Contracts,
  deployment: Deployment,
  freezes: Freezes,
  governors: Governors,
  'governors.entitlements': Entitlements,
  'governors.policies': Policies,
  health: Health,
  incidents: Incidents,
  ledger: Ledger,
  logins: Logins,
  policy: GovernancePolicy,
  principals: Principals,
  probes: Probes,
  signals: GovernanceSignals,
  trust: Trust,
};

/** Every method of every door of a connection. */
export function methodsOf(writ: Writ): string[] {
  const doors = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(writ)))
    .filter(([, { get }]) => get !== undefined)
    .map(([name]) => name);
  const prototypes = new Map<string, object>(
    doors.map((name) => [name, Object.getPrototypeOf(writ[name as keyof Writ])]),
  );
  for (const [name, { prototype }] of Object.entries(later)) prototypes.set(name, prototype);
  return [...prototypes].flatMap(([name, prototype]) =>
    Object.getOwnPropertyNames(prototype)
      .filter((method) => method !== 'constructor')
      .map((method) => `${name}.${method}`),
  );
}

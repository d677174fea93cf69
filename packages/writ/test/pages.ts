/**
 * The methods that answer a page, each with the test that has its plans explained over a long
 * history. The compiler knows which they are.
 */
import type { PagedMethod } from './api.js';

const queue = 'test/queue/listing.test.ts';
const runs = 'test/runs/million.test.ts';
const governance = 'test/governance/lists.test.ts';
const governor = 'test/governor/million.test.ts';

export const pages: Readonly<Record<PagedMethod, string>> = {
  'alerts.list': queue,
  'consumers.list': queue,
  'destinations.deadLetters': queue,
  'destinations.deliveries': queue,
  'destinations.list': queue,
  'jobs.executions': queue,
  'jobs.list': queue,
  'kinds.list': queue,
  'schedules.list': queue,
  'schedules.ticks': queue,
  'settings.list': queue,
  'subscriptions.list': queue,
  'workers.list': queue,
  'workers.weights': queue,
  'ledger.checkpoints': runs,
  'ledger.logs': runs,
  'ledger.receipts': runs,
  'plans.list': runs,
  'runs.admissions': runs,
  'runs.artifacts': runs,
  'runs.deliveries': runs,
  'runs.events': runs,
  'runs.list': runs,
  'apiKeys.list': governance,
  'audits.list': governance,
  'capabilities.list': governance,
  'changes.list': governance,
  'configuration.list': governance,
  'contracts.list': governance,
  'contracts.templates': governance,
  'freezes.list': governance,
  'incidents.list': governance,
  'logins.list': governance,
  'principals.list': governance,
  'probes.list': governance,
  'signals.list': governance,
  'governors.actions': governor,
  'governors.entitlements.list': governor,
  'governors.events': governor,
  'governors.list': governor,
  'governors.policies.list': governor,
  'governors.receipts': governor,
};

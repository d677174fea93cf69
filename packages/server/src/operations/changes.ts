/**
 * Governance jobs, by the paths and names of their specification. None is made here: an activation
 * makes it.
 */
import Type from 'typebox';
import { act, read } from '../operation.js';
import {
  byId,
  component,
  integer,
  json,
  list,
  moment,
  nullable,
  object,
  optional,
  pageOf,
  paging,
  reason,
  text,
  time,
  timeOf,
} from '../schema.js';

const listedFields = {
  job_id: text(),
  tenant_id: text(),
  contract_id: text(),
  title: text(10_000),
  kind: text(),
  of_job_id: nullable(text()),
  version: integer(),
  status: text(),
  status_reason: nullable(Type.String()),
  executor_id: nullable(Type.String()),
  total_steps: integer(),
  completed_steps: integer(),
  audit_verdict: nullable(text()),
  rollback_job_id: nullable(text()),
  resolved_by_job_id: nullable(text()),
  created_at: time(),
  started_at: nullable(time()),
  completed_at: nullable(time()),
};

const listed = component('ListedGovernanceJob', listedFields);

const job = component('GovernanceJob', {
  ...listedFields,
  run_id: text(),
  duration_ms: nullable(Type.Number()),
  current_step: nullable(integer()),
  max_duration_ms: integer(),
  scope_hash: text(),
  state_before: text(),
  state_after: nullable(text()),
  rollback_reason: nullable(Type.String()),
  audit_id: nullable(text()),
  updated_at: time(),
  history: list(json()),
});

const step = component('GovernanceJobStep', {
  job_id: text(),
  step_no: integer(),
  step_type: text(),
  target: text(10_000),
  parameters: json(),
  status: text(),
  started_at: nullable(time()),
  completed_at: nullable(time()),
  error: nullable(Type.String()),
  undo_of: nullable(integer()),
});

export const changes = [
  read({
    id: 'changes.list',
    path: '/jobs',
    summary: 'Lists governance jobs, the newest first.',
    right: 'view',
    input: {
      query: object({
        ...paging,
        status: optional(text(30)),
        contract: optional(text(36)),
        executor: optional(text()),
        since: optional(moment()),
        until: optional(moment()),
      }),
    },
    output: pageOf(listed),
    refuses: ['invalid_cursor'],
    run: (writ, { query: { since, until, ...query } }) =>
      writ.changes.list({
        ...(query as object),
        ...timeOf('since', since),
        ...timeOf('until', until),
      }),
  }),
  read({
    id: 'changes.get',
    path: '/jobs/:id',
    summary: 'Shows a governance job.',
    right: 'view',
    input: { params: byId },
    output: job,
    refuses: ['job_not_found'],
    run: (writ, { params: { id } }) => writ.changes.get(id),
  }),
  read({
    id: 'changes.steps',
    path: '/jobs/:id/steps',
    summary: 'Shows the steps of a governance job.',
    right: 'view',
    input: { params: byId },
    output: Type.Object({ items: list(step) }),
    refuses: ['job_not_found'],
    run: async (writ, { params: { id } }) => ({ items: await writ.changes.steps(id) }),
  }),
  act({
    id: 'changes.cancel',
    path: '/jobs/:id/cancel',
    summary: 'Cancels a governance job that has not begun.',
    right: 'activate',
    input: { params: byId, body: object({ reason: reason() }) },
    output: component('CancelledGovernanceJob', { job_id: text(), status: text() }),
    refuses: ['job_not_found', 'job_terminal', 'job_running'],
    run: (writ, { params: { id }, body }) => writ.changes.cancel(id, body),
  }),
  act({
    id: 'changes.retryRollback',
    path: '/jobs/:id/retry-rollback',
    summary: 'Tries a failed rollback again. Answers the new rollback job.',
    right: 'operate',
    status: 202,
    input: { params: byId },
    output: component('RetriedRollback', { rollback_job_id: text() }),
    refuses: ['job_not_found', 'job_running', 'invalid_transition', 'target_not_held'],
    run: (writ, { params: { id } }) => writ.changes.retryRollback(id),
  }),
];

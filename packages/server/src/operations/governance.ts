/** What contracts change and what holds them: capabilities, values, audits, health, people. */
import Type from 'typebox';
import { rights } from 'writ';
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
  oneOf,
  optional,
  pageOf,
  paging,
  reason,
  text,
  time,
  timeOf,
} from '../schema.js';

const byName = object({ name: text(500) });
const byJob = object({ id: text(36) });
const statuses = ['HEALTHY', 'DEGRADED', 'UNHEALTHY', 'UNKNOWN'] as const;

const capability = component('Capability', {
  tenant_id: text(),
  capability_name: text(),
  domain: text(),
  lifecycle: oneOf(['DISABLED', 'PREVIEW', 'LAUNCHED', 'DEPRECATED']),
  version: integer(),
  monitored: Type.Boolean(),
  frozen: nullable(Type.String()),
  disqualified: nullable(Type.String()),
  updated_by: text(),
  updated_at: time(),
  held_by: nullable(text()),
});

const value = component('ConfigurationValue', {
  tenant_id: text(),
  scope: text(),
  owner_capability: text(),
  held_by: nullable(text()),
  key: nullable(text(500)),
  value: json(),
  version: nullable(integer()),
  updated_by: nullable(text()),
  updated_at: nullable(time()),
});

const audit = component('Audit', {
  audit_id: text(),
  tenant_id: text(),
  job_id: text(),
  contract_id: text(),
  verdict: oneOf(['PASS', 'FAIL', 'INCONCLUSIVE']),
  verdict_reason: Type.String(),
  verdict_at: time(),
  checks_performed: list(json()),
  checks_passed: integer(),
  checks_failed: integer(),
  checks_inconclusive: integer(),
  resolved_by: nullable(text()),
  created_at: time(),
});

const probe = component('Probe', {
  tenant_id: text(),
  name: text(),
  capability: text(),
  type: text(),
  config: json(),
  every_ms: integer(),
  timeout_ms: integer(),
  status: nullable(text()),
  detail: nullable(Type.String()),
  checked_at: nullable(time()),
  put_by: text(),
  put_at: time(),
});

const freeze = component('Freeze', {
  freeze_id: text(),
  tenant_id: text(),
  reason: Type.String(),
  begins_at: time(),
  ends_at: nullable(time()),
  put_by: text(),
  lifted_at: nullable(time()),
  lifted_by: nullable(text()),
  lasts: Type.Boolean(),
});

const incident = component('Incident', {
  incidentId: text(),
  tenant: text(),
  capability: nullable(text()),
  severity: oneOf(['P1', 'P2', 'P3']),
  subject: text(),
  summary: Type.String(),
  openedBy: text(),
  openedAt: time(),
  resolvedBy: nullable(text()),
  resolvedAt: nullable(time()),
  resolution: nullable(Type.String()),
});

const healthSignal = component('HealthSignal', {
  id: text(),
  tenant_id: text(),
  signal_type: text(),
  scope: text(),
  decision: text(),
  reason: Type.String(),
  recorded_by: text(),
  recorded_at: time(),
  expires_at: nullable(time()),
  stands: Type.Boolean(),
});

const policy = component('GovernancePolicy', {
  version: integer(),
  document: json(),
  published_by: nullable(text()),
  published_at: nullable(time()),
});

const principal = component('Principal', {
  principal_id: text(),
  tenant_id: nullable(text()),
  kind: oneOf(['person', 'service', 'agent']),
  on_behalf_of: nullable(text()),
  rights: list(oneOf(rights)),
  public_key: Type.String(),
  added_by: text(),
  added_at: time(),
  disabled_at: nullable(time()),
  permissions: list(text()),
});

const named = component('Named', { name: text(500) });

export const governance = [
  read({
    id: 'capabilities.list',
    path: '/capabilities',
    summary: 'Lists capabilities by name.',
    right: 'view',
    input: { query: object({ ...paging, domain: optional(text()) }) },
    output: pageOf(capability),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.capabilities.list(query as object),
  }),
  read({
    id: 'capabilities.get',
    path: '/capabilities/:name',
    summary: 'Shows a capability.',
    right: 'view',
    input: { params: byName },
    output: capability,
    refuses: ['unknown_target'],
    run: (writ, { params: { name } }) => writ.capabilities.get(name),
  }),
  read({
    id: 'configuration.list',
    path: '/configuration',
    summary: 'Lists governed values by scope and key.',
    right: 'view',
    input: { query: object({ ...paging, scope: optional(text()) }) },
    output: pageOf(value),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.configuration.list(query as object),
  }),
  read({
    id: 'audits.list',
    path: '/audits',
    summary: 'Lists audits of governance jobs, the newest first.',
    right: 'view',
    input: {
      query: object({
        ...paging,
        verdict: optional(oneOf(['PASS', 'FAIL', 'INCONCLUSIVE'])),
        contract: optional(text(36)),
      }),
    },
    output: pageOf(audit),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.audits.list(query as object),
  }),
  read({
    id: 'audits.get',
    path: '/audits/:id',
    summary: 'Shows the audit of a governance job, by the id of the job.',
    right: 'view',
    input: { params: byJob },
    output: audit,
    refuses: ['audit_not_found', 'job_not_found'],
    run: (writ, { params: { id } }) => writ.audits.get(id),
  }),
  read({
    id: 'audits.checks',
    path: '/audits/:id/checks',
    summary: 'Shows what an audit checked.',
    right: 'view',
    input: { params: byJob },
    output: Type.Object({ items: list(json()) }),
    refuses: ['audit_not_found', 'job_not_found'],
    run: async (writ, { params: { id } }) => ({ items: await writ.audits.checks(id) }),
  }),
  read({
    id: 'audits.evidence',
    path: '/audits/:id/evidence',
    summary: 'Shows the evidence of an audit.',
    right: 'view',
    input: { params: byJob },
    output: Type.Record(Type.String(), json()),
    refuses: ['audit_not_found', 'job_not_found'],
    run: (writ, { params: { id } }) => writ.audits.evidence(id),
  }),
  act({
    id: 'audits.resolve',
    path: '/audits/:id/resolve',
    summary: 'Decides an inconclusive audit. Neither proposer nor approver of the change may.',
    right: 'approve',
    input: { params: byJob, body: object({ verdict: oneOf(['PASS', 'FAIL']), reason: reason() }) },
    output: component('ResolvedAudit', { job_id: text(), audit_verdict: text(), status: text() }),
    refuses: ['job_not_found', 'own_contract', 'invalid_transition'],
    run: (writ, { params: { id }, body }) => writ.audits.resolve(id, body as never),
  }),
  read({
    id: 'probes.list',
    path: '/probes',
    summary: 'Lists probes with their last answers.',
    right: 'view',
    input: { query: object({ ...paging, capability: optional(text()) }) },
    output: pageOf(probe),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.probes.list(query as object),
  }),
  read({
    id: 'probes.get',
    path: '/probes/:name',
    summary: 'Shows a probe.',
    right: 'view',
    input: { params: byName },
    output: probe,
    refuses: ['probe_not_found'],
    run: (writ, { params: { name } }) => writ.probes.get(name),
  }),
  act({
    id: 'probes.report',
    path: '/probes/:name/report',
    summary: 'Says how the thing is that a probe of type heartbeat or reported watches.',
    right: 'report',
    input: {
      params: byName,
      body: object({
        status: oneOf(statuses),
        detail: optional(Type.String({ maxLength: 2_000 })),
      }),
    },
    output: named,
    refuses: ['probe_not_found'],
    run: async (writ, { params: { name }, body: { status, detail } }) => {
      await writ.probes.report(name, status as never, detail === undefined ? {} : { detail });
      return { name };
    },
  }),
  read({
    id: 'freezes.list',
    path: '/freezes',
    summary: 'Lists freezes, the newest first.',
    right: 'view',
    input: { query: object(paging) },
    output: pageOf(freeze),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.freezes.list(query),
  }),
  act({
    id: 'freezes.put',
    path: '/freezes',
    summary: 'Keeps every contract of a tenant from being activated, for a time.',
    right: 'operate',
    status: 201,
    input: {
      body: object({ reason: reason(), from: optional(moment()), until: optional(moment()) }),
    },
    output: component('PutFreeze', { freeze_id: text() }),
    run: async (writ, { body: { reason: why, from, until } }) => ({
      freeze_id: await writ.freezes.put({
        reason: why,
        ...timeOf('from', from),
        ...timeOf('until', until),
      }),
    }),
  }),
  act({
    id: 'freezes.lift',
    method: 'DELETE',
    path: '/freezes/:id',
    summary: 'Ends a freeze.',
    right: 'operate',
    input: { params: byId },
    output: component('LiftedFreeze', { freeze_id: text() }),
    refuses: ['freeze_not_found'],
    run: async (writ, { params: { id } }) => {
      await writ.freezes.lift(id);
      return { freeze_id: id };
    },
  }),
  read({
    id: 'incidents.list',
    path: '/incidents',
    summary: 'Lists open incidents, the worst first; with `all`, the resolved ones too.',
    right: 'view',
    input: { query: object({ ...paging, all: optional(Type.Boolean()) }) },
    output: pageOf(incident),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.incidents.list(query as object),
  }),
  read({
    id: 'incidents.get',
    path: '/incidents/:id',
    summary: 'Shows an incident.',
    right: 'view',
    input: { params: byId },
    output: incident,
    refuses: ['incident_not_found'],
    run: (writ, { params: { id } }) => writ.incidents.get(id),
  }),
  act({
    id: 'incidents.open',
    path: '/incidents',
    summary: 'Opens an incident.',
    right: 'operate',
    status: 201,
    input: {
      body: object({
        summary: reason(),
        capability: optional(text()),
        severity: optional(oneOf(['P1', 'P2', 'P3'])),
      }),
    },
    output: component('OpenedIncident', { incidentId: text() }),
    refuses: ['unknown_target'],
    run: async (writ, { body }) => ({ incidentId: await writ.incidents.open(body as never) }),
  }),
  act({
    id: 'incidents.resolve',
    path: '/incidents/:id/resolve',
    summary: 'Resolves an incident, and says how.',
    right: 'operate',
    input: { params: byId, body: object({ resolution: reason() }) },
    output: component('ResolvedIncident', { incidentId: text() }),
    refuses: ['incident_not_found'],
    run: async (writ, { params: { id }, body }) => {
      await writ.incidents.resolve(id, body);
      return { incidentId: id };
    },
  }),
  read({
    id: 'healthSignals.list',
    path: '/health-signals',
    summary: 'Lists signals about health, the newest first.',
    right: 'view',
    input: {
      query: object({ ...paging, scope: optional(text()), all: optional(Type.Boolean()) }),
    },
    output: pageOf(healthSignal),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.signals.list(query as object),
  }),
  act({
    id: 'healthSignals.record',
    path: '/health-signals',
    summary: 'Records a signal about a scope. It replaces the signal of its scope and type.',
    right: 'report',
    status: 201,
    input: {
      body: object({
        scope: text(),
        decision: oneOf(['CLEAN', 'BLOCKED', 'WARN', 'PENDING']),
        reason: reason(),
        type: optional(text(100)),
        until: optional(moment()),
      }),
    },
    output: component('RecordedSignal', { id: text() }),
    run: async (writ, { body: { until, ...body } }) => ({
      id: await writ.signals.record({
        ...(body as never as object),
        ...timeOf('until', until),
      } as never),
    }),
  }),
  read({
    id: 'policy.get',
    path: '/policy',
    summary: 'Shows the policy of approvals: the newest version, or another one.',
    right: 'view',
    input: { query: object({ version: optional(integer(1)) }) },
    output: policy,
    refuses: ['policy_not_found'],
    run: (writ, { query }) => writ.policy.get(query as object),
  }),
  act({
    id: 'policy.publish',
    path: '/policy',
    summary: 'Publishes the next version of the policy of approvals.',
    right: 'operate',
    status: 201,
    input: { body: Type.Record(Type.String({ maxLength: 100 }), Type.Unknown()) },
    output: component('PublishedPolicy', { version: integer() }),
    refuses: ['invalid_policy'],
    run: async (writ, { body }) => ({ version: await writ.policy.publish(body as object) }),
  }),
  read({
    id: 'principals.list',
    path: '/principals',
    summary: 'Lists principals by name.',
    right: 'view',
    input: {
      query: object({ ...paging, kind: optional(oneOf(['person', 'service', 'agent'])) }),
    },
    output: pageOf(principal),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.principals.list(query as object),
  }),
  read({
    id: 'principals.get',
    path: '/principals/:name',
    summary: 'Shows a principal.',
    right: 'view',
    input: { params: byName },
    output: principal,
    refuses: ['principal_not_found'],
    run: (writ, { params: { name } }) => writ.principals.get(name),
  }),
];

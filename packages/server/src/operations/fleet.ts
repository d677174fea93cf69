/**
 * What all tenants share: kinds of jobs, workers, settings, the doctor; and alerts. Callers of one
 * tenant see none of the shared things.
 */
import Type from 'typebox';
import { act, read } from '../operation.js';
import {
  byId,
  component,
  integer,
  json,
  list,
  nullable,
  object,
  oneOf,
  optional,
  pageOf,
  paging,
  reason,
  text,
  time,
} from '../schema.js';

const byName = object({ name: text(500) });
const changed = component('Changed', { changed: Type.Boolean() });

const kind = component('JobKind', {
  kind: text(),
  domain: text(),
  executor: text(),
  attempts: nullable(integer()),
  timeoutS: nullable(Type.Number()),
  limitConcurrency: nullable(integer()),
  limitRate: nullable(Type.Number()),
  registeredBy: text(),
  registeredAt: time(),
  pausedAt: nullable(time()),
  pausedBy: nullable(text()),
  backlog: integer(),
  inProgress: integer(),
  deadLetters: integer(),
});

const worker = component('Worker', {
  worker: text(),
  executor: text(),
  domains: list(text()),
  kinds: list(text()),
  freshness: oneOf(['fresh', 'warning', 'stale']),
  lastBeatAt: time(),
  login: text(),
  leases: integer(),
  jobs: integer(),
});

const weight = component('TenantWeight', {
  tenant: text(),
  weight: Type.Number(),
  setBy: text(),
  setAt: time(),
});

const queueHealth = component('QueueHealth', {
  backlog: integer(),
  waiting: integer(),
  in_progress: integer(),
  dead_letter_open: integer(),
  oldest_queued_age_s: nullable(Type.Number()),
  lease_active: integer(),
  lease_expired: integer(),
  workers: integer(),
  enabled: Type.Boolean(),
});

const alert = component('Alert', {
  alertId: text(),
  code: text(),
  severity: oneOf(['P1', 'P2', 'P3']),
  tenant: nullable(text()),
  subject: text(2_000),
  detail: json(),
  raisedAt: time(),
  clearedAt: nullable(time()),
  clearedBy: nullable(text()),
});

const setting = component('Setting', {
  key: text(),
  value: json(),
  description: Type.String(),
  updatedAt: time(),
  updatedBy: text(),
});

export const fleet = [
  read({
    id: 'queue.health',
    path: '/queue/health',
    summary: 'Shows how much work waits, and whether workers are there.',
    right: 'view',
    wide: true,
    output: queueHealth,
    run: (writ) => writ.jobs.health(),
  }),
  read({
    id: 'kinds.list',
    path: '/queue/kinds',
    summary: 'Lists kinds of jobs with their work.',
    right: 'view',
    wide: true,
    input: { query: object(paging) },
    output: pageOf(kind),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.kinds.list(query),
  }),
  read({
    id: 'kinds.get',
    path: '/queue/kinds/:name',
    summary: 'Shows a kind of jobs.',
    right: 'view',
    wide: true,
    input: { params: byName },
    output: kind,
    refuses: ['unknown_job_kind'],
    run: (writ, { params: { name } }) => writ.kinds.get(name),
  }),
  ...(['pause', 'resume'] as const).map((verb) =>
    act({
      id: `kinds.${verb}`,
      path: `/queue/kinds/:name/${verb}`,
      summary:
        verb === 'pause'
          ? 'Keeps the jobs of a kind from workers. Running jobs end.'
          : 'Hands the jobs of a paused kind to workers again.',
      right: 'operate',
      wide: true,
      input: { params: byName },
      output: changed,
      refuses: ['unknown_job_kind', 'reserved_job_kind'],
      run: (writ, { params: { name } }) => writ.kinds[verb](name),
    }),
  ),
  read({
    id: 'workers.list',
    path: '/queue/workers',
    summary: 'Lists workers as the database hears them.',
    right: 'view',
    wide: true,
    input: { query: object(paging) },
    output: pageOf(worker),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.workers.list(query),
  }),
  read({
    id: 'workers.weights',
    path: '/queue/weights',
    summary: 'Lists the shares of tenants that are not 1.',
    right: 'view',
    wide: true,
    input: { query: object(paging) },
    output: pageOf(weight),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.workers.weights(query),
  }),
  read({
    id: 'alerts.list',
    path: '/alerts',
    summary: 'Lists alerts that stand, the newest first; with `all`, the cleared ones too.',
    right: 'view',
    input: {
      query: object({ ...paging, code: optional(text(100)), all: optional(Type.Boolean()) }),
    },
    output: pageOf(alert),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.alerts.list(query as object),
  }),
  act({
    id: 'alerts.clear',
    path: '/alerts/:id/clear',
    summary: 'Clears an alert after somebody has dealt with its cause.',
    right: 'operate',
    input: { params: byId, body: object({ reason: reason() }) },
    output: component('ClearedAlert', {
      alertId: text(),
      code: text(),
      subject: text(2_000),
      duplicate: Type.Boolean(),
    }),
    refuses: ['alert_not_found'],
    run: (writ, { params: { id }, body }) => writ.alerts.clear(id, body),
  }),
  read({
    id: 'doctor.look',
    path: '/doctor',
    summary: 'Examines the server, the schema and the work, and says what wants a person.',
    right: 'operate',
    wide: true,
    input: { query: object({ only: optional(text(100)) }) },
    output: component('Examination', {
      ok: Type.Boolean(),
      installed: Type.Boolean(),
      findings: list(
        component('Finding', {
          check: text(),
          level: oneOf(['ok', 'hint', 'warning', 'error']),
          code: text(),
          says: Type.String(),
          means: optional(Type.String()),
          facts: json(),
        }),
      ),
    }),
    run: (writ, { query: { only } }) =>
      writ.doctor.look({ timeout: '5s', ...(only !== undefined && { only: [only] }) }),
  }),
  read({
    id: 'settings.list',
    path: '/settings',
    summary: 'Lists settings of the deployment.',
    right: 'view',
    wide: true,
    input: { query: object(paging) },
    output: pageOf(setting),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.settings.list(query),
  }),
  read({
    id: 'settings.get',
    path: '/settings/:name',
    summary: 'Shows a setting.',
    right: 'view',
    wide: true,
    input: { params: byName },
    output: setting,
    refuses: ['unknown_setting'],
    run: (writ, { params: { name } }) => writ.settings.get(name),
  }),
];

/** Runs of plans, by the names of their specification. */
import Type from 'typebox';
import { act, read, stream } from '../operation.js';
import {
  byId,
  component,
  integer,
  json,
  nullable,
  object,
  oneOf,
  optional,
  pageOf,
  paging,
  reason,
  text,
  time,
  uuid,
} from '../schema.js';

const listed = component('Run', {
  runId: text(),
  tenant: text(),
  planId: text(),
  planVersion: text(),
  status: text(),
  substatus: optional(nullable(text())),
  requestId: optional(nullable(text(2_000))),
  createdAt: time(),
  endedAt: optional(nullable(time())),
});

const started = component('StartedRun', { runId: text(), duplicate: Type.Boolean() });

const plan = component('Plan', {
  planId: text(500),
  planVersion: text(),
  sha256: text(),
  sizeBytes: integer(),
  steps: integer(),
  registeredBy: text(),
  registeredAt: time(),
});

export const runs = [
  read({
    id: 'plans.list',
    path: '/plans',
    summary: 'Lists versions of plans.',
    right: 'view',
    input: { query: object({ ...paging, plan: optional(text(500)) }) },
    output: pageOf(plan),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.plans.list(query as object),
  }),
  read({
    id: 'plans.get',
    path: '/plans/:name',
    summary: 'Shows a plan: its newest version, or another one.',
    right: 'view',
    input: {
      params: object({ name: text(500) }),
      query: object({ version: optional(text()) }),
    },
    output: component('RegisteredPlan', {
      planId: text(500),
      planVersion: text(),
      document: json(),
    }),
    refuses: ['PLAN_NOT_FOUND'],
    run: (writ, { params: { name }, query }) => writ.plans.get(name, query as object),
  }),
  act({
    id: 'runs.start',
    path: '/runs',
    summary: 'Starts a run of a registered plan.',
    right: 'produce',
    status: 202,
    input: {
      body: object({
        planId: text(500),
        planVersion: optional(text()),
        input: optional(json()),
        requestId: optional(text(2_000)),
        priority: optional(Type.Integer({ minimum: -32_768, maximum: 32_767 })),
      }),
    },
    output: started,
    refuses: ['PLAN_NOT_FOUND', 'TENANT_OVERLOADED', 'payload_too_large'],
    run: async (writ, { body: { planId, planVersion, input, ...options } }) => {
      const { runId, duplicate } = await writ.runs.start(
        { planId, ...(planVersion !== undefined && { planVersion }) },
        input,
        options as object,
      );
      return { runId, duplicate };
    },
  }),
  stream({
    id: 'runs.follow',
    path: '/runs/:id/stream',
    summary: 'Follows the log of a run. The id of an event is its number in the log.',
    right: 'view',
    input: {
      params: byId,
      query: object({ after: optional(Type.String({ pattern: '^\\d{1,15}$' })) }),
    },
    output: json(),
    refuses: ['RUN_NOT_FOUND'],
    run: async function* (writ, { params: { id } }, after) {
      await writ.runs.get(id);
      for await (const event of writ.runs.follow(id, { afterSeq: Number(after ?? 0) || 0 }))
        yield { id: String(event.runSeq), event: event.eventType, data: event };
    },
  }),
  read({
    id: 'runs.artifacts',
    path: '/runs/:id/artifacts',
    summary: 'Lists artifacts that steps of a run made.',
    right: 'view',
    input: { params: byId, query: object(paging) },
    output: pageOf(json()),
    refuses: ['RUN_NOT_FOUND', 'invalid_cursor'],
    run: (writ, { params: { id }, query }) => writ.runs.artifacts(id, query),
  }),
  read({
    id: 'runs.deliveries',
    path: '/runs/:id/deliveries',
    summary: 'Lists what was delivered to a run.',
    right: 'view',
    input: { params: byId, query: object(paging) },
    output: pageOf(
      component('RunDelivery', {
        deliveryId: text(),
        event: text(500),
        sizeBytes: nullable(integer()),
        deliveredAt: time(),
        deliveredBy: text(),
        takenBy: nullable(text(500)),
      }),
    ),
    refuses: ['RUN_NOT_FOUND', 'invalid_cursor'],
    run: (writ, { params: { id }, query }) => writ.runs.deliveries(id, query),
  }),
  read({
    id: 'runs.history',
    path: '/runs/:id/history',
    summary: 'Downloads a run: its plan, its log and its values, which `writ runs verify` checks.',
    right: 'audit',
    input: { params: byId },
    output: component('RunHistory', {
      history: integer(1, 1),
      run: json(),
      events: Type.Array(json()),
    }),
    refuses: ['RUN_NOT_FOUND'],
    run: (writ, { params: { id } }) => writ.runs.history(id),
  }),
  read({
    id: 'runs.list',
    path: '/runs',
    summary: 'Lists runs, the newest first.',
    right: 'view',
    input: {
      query: object({ ...paging, status: optional(text(30)), plan: optional(text(500)) }),
    },
    output: pageOf(listed),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.runs.list(query as object),
  }),
  read({
    id: 'runs.get',
    path: '/runs/:id',
    summary: 'Shows a run.',
    right: 'view',
    input: { params: byId },
    output: listed,
    refuses: ['RUN_NOT_FOUND'],
    run: (writ, { params: { id } }) => writ.runs.get(id),
  }),
  read({
    id: 'runs.snapshot',
    path: '/runs/:id/snapshot',
    summary: 'Shows a run and its steps, as fresh as its log.',
    right: 'view',
    input: { params: byId },
    output: component('RunSnapshot', {
      runId: text(),
      status: text(),
      lastEventSeq: integer(),
    }),
    refuses: ['RUN_NOT_FOUND'],
    run: (writ, { params: { id } }) => writ.runs.snapshot(id),
  }),
  read({
    id: 'runs.events',
    path: '/runs/:id/events',
    summary: 'Shows the log of a run.',
    right: 'view',
    input: { params: byId, query: object(paging) },
    output: pageOf(json()),
    refuses: ['RUN_NOT_FOUND', 'invalid_cursor'],
    run: (writ, { params: { id }, query }) => writ.runs.events(id, query),
  }),
  act({
    id: 'runs.signal',
    path: '/runs/:id/signal',
    summary: 'Sends a command to a run.',
    right: 'produce',
    input: {
      params: byId,
      body: object({
        type: oneOf([
          'PAUSE',
          'RESUME',
          'CANCEL',
          'RETRY_STEP',
          'RETRY_RUN',
          'SKIP_STEP',
          'UPDATE_PARAMS',
          'EMERGENCY_STOP',
        ]),
        signalId: optional(uuid()),
        reason: optional(reason()),
        stepId: optional(text(500)),
        newEffectKey: optional(Type.Boolean()),
        params: optional(Type.Record(Type.String(), Type.Unknown())),
      }),
    },
    output: component('RunSignalAnswer', {
      signalId: text(),
      duplicate: Type.Boolean(),
      status: text(),
      runId: optional(text()),
    }),
    refuses: ['RUN_NOT_FOUND', 'SIGNAL_INVALID_PAYLOAD', 'AUTHZ_REASON_REQUIRED'],
    run: (writ, { params: { id }, body }) => writ.runs.signal(id, body as never),
  }),
  act({
    id: 'runs.deliver',
    path: '/runs/:id/deliveries',
    summary: 'Delivers an event to a step that waits for it, now or later.',
    right: 'produce',
    status: 201,
    input: {
      params: byId,
      body: object({ event: text(500), payload: optional(json()), id: optional(text(500)) }),
    },
    output: component('Delivered', { duplicate: Type.Boolean(), stepId: optional(text(500)) }),
    refuses: ['RUN_NOT_FOUND', 'invalid_text', 'payload_too_large'],
    run: (writ, { params, body: { event, payload, id } }) =>
      writ.runs.deliver(params.id, event, payload, id === undefined ? {} : { id }),
  }),
];

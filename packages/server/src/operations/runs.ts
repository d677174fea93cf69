/** Runs of plans, by the names of their specification. */
import Type from 'typebox';
import { act, read } from '../operation.js';
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

export const runs = [
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

/** Destinations: places outside that are told of events, and what they did not take. */
import Type from 'typebox';
import { act, read } from '../operation.js';
import {
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
  text,
  time,
  timeOf,
} from '../schema.js';

const byName = object({ name: text(500) });
const named = component('Named', { name: text(500) });

const destination = component('Destination', {
  name: text(500),
  bus: oneOf(['webhook', 'nats']),
  tenant: nullable(text()),
  types: list(text()),
  config: json(),
  state: oneOf(['active', 'paused']),
  note: nullable(Type.String()),
  failures: integer(),
  retryAt: nullable(time()),
  relay: nullable(text()),
  undelivered: integer(),
  dead: integer(),
  behindSince: nullable(time()),
});

const attempt = {
  status: nullable(integer()),
  reason: nullable(Type.String()),
};

export const destinations = [
  read({
    id: 'destinations.list',
    path: '/destinations',
    summary: 'Lists destinations by name.',
    right: 'view',
    input: { query: object({ ...paging, bus: optional(oneOf(['webhook', 'nats'])) }) },
    output: pageOf(destination),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.destinations.list(query as object),
  }),
  read({
    id: 'destinations.get',
    path: '/destinations/:name',
    summary: 'Shows a destination.',
    right: 'view',
    input: { params: byName },
    output: destination,
    refuses: ['destination_not_found'],
    run: (writ, { params: { name } }) => writ.destinations.get(name),
  }),
  read({
    id: 'destinations.deliveries',
    path: '/destinations/:name/deliveries',
    summary: 'Lists attempts at a destination, the newest first.',
    right: 'view',
    input: { params: byName, query: object({ ...paging, failed: optional(Type.Boolean()) }) },
    output: pageOf(
      component('DeliveryAttempt', {
        eventId: text(),
        attempt: integer(),
        at: time(),
        ok: Type.Boolean(),
        ms: nullable(Type.Number()),
        ...attempt,
      }),
    ),
    refuses: ['invalid_cursor', 'destination_not_found'],
    run: (writ, { params: { name }, query }) => writ.destinations.deliveries(name, query as object),
  }),
  read({
    id: 'destinations.deadLetters',
    path: '/destinations/:name/dead-letters',
    summary: 'Lists events that a destination never took.',
    right: 'view',
    input: { params: byName, query: object(paging) },
    output: pageOf(
      component('DeadEvent', {
        eventId: text(),
        stream: text(2_000),
        runSeq: nullable(integer()),
        attempts: integer(),
        deadAt: time(),
        ...attempt,
      }),
    ),
    refuses: ['invalid_cursor', 'destination_not_found'],
    run: (writ, { params: { name }, query }) => writ.destinations.deadLetters(name, query),
  }),
  act({
    id: 'destinations.redeliver',
    path: '/destinations/:name/redeliver',
    summary: 'Sends dead letters again, or every event since a time.',
    right: 'operate',
    status: 202,
    input: {
      params: byName,
      body: object({
        events: optional(Type.Array(text(100), { minItems: 1, maxItems: 1_000 })),
        since: optional(moment()),
      }),
    },
    output: component('Redelivered', { redelivered: integer() }),
    refuses: ['destination_not_found', 'event_not_found'],
    run: (writ, { params: { name }, body: { since, ...body } }) =>
      writ.destinations.redeliver(name, { ...(body as object), ...timeOf('since', since) }),
  }),
  act({
    id: 'destinations.pause',
    path: '/destinations/:name/pause',
    summary: 'Stops deliveries to a destination. Its events wait.',
    right: 'operate',
    input: {
      params: byName,
      body: object({ note: optional(Type.String({ minLength: 1, maxLength: 1_000 })) }),
    },
    output: named,
    refuses: ['destination_not_found'],
    run: async (writ, { params: { name }, body }) => {
      await writ.destinations.pause(name, body as object);
      return { name };
    },
  }),
  act({
    id: 'destinations.resume',
    path: '/destinations/:name/resume',
    summary: 'Goes on with deliveries to a destination.',
    right: 'operate',
    input: { params: byName },
    output: named,
    refuses: ['destination_not_found'],
    run: async (writ, { params: { name } }) => {
      await writ.destinations.resume(name);
      return { name };
    },
  }),
];

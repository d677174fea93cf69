/** Schedules: jobs that recur by the clock. */
import Type from 'typebox';
import { act, read } from '../operation.js';
import {
  component,
  integer,
  json,
  nullable,
  object,
  oneOf,
  optional,
  pageOf,
  paging,
  text,
  time,
} from '../schema.js';

const byName = object({ name: text(500) });

const schedule = component('Schedule', {
  name: text(500),
  tenant: text(),
  cron: text(),
  timeZone: text(),
  catchUp: oneOf(['none', 'last', 'all']),
  kind: text(),
  jobOptions: json(),
  nextTick: time(),
  lastTick: nullable(time()),
  lastJobId: nullable(text()),
  pausedAt: nullable(time()),
  pausedBy: nullable(text()),
  updatedAt: time(),
  updatedBy: text(),
});

export const schedules = [
  read({
    id: 'schedules.list',
    path: '/schedules',
    summary: 'Lists schedules by name.',
    right: 'view',
    input: { query: object(paging) },
    output: pageOf(schedule),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.schedules.list(query),
  }),
  read({
    id: 'schedules.get',
    path: '/schedules/:name',
    summary: 'Shows a schedule.',
    right: 'view',
    input: { params: byName },
    output: schedule,
    refuses: ['schedule_not_found'],
    run: (writ, { params: { name } }) => writ.schedules.get(name),
  }),
  read({
    id: 'schedules.ticks',
    path: '/schedules/:name/ticks',
    summary: 'Lists ticks that have fired, the newest first.',
    right: 'view',
    input: { params: byName, query: object(paging) },
    output: pageOf(
      component('FiredTick', { tick: time(), jobId: text(), firedAt: time(), firedBy: text() }),
    ),
    refuses: ['invalid_cursor', 'schedule_not_found'],
    run: (writ, { params: { name }, query }) => writ.schedules.ticks(name, query),
  }),
  act({
    id: 'schedules.put',
    method: 'PUT',
    path: '/schedules/:name',
    summary: 'Defines a schedule, or replaces its definition.',
    right: 'produce',
    input: {
      params: byName,
      body: object({
        kind: text(),
        cron: text(),
        timeZone: optional(text(100)),
        catchUp: optional(oneOf(['none', 'last', 'all'])),
        input: optional(json()),
        priority: optional(Type.Integer({ minimum: -32_768, maximum: 32_767 })),
        attempts: optional(integer(1, 32_767)),
      }),
    },
    output: component('PutSchedule', { changed: Type.Boolean(), nextTick: time() }),
    refuses: ['unknown_job_kind', 'reserved_job_kind', 'invalid_schedule'],
    run: (writ, { params: { name }, body: { kind, ...rule } }) =>
      writ.schedules.put(name, kind, rule as never),
  }),
  ...(['pause', 'resume'] as const).map((verb) =>
    act({
      id: `schedules.${verb}`,
      path: `/schedules/:name/${verb}`,
      summary: verb === 'pause' ? 'Stops a schedule from firing.' : 'Lets a schedule go on.',
      right: 'operate',
      input: { params: byName },
      output: component('Changed', { changed: Type.Boolean() }),
      refuses: ['schedule_not_found'],
      run: (writ, { params: { name } }) => writ.schedules[verb](name),
    }),
  ),
  act({
    id: 'schedules.run',
    path: '/schedules/:name/run',
    summary: 'Enqueues the job of a schedule at once, paused or not.',
    right: 'operate',
    status: 201,
    input: { params: byName },
    output: component('RunSchedule', { jobId: text() }),
    refuses: ['schedule_not_found'],
    run: (writ, { params: { name } }) => writ.schedules.runNow(name),
  }),
  act({
    id: 'schedules.remove',
    method: 'DELETE',
    path: '/schedules/:name',
    summary: 'Removes a schedule. Jobs that it has enqueued stay.',
    right: 'operate',
    input: { params: byName },
    output: component('RemovedSchedule', { name: text(500) }),
    refuses: ['schedule_not_found'],
    run: async (writ, { params: { name } }) => {
      await writ.schedules.remove(name);
      return { name };
    },
  }),
];

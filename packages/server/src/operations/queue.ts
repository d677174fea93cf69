/** Queue jobs, by the names of their specification. */
import Type from 'typebox';
import { defineJob, type JobKind, type Writ } from 'writ';
import { act, read } from '../operation.js';
import {
  byId,
  component,
  integer,
  json,
  nullable,
  object,
  optional,
  pageOf,
  paging,
  reason,
  text,
  time,
  uuid,
} from '../schema.js';

const job = component('Job', {
  job_id: text(),
  tenant_id: text(),
  job_kind: text(),
  idempotency_key: nullable(Type.String()),
  status: nullable(text()),
  attempts: integer(),
  max_attempts: integer(),
  priority: Type.Integer(),
  process_after: time(),
  deadline_at: nullable(time()),
  enqueued_at: time(),
  started_at: nullable(time()),
  finished_at: nullable(time()),
  last_error_code: nullable(Type.String()),
  last_error: nullable(Type.String()),
});

/** Kinds that the database knows. Enqueueing another one would make it known. */
const known = new Map<string, JobKind<undefined, unknown>>();

async function kindOf(writ: Writ, kind: string): Promise<JobKind<undefined, unknown>> {
  const found = known.get(kind);
  if (found) return found;
  await writ.kinds.get(kind);
  const job = defineJob(kind) as unknown as JobKind<undefined, unknown>;
  known.set(kind, job);
  return job;
}

export const queue = [
  read({
    id: 'queue.list',
    path: '/queue/jobs',
    summary: 'Lists queue jobs, the newest first.',
    right: 'view',
    input: {
      query: object({
        ...paging,
        status: optional(text(30)),
        kind: optional(text()),
        correlationId: optional(text(2_000)),
        workflow: optional(text(36)),
      }),
    },
    output: pageOf(job),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.jobs.list(query as object),
  }),
  read({
    id: 'queue.get',
    path: '/queue/jobs/:id',
    summary: 'Shows a queue job.',
    right: 'view',
    input: { params: byId },
    output: job,
    refuses: ['job_not_found'],
    run: (writ, { params: { id } }) => writ.jobs.get(id),
  }),
  read({
    id: 'queue.executions',
    path: '/queue/jobs/:id/executions',
    summary: 'Shows the attempts at a queue job.',
    right: 'view',
    input: { params: byId, query: object(paging) },
    output: pageOf(json()),
    refuses: ['invalid_cursor'],
    run: (writ, { params: { id }, query }) => writ.jobs.executions(id, query),
  }),
  read({
    id: 'queue.events',
    path: '/queue/jobs/:id/events',
    summary: 'Shows what the record says of a queue job.',
    right: 'view',
    input: { params: byId },
    output: Type.Object({ items: Type.Array(json()) }),
    run: async (writ, { params: { id } }) => ({ items: await writ.jobs.events(id) }),
  }),
  read({
    id: 'queue.payload',
    path: '/queue/jobs/:id/payload',
    summary: 'Shows the input and the result of a queue job.',
    right: 'operate',
    input: { params: byId },
    output: component('JobPayload', { input: optional(json()), result: optional(json()) }),
    refuses: ['job_not_found'],
    run: (writ, { params: { id } }) => writ.jobs.payload(id),
  }),
  act({
    id: 'queue.requeueMany',
    path: '/queue/requeue',
    summary: 'Enqueues dead letters again. Each is requeued or refused by itself.',
    right: 'operate',
    input: {
      body: object({ ids: Type.Array(uuid(), { minItems: 1, maxItems: 100 }), reason: reason() }),
    },
    output: Type.Object({ items: Type.Array(json()) }),
    run: async (writ, { body: { ids, reason: why } }) => ({
      items: await writ.jobs.requeueMany(ids, { reason: why }),
    }),
  }),
  act({
    id: 'queue.enqueue',
    path: '/queue/jobs',
    summary: 'Enqueues a job of a kind that is known.',
    right: 'produce',
    status: 201,
    input: {
      body: object({
        kind: text(),
        input: optional(json()),
        key: optional(Type.String({ minLength: 1, maxLength: 1_000 })),
        delayMs: optional(integer()),
        deadlineMs: optional(integer(1)),
        priority: optional(Type.Integer({ minimum: -32_768, maximum: 32_767 })),
        correlationId: optional(text(2_000)),
        limitKey: optional(text()),
      }),
    },
    output: component('EnqueuedJob', { job_id: text(), duplicate: Type.Boolean() }),
    refuses: ['unknown_job_kind', 'reserved_job_kind', 'invalid_text', 'payload_too_large'],
    run: async (writ, { body: { kind, input, delayMs, deadlineMs, ...options } }) => {
      const { jobId, duplicate } = await writ.enqueue(
        await kindOf(writ, kind),
        input as undefined,
        {
          ...(options as object),
          ...(delayMs !== undefined && { delay: delayMs }),
          ...(deadlineMs !== undefined && { deadline: deadlineMs }),
        },
      );
      return { job_id: jobId, duplicate };
    },
  }),
  act({
    id: 'queue.cancel',
    path: '/queue/jobs/:id/cancel',
    summary: 'Cancels a queue job: at once, or by request where a worker holds it.',
    right: 'operate',
    input: { params: byId, body: object({ reason: optional(reason()) }) },
    output: component('CancelledJob', { job_id: text(), status: text() }),
    refuses: ['job_not_found'],
    run: (writ, { params: { id }, body }) => writ.jobs.cancel(id, body as object),
  }),
  act({
    id: 'queue.requeue',
    path: '/queue/jobs/:id/requeue',
    summary: 'Enqueues a dead letter again, as a new job with the same key.',
    right: 'operate',
    status: 201,
    input: { params: byId, body: object({ reason: reason() }) },
    output: component('RequeuedJob', { job_id: text(), parent_job_id: text() }),
    refuses: ['dead_letter_not_found'],
    run: (writ, { params: { id }, body }) => writ.jobs.requeue(id, body),
  }),
];

/** graphile-worker 0.18: jobs are rows of `_private_jobs`; a finished one is deleted, a failed one stays with all its attempts used. */
import type { Source } from '../source.js';

export function graphileWorker(schema: string): Source {
  return {
    system: 'graphile-worker',
    tables: {
      _private_jobs: [
        ...[
          'id',
          'task_id',
          'job_queue_id',
          'payload',
          'priority',
          'run_at',
          'attempts',
          'max_attempts',
          'key',
          'locked_at',
          'revision',
        ],
        'created_at',
      ],
      _private_tasks: ['id', 'identifier'],
      _private_known_crontabs: ['identifier'],
    },
    table: `${schema}._private_jobs j`,
    from: `${schema}._private_jobs j join ${schema}._private_tasks t on t.id = j.task_id`,
    name: 't.identifier',
    id: 'j.id::text',
    among: 'j.id = any ($2::text[]::bigint[]) and $1::text[] is not null',
    unfinished: 'true',
    left: `case
      when j.locked_at is not null then 'running'
      when j.attempts >= j.max_attempts then 'failed'
      when j.job_queue_id is not null then 'serial' end`,
    retrying: 'j.attempts > 0',
    dueAt: 'j.run_at',
    order: 'j.run_at, j.id',
    // Theirs: lower first.
    priority: 'least(32767, -j.priority::integer)',
    attemptsLeft: 'greatest(1, j.max_attempts - j.attempts)',
    key: 'j.key',
    input: 'j.payload::text',
    size: 'pg_column_size(j.payload)',
    // Ids begin at 1 in every schema, and again in one that was made anew.
    identity: `concat(j.id, '@', floor(extract(epoch from j.created_at) * 1000000)::bigint)`,
    // A job with a key is replaced in place.
    revision: 'j.revision::text',
    schedules: `select count(*)::integer as n from ${schema}._private_known_crontabs`,
  };
}

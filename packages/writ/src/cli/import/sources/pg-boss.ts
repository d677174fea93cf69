/** pg-boss 12: jobs are rows of `job`, partitioned by the name of their queue; what a queue promises of its jobs is in the column `policy`. */
import type { Source } from '../source.js';

export function pgBoss(schema: string): Source {
  return {
    system: 'pg-boss',
    tables: {
      job: [
        ...[
          'id',
          'name',
          'data',
          'state',
          'priority',
          'policy',
          'start_after',
          'created_on',
          'started_on',
          'retry_limit',
          'retry_count',
        ],
        ...['singleton_key', 'singleton_on', 'group_id', 'blocked', 'blocking'],
      ],
      schedule: ['name'],
    },
    table: `${schema}.job j`,
    from: `${schema}.job j`,
    name: 'j.name',
    id: 'j.id::text',
    // Both columns, because the primary key begins with the name.
    among: '(j.name, j.id) in (select * from unnest($1::text[], $2::uuid[]))',
    // Queues of that prefix are its own.
    unfinished: `j.state in ('created', 'retry', 'active', 'failed') and j.name not like '\\_\\_pgboss\\_\\_%'`,
    // standard and short bind nobody once a job waits, and of an exclusive key there is one job at most. The other policies, and groups, let jobs
    // wait for one another.
    left: `case
      when j.state = 'active' then 'running'
      when j.state = 'failed' then 'failed'
      when j.blocked or j.blocking then 'linked'
      when coalesce(j.policy, 'standard') not in ('standard', 'short', 'exclusive') or j.group_id is not null then 'serial' end`,
    retrying: `j.state = 'retry'`,
    dueAt: 'j.start_after',
    order: 'j.created_on, j.id',
    priority: 'greatest(-32768, least(32767, j.priority))',
    // The limit is one of retries, and the count moves when a retry begins.
    attemptsLeft:
      'least(32767, greatest(1, j.retry_limit::bigint + 1 - j.retry_count - case when j.started_on is null then 0 else 1 end))',
    // Elsewhere two waiting jobs may have the same singleton key: in a standard queue, or in two intervals of time.
    key: `case when j.policy in ('short', 'exclusive') and j.singleton_on is null then nullif(j.singleton_key, '') end`,
    input: 'j.data::text',
    size: 'pg_column_size(j.data)',
    identity: 'j.id::text',
    revision: `''`,
    schedules: `select count(*)::integer as n from ${schema}.schedule where name not like '\\_\\_pgboss\\_\\_%'`,
  };
}

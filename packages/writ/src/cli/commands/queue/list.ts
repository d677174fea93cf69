/** `writ queue list`: jobs, the newest first. */
import { type Command, Option } from 'commander';
import { jobStates } from '../../../machines/job.js';
import { contextOf, wholeNumber } from '../../command.js';
import type { Session } from '../../connection.js';
import { foundByExecutions, jobsInStatus } from '../../jobs.js';
import { ago, type Output, oneLine } from '../../output.js';
import { readHealth } from './stats.js';

interface Filter {
  readonly status?: string;
  readonly kind?: string;
  readonly tenant?: string;
  readonly limit: number;
}

interface Listed {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly job_kind: string;
  readonly idempotency_key: string;
  readonly status: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly enqueued_at: Date;
  readonly finished_at: Date | null;
  readonly last_error: string | null;
}

// A job never rests in `failed`.
const statuses = jobStates.filter((state) => state !== 'failed');

export function addList(queue: Command): void {
  queue
    .command('list')
    .description('jobs, the newest first')
    .addOption(new Option('--status <status>', 'only jobs in this status').choices(statuses))
    .option('--kind <kind>', 'only jobs of this kind')
    .option('--tenant <tenant>', 'only jobs of this tenant')
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 20)
    .action(async (filter: Filter, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const jobs = await readJobs(db, filter);
        if (output.json) output.data(jobs);
        else showJobs(output, jobs, filter);
      });
    });
}

/** Newest first, the search walks the jobs from the end and stops when it has enough; a status that nobody is in is not searched for. */
async function readJobs(db: Session, { status, kind, tenant, limit }: Filter): Promise<Listed[]> {
  if (status !== undefined && (await isDeserted(db, status))) return [];
  const walked = status === undefined || !foundByExecutions(status);
  return db.rows<Listed>(
    `select q.job_id, q.tenant_id, q.job_kind, q.idempotency_key, q.status, q.attempts, q.max_attempts, q.priority, q.process_after, q.deadline_at,
       q.enqueued_at, q.started_at, q.finished_at, q.last_error_code, q.last_error, q.parent_job_id, q.cancel_requested_at
     from ${walked ? 'writ.job_queue q' : jobsInStatus(status)}
     where ($1::text is null or q.status = $1) and ($2::text is null or q.job_kind = $2) and ($3::text is null or q.tenant_id = $3)
     order by ${walked ? 'q' : 'e'}.job_id desc limit $4`,
    [status ?? null, kind ?? null, tenant ?? null, limit],
  );
}

async function isDeserted(db: Session, status: string): Promise<boolean> {
  if (!['queued', 'retry_waiting', 'leased', 'in_progress', 'dead_letter'].includes(status))
    return false;
  const health = await readHealth(db);
  if (status === 'queued') return health.backlog + health.waiting === 0;
  if (status === 'retry_waiting') return health.waiting === 0;
  if (status === 'dead_letter') return health.dead_letter_open === 0;
  return health.lease_active === 0;
}

function showJobs(output: Output, jobs: readonly Listed[], filter: Filter): void {
  if (jobs.length === 0) {
    output.line(filter.status || filter.kind || filter.tenant ? 'No such job.' : 'No jobs yet.');
    return;
  }
  const now = new Date();
  const tenants = new Set(jobs.map((job) => job.tenant_id)).size > 1 || filter.tenant !== undefined;
  const keys = jobs.some((job) => job.idempotency_key !== job.job_id);
  const columns = [
    'JOB',
    'KIND',
    'STATUS',
    'ATTEMPTS',
    'ENQUEUED',
    ...(tenants ? ['TENANT'] : []),
    ...(keys ? ['KEY'] : []),
    'LAST ERROR',
  ];
  output.table(
    columns.map((title) => ({ title })),
    jobs.map((job) => [
      job.job_id,
      job.job_kind,
      output.status(job.status),
      `${job.attempts}/${job.max_attempts}`,
      ago(job.enqueued_at, now),
      ...(tenants ? [job.tenant_id] : []),
      ...(keys ? [job.idempotency_key === job.job_id ? '' : job.idempotency_key] : []),
      job.last_error ? oneLine(job.last_error) : '',
    ]),
  );
  if (jobs.length === filter.limit) output.note(`The newest ${filter.limit}; --limit shows more.`);
}

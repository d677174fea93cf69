/** `writ queue show`: everything on the record about one job. */
import type { Command } from 'commander';
import { WritError } from '../../../errors/index.js';
import { contextOf, jobId } from '../../command.js';
import type { Row, Session } from '../../connection.js';
import { type Output, oneLine, span } from '../../output.js';

interface Shown {
  readonly job: Row;
  readonly executions: readonly Row[];
  readonly events: readonly Row[];
  /** Undefined: this role may not read payloads, or there is none. */
  readonly input?: unknown;
  readonly result?: unknown;
}

export function addShow(queue: Command): void {
  queue
    .command('show')
    .description('a job with its executions, events, input and result')
    .argument('<job>', 'id of the job', jobId)
    .option('--tenant <tenant>', 'only when it is a job of this tenant')
    .action(async (id: string, { tenant }: { tenant?: string }, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const shown = await readJob(db, id, tenant);
        if (output.json) output.data(shown);
        else show(output, shown);
      });
    });
}

export async function readJob(db: Session, id: string, tenant?: string): Promise<Shown> {
  const [job] = await db.rows(
    'select * from writ.job_queue where job_id = $1 and ($2::text is null or tenant_id = $2)',
    [id, tenant ?? null],
  );
  if (!job) throw new WritError('job_not_found', id);
  const executions = await db.rows(
    `select execution_no, attempt, status, abort_kind, final, lease_owner, started_at, committed_at, finished_at, error_code, error_message
     from writ.job_execution where job_id = $1 order by execution_no`,
    [id],
  );
  return {
    job,
    executions,
    events: await readEvents(db, id),
    ...(await readPayload(db, id)),
  };
}

async function readEvents(db: Session, id: string): Promise<Row[]> {
  const [row] = await db.rows<{ events: Row[] }>('select writ.fn_job_events($1) as events', [id]);
  return (row?.events ?? []).map((event) => ({
    ...event,
    occurred_at: new Date(String(event.occurred_at)),
  }));
}

async function readPayload(
  db: Session,
  id: string,
): Promise<{ input?: unknown; result?: unknown }> {
  try {
    const [row] = await db.rows<{ payload: { input?: unknown; result?: unknown } }>(
      'select writ.fn_job_payload($1) as payload',
      [id],
    );
    return row?.payload ?? {};
  } catch (error) {
    if (error instanceof WritError && error.code === 'permission_denied') return {};
    throw error;
  }
}

const time = (at: unknown): string | undefined =>
  at instanceof Date ? at.toISOString().replace('T', ' ').replace('Z', '') : undefined;

function show(output: Output, { job, executions, events, input, result }: Shown): void {
  const text = (name: string) => (job[name] === null ? undefined : oneLine(String(job[name])));
  output.pairs([
    ['job', output.style('bold', String(job.job_id))],
    ['kind', text('job_kind')],
    ['tenant', text('tenant_id')],
    ['key', job.idempotency_key === job.job_id ? undefined : text('idempotency_key')],
    ['status', output.status(String(job.status))],
    ['attempts', `${job.attempts} of ${job.max_attempts}`],
    ['priority', Number(job.priority) || undefined],
    ['enqueued', `${time(job.enqueued_at)} by ${text('enqueued_by')}`],
    [
      'not before',
      (job.process_after as Date) > (job.enqueued_at as Date) ? time(job.process_after) : undefined,
    ],
    ['deadline', time(job.deadline_at)],
    ['started', time(job.started_at)],
    ['finished', time(job.finished_at)],
    ['cancel asked', time(job.cancel_requested_at)],
    ['replay of', text('parent_job_id')],
    ['lease', job.lease_holder ? `${job.lease_holder} until ${time(job.leased_until)}` : undefined],
    ['last error', job.last_error ? output.style('red', text('last_error') as string) : undefined],
    [
      'input',
      asJson(input) ??
        (job.payload_ref ? `${job.payload_ref} (not readable with this role)` : undefined),
    ],
    ['result', asJson(result)],
  ]);
  if (executions.length > 0) {
    output.line();
    output.table(
      ['EXECUTION', 'ATTEMPT', 'STATUS', 'BEGAN', 'TOOK', 'WORKER', 'ERROR'].map((title) => ({
        title,
      })),
      executions.map((e) => [
        Number(e.execution_no),
        Number(e.attempt),
        `${e.status}${e.abort_kind ? ` (${e.abort_kind})` : ''}`,
        time(e.started_at),
        e.started_at && e.finished_at
          ? span((e.finished_at as Date).getTime() - (e.started_at as Date).getTime())
          : undefined,
        e.lease_owner as string | null,
        e.error_message as string | null,
      ]),
    );
  }
  if (events.length > 0) {
    output.line();
    output.table(
      ['EVENT', 'AT', 'BY'].map((title) => ({ title })),
      events.map((event) => [
        String(event.event_type),
        time(event.occurred_at),
        String(event.actor_ref),
      ]),
    );
  }
}

function asJson(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const json = JSON.stringify(value);
  return json.length > 2_000
    ? `${json.slice(0, 2_000)}… (${json.length} characters; --json shows all)`
    : json;
}

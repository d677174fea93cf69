/** `writ queue`: looking at jobs, and the few things that people do to them. */
import { type Command, Option } from 'commander';
import { WritError } from '../../errors/index.js';
import { type JobState, jobStates } from '../../machines/job.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import type {
  Execution,
  Job,
  JobEvent,
  JobFilter,
  JobPayload,
  JobWorkflow,
  ListedJob,
  QueueHealth,
  RefusedRequeue,
  RequeuedJob,
} from '../../queue/jobs.js';
import type { ListedKind } from '../../queue/kinds.js';
import type { QueueReading } from '../../queue/readings.js';
import type { ListedWorker, TenantWeight } from '../../queue/workers.js';
import type { Writ } from '../../writ.js';
import { duration, jobId, notBlank, withActor } from '../command.js';
import { exitCodes, wrongUsage } from '../failure.js';
import { ago, count, type Output, oneLine, plural, span } from '../output.js';
import { act, type Call, list, show, stream } from '../shapes.js';

const when = (at: string, now: Date) => ago(new Date(at), now);
const time = (at: string | null): string | undefined =>
  at === null ? undefined : new Date(at).toISOString().replace('T', ' ').replace('Z', '');
const right = { align: 'right' } as const;

export function addQueue(program: Command): void {
  const queue = program
    .command('queue')
    .description('look at jobs, kinds and workers; cancel jobs, requeue dead letters');
  addStats(queue);
  addList(queue);
  addShow(queue);
  addCancel(queue);
  addRequeue(queue);
  addWorkflow(queue);
  addWeight(queue);
  addWorkers(queue);
  addPause(queue, 'pause', 'keep the jobs of a kind from workers; running jobs end');
  addPause(queue, 'resume', 'give workers the jobs of a paused kind again');
  addWatch(queue);
}

interface Stats extends QueueHealth {
  readonly kinds: readonly ListedKind[];
}

function addStats(queue: Command): void {
  show<Stats>(
    queue.command('stats').description('backlog, work in progress, dead letters and workers'),
    {
      read: async (writ) => ({
        ...(await writ.jobs.health()),
        kinds: [...(await writ.kinds.list({ limit: 1_000 })).items].sort(
          (a, b) => b.backlog - a.backlog,
        ),
      }),
      print: ({ kinds, ...health }, { output, now }) => {
        output.pairs([
          ['queue', health.enabled ? output.style('green', 'on') : output.style('red', 'off')],
          ['backlog', `${count(health.backlog)}${oldest(health, ', the oldest for ')}`],
          ['waiting', `${count(health.waiting)} (delays and retries)`],
          [
            'in progress',
            `${count(health.in_progress)} in ${plural(health.lease_active, 'lease')}`,
          ],
          [
            'dead letters',
            health.dead_letter_open > 0 ? output.style('red', count(health.dead_letter_open)) : '0',
          ],
          ['workers', count(health.workers)],
        ]);
        if (kinds.length === 0) return;
        const paused = kinds.some(({ pausedAt }) => pausedAt !== null);
        output.line();
        output.table(
          [
            { title: 'KIND' },
            { title: 'BACKLOG', ...right },
            { title: 'IN PROGRESS', ...right },
            { title: 'DEAD LETTERS', ...right },
            ...(paused ? [{ title: 'PAUSED' }] : []),
          ],
          kinds.map((kind) => [
            kind.kind,
            count(kind.backlog),
            count(kind.inProgress),
            count(kind.deadLetters),
            ...(paused
              ? [kind.pausedAt === null ? '' : `${when(kind.pausedAt, now)} by ${kind.pausedBy}`]
              : []),
          ]),
        );
      },
    },
  );
}

const oldest = (
  { backlog, oldest_queued_age_s: age }: Pick<QueueHealth, 'backlog' | 'oldest_queued_age_s'>,
  before: string,
) => (backlog > 0 && age !== null ? `${before}${span(age * 1000)}` : '');

function addList(queue: Command): void {
  list<ListedJob, JobFilter & Record<string, unknown>>(
    queue
      .command('list')
      .description('jobs, the newest first')
      .addOption(
        new Option('--status <status>', 'only jobs in this status').choices(
          jobStates.filter((state) => state !== 'failed'), // no job rests there
        ),
      )
      .option('--kind <kind>', 'only jobs of this kind')
      .option('--tenant <tenant>', 'only jobs of this tenant'),
    {
      read: (writ, page, { options }) => writ.jobs.list({ ...options, ...page }),
      none: ({ options: { status, kind, tenant } }) =>
        (status ?? kind ?? tenant) ? 'No such job.' : 'No jobs yet.',
      columns: ({ output, options }) => [
        { title: 'JOB', of: (job) => job.job_id },
        { title: 'KIND', of: (job) => job.job_kind },
        { title: 'STATUS', of: (job) => statusOf(job.status, output) },
        { title: 'ATTEMPTS', of: (job) => `${job.attempts}/${job.max_attempts}` },
        { title: 'ENQUEUED', of: (job, now) => when(job.enqueued_at, now) },
        {
          title: 'TENANT',
          of: (job) => job.tenant_id,
          when: (rows) => options.tenant !== undefined || differ(rows.map((job) => job.tenant_id)),
        },
        {
          title: 'KEY',
          of: (job) => (job.idempotency_key === job.job_id ? '' : job.idempotency_key),
          when: (rows) => rows.some((job) => job.idempotency_key !== job.job_id),
        },
        { title: 'LAST ERROR', of: (job) => job.last_error ?? '' },
      ],
    },
  );
}

const differ = (texts: readonly string[]) => new Set(texts).size > 1;

const statusOf = (status: JobState | JobWorkflow['status'] | null, output: Output) =>
  status === null
    ? output.style('red', 'stands nowhere: no worker will run it')
    : output.status(status);

interface ShownJob extends JobPayload {
  readonly job: Job;
  readonly executions: readonly Execution[];
  readonly events: readonly JobEvent[];
}

const ofTenant = (what: string) => `only when it is a ${what} of this tenant`;

function addShow(queue: Command): void {
  show<ShownJob, { tenant?: string }>(
    queue
      .command('show')
      .description('a job with its executions, events, input and result')
      .argument('<job>', 'id of the job', jobId)
      .option('--tenant <tenant>', ofTenant('job')),
    {
      read: async ({ jobs }, { args: [id = ''], options }) => ({
        job: await jobs.get(id, options),
        executions: (await jobs.executions(id, { limit: 1_000 })).items,
        events: await jobs.events(id),
        ...(await jobs.payload(id).catch(nothingReadable)),
      }),
      print: printJob,
    },
  );
}

function nothingReadable(error: unknown): JobPayload {
  if (error instanceof WritError && error.code === 'permission_denied') return {};
  throw error;
}

function printJob(
  { job, executions, events, input, result }: ShownJob,
  { output }: { readonly output: Output },
): void {
  output.pairs([
    ['job', output.style('bold', job.job_id)],
    ['kind', job.job_kind],
    ['tenant', oneLine(job.tenant_id)],
    ['key', job.idempotency_key === job.job_id ? undefined : oneLine(job.idempotency_key)],
    ['status', statusOf(job.status, output)],
    ['attempts', `${job.attempts} of ${job.max_attempts}`],
    ['priority', job.priority || undefined],
    ['enqueued', `${time(job.enqueued_at)} by ${oneLine(job.enqueued_by)}`],
    [
      'not before',
      Date.parse(job.process_after) > Date.parse(job.enqueued_at)
        ? time(job.process_after)
        : undefined,
    ],
    ['deadline', time(job.deadline_at)],
    ['started', time(job.started_at)],
    ['finished', time(job.finished_at)],
    ['cancel asked', time(job.cancel_requested_at)],
    ['requeued from', job.parent_job_id],
    [
      'lease',
      job.lease_holder ? `${oneLine(job.lease_holder)} until ${time(job.leased_until)}` : undefined,
    ],
    ['last error', job.last_error ? output.style('red', oneLine(job.last_error)) : undefined],
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
        e.execution_no,
        e.attempt,
        `${e.status}${e.abort_kind ? ` (${e.abort_kind})` : ''}`,
        time(e.started_at),
        e.started_at && e.finished_at
          ? span(Date.parse(e.finished_at) - Date.parse(e.started_at))
          : undefined,
        e.lease_owner,
        e.error_message,
      ]),
    );
  }
  const traced = executions.findLast((e) => e.error_stack !== null);
  if (traced) {
    output.line();
    output.heading(`stack of execution ${traced.execution_no}`);
    for (const line of String(traced.error_stack).split('\n')) output.line(`  ${line.trimEnd()}`);
  }
  if (events.length > 0) {
    output.line();
    output.table(
      ['EVENT', 'AT', 'BY'].map((title) => ({ title })),
      events.map((event) => [event.event_type, time(event.occurred_at), event.actor_ref]),
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

function addCancel(queue: Command): void {
  act(
    withActor(
      queue
        .command('cancel')
        .description('cancel a job; a running job is asked to stop')
        .argument('<job>', 'id of the job', jobId)
        .requiredOption('--reason <text>', 'why, for the record', notBlank)
        .option('--tenant <tenant>', ofTenant('job')),
    ),
    {
      do: (writ, { args: [id = ''], options }) => writ.jobs.cancel(id, options),
      says: ({ job_id: id, status }) =>
        status === 'cancelled'
          ? `Cancelled ${id}.`
          : `A worker holds ${id}: it is asked to stop. \`writ queue show ${id}\` tells how it ends.`,
    },
  );
}

interface RequeueGiven extends Record<string, unknown> {
  readonly reason: string;
  readonly all?: boolean;
  readonly kind?: string;
  readonly tenant?: string;
}

function addRequeue(queue: Command): void {
  act<(RequeuedJob | RefusedRequeue)[], RequeueGiven>(
    withActor(
      queue
        .command('requeue')
        .description('enqueue dead letters again, as new jobs with the same keys')
        .argument('[job]', 'id of the dead letter', jobId)
        .requiredOption('--reason <text>', 'why it will work now, for the record', notBlank)
        .option('--all', 'every dead letter of a kind; needs --kind')
        .option('--kind <kind>', 'with --all: of this kind')
        .option('--tenant <tenant>', 'only of this tenant'),
    ),
    {
      checks: ({ args: [id], options: { all, kind } }) => {
        if (all ? id === undefined && kind !== undefined : id !== undefined) return;
        throw wrongUsage(
          'Requeue takes one job id, or --all with --kind.',
          'Write `writ queue requeue JOB --reason TEXT` or `… --all --kind KIND --reason TEXT`.',
        );
      },
      asks: async (writ, call) => {
        if (!call.options.all) return undefined;
        const letters = await deadLetters(writ, call);
        if (letters.length === 0) return undefined;
        if (!call.output.json) preview(letters, await writ.now(), call.output);
        return `Requeue ${letters.length === 1 ? 'this dead letter' : `these ${count(letters.length)} dead letters`} of kind ${call.options.kind}?`;
      },
      do: async (writ, call) => {
        const { args, options, output } = call;
        if (args[0] !== undefined) return [await writ.jobs.requeue(args[0], options)];
        const ids = (await deadLetters(writ, call)).map((letter) => letter.job_id).reverse();
        const done: (RequeuedJob | RefusedRequeue)[] = [];
        for (let at = 0; at < ids.length; at += 100) {
          done.push(...(await writ.jobs.requeueMany(ids.slice(at, at + 100), options)));
          if (!output.json && ids.length > 100)
            output.note(`${count(done.length)} of ${count(ids.length)}`);
        }
        if (done.some((one) => 'reason' in one)) process.exitCode = exitCodes.failed;
        return done;
      },
      data: (done, { options }) =>
        options.all
          ? {
              requeued: done.filter((one) => 'job_id' in one),
              refused: done.filter((one) => 'reason' in one),
            }
          : done[0],
      says: (done, { args: [id], options: { kind }, output }) => {
        const [one] = done;
        if (id !== undefined && one && 'job_id' in one) return `Requeued ${id} as ${one.job_id}.`;
        if (!one) return `No dead letter of kind ${kind}.`;
        const refused = done.filter((each) => 'reason' in each);
        for (const { parent_job_id, message } of refused)
          output.note(`${parent_job_id}: ${message}`);
        const requeued = plural(done.length - refused.length, 'dead letter');
        return `Requeued ${requeued} of kind ${kind}${refused.length > 0 ? `; ${refused.length} refused` : ''}.`;
      },
    },
  );
}

async function deadLetters(
  writ: Writ,
  { options: { kind, tenant } }: Call<RequeueGiven>,
): Promise<ListedJob[]> {
  const letters: ListedJob[] = [];
  const filter = {
    status: 'dead_letter',
    kind,
    tenant,
  } as const;
  for (let after: string | null | undefined; after !== null; ) {
    const page = await writ.jobs.list({ ...filter, limit: 1_000, after });
    letters.push(...page.items);
    after = page.next;
  }
  return letters;
}

function preview(letters: readonly ListedJob[], now: Date, output: Output): void {
  const shown = letters.slice(0, 20);
  output.table(
    ['JOB', 'DIED', 'LAST ERROR'].map((title) => ({ title })),
    shown.map((letter) => [
      letter.job_id,
      letter.finished_at && when(letter.finished_at, now),
      letter.last_error ?? '',
    ]),
  );
  if (letters.length > shown.length)
    output.line(`… and ${count(letters.length - shown.length)} more`);
}

function addWorkflow(queue: Command): void {
  show<{ workflow: JobWorkflow; jobs: readonly ListedJob[] }, { tenant?: string }>(
    queue
      .command('workflow')
      .description('a workflow with its jobs')
      .argument('<workflow>', 'id of the workflow', jobId)
      .option('--tenant <tenant>', ofTenant('workflow')),
    {
      read: async ({ jobs }, { args: [id = ''], options }) => ({
        workflow: await jobs.workflow(id, options),
        jobs: (await jobs.list({ workflow: id, limit: 1_000 })).items,
      }),
      print: ({ workflow, jobs }, { output, now }) => {
        output.pairs([
          ['workflow', workflow.workflow_id],
          ['kind', workflow.workflow_kind],
          ['generator', workflow.generator],
          ['tenant', workflow.tenant_id],
          ['key', workflow.workflow_key],
          ['correlation', workflow.correlation_id],
          ['status', statusOf(workflow.status, output)],
          ['enqueued', `${when(workflow.enqueued_at, now)} by ${workflow.enqueued_by}`],
          ['finished', workflow.finished_at && when(workflow.finished_at, now)],
        ]);
        output.line();
        output.table(
          ['JOB', 'KIND', 'STATUS', 'ATTEMPTS'].map((title) => ({ title })),
          jobs.map((job) => [job.job_id, job.job_kind, statusOf(job.status, output), job.attempts]),
        );
      },
    },
  );
}

function addWeight(queue: Command): void {
  const weight = queue
    .command('weight')
    .description("tenants' shares of the workers: list them, set one");
  list<TenantWeight>(
    weight.command('list').description('every weight; a tenant that is not listed has 1'),
    {
      limit: 1_000,
      read: (writ, page) => writ.workers.weights(page),
      none: 'Every tenant has weight 1.',
      columns: [
        { title: 'TENANT', of: ({ tenant }) => tenant },
        { title: 'WEIGHT', ...right, of: ({ weight: of }) => of },
        { title: 'SET', of: ({ setAt, setBy }, now) => `${when(setAt, now)} by ${setBy}` },
      ],
    },
  );
  act(
    withActor(
      weight
        .command('set')
        .description('set the weight of a tenant; 1 takes it off the list')
        .argument('<tenant>')
        .argument('<weight>', '0.01 to 100: twice the weight, twice the jobs'),
    ),
    {
      do: (writ, { args: [tenant = '', text] }) => {
        const of = Number(text);
        if (!(of >= 0.01 && of <= 100)) throw new WritError('invalid_weight', text);
        return writ.workers.setWeight(tenant, of);
      },
      says: ({ tenant, weight: of }) => `${tenant} has weight ${of} from the next claim on.`,
    },
  );
}

function addWorkers(queue: Command): void {
  list<ListedWorker>(queue.command('workers').description('workers, and when each was heard'), {
    limit: 100,
    read: (writ, page) => writ.workers.list(page),
    none: 'No workers. `writ worker FILE` starts one.',
    columns: ({ output }) => [
      { title: 'WORKER', of: ({ worker }) => worker },
      {
        title: 'HEARD',
        of: ({ lastBeatAt, freshness }, now) =>
          output.style(freshness === 'fresh' ? 'green' : 'red', when(lastBeatAt, now)),
      },
      { title: 'JOBS', ...right, of: ({ jobs }) => count(jobs) },
      { title: 'LOGIN', of: ({ login }) => login },
      { title: 'KINDS', of: ({ kinds }) => (kinds.length > 0 ? kinds.join(', ') : 'any') },
    ],
  });
}

function addPause(queue: Command, verb: 'pause' | 'resume', description: string): void {
  act(
    withActor(
      queue.command(verb).description(description).argument('<kind>', 'the kind of jobs', notBlank),
    ),
    {
      do: (writ, { args: [kind = ''] }) => writ.kinds[verb](kind),
      data: ({ changed }, { args: [kind] }) => ({ kind, changed }),
      says: ({ changed }, { args: [kind] }) =>
        changed
          ? `${verb === 'pause' ? 'Paused' : 'Resumed'} ${kind}.`
          : `${kind} was ${verb === 'pause' ? 'paused already' : 'not paused'}.`,
    },
  );
}

function addWatch(queue: Command): void {
  stream<QueueReading, { for?: Duration }>(
    queue
      .command('watch')
      .description('the queue live, a line a second: backlog, throughput, waits, workers')
      .option('--for <duration>', 'end after this long', duration),
    {
      read: (writ, { signal, options: { for: length } }) =>
        writ.jobs.watch({ signal, ...(length !== undefined && { forMs: milliseconds(length) }) }),
      line: (reading, { output }) => lineOf(reading, output),
    },
  );
}

/** A tenth counts while there are few. */
const perSecond = (rate: number) => `${count(Math.abs(rate) < 10 ? rate : Math.round(rate))}/s`;

function lineOf(reading: QueueReading, output: Output): string {
  const { workers, workers_silent: silent, wait_p50_ms: p50, wait_p99_ms: p99 } = reading;
  const red = (bad: boolean, text: string) => (bad ? output.style('red', text) : text);
  return [
    output.style('dim', reading.at.slice(11, 19)),
    `backlog ${count(reading.backlog)}${oldest(reading, ' oldest ')}`,
    `waiting ${count(reading.waiting)}`,
    `in progress ${count(reading.in_progress)}`,
    `in ${perSecond(reading.enqueued_per_s)}`,
    `done ${perSecond(reading.succeeded_per_s)}`,
    red(reading.failed_per_s > 0, `failed ${perSecond(reading.failed_per_s)}`),
    red(reading.dead_letter_open > 0, `dead letters ${count(reading.dead_letter_open)}`),
    red(workers === 0 && reading.backlog > 0, `workers ${count(workers)}`),
    ...(silent > 0 ? [red(true, `silent ${count(silent)}`)] : []),
    `wait p50/p99 ${p50 === null || p99 === null ? '–' : `${span(p50)} / ${span(p99)}`}`,
  ].join('  ');
}

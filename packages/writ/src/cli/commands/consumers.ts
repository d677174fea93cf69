/** `writ consumers`: which jobs follow from which events. */
import type { Command } from 'commander';
import { type Duration, milliseconds } from '../../queue/duration.js';
import { contextOf, duration, priority, wholeNumber } from '../command.js';
import { actor } from '../connection.js';

interface Listed {
  readonly consumer: string;
  readonly event_type: string;
  readonly subject_kind: string | null;
  readonly subject_domain: string | null;
  readonly job_kind: string;
  readonly refused: string | null;
}

interface PutOptions {
  readonly on: string;
  readonly job: string;
  readonly subjectKind?: string;
  readonly subjectDomain?: string;
  readonly priority?: number;
  readonly delay?: Duration;
  readonly attempts?: number;
  readonly actor?: string;
}

export function addConsumers(program: Command): void {
  const consumers = program.command('consumers').description('which jobs follow from which events');
  consumers
    .command('list')
    .description('every consumer, and whether the queue takes its jobs')
    .action(list);
  consumers
    .command('put')
    .description('register a consumer, for events from now on, or change one')
    .argument('<name>')
    .requiredOption('--on <type>', 'the type of event, such as dot.job.dead_letter')
    .requiredOption('--job <kind>', 'the kind of job that follows, once per event')
    .option('--subject-kind <kind>', 'only events of jobs of this kind')
    .option('--subject-domain <domain>', 'only events of jobs of this domain')
    .option('--priority <n>', 'of the jobs', priority)
    .option('--delay <duration>', 'not before this much time has passed', duration)
    .option('--attempts <n>', 'of the jobs', wholeNumber(1, 32_767))
    .option('--actor <name>', 'who does it, for the record; otherwise the system user')
    .action(put);
  consumers
    .command('remove')
    .description('remove a consumer; the jobs that it has enqueued stay')
    .argument('<name>')
    .option('--actor <name>', 'who does it, for the record; otherwise the system user')
    .action(remove);
}

async function list(_options: unknown, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const rows = await db.rows<Listed>('select * from writ.consumer_registry order by consumer');
    if (output.json) return output.data(rows);
    if (rows.length === 0) return output.line('No consumers.');
    output.table(
      ['CONSUMER', 'ON', 'OF KIND', 'OF DOMAIN', 'JOB', 'REFUSED'].map((title) => ({ title })),
      rows.map((row) => [
        row.consumer,
        row.event_type,
        row.subject_kind ?? 'any',
        row.subject_domain ?? 'any',
        row.job_kind,
        row.refused === null ? '' : output.style('red', row.refused),
      ]),
    );
  });
}

async function put(name: string, options: PutOptions, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  const definition = {
    subject_kind: options.subjectKind,
    subject_domain: options.subjectDomain,
    priority: options.priority,
    delay_ms: options.delay === undefined ? undefined : milliseconds(options.delay),
    max_attempts: options.attempts,
  };
  await session(async (db) => {
    const params = [
      name,
      options.on,
      options.job,
      JSON.stringify(definition),
      actor(options.actor),
    ];
    const answer = await db.gate('fn_consumer_register($1, $2, $3, $4::text::jsonb, $5)', params);
    if (output.json) output.data(answer);
    else output.line(`${name}: from each ${options.on} a job ${options.job} follows.`);
  });
}

async function remove(name: string, options: { actor?: string }, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const answer = await db.gate('fn_consumer_remove($1, $2)', [name, actor(options.actor)]);
    if (output.json) output.data(answer);
    else output.line(`Removed ${name}.`);
  });
}

/**
 * `writ consumers`: which jobs follow from which events. `writ subscriptions`: what workers may
 * claim.
 */
import type { Command } from 'commander';
import type { Consumer, ConsumerOptions } from '../../queue/consumers.js';
import type { Subscription } from '../../queue/subscriptions.js';
import { duration, priority, wholeNumber, withActor } from '../command.js';
import { act, list } from '../shapes.js';

export function addConsumers(program: Command): void {
  const consumers = program.command('consumers').description('which jobs follow from which events');
  list<Consumer>(
    consumers.command('list').description('every consumer, and whether the queue takes its jobs'),
    {
      limit: 1_000,
      read: (writ, page) => writ.consumers.list(page),
      none: 'No consumers.',
      columns: ({ output }) => [
        { title: 'CONSUMER', of: ({ name }) => name },
        { title: 'ON', of: ({ on }) => on },
        { title: 'OF KIND', of: ({ subjectKind }) => subjectKind ?? 'any' },
        { title: 'OF DOMAIN', of: ({ subjectDomain }) => subjectDomain ?? 'any' },
        { title: 'JOB', of: ({ jobKind }) => jobKind },
        {
          title: 'REFUSED',
          of: ({ refused }) => (refused === null ? '' : output.style('red', refused)),
        },
      ],
    },
  );
  act<void, ConsumerOptions & { job: string } & Record<string, unknown>>(
    withActor(
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
        .option('--attempts <n>', 'of the jobs', wholeNumber(1, 32_767)),
    ),
    {
      do: (writ, { args: [name = ''], options }) => writ.consumers.put(name, options),
      data: (_, { args: [name], options: { on, job } }) => ({ name, on, jobKind: job }),
      says: (_, { args: [name], options: { on, job } }) =>
        `${name}: from each ${on} a job ${job} follows.`,
    },
  );
  act(
    withActor(
      consumers
        .command('remove')
        .description('remove a consumer; the jobs that it has enqueued stay')
        .argument('<name>'),
    ),
    {
      do: (writ, { args: [name = ''] }) => writ.consumers.remove(name),
      data: (_, { args: [name] }) => ({ name, removed: true }),
      says: (_, { args: [name] }) => `Removed ${name}.`,
    },
  );
}

type SubscriptionGiven = Subscription & Record<string, unknown>;

/** The floor of a subscription that has none. */
const lowest = -32_768;

export function addSubscriptions(program: Command): void {
  const subscriptions = program
    .command('subscriptions')
    .description('what workers may claim, for those that are limited');
  list<Required<Subscription> & { worker: string }>(
    subscriptions
      .command('list')
      .description('every subscription; a worker without one claims what it asks for'),
    {
      limit: 1_000,
      read: (writ, page) => writ.subscriptions.list(page),
      none: 'No subscriptions: every worker claims what it asks for.',
      columns: [
        { title: 'WORKER', of: ({ worker }) => worker },
        { title: 'KIND', of: ({ kind }) => kind ?? 'any' },
        { title: 'DOMAIN', of: ({ domain }) => domain ?? 'any' },
        {
          title: 'PRIORITY FROM',
          align: 'right',
          of: ({ priorityFloor }) => (priorityFloor === lowest ? 'any' : priorityFloor),
        },
      ],
    },
  );
  act<void, SubscriptionGiven>(
    withActor(
      subscriptions
        .command('put')
        .description('let a worker claim such jobs, and only what its subscriptions allow')
        .argument('<worker>', 'its name, or that of its lease')
        .option('--kind <kind>', 'only jobs of this kind')
        .option('--domain <domain>', 'only jobs of this domain')
        .option('--priority-floor <n>', 'only jobs of this priority or higher', priority),
    ),
    {
      do: (writ, { args: [worker = ''], options }) => writ.subscriptions.put(worker, options),
      data: (_, { args: [worker], options: { kind, domain, priorityFloor } }) => ({
        worker,
        kind: kind ?? null,
        domain: domain ?? null,
        priorityFloor: priorityFloor ?? lowest,
      }),
      says: (_, { args: [worker] }) =>
        `${worker} claims only what its subscriptions allow; \`writ subscriptions list\` shows them.`,
    },
  );
  act<{ limited: boolean }, SubscriptionGiven>(
    withActor(
      subscriptions
        .command('remove')
        .description('take a subscription back; without its last one a worker is not limited')
        .argument('<worker>')
        .option('--kind <kind>', 'as it was put')
        .option('--domain <domain>', 'as it was put'),
    ),
    {
      do: (writ, { args: [worker = ''], options }) => writ.subscriptions.remove(worker, options),
      says: ({ limited }, { args: [worker] }) =>
        limited ? `Removed; ${worker} has others.` : `Removed; ${worker} is no longer limited.`,
    },
  );
}

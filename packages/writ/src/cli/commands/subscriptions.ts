/** `writ subscriptions`: what workers may claim, for those that are limited. */
import type { Command } from 'commander';
import { contextOf, priority } from '../command.js';
import { actor } from '../connection.js';

interface Listed {
  readonly executor_id: string;
  readonly job_kind: string | null;
  readonly event_domain: string | null;
  readonly priority_floor: number;
}

interface Options {
  readonly kind?: string;
  readonly domain?: string;
  readonly priorityFloor?: number;
  readonly actor?: string;
}

const lowest = -32_768;

export function addSubscriptions(program: Command): void {
  const subscriptions = program
    .command('subscriptions')
    .description('what workers may claim, for those that are limited');
  subscriptions
    .command('list')
    .description('every subscription; a worker without one claims what it asks for')
    .action(list);
  subscriptions
    .command('put')
    .description('let a worker claim such jobs, and only what its subscriptions allow')
    .argument('<worker>', 'its name, or that of its lease')
    .option('--kind <kind>', 'only jobs of this kind')
    .option('--domain <domain>', 'only jobs of this domain')
    .option('--priority-floor <n>', 'only jobs of this priority or higher', priority)
    .option('--actor <name>', 'who does it, for the record; otherwise the system user')
    .action(put);
  subscriptions
    .command('remove')
    .description('take a subscription back; without its last one a worker is not limited')
    .argument('<worker>')
    .option('--kind <kind>', 'as it was put')
    .option('--domain <domain>', 'as it was put')
    .option('--actor <name>', 'who does it, for the record; otherwise the system user')
    .action(remove);
}

async function list(_options: unknown, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const rows = await db.rows<Listed>(
      'select * from writ.job_subscription order by executor_id, job_kind, event_domain',
    );
    if (output.json) return output.data(rows);
    if (rows.length === 0)
      return output.line('No subscriptions: every worker claims what it asks for.');
    output.table(
      [
        { title: 'WORKER' },
        { title: 'KIND' },
        { title: 'DOMAIN' },
        { title: 'PRIORITY FROM', align: 'right' },
      ],
      rows.map((row) => [
        row.executor_id,
        row.job_kind ?? 'any',
        row.event_domain ?? 'any',
        row.priority_floor === lowest ? 'any' : row.priority_floor,
      ]),
    );
  });
}

async function put(worker: string, options: Options, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const params = [
      worker,
      options.kind ?? null,
      options.domain ?? null,
      options.priorityFloor ?? null,
      actor(options.actor),
    ];
    const answer = await db.gate('fn_job_subscription_put($1, $2, $3, $4, $5)', params);
    if (output.json) output.data(answer);
    else
      output.line(
        `${worker} claims only what its subscriptions allow; \`writ subscriptions list\` shows them.`,
      );
  });
}

async function remove(worker: string, options: Options, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const params = [worker, options.kind ?? null, options.domain ?? null, actor(options.actor)];
    const answer = await db.gate<{ limited: boolean }>(
      'fn_job_subscription_remove($1, $2, $3, $4)',
      params,
    );
    if (output.json) output.data(answer);
    else
      output.line(
        answer.limited
          ? `Removed; ${worker} has others.`
          : `Removed; ${worker} is no longer limited.`,
      );
  });
}

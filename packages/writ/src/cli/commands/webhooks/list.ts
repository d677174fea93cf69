/** `writ webhooks list`: every webhook, and how far it is. */
import type { Command } from 'commander';
import type { ListedDestination } from '../../../outbox/destinations.js';
import { contextOf } from '../../command.js';
import { addressOf, destinationsOf, lagOf } from '../../outbox/destinations.js';
import { count, type Output, plural } from '../../output.js';
import { databaseNow } from '../runs/session.js';

export function addList(webhooks: Command): void {
  webhooks
    .command('list')
    .description('every webhook: its state, how far it is behind, what it has not accepted')
    .action(async (_options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await destinationsOf(db).list();
        const own = all.filter(({ bus }) => bus === 'webhook');
        if (output.json) return output.data(own);
        show(output, own, await databaseNow(db));
        if (all.length > own.length)
          output.note(
            `${plural(all.length - own.length, 'destination')} on other buses; \`writ doctor\` looks at all.`,
          );
      });
    });
}

function show(output: Output, own: readonly ListedDestination[], now: number): void {
  if (own.length === 0) {
    output.line('No webhooks. `writ webhooks add NAME URL --secret NAME` makes one.');
    return;
  }
  const tenants = own.some(({ tenant }) => tenant !== undefined);
  const right = 'right' as const;
  output.table(
    [
      { title: 'WEBHOOK' },
      { title: 'STATE' },
      { title: 'BEHIND', align: right },
      { title: 'UNDELIVERED', align: right },
      { title: 'DEAD', align: right },
      ...(tenants ? [{ title: 'TENANT' }] : []),
      { title: 'URL' },
    ],
    own.map((one) => [
      one.name,
      stateOf(output, one),
      lagOf(one, now),
      count(one.undelivered),
      one.dead > 0 ? output.style('red', count(one.dead)) : 0,
      ...(tenants ? [one.tenant ?? 'all'] : []),
      addressOf(one),
    ]),
  );
}

export function stateOf(output: Output, { state, failures }: ListedDestination): string {
  if (state === 'paused') return output.style('yellow', 'paused');
  return failures > 0 ? output.style('red', 'failing') : output.style('green', 'active');
}

/** `writ webhooks deliveries`: what was sent, and what was answered. */
import type { Command } from 'commander';
import { contextOf, wholeNumber } from '../../command.js';
import { destinationOf, destinationsOf, withName } from '../../outbox/destinations.js';
import { ago, span } from '../../output.js';
import { databaseNow } from '../runs/session.js';

interface Options {
  readonly failed?: boolean;
  readonly limit: number;
}

export function addDeliveries(webhooks: Command): void {
  withName(
    webhooks
      .command('deliveries')
      .description('what was sent to it and what it answered, the newest first'),
  )
    .option('--failed', 'only what it did not accept')
    .option('--limit <n>', 'how many at most', wholeNumber(1, 1_000), 20)
    .action(async (name: string, { failed = false, limit }: Options, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        await destinationOf(db, name);
        const sent = await destinationsOf(db).deliveries(name, { failed, limit });
        if (output.json) return output.data(sent);
        if (sent.length === 0)
          return output.line(
            failed
              ? `${name} has accepted everything that it was sent.`
              : `Nothing was sent to ${name} yet.`,
          );
        const now = new Date(await databaseNow(db));
        output.table(
          [
            { title: 'SENT' },
            { title: 'EVENT' },
            { title: 'TRY', align: 'right' },
            { title: 'ANSWER' },
            { title: 'TOOK', align: 'right' },
            { title: 'WHY' },
          ],
          sent.map(({ at, eventId, attempt, ok, status, ms, reason }) => [
            ago(new Date(at), now),
            eventId,
            attempt,
            output.style(ok ? 'green' : 'red', String(status ?? (ok ? 'accepted' : 'none'))),
            ms === undefined ? undefined : span(ms),
            reason ?? '',
          ]),
        );
      });
    });
}

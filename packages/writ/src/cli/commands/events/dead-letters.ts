/** `writ events dead-letters`: what a destination could not be told. */
import type { Command } from 'commander';
import type { DeadLetter } from '../../../outbox/destinations.js';
import { contextOf, wholeNumber } from '../../command.js';
import { destinationOf, destinationsOf, withName } from '../../outbox/destinations.js';
import { ago, count, type Output } from '../../output.js';
import { databaseNow } from '../runs/session.js';

export function addDeadLetters(events: Command): void {
  withName(
    events
      .command('dead-letters')
      .description('what a destination could not be told, the oldest first'),
  )
    .option('--limit <n>', 'how many at most', wholeNumber(1, 1_000), 100)
    .action(async (name: string, { limit }: { limit: number }, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const { dead } = await destinationOf(db, name);
        const letters = await destinationsOf(db).deadLetters(name, { limit });
        if (output.json) return output.data(letters);
        if (letters.length === 0) return output.line(`${name} has no dead letter.`);
        showLetters(output, letters, await databaseNow(db));
        if (dead > letters.length)
          output.note(`The oldest ${count(letters.length)} of ${count(dead)}; --limit shows more.`);
        output.note(`\`writ events replay ${name} --all-dead\` tells them again, in their order.`);
      });
    });
}

export function showLetters(output: Output, letters: readonly DeadLetter[], nowMs: number): void {
  const now = new Date(nowMs);
  output.table(
    [
      { title: 'EVENT' },
      { title: 'ABOUT' },
      { title: 'NUMBER' },
      { title: 'DIED' },
      { title: 'TRIES' },
      { title: 'ANSWER' },
      { title: 'WHY' },
    ],
    letters.map((one) => [
      one.eventId,
      one.stream,
      one.runSeq,
      ago(new Date(one.deadAt), now),
      one.attempts,
      one.status,
      one.reason ?? '',
    ]),
  );
}

/** `writ webhooks pause`, `resume` and `remove`. What is lost by removing is shown first. */
import type { Command } from 'commander';
import type { ListedDestination } from '../../../outbox/destinations.js';
import { contextOf, notBlank } from '../../command.js';
import { exitCodes } from '../../failure.js';
import {
  confirmed,
  destinationOf,
  destinationsOf,
  lagOf,
  withActor,
  withName,
} from '../../outbox/destinations.js';
import { plural } from '../../output.js';
import { databaseNow } from '../runs/session.js';

export function addPause(webhooks: Command): void {
  withActor(
    withName(
      webhooks.command('pause').description('tell it nothing until it is resumed; nothing is lost'),
    ).option('--reason <text>', 'why, for whoever looks at it', notBlank),
  ).action(async (name: string, options: { reason?: string; actor?: string }, command: Command) => {
    const { output, session } = contextOf(command);
    await session(async (db) => {
      await destinationsOf(db, options.actor).pause(name, options.reason);
      if (output.json) output.data({ name, state: 'paused' });
      else
        output.line(
          `Paused ${name}. What happens meanwhile is kept for it; \`writ webhooks resume ${name}\` lets it go on.`,
        );
    });
  });
}

export function addResume(webhooks: Command): void {
  withActor(
    withName(webhooks.command('resume').description('let it go on where it was, at once')),
  ).action(async (name: string, options: { actor?: string }, command: Command) => {
    const { output, session } = contextOf(command);
    await session(async (db) => {
      await destinationsOf(db, options.actor).resume(name);
      const { undelivered, dead, ...now } = await destinationOf(db, name);
      if (output.json) return output.data({ name, state: now.state, undelivered, dead });
      const lag = lagOf({ undelivered, dead, ...now }, await databaseNow(db));
      output.line(`Resumed ${name}${lag === undefined ? '' : `, ${lag} behind`}.`);
      if (dead > 0)
        output.note(
          `${plural(dead, 'dead letter')}: \`writ events replay ${name} --all-dead\` tells them again.`,
        );
    });
  });
}

export function addRemove(webhooks: Command): void {
  withActor(
    withName(
      webhooks.command('remove').description('end it: what it was not told, it will not be'),
    ).option('--yes', 'do it without asking'),
  ).action(async (name: string, options: { yes?: boolean; actor?: string }, command: Command) => {
    const { output, session } = contextOf(command);
    await session(async (db) => {
      if (!options.yes) {
        const lost = lostWith(await destinationOf(db, name), await databaseNow(db));
        if (!output.json)
          for (const line of [`Removing ${name}:`, ...lost.map((each) => `  ${each}`)])
            output.line(line);
        if (!(await confirmed(output))) {
          process.exitCode = exitCodes.failed; // what was asked for was not done
          if (output.json) output.data({ name, removed: false, lost });
          else output.line('Nothing was changed yet. Add --yes to do it.');
          return;
        }
      }
      await destinationsOf(db, options.actor).remove(name);
      if (output.json) output.data({ name, removed: true });
      else output.line(`Removed ${name}.`);
    });
  });
}

function lostWith(found: ListedDestination, nowMs: number): string[] {
  const { undelivered, dead } = found;
  const lag = lagOf(found, nowMs);
  const lost = [
    lag !== undefined && `it is ${lag} behind, and will not be told of what happened since`,
    undelivered > 0 &&
      `${plural(undelivered, 'event')} that it has not accepted yet will not be told again`,
    dead > 0 && `${plural(dead, 'dead letter')} can no longer be replayed`,
  ].filter((line): line is string => line !== false);
  return lost.length > 0 ? lost : ['it has been told of everything; nothing is lost'];
}

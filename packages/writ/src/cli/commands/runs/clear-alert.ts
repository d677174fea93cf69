/** `writ runs clear-alert`: somebody has seen to what an alert is about. */
import type { Command } from 'commander';
import { contextOf, notBlank, uuid } from '../../command.js';
import { actor } from '../../connection.js';
import { oneLine } from '../../output.js';

interface Options {
  readonly reason: string;
  readonly actor?: string;
}

export function addClearAlert(runs: Command): void {
  runs
    .command('clear-alert')
    .description('say that an alert has been seen to; `writ doctor` names those that stand')
    .argument(
      '<alert>',
      'id of the alert',
      uuid('The id of an alert is a UUID; `writ doctor` names them.'),
    )
    .requiredOption('--reason <text>', 'what was done about it, for the record', notBlank)
    .option('--actor <name>', 'who says so, for the record; otherwise the system user')
    .action(async (id: string, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const answer = await db.gate<{ code: string; subject: string; duplicate: boolean }>(
          'fn_alert_clear($1, $2, $3)',
          [id, options.reason, actor(options.actor)],
        );
        if (output.json) output.data({ alertId: id, ...answer });
        else
          output.line(
            oneLine(
              `${answer.code} of ${answer.subject.replace('/', ' ')} ${answer.duplicate ? 'was over already' : 'is over'}.`,
            ),
          );
      });
    });
}

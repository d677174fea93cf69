/** `writ runs deliver`: what a run waits for, from the command line. */
import type { Command } from 'commander';
import { contextOf, jsonOf, notBlank, runId } from '../../command.js';
import { oneLine } from '../../output.js';
import { runsOf } from './session.js';

interface Options {
  readonly payload?: string;
  readonly id?: string;
  readonly tenant?: string;
  readonly actor?: string;
}

export function addDeliver(runs: Command): void {
  runs
    .command('deliver')
    .description('deliver an event that a step of the run waits for, now or later')
    .argument('<run>', 'id of the run', runId)
    .argument('<event>', 'name of the event', notBlank)
    .option('--payload <json>', 'what it carries: JSON, or @FILE')
    .option(
      '--id <id>',
      'the same delivery again changes nothing; otherwise each is a new one',
      notBlank,
    )
    .option('--tenant <tenant>', 'only when it is a run of this tenant')
    .option('--actor <name>', 'who delivers, for the record; otherwise the system user')
    .action(
      async (
        run: string,
        event: string,
        { payload, id, tenant, actor }: Options,
        command: Command,
      ) => {
        const { output, session } = contextOf(command);
        const value = payload === undefined ? undefined : jsonOf(payload, '--payload');
        await session(async (db) => {
          const answer = await runsOf(db, actor).deliver(run, event, value, {
            ...(id !== undefined && { id }),
            ...(tenant !== undefined && { tenant }),
          });
          if (output.json) {
            output.data({ runId: run, event, ...answer });
            return;
          }
          const taken =
            answer.stepId === undefined
              ? 'No step waits for it yet: it is kept until one does.'
              : `Step ${answer.stepId} has it.`;
          output.line(
            oneLine(`${answer.duplicate ? 'Delivered before' : `Delivered ${event}`}. ${taken}`),
          );
        });
      },
    );
}

/** `writ runs events`: the log of a run; or all that is needed to replay it elsewhere, as a file. */
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { contextOf, runId, wholeNumber } from '../../command.js';
import { unwritable } from '../../files.js';
import { plural } from '../../output.js';
import { readHistory } from '../../runs/history.js';
import { runsOf } from './session.js';
import { lineOf } from './watch.js';

interface Options {
  readonly after: number;
  readonly limit: number;
  readonly tenant?: string;
  readonly export?: string;
}

export function addEvents(runs: Command): void {
  runs
    .command('events')
    .description('the log of a run, in order')
    .argument('<run>', 'id of the run', runId)
    .option('--after <n>', 'only events after this number', wholeNumber(0, 2_147_483_647), 0)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 100_000), 1_000)
    .option('--tenant <tenant>', 'only when it is a run of this tenant')
    .option(
      '--export <file>',
      'write the whole log with its plan and snapshot into a new file, for `writ runs replay --export`',
    )
    .action(
      async (id: string, { after, limit, tenant, export: file }: Options, command: Command) => {
        const { output, session } = contextOf(command);
        await session(async (db) => {
          if (file !== undefined) {
            const history = await readHistory(db, id, tenant);
            try {
              writeFileSync(file, `${JSON.stringify(history)}\n`, { flag: 'wx' });
            } catch (error) {
              throw unwritable(file, error);
            }
            if (output.json) output.data({ file, events: history.events.length });
            else
              output.line(
                `Wrote ${plural(history.events.length, 'event')} to ${file}. \`writ runs replay --export ${file}\` checks them.`,
              );
            return;
          }
          const events = await runsOf(db).events(id, {
            afterSeq: after,
            limit,
            ...(tenant !== undefined && { tenant }),
          });
          if (output.json) {
            output.data(events);
            return;
          }
          if (events.length === 0) output.line(`No event after ${after}.`);
          for (const event of events) output.line(lineOf(event));
          if (events.length === limit)
            output.note(
              `${plural(limit, 'event')}; --after ${events.at(-1)?.runSeq} shows what follows.`,
            );
        });
      },
    );
}

/** `writ runs replay`: reduces the log of a run again from its beginning, and holds it against what is stored and against its plan. */
import type { Command } from 'commander';
import { contextOf, jsonOf, runId } from '../../command.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { type Output, oneLine } from '../../output.js';
import { type History, parseHistory, readHistory } from '../../runs/history.js';
import { describe, replay } from '../../runs/replay.js';

interface Options {
  readonly export?: string;
  readonly tenant?: string;
}

export function addReplay(runs: Command): void {
  runs
    .command('replay')
    .description(
      'reduce the log of a run again, and compare with its snapshot and the rules of its plan',
    )
    .argument('[run]', 'id of the run', runId)
    .option(
      '--export <file>',
      'instead of a run: a history that `writ runs events RUN --export FILE` wrote; no database is needed',
    )
    .option('--tenant <tenant>', 'only when it is a run of this tenant')
    .action(async (id: string | undefined, { export: file, tenant }: Options, command: Command) => {
      const { output, session } = contextOf(command);
      if ((id === undefined) === (file === undefined)) {
        throw wrongUsage(
          'Replay takes the id of a run, or --export with a file.',
          'Write `writ runs replay RUN` or `writ runs replay --export FILE`.',
        );
      }
      if (file !== undefined) judge(output, parseHistory(jsonOf(`@${file}`, '--export'), file));
      else await session(async (db) => judge(output, await readHistory(db, id as string, tenant)));
    });
}

function judge(output: Output, history: History): void {
  const verdict = replay(history);
  if (!verdict.ok) process.exitCode = exitCodes.failed;
  if (output.json) {
    output.data(verdict);
    return;
  }
  const [head = '', ...rest] = describe(verdict, (runSeq) =>
    history.events.find((event) => event.runSeq === runSeq),
  ).map(oneLine);
  output.line(output.style(['bold', verdict.ok ? 'green' : 'red'], head));
  for (const line of rest) output.line(line.startsWith('  ✗') ? output.style('red', line) : line);
}

/** `writ runs list`: runs, the newest first. */
import { type Command, Option } from 'commander';
import { type RunState, runStates } from '../../../machines/run.js';
import type { ListedRun } from '../../../runs/runs.js';
import { contextOf, runId, wholeNumber } from '../../command.js';
import { ago, type Output, span } from '../../output.js';
import { statusStyle } from '../../runs/picture.js';
import { runsOf } from './session.js';

interface Filter {
  readonly status?: RunState;
  readonly plan?: string;
  readonly tenant?: string;
  readonly before?: string;
  readonly limit: number;
}

export function addList(runs: Command): void {
  runs
    .command('list')
    .description('runs, the newest first')
    .addOption(new Option('--status <status>', 'only runs in this status').choices(runStates))
    .option('--plan <plan>', 'only runs of this plan')
    .option('--tenant <tenant>', 'only runs of this tenant')
    .option('--before <run>', 'only those started before this one', runId)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 100), 20)
    .action(async (filter: Filter, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const listed = await runsOf(db).list(filter);
        if (output.json) output.data(listed);
        else show(output, listed, filter);
      });
    });
}

function show(output: Output, runs: readonly ListedRun[], filter: Filter): void {
  if (runs.length === 0) {
    output.line(
      filter.status || filter.plan || filter.tenant || filter.before
        ? 'No such run.'
        : 'No runs yet.',
    );
    return;
  }
  const now = new Date();
  const tenants = new Set(runs.map((run) => run.tenant)).size > 1 || filter.tenant !== undefined;
  const requests = runs.some((run) => run.requestId !== undefined);
  const columns = [
    'RUN',
    'PLAN',
    'STATUS',
    'STARTED',
    'TOOK',
    ...(tenants ? ['TENANT'] : []),
    ...(requests ? ['REQUEST'] : []),
  ];
  output.table(
    columns.map((title) => ({ title })),
    runs.map((run) => [
      run.runId,
      `${run.planId} ${run.planVersion}`,
      `${output.style(statusStyle[run.status], run.status)}${run.substatus ? ` ${run.substatus}` : ''}`,
      ago(new Date(run.createdAt), now),
      run.endedAt === undefined
        ? undefined
        : span(Date.parse(run.endedAt) - Date.parse(run.createdAt)),
      ...(tenants ? [run.tenant] : []),
      ...(requests ? [run.requestId ?? ''] : []),
    ]),
  );
  if (runs.length === filter.limit)
    output.note(
      `The newest ${filter.limit}; --limit shows more, --before ${runs.at(-1)?.runId} the next.`,
    );
}

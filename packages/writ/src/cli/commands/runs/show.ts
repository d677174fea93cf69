/** `writ runs show`: a run as it stands: its plan step by step, what it waits for, what went wrong, alerts. */
import type { Command } from 'commander';
import { WritError } from '../../../errors/index.js';
import { contextOf, runId } from '../../command.js';
import type { Session } from '../../connection.js';
import { type Output, oneLine } from '../../output.js';
import { linesOf } from '../../runs/picture.js';
import { moment } from '../../runs/words.js';
import { lookAt, runsOf } from './session.js';

interface RunRow {
  readonly run_id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly environment_id: string;
  readonly request_id: string | null;
  readonly original_run_id: string | null;
  readonly engine: string;
  readonly started_by: string;
  readonly created_at: Date;
}

interface Alert {
  readonly code: string;
  readonly severity: string;
  readonly detail: unknown;
  readonly raised_at: Date;
  readonly cleared_at: Date | null;
}

export function addShow(runs: Command): void {
  runs
    .command('show')
    .description('a run as it stands: steps, times, errors, what it waits for, alerts')
    .argument('<run>', 'id of the run', runId)
    .option('--tenant <tenant>', 'only when it is a run of this tenant')
    .action(async (id: string, { tenant }: { tenant?: string }, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const snapshot = await runsOf(db).get(id, tenant === undefined ? {} : { tenant });
        const look = await lookAt(db, snapshot);
        const [run] = await db.rows<RunRow>('select * from writ.run where run_id = $1', [id]);
        const alerts = await readAlerts(db, id);
        const input = await readInput(db, id);
        if (output.json) {
          output.data({ run, ...input, snapshot, tries: Object.fromEntries(look.tries), alerts });
          return;
        }
        for (const line of linesOf(look, (style, text) => output.style(style, text)))
          output.line(line);
        output.line();
        describe(output, run as RunRow, alerts, input.input);
      });
    });
}

const readAlerts = (db: Session, id: string): Promise<Alert[]> =>
  db.rows(
    `select code, severity, detail, raised_at, cleared_at from writ.alert where subject = 'run/' || $1::text order by raised_at`,
    [id],
  );

/** What the run was started with, as its steps see it now; nothing, for a role that may not read it. */
async function readInput(db: Session, id: string): Promise<{ input?: unknown }> {
  try {
    return {
      input: (await db.gate<{ input: unknown }>(`fn_run_values($1, '{input}')`, [id])).input,
    };
  } catch (error) {
    if (error instanceof WritError && error.code === 'permission_denied') return {};
    throw error;
  }
}

function describe(output: Output, run: RunRow, alerts: readonly Alert[], input: unknown): void {
  const other = (value: string, usual = 'default') =>
    value === usual ? undefined : oneLine(value);
  output.pairs([
    ['started', `${moment(run.created_at.toISOString())} by ${oneLine(run.started_by)}`],
    ['tenant', other(run.tenant_id)],
    ['project', other(run.project_id)],
    ['environment', other(run.environment_id)],
    ['engine', other(run.engine, 'native')],
    ['request', run.request_id === null ? undefined : oneLine(run.request_id)],
    ['again after', run.original_run_id],
    ['input', input === undefined || input === null ? undefined : short(input)],
    ...alerts.map((alert): [string, string] => ['alert', said(output, alert)]),
  ]);
}

function said(output: Output, { code, severity, detail, raised_at, cleared_at }: Alert): string {
  const words = oneLine(
    `${severity} ${code} since ${moment(raised_at.toISOString())}: ${JSON.stringify(detail)}`,
  );
  return cleared_at === null
    ? output.style('red', words)
    : output.style('dim', `${words}, over since ${moment(cleared_at.toISOString())}`);
}

function short(value: unknown): string {
  const json = oneLine(JSON.stringify(value));
  return json.length > 500 ? `${json.slice(0, 500)}… (--json shows all)` : json;
}

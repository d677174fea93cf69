/** `writ runs signal`: a command to a run. What takes something away is shown first, and asked about. */
import { type Command, InvalidArgumentError } from 'commander';
import { WritError, WritRefusal } from '../../../errors/index.js';
import type { RunSignal, SignalAnswer } from '../../../runs/engine.js';
import type { RunSignalType } from '../../../runs/events.js';
import { isTerminal } from '../../../runs/snapshot.js';
import { contextOf, jsonOf, notBlank, runId, uuid } from '../../command.js';
import { answersYes } from '../../confirm.js';
import type { Session } from '../../connection.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { type Output, oneLine } from '../../output.js';
import { asked, effectsOf } from '../../runs/effects.js';
import { signals } from '../../runs/words.js';
import { planOf, runsOf } from './session.js';

interface Options {
  readonly step?: string;
  readonly reason?: string;
  readonly params?: string;
  readonly signalId?: string;
  readonly tenant?: string;
  readonly actor?: string;
  readonly yes?: boolean;
}

/** PAUSE, pause; retry-step. */
function signalType(text: string): RunSignalType {
  const type = text.toUpperCase().replaceAll('-', '_');
  if (Object.hasOwn(signals, type)) return type as RunSignalType;
  throw new InvalidArgumentError(`It is one of ${Object.keys(signals).join(', ')}.`);
}

const help = `\nSignals:\n${Object.entries(signals)
  .map(([type, words]) => `  ${type.padEnd(15)} ${words}`)
  .join('\n')}`;

export function addSignal(runs: Command): void {
  runs
    .command('signal')
    .description('tell a run what to do: pause, resume, cancel, retry or skip a step, and so on')
    .argument('<run>', 'id of the run', runId)
    .argument('<type>', 'what it is to do', signalType)
    .option('--step <step>', 'id of the step, for RETRY_STEP and SKIP_STEP', notBlank)
    .option('--reason <text>', 'why, for the record', notBlank)
    .option(
      '--params <json>',
      'for UPDATE_PARAMS: an object, as JSON or @FILE, that is merged into the input',
    )
    .option(
      '--signal-id <uuid>',
      'the same signal again changes nothing; otherwise each is a new one',
      uuid('The id of a signal is a UUID.'),
    )
    .option('--tenant <tenant>', 'only when it is a run of this tenant')
    .option('--actor <name>', 'who signals, for the record; otherwise the system user')
    .option('--yes', 'do it without asking')
    .addHelpText('after', help)
    .action(async (id: string, type: RunSignalType, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      const signal = signalOf(type, options);
      await session((db) => send(db, output, id, signal, options));
    });
}

function signalOf(type: RunSignalType, { step, reason, params, signalId }: Options): RunSignal {
  const given = params === undefined ? undefined : jsonOf(params, '--params');
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const needs = (option: string, there: boolean) => {
    if (!there) throw wrongUsage(`${type} needs ${option}.`, `See \`writ runs signal --help\`.`);
  };
  if (type === 'RETRY_STEP' || type === 'SKIP_STEP') needs('--step', step !== undefined);
  if (type === 'UPDATE_PARAMS') needs('--params with an object', isObject);
  if (type === 'EMERGENCY_STOP') needs('--reason', reason !== undefined);
  return {
    type,
    ...(signalId !== undefined && { signalId }),
    ...(step !== undefined && { stepId: step }),
    ...(reason !== undefined && { reason }),
    ...(isObject && { params: given as Record<string, unknown> }),
  };
}

async function send(
  db: Session,
  output: Output,
  id: string,
  signal: RunSignal,
  options: Options,
): Promise<void> {
  const runs = runsOf(db, options.actor);
  const of = options.tenant === undefined ? {} : { tenant: options.tenant };
  if (asked.includes(signal.type) && !options.yes) {
    const snapshot = await runs.get(id, of);
    // Nobody is asked about what will be refused.
    if (isTerminal(snapshot) && signal.type !== 'RETRY_RUN')
      throw new WritRefusal('RUN_TERMINAL', `Run ${id} is ${snapshot.status}.`);
    const effects = effectsOf(signal, {
      snapshot,
      plan: await planOf(db, snapshot),
      ...(await inputOf(db, id)),
    }).map(oneLine);
    if (!output.json)
      for (const line of [
        `${signal.type} to ${id}, which is ${snapshot.status}:`,
        ...effects.map((each) => `  ${each}`),
      ])
        output.line(line);
    if (!(await confirmed(output))) {
      process.exitCode = exitCodes.failed; // what was asked for was not done
      if (output.json) output.data({ sent: false, effects });
      else output.line('Nothing was changed. Add --yes to do it.');
      return;
    }
  }
  const answer = await runs.signal(id, signal, of);
  if (output.json) output.data({ sent: true, ...answer });
  else output.line(said(id, signal, answer));
}

/** Asks, where somebody can answer. */
const confirmed = async (output: Output): Promise<boolean> =>
  output.live && process.stdin.isTTY && answersYes('Do it?', process.stdin, process.stdout);

async function inputOf(db: Session, id: string): Promise<{ input?: unknown }> {
  try {
    return await db.gate<{ input: unknown }>(`fn_run_values($1, '{input}')`, [id]);
  } catch (error) {
    if (error instanceof WritError && error.code === 'permission_denied') return {};
    throw error;
  }
}

function said(
  id: string,
  { type }: RunSignal,
  { duplicate, status, runId: again, signalId }: SignalAnswer,
): string {
  if (duplicate)
    return `Signal ${signalId} was accepted before: nothing changed. The run is ${status}.`;
  if (again !== undefined)
    return `Started again as ${again}. \`writ runs watch ${again}\` shows it.`;
  const ends = ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status)
    ? ''
    : ` \`writ runs watch ${id}\` shows how it goes on.`;
  return `${type} is accepted: the run is ${status}.${ends}`;
}

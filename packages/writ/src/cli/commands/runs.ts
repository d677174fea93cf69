/** `writ runs`: starting plans, looking at their runs, and telling runs what to do. */
import { writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { WritError } from '../../errors/index.js';
import { runStates } from '../../machines/run.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import type { RunSignal, SignalAnswer } from '../../runs/engine.js';
import type { RunEvent, RunSignalType } from '../../runs/events.js';
import {
  describeHistory,
  parseHistory,
  type RunHistory,
  verifyHistory,
} from '../../runs/history.js';
import type { ListedRun } from '../../runs/log.js';
import { Plan } from '../../runs/plans/plan.js';
import {
  type AdmissionRule,
  type ListedAdmission,
  type RunDetail,
  type RunFilter,
  runningSteps,
} from '../../runs/runs.js';
import { emptySnapshot, isTerminal, reduce } from '../../runs/snapshot.js';
import type { Writ } from '../../writ.js';
import { duration, jsonOf, notBlank, priority, runId, uuid, wholeNumber } from '../command.js';
import { exitCodes, wrongUsage } from '../failure.js';
import { unwritable } from '../files.js';
import { follow } from '../live.js';
import { ago, count, type Output, oneLine, pad, plural, span } from '../output.js';
import { type Look, linesOf, rowsOf, statusStyle } from '../runs/picture.js';
import { clockTime, detailOf, endOf, moment, signals } from '../runs/words.js';
import { act, action, type Call, list, outputOf, show } from '../shapes.js';

export function addRuns(program: Command): void {
  const runs = program
    .command('runs')
    .description('start plans, look at their runs, signal and verify them');
  const parts = [start, all, one, watch, signal, deliver, events, verify, rebuild, admission];
  for (const add of parts) add(runs);
}

const ofTenant = (command: Command) =>
  command.option('--tenant <tenant>', 'only when it is a run of this tenant');
const byActor = (command: Command, does: string) =>
  command.option('--actor <name>', `who ${does}, for the record; otherwise the system user`);
const ofRun = (command: Command) => ofTenant(command.argument('<run>', 'id of the run', runId));

type Tenant = { readonly tenant?: string };

// start -------------------------------------------------------------------------------------------

interface Start extends Record<string, unknown> {
  readonly plan?: string;
  readonly planVersion?: string;
  readonly input?: string;
  readonly request?: string;
  readonly tenant?: string;
  readonly project?: string;
  readonly environment?: string;
  readonly priority?: number;
  readonly wait?: boolean;
}

function start(runs: Command): void {
  const command = runs
    .command('start')
    .description('start a run of a plan')
    .argument('[plan]', 'id of a plan that is registered', notBlank)
    .option('--plan-version <version>', 'its version; otherwise the one registered last', notBlank)
    .option(
      '--plan <file>',
      'instead of an id: a plan as JSON, registered if the kinds of its jobs are known',
      notBlank,
    )
    .option('--input <json>', 'what the run is started with: JSON, or @FILE')
    .option(
      '--request <id>',
      'the same request is the same run, however often it is made',
      notBlank,
    )
    .option('--tenant <tenant>', 'whose run it is', notBlank)
    .option('--project <project>', 'of which project', notBlank)
    .option('--environment <environment>', 'in which environment', notBlank)
    .option('--priority <n>', 'of its jobs; higher first', priority)
    .option('--wait', 'watch it until it ends; exit code 0 if it completed');
  const given = ({ options: { plan, planVersion, input }, args: [id] }: Call<Start>) => {
    if ((id === undefined) === (plan === undefined))
      throw wrongUsage(
        'Start takes the id of a plan, or --plan with a file.',
        'Write `writ runs start PLAN` or `writ runs start --plan FILE`.',
      );
    if (plan !== undefined && planVersion !== undefined)
      throw wrongUsage('A plan in a file has its version inside.', 'Leave --plan-version out.');
    return {
      input: input === undefined ? undefined : jsonOf(input, '--input'),
      inFile: plan === undefined ? undefined : new Plan(jsonOf(`@${plan}`, '--plan')),
    };
  };
  byActor(command, 'starts it').action(
    action<Start, { input: unknown; inFile: Plan | undefined }>(async (writ, call, ready) => {
      const { output, options, args } = call;
      const { input, inFile } = ready;
      const { request, tenant, project, environment, priority, wait, planVersion } = options;
      if (inFile) await writ.plans.register(inFile.document);
      if (inFile && !output.json) showPlan(output, inFile);
      const { planId, unserved, ...plan } = await writ.plans.get(inFile?.id ?? String(args[0]), {
        ...(inFile ? { version: inFile.version } : planVersion && { version: planVersion }),
      });
      const { runId, duplicate } = await writ.runs.start(
        { planId, planVersion: plan.planVersion },
        input,
        {
          requestId: request,
          tenant,
          project,
          environment,
          priority,
        },
      );
      const started = { runId, duplicate, planId, planVersion: plan.planVersion };
      if (output.json && !wait) return output.data(started);
      if (!output.json) sayStarted(output, started, unserved, wait === true);
      if (wait) await watchRun(writ, output, runId);
    }, given),
  );
}

/** What will run, before it does. */
function showPlan(output: Output, plan: Plan): void {
  const rows = rowsOf(plan.document.steps);
  const width = Math.max(...rows.map(({ prefix, step }) => prefix.length + step.id.length));
  const name = output.style('bold', `${plan.id} ${plan.version}`);
  output.line(`${name}, ${plural(rows.length, 'step')}, sha256 ${plan.sha256}`);
  for (const { prefix, step } of rows) {
    const list =
      step.type === 'each' ? ` for each of ${step.over.$ref}, ${step.parallel} at a time` : '';
    const does =
      step.type === 'wait'
        ? `waits for ${step.event}`
        : step.type === 'timer'
          ? `waits ${step.ms} ms`
          : `${step.kind}${list}${step.compensate ? `, undone by ${step.compensate.kind}` : ''}`;
    const id = pad(`${output.style('dim', prefix)}${step.id}`, width);
    output.line(`  ${id}  ${output.style('dim', does)}`);
  }
  output.line();
}

function sayStarted(
  output: Output,
  {
    runId,
    duplicate,
    planId,
    planVersion,
  }: Record<'runId' | 'planId' | 'planVersion', string> & {
    readonly duplicate: boolean;
  },
  unserved: readonly string[],
  wait: boolean,
): void {
  const run = `run ${output.style('bold', runId)} of ${planId} ${planVersion}`;
  output.line(duplicate ? `This request was made before: ${run}.` : `Started ${run}.`);
  if (unserved.length > 0)
    output.note(
      `No worker serves ${unserved.slice(0, 8).join(', ')}: \`writ worker FILE\` starts one.`,
    );
  if (!wait)
    output.line(
      `\`writ runs watch ${runId}\` follows it, \`writ runs show ${runId}\` tells how it stands.`,
    );
}

// list and show -----------------------------------------------------------------------------------

function all(runs: Command): void {
  list<ListedRun, RunFilter & Record<string, unknown>>(
    runs
      .command('list')
      .description('runs, the newest first')
      .addOption(new Option('--status <status>', 'only runs in this status').choices(runStates))
      .option('--plan <plan>', 'only runs of this plan')
      .option('--tenant <tenant>', 'only runs of this tenant')
      .option('--before <run>', 'only those started before this one', runId),
    {
      read: (writ, page, { options: { status, plan, tenant, before } }) =>
        writ.runs.list({
          ...page,
          status,
          plan,
          tenant,
          before,
        }),
      none: ({ options: { status, plan, tenant, before } }) =>
        status || plan || tenant || before ? 'No such run.' : 'No runs yet.',
      columns: ({ output, options }) => [
        { title: 'RUN', of: (run) => run.runId },
        { title: 'PLAN', of: (run) => `${run.planId} ${run.planVersion}` },
        {
          title: 'STATUS',
          of: ({ status, substatus }) =>
            `${output.style(statusStyle[status], status)}${substatus ? ` ${substatus}` : ''}`,
        },
        { title: 'STARTED', of: (run, now) => ago(new Date(run.createdAt), now) },
        {
          title: 'TOOK',
          of: (run) => run.endedAt && span(Date.parse(run.endedAt) - Date.parse(run.createdAt)),
        },
        {
          title: 'TENANT',
          of: (run) => run.tenant,
          when: (rows) =>
            options.tenant !== undefined || new Set(rows.map(({ tenant }) => tenant)).size > 1,
        },
        {
          title: 'REQUEST',
          of: (run) => run.requestId ?? '',
          when: (rows) => rows.some(({ requestId }) => requestId !== null),
        },
      ],
    },
  );
}

function one(runs: Command): void {
  show<RunDetail, Tenant>(
    ofRun(
      runs
        .command('show')
        .description('a run as it stands: steps, times, errors, what it waits for, alerts'),
    ),
    {
      read: (writ, { args: [id = ''], options: { tenant } }) => writ.runs.detail(id, { tenant }),
      print: (detail, { output }) => {
        const look = { ...detail, now: Date.parse(detail.now) };
        for (const line of linesOf(look, (style, text) => output.style(style, text)))
          output.line(line);
        output.line();
        sayDetail(output, detail);
      },
    },
  );
}

function sayDetail(output: Output, { run, input, alerts }: RunDetail): void {
  const other = (value: string, usual = 'default') =>
    value === usual ? undefined : oneLine(value);
  output.pairs([
    ['started', `${moment(run.createdAt)} by ${oneLine(run.startedBy)}`],
    ['tenant', other(run.tenant)],
    ['project', other(run.project)],
    ['environment', other(run.environment)],
    ['engine', other(run.engine, 'native')],
    ['request', run.requestId === null ? undefined : oneLine(run.requestId)],
    ['again after', run.originalRunId],
    ['input', input === undefined || input === null ? undefined : short(input)],
    ...alerts.map(({ code, severity, detail, raisedAt, clearedAt }): [string, string] => {
      const since = moment(new Date(raisedAt).toISOString());
      const words = oneLine(`${severity} ${code} since ${since}: ${JSON.stringify(detail)}`);
      if (clearedAt === null) return ['alert', output.style('red', words)];
      const over = moment(new Date(clearedAt).toISOString());
      return ['alert', output.style('dim', `${words}, over since ${over}`)];
    }),
  ]);
}

function short(value: unknown): string {
  const json = oneLine(JSON.stringify(value));
  return json.length > 500 ? `${json.slice(0, 500)}… (--json shows all)` : json;
}

// watch and events --------------------------------------------------------------------------------

function watch(runs: Command): void {
  ofRun(
    runs
      .command('watch')
      .description(
        'a run live, until it ends; exit code 0 if it completed; Ctrl-C ends the watch, not the run',
      ),
  ).action(
    action<Tenant>((writ, { output, args: [id = ''], options: { tenant } }) =>
      watchRun(writ, output, id, tenant),
    ),
  );
}

/** Follows a run to its end. The exit code says how it ended. */
async function watchRun(writ: Writ, output: Output, id: string, tenant?: string): Promise<void> {
  const of = { tenant };
  const { planId, planVersion } = await writ.runs.get(id, of);
  const { document: plan } = await writ.plans.get(planId, { version: planVersion });
  // Whoever reads lines reads all of them; a picture needs the last state only.
  let snapshot = output.live ? await writ.runs.snapshot(id, of) : emptySnapshot(id);
  await follow<RunEvent, Look>(output, {
    read: async () => {
      const { items, next } = await writ.runs.events(id, {
        afterSeq: snapshot.lastEventSeq,
        ...of,
      });
      snapshot = reduce(snapshot, items);
      return { news: items, more: next !== null, ended: isTerminal(snapshot) };
    },
    line: lineOf,
    end: () => [endOf(snapshot) ?? ''],
    picture: {
      look: async () => ({
        snapshot,
        plan,
        tries: await writ.runs.tries(id, runningSteps(snapshot)),
        now: (await writ.now()).getTime(),
      }),
      lines: linesOf,
    },
  });
  if (snapshot.status !== 'COMPLETED') process.exitCode = exitCodes.failed;
}

/** One event for people, on a line. */
function lineOf(event: RunEvent): string {
  const { emittedAt, runSeq, eventType, stepId, logicalAttemptId } = event;
  const attempt =
    stepId !== 'RUN' && logicalAttemptId !== '1' ? ` (attempt ${logicalAttemptId})` : '';
  const subject = stepId === 'RUN' ? '' : `  ${stepId}${attempt}`;
  const detail = detailOf(event);
  const place = `${clockTime(emittedAt)}  ${String(runSeq).padStart(4)}`;
  return `${place}  ${eventType}${subject}${detail ? `  ${detail}` : ''}`;
}

interface Events extends Record<string, unknown> {
  readonly after: number;
  readonly limit: number;
  readonly tenant?: string;
  readonly export?: string;
}

function events(runs: Command): void {
  ofRun(runs.command('events').description('the log of a run, in order'))
    .option('--after <n>', 'only events after this number', wholeNumber(0, 2_147_483_647), 0)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 100_000), 1_000)
    .option(
      '--export <file>',
      'write the whole log with its plan and snapshot into a new file, for `writ runs verify --export`',
    )
    .action(
      action<Events>(async (writ, { output, args: [id = ''], options }) => {
        const { after, limit, tenant, export: file } = options;
        const of = { tenant };
        if (file !== undefined) return save(output, file, await writ.runs.history(id, of));
        const found: RunEvent[] = [];
        for (let next: string | null = ''; next !== null && found.length < limit; ) {
          const page = {
            limit: Math.min(1_000, limit - found.length),
            after: next || undefined,
          };
          const read = await writ.runs.events(id, { ...of, ...page, afterSeq: after });
          found.push(...read.items);
          next = read.next;
        }
        if (output.json) return output.data(found);
        if (found.length === 0) output.line(`No event after ${after}.`);
        for (const event of found) output.line(lineOf(event));
        if (found.length === limit)
          output.note(
            `${plural(limit, 'event')}; --after ${found.at(-1)?.runSeq} shows what follows.`,
          );
      }),
    );
}

function save(output: Output, file: string, history: RunHistory): void {
  try {
    writeFileSync(file, `${JSON.stringify(history)}\n`, { flag: 'wx' });
  } catch (error) {
    throw unwritable(file, error);
  }
  const { length } = history.events;
  if (output.json) output.data({ file, events: length });
  else
    output.line(
      `Wrote ${plural(length, 'event')} to ${file}. \`writ runs verify --export ${file}\` checks them.`,
    );
}

// verify ------------------------------------------------------------------------------------------

interface Verify extends Record<string, unknown> {
  readonly export?: string;
  readonly tenant?: string;
}

function verify(runs: Command): void {
  const command = runs
    .command('verify')
    .description(
      'reduce the log of a run again, and compare with its snapshot and the rules of its plan',
    )
    .argument('[run]', 'id of the run', runId)
    .option(
      '--export <file>',
      'instead of a run: a history that `writ runs events RUN --export FILE` wrote; no database is needed',
    );
  const ofDatabase = action<Verify>(async (writ, { output, args: [id = ''], options }) =>
    judge(output, await writ.runs.history(id, options.tenant ? { tenant: options.tenant } : {})),
  );
  ofTenant(command).action(async (id: string | undefined, options: Verify, self: Command) => {
    const { export: file } = options;
    if ((id === undefined) === (file === undefined))
      throw wrongUsage(
        'Verify takes the id of a run, or --export with a file.',
        'Write `writ runs verify RUN` or `writ runs verify --export FILE`.',
      );
    if (file === undefined) return ofDatabase(id, options, self);
    judge(outputOf(self), historyIn(file));
  });
}

function historyIn(file: string): RunHistory {
  const value = jsonOf(`@${file}`, '--export');
  try {
    return parseHistory(value);
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    throw wrongUsage(
      `${file} is not a history of a run.`,
      'Give the file that `writ runs events RUN --export FILE` wrote.',
    );
  }
}

function judge(output: Output, history: RunHistory): void {
  const verdict = verifyHistory(history);
  if (!verdict.ok) process.exitCode = exitCodes.failed;
  if (output.json) {
    output.data(verdict);
    return;
  }
  const [head = '', ...rest] = describeHistory(verdict, (runSeq) =>
    history.events.find((event) => event.runSeq === runSeq),
  ).map(oneLine);
  output.line(output.style(['bold', verdict.ok ? 'green' : 'red'], head));
  for (const line of rest) output.line(line.startsWith('  ✗') ? output.style('red', line) : line);
}

// rebuild -----------------------------------------------------------------------------------------

function rebuild(runs: Command): void {
  const command = ofRun(
    runs.command('rebuild').description('make the snapshot of a run again, from its whole log'),
  );
  act<{ runId: string; rebuilt: boolean }, Tenant>(byActor(command, 'asks for it'), {
    asks: async (writ, { args: [id = ''], options: { tenant }, output }) => {
      // Also finds out whether there is such a run.
      const { status } = await writ.runs.get(id, tenant === undefined ? {} : { tenant });
      if (!output.json) output.line(oneLine(`The snapshot of ${id}, which is ${status}:`));
      return 'Delete it, and have a worker make it again?';
    },
    do: async (writ, { args: [id = ''], options: { tenant } }) => {
      const { runId } = await writ.runs.get(id, tenant === undefined ? {} : { tenant });
      return { runId, rebuilt: (await writ.runs.rebuild([runId])) === 1 };
    },
    says: ({ runId, rebuilt }) =>
      rebuilt
        ? `A worker makes it again. \`writ runs verify ${runId}\` compares it with the log.`
        : `Run ${runId} has no events, so it has no snapshot to make again.`,
  });
}

// signal and deliver ------------------------------------------------------------------------------

interface Signal extends Record<string, unknown> {
  readonly step?: string;
  readonly reason?: string;
  readonly params?: string;
  readonly newEffectKey?: boolean;
  readonly signalId?: string;
  readonly tenant?: string;
  readonly yes?: boolean;
}

/** Signals that take something away, and so are asked about first. */
const asked: readonly string[] = ['CANCEL', 'EMERGENCY_STOP', 'SKIP_STEP', 'UPDATE_PARAMS'];

/** PAUSE, pause; retry-step. */
function signalType(text: string): RunSignalType {
  const type = text.toUpperCase().replaceAll('-', '_');
  if (Object.hasOwn(signals, type)) return type as RunSignalType;
  throw new InvalidArgumentError(`It is one of ${Object.keys(signals).join(', ')}.`);
}

const signalHelp = `\nSignals:\n${Object.entries(signals)
  .map(([type, words]) => `  ${type.padEnd(15)} ${words}`)
  .join('\n')}`;

function signal(runs: Command): void {
  const command = ofTenant(
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
        '--new-effect-key',
        'for RETRY_STEP: let services outside take the next attempt for a new effect',
      )
      .option(
        '--signal-id <uuid>',
        'the same signal again changes nothing; otherwise each is a new one',
        uuid('The id of a signal is a UUID.'),
      )
      .addHelpText('after', signalHelp),
  );
  act<SignalAnswer, Signal, RunSignal>(byActor(command, 'signals'), {
    check: signalOf,
    asks: async (writ, { args, options, output }, signal) => {
      const [id = '', type = ''] = args;
      if (!asked.includes(type)) return undefined;
      const of = { tenant: options.tenant };
      const effects = await writ.runs.effects(id, signal, of);
      const { status } = await writ.runs.get(id, of);
      const lines = [
        `${type} to ${id}, which is ${status}:`,
        ...effects.map((each) => `  ${each}`),
      ];
      if (!output.json) for (const line of lines) output.line(oneLine(line));
      return 'Do it?';
    },
    do: (writ, { args: [id = ''], options: { tenant } }, signal) =>
      writ.runs.signal(id, signal, { tenant }),
    says: (answer, { args: [id = '', type = ''] }) => {
      const { duplicate, status, runId: again, signalId } = answer;
      if (duplicate)
        return `Signal ${signalId} was accepted before: nothing changed. The run is ${status}.`;
      if (again !== undefined)
        return `Started again as ${again}. \`writ runs watch ${again}\` shows it.`;
      const ends = isTerminal({ status }) ? '' : ` \`writ runs watch ${id}\` shows how it goes on.`;
      return `${type} is accepted: the run is ${status}.${ends}`;
    },
  });
}

function signalOf({ args, options }: Call<Signal>): RunSignal {
  const type = args[1] as RunSignalType;
  const { step, reason, params, signalId, newEffectKey } = options;
  const given = params === undefined ? undefined : jsonOf(params, '--params');
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const needs = (option: string, there: boolean) => {
    if (!there) throw wrongUsage(`${type} needs ${option}.`, 'See `writ runs signal --help`.');
  };
  if (type === 'RETRY_STEP' || type === 'SKIP_STEP') needs('--step', step !== undefined);
  if (type === 'UPDATE_PARAMS') needs('--params with an object', isObject);
  if (type === 'EMERGENCY_STOP') needs('--reason', reason !== undefined);
  return {
    type,
    ...(signalId !== undefined && { signalId }),
    ...(step !== undefined && { stepId: step }),
    ...(reason !== undefined && { reason }),
    ...(newEffectKey && { newEffectKey }),
    ...(isObject && { params: given as Record<string, unknown> }),
  };
}

type Delivered = Awaited<ReturnType<Writ['runs']['deliver']>>;

interface Deliver extends Record<string, unknown> {
  readonly payload?: string;
  readonly id?: string;
  readonly tenant?: string;
}

function deliver(runs: Command): void {
  const command = ofTenant(
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
      ),
  );
  const payloadOf = ({ options: { payload } }: Call<Deliver>) => ({
    payload: payload === undefined ? undefined : jsonOf(payload, '--payload'),
  });
  act<Delivered, Deliver, { payload: unknown }>(byActor(command, 'delivers'), {
    check: payloadOf,
    do: (writ, { args: [run = '', event = ''], options: { id, tenant } }, { payload }) => {
      return writ.runs.deliver(run, event, payload, {
        id,
        tenant,
      });
    },
    says: ({ duplicate, stepId }, { args: [, event] }) => {
      const taken =
        stepId === undefined
          ? 'No step waits for it yet: it is kept until one does.'
          : `Step ${stepId} has it.`;
      return oneLine(`${duplicate ? 'Delivered before' : `Delivered ${event}`}. ${taken}`);
    },
  });
}

// admission ---------------------------------------------------------------------------------------

interface Admission extends Record<string, unknown> {
  readonly policy?: AdmissionRule['policy'];
  readonly maxRunning?: number;
  readonly maxPending?: number;
  readonly delay?: Duration;
  readonly none?: boolean;
}

const mostRuns = 1_000_000;

function admission(runs: Command): void {
  const command = runs
    .command('admission')
    .description('show how many runs of a tenant go on at once and what becomes of more, or set it')
    .argument('[tenant]', 'the tenant; * is every one that has no rule of its own', notBlank)
    .addOption(
      new Option(
        '--policy <policy>',
        'REJECT refuses what is too much, QUEUE starts it when there is room, DELAY starts it later',
      ).choices(['REJECT', 'QUEUE', 'DELAY']),
    )
    .option('--max-running <n>', 'so many go on at once', wholeNumber(1, mostRuns))
    .option(
      '--max-pending <n>',
      'so many wait, and more are refused; otherwise 10000',
      wholeNumber(0, mostRuns),
    )
    .option('--delay <duration>', 'for DELAY: how much later; otherwise 1s', duration)
    .option('--none', 'take the rule away');
  byActor(command, 'sets it').action(
    action<Admission, AdmissionRule | undefined>(async (writ, call, rule) => {
      const { output, options, args } = call;
      const [tenant] = args;
      const read = async () => (await writ.runs.admissions({ limit: 1_000, tenant })).items;
      const [before, ...others] = await read();
      if (rule === undefined && !options.none)
        return showRules(output, before ? [before, ...others] : [], tenant);
      await writ.runs.setAdmission(String(tenant), rule);
      const [after] = await read();
      if (output.json) return output.data({ tenant, was: before ?? null, rule: after ?? null });
      const now = output.style('bold', after ? inWords(after) : 'no rule');
      output.line(oneLine(`${tenant}: ${before ? inWords(before) : 'no rule'} → ${now}`));
    }, ruleOf),
  );
}

function ruleOf({ args: [tenant], options }: Call<Admission>): AdmissionRule | undefined {
  const { policy, maxRunning, maxPending, delay, none } = options;
  const given = [policy, maxRunning, maxPending, delay].some((one) => one !== undefined);
  const remedy =
    'Write `writ runs admission TENANT --policy QUEUE --max-running 100`, or `… TENANT --none`.';
  if (!given && !none) return undefined;
  if (tenant === undefined) throw wrongUsage('A rule is for a tenant.', remedy);
  if (none && given) throw wrongUsage('--none takes the rule away, so it stands alone.', remedy);
  if (none) return undefined;
  if (policy === undefined || maxRunning === undefined)
    throw wrongUsage('A rule has --policy and --max-running.', remedy);
  if (delay !== undefined && policy !== 'DELAY')
    throw wrongUsage('--delay is for the policy DELAY.', remedy);
  return {
    policy,
    maxRunning,
    maxPending,
    ...(delay !== undefined && { delayMs: milliseconds(delay) }),
  };
}

function inWords({ policy, maxRunning, maxPending, delayMs }: ListedAdmission): string {
  const more = {
    REJECT: 'refused',
    QUEUE: `queued, ${count(maxPending)} at most`,
    DELAY: `started ${span(delayMs)} later, ${count(maxPending)} at most`,
  };
  return `${count(maxRunning)} at once, more are ${more[policy]}`;
}

function showRules(output: Output, rules: readonly ListedAdmission[], tenant?: string): void {
  const right = 'right' as const;
  if (output.json) output.data(rules);
  else if (rules.length > 0)
    output.table(
      [
        { title: 'TENANT' },
        { title: 'RUNNING', align: right },
        { title: 'WAITING', align: right },
        { title: 'RULE' },
      ],
      rules.map((rule) => [rule.tenant, rule.running, rule.pending, inWords(rule)]),
    );
  else if (tenant === undefined) output.line('No rules: every run starts at once.');
  else output.line(oneLine(`${tenant} has no rule of its own.`));
}

/** `writ worker`: runs the handlers that JavaScript modules export, until it is told to stop. */
import type { Command } from 'commander';
import type { ConnectOptions } from '../../connect-options.js';
import type { AnyStepType } from '../../governance/steps.js';
import type { ActionKind } from '../../governor/actuators/handler.js';
import type { Outside } from '../../ledger/ledger.js';
import type { ArtifactStore } from '../../queue/artifacts.js';
import type { Duration } from '../../queue/duration.js';
import type { HandledJob } from '../../queue/job.js';
import { secretsAt } from '../../secrets/places.js';
import { Writ } from '../../writ.js';
import { duration, repeated, wholeNumber } from '../command.js';
import { connectionString, listenUrl } from '../connection.js';
import { explain, wrongUsage } from '../failure.js';
import { type KeyOptions, keyOf, withSecrets } from '../governance/session.js';
import { HealthPort } from '../health-port.js';
import { actionsIn, importFile, stepTypesIn } from '../modules.js';
import { type Output, oneLine, plural, span } from '../output.js';
import { outputOf } from '../shapes.js';
import { interruption } from '../signals.js';
import { withWrit } from '../writ.js';
import { outside } from './ledger/session.js';

interface Options extends KeyOptions {
  readonly concurrency: number;
  readonly lease: Duration;
  readonly grace: Duration;
  readonly listenUrl?: string;
  readonly checkpoint?: readonly string[];
  readonly ledgerKey?: readonly string[];
  readonly secrets?: string;
  readonly observe?: boolean;
  readonly governance: boolean;
  readonly governor: boolean;
  readonly allowHttp?: boolean;
  readonly allowPrivate?: true | string;
  readonly healthPort?: number;
}

export function addWorker(program: Command): void {
  withSecrets(program.command('worker'))
    .description(
      'run the handlers that these JavaScript modules export, execute approved changes, and drive governors',
    )
    .argument(
      '[file...]',
      'modules whose exports are handled jobs (job.handle(…)), step types (defineStep(…)) and actions of governors (defineAction(…)), or arrays of them; one may export a store as `artifacts`; without any it executes approved changes and drives governors alone',
    )
    .option('--concurrency <n>', 'handlers that run at the same time', wholeNumber(1, 1_000), 10)
    .option(
      '--lease <duration>',
      'length of a lease; it is renewed every third of it',
      duration,
      '30s',
    )
    .option(
      '--grace <duration>',
      'how long running handlers may finish when the worker stops',
      duration,
      '10s',
    )
    .option(
      '--listen-url <url>',
      'an address to listen on for wake-ups: a direct one, when the database’s own leads through a pooler',
      listenUrl,
    )
    .option(
      '--checkpoint <place>',
      'where checkpoints are kept outside: a database that is older does not start; may be repeated; otherwise WRIT_LEDGER_PLACES, with commas',
      repeated,
    )
    .option(
      '--ledger-key <key>',
      'a public key that signs them; may be repeated; otherwise WRIT_LEDGER_PUBLIC_KEYS, with commas',
      repeated,
    )
    .option(
      '--observe',
      'tell OpenTelemetry what is in the database, too; for one worker of all, with an SDK registered by node --import',
    )
    .option(
      '--no-governance',
      'leave approved changes, their audits and the probes of health to other workers',
    )
    .option('--no-governor', 'leave governors and their actions to other workers')
    .option(
      '--key-file <path>',
      'a file that holds the key of who activates contracts for governors; otherwise the variable WRIT_KEY holds it',
    )
    .option(
      '--allow-http',
      'actions of governors may go to addresses without encryption as well: for tests and private networks',
    )
    .option(
      '--allow-private [networks]',
      'actions of governors and probes may go to private, loopback and link-local addresses as well: to these (10.1.0.0/16,10.2.0.7), or all',
    )
    .option(
      '--health-port <number>',
      'answer GET /live and GET /ready on this port of all interfaces, for the probes of Kubernetes',
      wholeNumber(0, 65_535),
    )
    .action(async (files: string[], options: Options, command: Command) => {
      if (files.length === 0 && !options.governance && !options.governor)
        throw wrongUsage(
          'There is nothing to do: no file, no governance and no governors.',
          example,
        );
      const output = outputOf(command);
      const { databaseUrl } = command.optsWithGlobals<{ databaseUrl?: string }>();
      const ledger = outside(
        { places: options.checkpoint, keys: options.ledgerKey },
        { places: '--checkpoint', keys: '--ledger-key' },
      );
      const secrets = options.secrets === undefined ? undefined : secretsAt(options.secrets);
      const key = options.governor ? keyOf(options) : undefined;
      const types = options.governance ? await stepTypesIn(files) : [];
      const actions = options.governor ? await actionsIn(files) : [];
      const handlers = await load(files, options);
      const artifacts = await loadStore(files);
      // says at once when the database is not there or not ready
      await withWrit({ databaseUrl }, (writ) => writ.login());
      await work(
        {
          connectionString: connectionString(databaseUrl),
          ...(secrets && { secrets }),
          ...(artifacts && { artifacts }),
          ...(key !== undefined && { key }),
        },
        handlers,
        {
          types: options.governance ? types : undefined,
          actions: options.governor ? actions : undefined,
        },
        ledger,
        options,
        output,
      );
    });
}

const example = `Export what job.handle answers, for example:

        import { defineJob } from 'writ';
        export const greet = defineJob('greet').handle(async ({ input }) => { … });`;

/**
 * Every handled job among the exports of these files. Each has one, or a type of steps for a worker
 * that executes changes, or an action for one that drives governors.
 */
export async function load(
  files: readonly string[],
  { governance, governor }: Pick<Options, 'governance' | 'governor'>,
): Promise<HandledJob[]> {
  const handlers = new Map<string, { handled: HandledJob; file: string }>();
  for (const file of files) {
    const found = Object.values(await importFile(file))
      .flat()
      .filter(isHandledJob);
    const others = [
      ...(governance ? await stepTypesIn([file]) : []),
      ...(governor ? await actionsIn([file]) : []),
    ];
    if (found.length === 0 && others.length === 0)
      throw wrongUsage(`${file} exports no handler.`, example);
    for (const handled of new Set(found)) {
      const other = handlers.get(handled.job.kind);
      if (other && other.handled !== handled) {
        throw wrongUsage(
          `${handled.job.kind} has two handlers, in ${other.file} and in ${file}.`,
          'Keep one of them.',
        );
      }
      handlers.set(handled.job.kind, { handled, file });
    }
  }
  return [...handlers.values()].map(({ handled }) => handled);
}

/** The store that one of these files exports as `artifacts`, if one does. */
async function loadStore(files: readonly string[]): Promise<ArtifactStore | undefined> {
  let store: ArtifactStore | undefined;
  for (const file of files) {
    const { artifacts } = (await importFile(file)) as { artifacts?: ArtifactStore };
    if (artifacts === undefined || artifacts === store) continue;
    if (typeof artifacts.put !== 'function' || typeof artifacts.get !== 'function') {
      throw wrongUsage(
        `${file} exports artifacts, and it is not a store.`,
        "Export one: export const artifacts = fileArtifacts({ folder: 'artifacts' }).",
      );
    }
    if (store)
      throw wrongUsage(
        `${file} exports another store of artifacts than a file before it.`,
        'Keep one of them; a worker has one.',
      );
    store = artifacts;
  }
  return store;
}

/** By shape, not by class: the module may have a copy of the package of its own. */
function isHandledJob(value: unknown): value is HandledJob {
  const { job, run } = (value ?? {}) as { job?: { kind?: unknown }; run?: unknown };
  return typeof run === 'function' && typeof job?.kind === 'string';
}

async function work(
  connection: Pick<ConnectOptions, 'connectionString' | 'secrets' | 'artifacts' | 'key'>,
  handlers: readonly HandledJob[],
  {
    types,
    actions,
  }: {
    readonly types: readonly AnyStepType[] | undefined;
    readonly actions: readonly ActionKind[] | undefined;
  },
  ledger: Outside,
  {
    listenUrl: listenConnectionString,
    concurrency,
    lease,
    grace,
    observe = false,
    allowHttp = false,
    allowPrivate: allowed,
    healthPort,
  }: Options,
  output: Output,
): Promise<void> {
  const allowPrivate = typeof allowed === 'string' ? allowed.split(',') : allowed === true;
  const tally = { begun: 0, completed: 0, failed: 0 };
  const startedAt = Date.now();
  const log = new WorkerLog(output);
  const writ = await Writ.connect({
    ...connection,
    ...(listenConnectionString !== undefined && { listenConnectionString }),
    ...(ledger.places.length > 0 && { ledger }),
    observe,
    max: Math.min(concurrency, 20) + (actions ? 5 : 3),
    actor: 'worker',
  });
  const { first, release } = interruption();
  const health = new HealthPort();
  try {
    const port = healthPort === undefined ? undefined : await health.listen(healthPort);
    const worker = await writ.work(
      handlers.map((handled) => counted(handled, tally)),
      {
        concurrency,
        lease,
        grace,
        ...(types && { governance: types, probes: { allowPrivate } }),
        ...(actions && {
          governor: {
            actions,
            reach: { allowHttp, allowPrivate },
            onError: (error: unknown) => log.trouble(error),
          },
        }),
        onError: (error, job) => {
          if (job && !/^(governance|governor)\./.test(job.kind)) tally.failed++;
          log.trouble(error, job);
        },
      },
    );
    health.of = () => worker.health();
    log.say({
      event: 'working',
      worker: worker.id,
      kinds: handlers.map(({ job }) => job.kind),
      ...(types && { governance: types.map(({ type }) => type) }),
      ...(actions && { governor: actions.map(({ type }) => type) }),
      concurrency,
      ...(port !== undefined && { healthPort: port }),
    });
    if (!(await writ.login()).roles.includes('writ_engine')) {
      output.note('This login has no writ_engine: another process must turn the clockwork.');
    }
    const signal = await first;
    const running = tally.begun - tally.completed - tally.failed;
    log.say({ event: 'stopping', signal, running });
    await worker.stop();
  } finally {
    await writ.close();
    await health.close();
    release();
  }
  const { begun, completed, failed } = tally;
  log.say({
    event: 'stopped',
    completed,
    failed,
    givenBack: Math.max(0, begun - completed - failed),
    seconds: (Date.now() - startedAt) / 1000,
  });
}

/** Counts what the handler does, for the summary. */
function counted(
  { job, run }: HandledJob,
  tally: { begun: number; completed: number },
): HandledJob {
  return {
    job,
    run: async (context) => {
      tally.begun++;
      const result = await run(context);
      tally.completed++;
      return result;
    },
  };
}

type Said =
  | {
      event: 'working';
      worker: string;
      kinds: string[];
      governance?: string[];
      governor?: string[];
      concurrency: number;
      healthPort?: number;
    }
  | { event: 'stopping'; signal: string; running: number }
  | { event: 'stopped'; completed: number; failed: number; givenBack: number; seconds: number };

class WorkerLog {
  readonly #output: Output;
  #lastTrouble = '';

  constructor(output: Output) {
    this.#output = output;
  }

  say(said: Said): void {
    if (this.#output.json) {
      this.#output.data({ at: new Date(), ...said }, { line: true });
      return;
    }
    this.#output.line(sentence(said));
  }

  /**
   * A failed attempt, or, without a job, a fault of the worker itself; such faults come again with
   * every poll and are said once.
   */
  trouble(error: unknown, job?: { id: string; kind: string; attempt: number }): void {
    const { code, message, remedy } = explain(error);
    if (!job && message === this.#lastTrouble) return;
    this.#lastTrouble = job ? '' : message;
    if (this.#output.json) {
      this.#output.data(
        {
          at: new Date(),
          event: job ? 'failed' : 'trouble',
          ...(job && { job_id: job.id, job_kind: job.kind, attempt: job.attempt }),
          code,
          message,
        },
        { line: true },
      );
    } else if (job) {
      this.#output.line(
        `${this.#output.style('red', '✗')} ${job.kind} ${job.id} attempt ${job.attempt}: ${oneLine(message)}`,
      );
    } else {
      this.#output.note(`writ: ${message}`, remedy);
    }
  }
}

function sentence(said: Said): string {
  if (said.event === 'working') {
    const { kinds, governance, governor, healthPort } = said;
    const probes =
      healthPort === undefined ? '' : ` /live and /ready answer on port ${healthPort}.`;
    const own = (types: readonly string[]) =>
      types.length > 0 ? ` (${types.join(', ')} among them)` : '';
    const on = [
      ...kinds,
      ...(governance ? [`approved changes${own(governance)}`] : []),
      ...(governor ? [`governors${own(governor)}`] : []),
    ];
    return `Working on ${listed(on)} as ${said.worker}, ${plural(said.concurrency, 'handler')} at a time.${probes} Ctrl-C stops.`;
  }
  if (said.event === 'stopping') {
    return `${said.signal}: stopping${said.running > 0 ? `, ${plural(said.running, 'handler')} may finish` : ''}. A second signal ends at once.`;
  }
  const { completed, failed, givenBack, seconds } = said;
  const back = givenBack > 0 ? `, ${plural(givenBack, 'job')} given back` : '';
  return `Stopped after ${span(seconds * 1000)}: ${plural(completed, 'job')} handled, ${plural(failed, 'failed attempt')}${back}.`;
}

const listed = (all: readonly string[]): string =>
  all.length > 1 ? `${all.slice(0, -1).join(', ')} and ${all.at(-1)}` : all.join('');

/**
 * `writ ledger checkpoint`: signs what there is and puts it outside, once, or every so often until it is told to stop. Each round has a session of its own, so a
 * database that was away is found again. What another try can mend is said and tried again in the next round; what only a person can mend ends the command.
 */
import type { Command } from 'commander';
import { WritError, WritRefusal } from '../../../errors/index.js';
import type { Published } from '../../../ledger/checkpoints.js';
import { type Duration, milliseconds } from '../../../queue/duration.js';
import { type Context, contextOf, duration, repeated } from '../../command.js';
import { exitCodes, explain, Failure, wrongUsage } from '../../failure.js';
import { count, type Output, oneLine, plural } from '../../output.js';
import { interruption } from '../../signals.js';
import { ledgerOf, listed, places, privateKey, publicKeys } from './session.js';

interface Options {
  readonly key?: string;
  readonly to?: readonly string[];
  readonly every?: Duration;
  readonly trust?: readonly string[];
  readonly actor?: string;
}

export function addCheckpoint(ledger: Command): void {
  ledger
    .command('checkpoint')
    .description(
      'sign what the ledger holds, and put it where the database’s administrator cannot change it',
    )
    .option('--key <file>', 'the private key; otherwise WRIT_LEDGER_KEY')
    .option(
      '--to <place>',
      'a path or http address that keeps the checkpoint; may be repeated; otherwise WRIT_LEDGER_PLACES, with commas',
      repeated,
    )
    .option(
      '--every <duration>',
      'go on, and sign this often, until stopped; 60s is a good measure',
      duration,
    )
    .option(
      '--trust <key>',
      'a public key of before, whose checkpoints a place may still hold; may be repeated',
      repeated,
    )
    .option('--actor <name>', 'who signs, for the record; otherwise the system user')
    .action(async (options: Options, command: Command) => {
      const context = contextOf(command);
      const round = prepare(options, context);
      if (options.every === undefined) say(context.output, await round());
      else await again(round, milliseconds(options.every), context.output);
    });
}

interface Round {
  readonly published: readonly Published[];
  readonly places: readonly string[];
}

function prepare(options: Options, { output, session }: Context): () => Promise<Round> {
  const file = options.key ?? (process.env.WRIT_LEDGER_KEY || undefined);
  if (file === undefined)
    throw wrongUsage(
      'There is no key to sign with.',
      'Give --key or WRIT_LEDGER_KEY; `writ ledger keygen` makes one.',
    );
  const to = listed(options.to, 'WRIT_LEDGER_PLACES');
  if (to.length === 0) {
    throw wrongUsage(
      'A checkpoint that stays in the database shows nothing to anybody.',
      'Give --to or WRIT_LEDGER_PLACES: a path on another machine’s disk, or an http address that takes a PUT.',
    );
  }
  if (options.every !== undefined && milliseconds(options.every) < 1_000)
    throw wrongUsage('--every is at least 1s.', 'Use 60s, for example.');
  const names = places(to).map(({ name }) => name);
  const trusted = publicKeys(options.trust ?? [], '--trust');
  const key = privateKey(file, output);
  return async () => ({
    published: await session((db) =>
      ledgerOf(db, options.actor).checkpoint({ key, places: to, trusted }),
    ).catch(signedByAnother),
    places: names,
  });
}

/** A place whose checkpoint nobody here trusts is not written over: that may be the trace of something. */
function signedByAnother(error: unknown): never {
  if (!(error instanceof WritRefusal) || error.code !== 'untrusted_note') throw error;
  throw new Failure(
    exitCodes.failed,
    error.code,
    `A place holds a checkpoint that another key has signed${error.detail ? ` (${error.detail})` : ''}. Nothing was signed over it.`,
    'After a change of keys give the old public key with --trust. If it is not one of yours, find out who wrote there.',
    { cause: error },
  );
}

async function again(round: () => Promise<Round>, everyMs: number, output: Output): Promise<void> {
  const { first, release } = interruption();
  let stopping = false;
  void first.then(() => {
    stopping = true;
  });
  let trouble = '';
  while (!stopping) {
    const from = Date.now();
    try {
      say(output, await round(), { line: true });
      trouble = '';
    } catch (error) {
      const { message, remedy, exitCode } = explain(error);
      if (
        error instanceof WritError
          ? !error.retryable
          : error instanceof Failure && exitCode === exitCodes.failed
      )
        throw error;
      // The same one comes with every round, and is said once.
      if (message !== trouble)
        output.note(
          `writ: ${message}`,
          `${remedy} The next try is in ${Math.round(everyMs / 1000)} s.`,
        );
      trouble = message;
    }
    await pause(Math.max(0, from + everyMs - Date.now()), first);
  }
  release();
  if (!output.json) output.line('Stopped.');
}

async function pause(ms: number, until: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([passed, until]);
  clearTimeout(timer);
}

function say(output: Output, { published, places }: Round, options: { line?: boolean } = {}): void {
  const logs = published.map(({ log, epoch, size, root }) => ({ log, epoch, size, root }));
  if (output.json) {
    output.data({ at: new Date(), logs, places }, options);
    return;
  }
  const system = published.at(-1);
  if (options.line) {
    const others = published.length - 1;
    const grown = others > 0 ? `, ${plural(others, 'log')} of tenants` : '';
    output.line(
      `${new Date().toISOString()}  signed _system at ${count(system?.size ?? 0)}${grown}; ${plural(places.length, 'place')}`,
    );
    return;
  }
  output.table(
    [
      { title: 'SIGNED' },
      { title: 'EPOCH', align: 'right' },
      { title: 'RECEIPTS', align: 'right' },
      { title: 'ROOT' },
    ],
    published.map(({ log, epoch, size, root }) => [
      oneLine(log),
      epoch,
      count(size),
      `${root.slice(0, 16)}…`,
    ]),
  );
  output.line();
  output.line(`One signature over _system covers every log. It is in ${places.join(', ')}.`);
}

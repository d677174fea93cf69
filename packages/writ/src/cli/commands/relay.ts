/**
 * `writ relay`: tells webhooks, and NATS where it is wanted, what happens, until it is told to
 * stop.
 */
import type { Command } from 'commander';
import { WritError } from '../../errors/index.js';
import { endpointUrl, type Reach } from '../../outbox/buses/addresses.js';
import type { ListedDestination } from '../../outbox/destinations.js';
import { nats, webhooks } from '../../outbox/makers.js';
import type { BusMaker, Told } from '../../outbox/relay.js';
import { Writ } from '../../writ.js';
import { wholeNumber } from '../command.js';
import { connectionString, listenUrl } from '../connection.js';
import { explain } from '../failure.js';
import { addressOf, secretOf, troubleWith } from '../outbox.js';
import { count, type Output, oneLine, plural, span } from '../output.js';
import { outputOf } from '../shapes.js';
import { interruption } from '../signals.js';
import { withWrit } from '../writ.js';

interface Options {
  readonly allowHttp?: boolean;
  readonly allowPrivate?: boolean;
  readonly concurrency: number;
  readonly nats?: boolean;
  readonly listenUrl?: string;
}

export function addRelay(program: Command): void {
  program
    .command('relay')
    .description(
      'tell webhooks what happens, until it is stopped; any number of relays share the work',
    )
    .option(
      '--allow-http',
      'call addresses without encryption as well: for tests and private networks',
    )
    .option(
      '--allow-private',
      'call private, loopback and link-local addresses as well: for tests and private networks',
    )
    .option(
      '--concurrency <n>',
      'destinations that are told something at the same time',
      wholeNumber(1, 100),
      4,
    )
    .option('--nats', 'tell destinations on NATS too; needs its packages')
    .option(
      '--listen-url <url>',
      'an address to listen on for wake-ups: a direct one, when the database’s own leads through a pooler',
      listenUrl,
    )
    .action(async (options: Options, command: Command) => {
      const output = outputOf(command);
      const globals = command.optsWithGlobals<{ databaseUrl?: string }>();
      const buses = busesOf(options);
      const { items: all } = await withWrit(globals, (writ) =>
        writ.destinations.list({ limit: 1_000 }),
      );
      await relay(
        connectionString(globals.databaseUrl),
        buses,
        all,
        options,
        new RelayLog(output, reachOf(options)),
      );
    });
}

const reachOf = ({ allowHttp = false, allowPrivate = false }: Options): Reach => ({
  allowHttp,
  allowPrivate,
});

/** Names of options in the words of this command. */
const asOptions = (text: string) =>
  text.replace(/\ballow(Http|Private)\b/g, (_, what: string) => `--allow-${what.toLowerCase()}`);

function busesOf(options: Options): Record<string, BusMaker> {
  if (options.nats) assertInstalled('@nats-io/transport-node', '@nats-io/jetstream');
  return {
    webhook: webhooks({ secretOf, ...reachOf(options) }),
    ...(options.nats && { nats: nats() }),
  };
}

/** Said at the start, not when the first event is to be sent. */
function assertInstalled(...packages: string[]): void {
  try {
    for (const name of packages) import.meta.resolve(name);
  } catch (error) {
    throw new WritError('bus_package_missing', `npm install ${packages.join(' ')}`, {
      cause: error,
    });
  }
}

async function relay(
  connectionString: string,
  buses: Record<string, BusMaker>,
  all: readonly ListedDestination[],
  { concurrency, listenUrl: listenConnectionString }: Options,
  log: RelayLog,
): Promise<void> {
  const startedAt = Date.now();
  const tally = { delivered: 0, failed: 0, dead: 0 };
  const { first, release } = interruption();
  const writ = await Writ.connect({
    connectionString,
    ...(listenConnectionString !== undefined && { listenConnectionString }),
    max: 1, // a relay has no transactions of handlers
    actor: 'relay',
  });
  try {
    const running = await writ.relay({
      buses,
      concurrency,
      onError: (error) => log.trouble(error),
      onTold: (told) => {
        tally.delivered += told.delivered;
        tally.failed += told.failed;
        tally.dead += told.dead;
        log.told(told);
      },
    });
    log.began(running.name, Object.keys(buses), all);
    log.stopping(await first);
    await running.stop();
  } finally {
    await writ.close();
    release();
  }
  log.stopped(tally, Date.now() - startedAt);
}

/** What a relay says of itself: a line when something has changed, not a line per event. */
class RelayLog {
  readonly #output: Output;
  readonly #reach: Reach;
  /** What was said last of each destination, so that it is not said with every try. */
  readonly #reasons = new Map<string, string>();
  #lastTrouble = '';

  constructor(output: Output, reach: Reach) {
    this.#output = output;
    this.#reach = reach;
  }

  /** Why this relay may not call an address, as far as the address itself tells. */
  #refused(address: string): string | undefined {
    try {
      endpointUrl(address, this.#reach);
      return undefined;
    } catch (error) {
      if (error instanceof WritError) return asOptions(error.message);
      throw error;
    }
  }

  #say(event: string, values: object, text: string, style?: 'red' | 'yellow' | 'green'): void {
    if (this.#output.json) this.#output.data({ at: new Date(), event, ...values }, { line: true });
    else
      this.#output.line(
        style
          ? `${this.#output.style(style, text.slice(0, 1))}${oneLine(text.slice(1))}`
          : oneLine(text),
      );
  }

  began(name: string, buses: readonly string[], all: readonly ListedDestination[]): void {
    const own = all.filter(({ bus }) => buses.includes(bus));
    const text = `Relaying as ${name} to ${buses.join(' and ')}: ${own.length === 0 ? 'no destination yet' : plural(own.length, 'destination')}. Ctrl-C stops.`;
    this.#say(
      'relaying',
      { relay: name, buses, destinations: own.map(({ name: one }) => one) },
      text,
    );
    for (const one of own) {
      if (!this.#output.json)
        this.#output.line(
          oneLine(
            `  ${one.name}  ${addressOf(one)}${one.state === 'paused' ? `  paused: ${one.note ?? ''}` : ''}`,
          ),
        );
      if (one.bus !== 'webhook') continue;
      const wrong = this.#refused(addressOf(one));
      if (wrong !== undefined)
        this.#say(
          'trouble',
          { destination: one.name, message: wrong },
          `! ${one.name}: ${wrong}`,
          'yellow',
        );
      for (const secret of [one.config.secrets].flat()) {
        const wrong = troubleWith(String(secret));
        if (wrong !== undefined)
          this.#say(
            'trouble',
            { destination: one.name, message: wrong },
            `! ${one.name}, secret ${secret}: ${wrong}`,
            'yellow',
          );
      }
    }
    const others = all.filter(({ bus }) => !buses.includes(bus));
    if (others.length > 0 && !this.#output.json)
      this.#output.note(
        `${others.map(({ name: one, bus }) => `${one} (${bus})`).join(', ')}: not told by this relay; --nats tells destinations on NATS.`,
      );
  }

  told({ destination, delivered, dead, paused, reason }: Told): void {
    if (dead > 0) {
      const text = `✗ ${destination}: ${plural(dead, 'dead letter')}: ${reason}. \`writ events dead-letters ${destination}\` shows them.`;
      this.#say('dead_letters', { destination, dead, reason }, text, 'red');
    }
    if (paused) {
      const text = `! ${destination} is paused: ${reason}. See to its receiver, then \`writ webhooks resume ${destination}\`.`;
      this.#say('paused', { destination, reason }, text, 'yellow');
      this.#reasons.delete(destination);
    } else if (delivered > 0) {
      if (this.#reasons.delete(destination))
        this.#say('recovered', { destination }, `✓ ${destination} accepts events again.`, 'green');
    } else if (dead === 0 && reason !== undefined && this.#reasons.get(destination) !== reason) {
      this.#reasons.set(destination, reason);
      this.#say(
        'failing',
        { destination, reason },
        `! ${destination} accepts nothing: ${reason}. It is tried again, later and later.`,
        'yellow',
      );
    }
  }

  /** A fault of the relay itself; it comes again with every look, and is said once. */
  trouble(error: unknown): void {
    const { code, message: words, remedy } = explain(error);
    const message = asOptions(words);
    if (message === this.#lastTrouble) return;
    this.#lastTrouble = message;
    if (this.#output.json) this.#say('trouble', { code, message }, '');
    else this.#output.note(`writ: ${message}`, remedy);
  }

  stopping(signal: string): void {
    this.#say('stopping', { signal }, `${signal}: stopping. A second signal ends at once.`);
  }

  stopped(tally: { delivered: number; failed: number; dead: number }, ms: number): void {
    const { delivered, failed, dead } = tally;
    const text = `Stopped after ${span(ms)}: ${plural(delivered, 'event')} delivered, ${plural(failed, 'failed try', 'failed tries')}, ${count(dead)} dead.`;
    this.#say('stopped', { ...tally, seconds: ms / 1_000 }, text);
  }
}

/**
 * A listener that runs until it is told to stop. Once a second it says what has come, if something
 * has, and hands what was missed during an outage over to the database: at its start, since another
 * process may have left something, and after each outage, until it is taken.
 */
import { isConnectionLoss, WritError } from '../../errors/index.js';
import { HttpListener, type HttpListenerOptions } from '../../governor/http/listener.js';
import { routes } from '../../governor/http/reading.js';
import type { Missed, SignalIntake } from '../../governor/intake.js';
import { Spool } from '../../spool/spool.js';
import { cannotListen, explain } from '../failure.js';
import { count, type Output, oneLine, plural, span } from '../output.js';
import { interruption } from '../signals.js';

export interface Listening
  extends Pick<HttpListenerOptions, 'secretsOf' | 'tokensOf' | 'legacySignatures'> {
  readonly intake: SignalIntake;
  readonly host: string;
  readonly port: number;
  /** The folder of the spool. */
  readonly spool: string;
  /** Drives governors as well. */
  readonly drive?: (onError: (error: unknown) => void) => Promise<unknown>;
}

const everyMs = 1_000;
const tellEveryMs = 60_000;

export async function listenUntilStopped(
  { intake, spool: folder, drive, ...options }: Listening,
  output: Output,
): Promise<void> {
  const startedAt = Date.now();
  const spool = new Spool<Missed>(folder);
  const log = new ListenerLog(output);
  const { first, release } = interruption();
  const listener = new HttpListener({
    ...options,
    intake,
    onOutage: async (missed) => {
      log.missed();
      await spool.append(missed);
      handOver.due = true;
    },
    onTaken: (status) => log.taken(status),
    onRejected: (code) => {
      log.rejected(code);
      rejections.add(code);
    },
    onFault: (error, requestId) => log.trouble(error, requestId),
  });
  const handOver = new HandOver(spool, intake, log);
  const rejections = new Rejections(intake, log);
  let timer: NodeJS.Timeout | undefined;
  try {
    await drive?.((error) => log.trouble(error));
    const { host, port } = await bound(listener, options);
    timer = setInterval(() => {
      log.counts();
      void handOver.look();
      if (rejections.since < Date.now() - tellEveryMs) void rejections.tell();
    }, everyMs);
    log.began(host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`);
    log.stopping(await first);
    await listener.close();
    await rejections.tell();
  } finally {
    clearInterval(timer);
    await spool.close();
    release();
  }
  log.stopped(Date.now() - startedAt);
}

async function bound(
  listener: HttpListener,
  { host, port }: { host: string; port: number },
): Promise<{ host: string; port: number }> {
  try {
    return await listener.listen();
  } catch (error) {
    throw cannotListen(`${host}:${port}`, error, 'Give another --port or --host.');
  }
}

/** What is in the spool, for whoever takes it. */
class HandOver {
  /** Whether something may be there. */
  due = true;
  readonly #spool: Spool<Missed>;
  readonly #intake: SignalIntake;
  readonly #log: ListenerLog;
  #looking = false;

  constructor(spool: Spool<Missed>, intake: SignalIntake, log: ListenerLog) {
    this.#spool = spool;
    this.#intake = intake;
    this.#log = log;
  }

  async look(): Promise<void> {
    const { missed } = this.#intake;
    if (!this.due || this.#looking || !missed) return;
    this.#looking = true;
    this.due = false;
    try {
      const { merged, refused, damaged } = await this.#spool.merge((entry) =>
        missed.call(this.#intake, entry),
      );
      for (const file of damaged) this.#log.trouble(new WritError('spool_damaged', file));
      if (merged + refused > 0) this.#log.handedOver(merged, refused);
    } catch (error) {
      this.due = true;
      if (!isConnectionLoss(error)) this.#log.trouble(error);
    } finally {
      this.#looking = false;
    }
  }
}

/** What was turned away, for the ledger: a receipt a minute at most. */
class Rejections {
  since = Date.now();
  readonly #intake: SignalIntake;
  readonly #log: ListenerLog;
  #codes = new Map<string, number>();

  constructor(intake: SignalIntake, log: ListenerLog) {
    this.#intake = intake;
    this.#log = log;
  }

  add(code: string): void {
    if (this.#codes.size === 0) this.since = Date.now();
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
  }

  async tell(): Promise<void> {
    const [codes, from] = [this.#codes, new Date(this.since)];
    if (codes.size === 0) return;
    this.#codes = new Map();
    this.since = Date.now();
    try {
      await this.#intake.rejected?.(codes, from, new Date());
    } catch (error) {
      // They are counted with those that come: nothing is lost while the database is away.
      for (const [code, n] of codes) this.#codes.set(code, (this.#codes.get(code) ?? 0) + n);
      if (!isConnectionLoss(error)) this.#log.trouble(error);
    }
  }
}

class Tally {
  decided = 0;
  accepted = 0;
  buffered = 0;
  missed = 0;
  readonly refused = new Map<string, number>();

  get isEmpty(): boolean {
    return this.decided + this.accepted + this.buffered + this.missed + this.refused.size === 0;
  }

  add(other: Tally): void {
    for (const name of ['decided', 'accepted', 'buffered', 'missed'] as const)
      this[name] += other[name];
    for (const [code, times] of other.refused) this.reject(code, times);
  }

  reject(code: string, times = 1): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + times);
  }

  values(): object {
    const { decided, accepted, buffered, missed } = this;
    return { decided, accepted, buffered, missed, refused: Object.fromEntries(this.refused) };
  }

  toString(): string {
    const refused = [...this.refused.values()].reduce((sum, times) => sum + times, 0);
    const reasons = [...this.refused].map(([code, times]) => `${code} ${count(times)}`).join(', ');
    return [
      `${count(this.decided)} decided`,
      `${count(this.accepted)} accepted`,
      `${count(this.buffered)} buffered`,
      `${count(refused)} refused${reasons && ` (${reasons})`}`,
      ...(this.missed > 0 ? [`${count(this.missed)} missed: the database is away`] : []),
    ].join(', ');
  }
}

/** What a listener says of itself: a line a second at most, and never what somebody has sent. */
class ListenerLog {
  readonly #output: Output;
  readonly #all = new Tally();
  #recent = new Tally();
  #lastTrouble = '';

  constructor(output: Output) {
    this.#output = output;
  }

  #say(event: string, values: object, text: string): void {
    if (this.#output.json) this.#output.data({ at: new Date(), event, ...values }, { line: true });
    else this.#output.line(oneLine(text));
  }

  began(address: string): void {
    this.#say(
      'listening',
      { address, routes },
      `Listening on ${address}: ${routes.join(', ')}. Ctrl-C stops.`,
    );
  }

  taken(status: 'decided' | 'accepted' | 'buffered'): void {
    this.#recent[status]++;
  }

  rejected(code: string): void {
    this.#recent.reject(code);
  }

  missed(): void {
    this.#recent.missed++;
  }

  counts(): void {
    const recent = this.#recent;
    if (recent.isEmpty) return;
    this.#recent = new Tally();
    this.#all.add(recent);
    this.#say('counts', recent.values(), `${recent}`);
  }

  handedOver(merged: number, refused: number): void {
    const text = `The database is back: ${plural(merged, 'entry', 'entries')} of the spool handed over, ${count(refused)} refused for good.`;
    this.#say('handed_over', { merged, refused }, text);
  }

  /** The same trouble comes with every request, and is said once until there is another. */
  trouble(error: unknown, requestId?: string): void {
    const { code, message, remedy } = explain(error);
    if (message === this.#lastTrouble) return;
    this.#lastTrouble = message;
    if (this.#output.json)
      this.#say('trouble', { code, message, ...(requestId && { requestId }) }, '');
    else this.#output.note(`writ: ${message}${requestId ? ` (request ${requestId})` : ''}`, remedy);
  }

  stopping(signal: string): void {
    this.#say('stopping', { signal }, `${signal}: stopping. A second signal ends at once.`);
  }

  stopped(ms: number): void {
    this.counts();
    this.#say(
      'stopped',
      { ...this.#all.values(), seconds: ms / 1_000 },
      `Stopped after ${span(ms)}: ${this.#all}.`,
    );
  }
}

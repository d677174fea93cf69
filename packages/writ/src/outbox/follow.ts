/**
 * The in-process stream: what is recorded, as it is recorded, for whoever keeps the position
 * himself.
 */
import type pg from 'pg';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { isConnectionLoss } from '../errors/index.js';
import { Listener } from '../queue/worker/listener.js';
import type { CloudEvent } from './envelope.js';
import { type CompactFact, envelopeOf, inRunOrder } from './facts.js';

export interface FollowOptions {
  /**
   * Types of events; one that ends with * is the beginning of types. Everything about runs, and
   * alerts, unless given.
   */
  readonly types?: readonly string[] | undefined;
  readonly tenant?: string | undefined;
  /**
   * A position that an event came with: begins behind it. From now on unless given; `beginning`:
   * with the oldest that is recorded.
   */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ends when there is nothing more, instead of waiting for it. */
  readonly untilNow?: boolean | undefined;
  /** Told the position that the stream begins at, before any event. */
  readonly onBegin?: ((position: string) => void) | undefined;
  /** Told when the database cannot be reached; the stream goes on by itself when it can. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface Followed {
  readonly event: CloudEvent;
  /**
   * Keep it when everything up to this event is done; given as `after`, the stream goes on there.
   * Events may come once more, with the same ids.
   */
  readonly position: string;
}

interface Window {
  readonly events: CompactFact[];
  readonly position: string;
  readonly more: boolean;
}

export interface ReadEventsOptions extends Pick<FollowOptions, 'types' | 'tenant'> {
  /** A position that `events` or `readEvents` gave; `beginning`: with the oldest recorded event. */
  readonly after: string;
  /** Ends with the recorded call that reaches this number of events; 500 unless given. */
  readonly limit?: number;
}

export interface EventsRead {
  readonly events: CloudEvent[];
  /** Reading goes on after it; these events are in front of it. */
  readonly position: string;
  /** Whether there may be more now. */
  readonly more: boolean;
}

export const everythingOfRuns = ['dot.run.*', 'system.alert*'] as const;

const pollMs = 1_000;
const impatienceMs = [2, 5, 10, 20, 50, 100, 200, 400];

/** One window of the record. Without a position: where the record ends now. */
async function read(
  db: Queryable,
  after: string | undefined,
  { types = everythingOfRuns, tenant }: Pick<FollowOptions, 'types' | 'tenant'>,
  { calls = 500, idle = false, events = 2_000 },
): Promise<Window> {
  const window = await gate<Window>(
    db,
    'fn_outbox_read($1::text, $2::text::text[], $3, $4::text::integer, $5::text::boolean, $6::text::integer)',
    [
      after ?? null,
      `{${types.map((type) => JSON.stringify(type)).join(',')}}`,
      tenant ?? null,
      String(calls),
      String(idle),
      String(events),
    ],
  );
  return { ...window, events: inRunOrder(window.events) };
}

/** The next events after a position, of transactions that ended before every open one began. */
export async function readEvents(db: Queryable, options: ReadEventsOptions): Promise<EventsRead> {
  const { after, limit = 500 } = options;
  assertPosition(after);
  const { events, position, more } = await read(db, after, options, { events: limit });
  return { events: events.map(envelopeOf), position, more };
}

export interface FollowHost {
  readonly db: Queryable;
  /** Without one it looks once a second. */
  readonly listenConnection: pg.ClientConfig | undefined;
}

export async function* follow(
  host: FollowHost,
  options: FollowOptions = {},
): AsyncGenerator<Followed, void, void> {
  const { after, signal, untilNow = false, onBegin, onError } = options;
  if (after !== undefined) assertPosition(after);
  const next = (from: string | undefined) => read(host.db, from, options, { idle: !untilNow });
  let woken = () => {};
  const listener =
    untilNow || !host.listenConnection
      ? undefined
      : new Listener({
          connection: host.listenConnection,
          channels: ['outbox_wake'],
          onWake: () => woken(),
          onConnected: () => woken(),
          onError: () => undefined, // it connects again, and the clock goes on
        });
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      woken = () => {
        clearTimeout(timer);
        impatience = 0;
        resolve();
      };
    });
  const stop = () => woken();
  signal?.addEventListener('abort', stop);
  let impatience = impatienceMs.length;
  let lookedTwice = false;
  try {
    await listener?.start();
    let position = after;
    let ahead: Promise<Window> | undefined;
    if (after !== undefined) onBegin?.(after);
    while (!signal?.aborted) {
      let window: Window;
      try {
        window = await (ahead ?? next(position));
      } catch (error) {
        ahead = undefined;
        if (!isConnectionLoss(error) || untilNow) throw error;
        onError?.(error);
        await sleep(pollMs / 2);
        continue;
      }
      const began = position === undefined;
      const before = position ?? window.position;
      if (began) onBegin?.(before);
      position = window.position;
      // While these are looked at, the next are on their way.
      ahead = window.more ? next(position) : undefined;
      ahead?.catch(() => undefined);
      const facts = window.events;
      for (const [n, fact] of facts.entries()) {
        if (signal?.aborted) return;
        yield {
          event: envelopeOf(fact),
          position: n === facts.length - 1 ? position : before,
        };
      }
      if (facts.length > 0 || window.more || began) {
        impatience = 0;
        lookedTwice = false;
        continue;
      }
      if (untilNow) return;
      // What was recorded before this stream had declared itself idle has woken nobody.
      if (!lookedTwice) lookedTwice = true;
      else await sleep(impatienceMs[impatience++] ?? pollMs);
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    await listener?.stop();
  }
}

function assertPosition(text: string): void {
  if (text !== 'beginning' && !/^([0-9a-f-]{36}\/)?\d{1,20}\/[0-9a-f-]{36}$/.test(text))
    throw new TypeError(`${text} is not a position of the record`);
}

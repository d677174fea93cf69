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

interface Read {
  readonly events: CompactFact[];
  readonly xid: string;
  readonly batch_id: string;
  readonly more: boolean;
}

export const everythingOfRuns = ['dot.run.*', 'system.alert*'] as const;

const pollMs = 1_000;
const impatienceMs = [2, 5, 10, 20, 50, 100, 200, 400];
const nowhere = '00000000-0000-0000-0000-000000000000';

export interface FollowHost {
  readonly db: Queryable;
  /** Without one it looks once a second. */
  readonly listenConnection: pg.ClientConfig | undefined;
}

export async function* follow(
  host: FollowHost,
  options: FollowOptions = {},
): AsyncGenerator<Followed, void, void> {
  const { types = everythingOfRuns, tenant, after, signal, untilNow = false } = options;
  const { onBegin, onError } = options;
  const typesText = `{${types.map((type) => JSON.stringify(type)).join(',')}}`;
  const read = (xid: string | null, batch: string | null) =>
    gate<Read>(
      host.db,
      'fn_outbox_read($1::text::xid8, $2::text::uuid, $3::text::text[], $4, $5::text::integer, $6::text::boolean)',
      [xid, batch, typesText, tenant ?? null, '500', String(!untilNow)],
    );
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
    let [xid, batch] =
      after === undefined ? [null, null] : after === 'beginning' ? ['0', nowhere] : split(after);
    let ahead: Promise<Read> | undefined;
    if (after !== undefined) onBegin?.(after);
    while (!signal?.aborted) {
      let window: Read;
      try {
        window = await (ahead ?? read(xid, batch));
      } catch (error) {
        ahead = undefined;
        if (!isConnectionLoss(error) || untilNow) throw error;
        onError?.(error);
        await sleep(pollMs / 2);
        continue;
      }
      const before = xid === null ? `${window.xid}/${window.batch_id}` : `${xid}/${batch}`;
      const began = xid === null;
      if (began) onBegin?.(before);
      [xid, batch] = [window.xid, window.batch_id];
      // While these are looked at, the next are on their way.
      ahead = window.more ? read(xid, batch) : undefined;
      ahead?.catch(() => undefined);
      const facts = inRunOrder(window.events);
      for (const [n, fact] of facts.entries()) {
        if (signal?.aborted) return;
        yield {
          event: envelopeOf(fact),
          position: n === facts.length - 1 ? `${xid}/${batch}` : before,
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

function split(position: string): [string, string] {
  const [xid = '', batch = ''] = position.split('/');
  if (!/^\d{1,20}$/.test(xid) || !/^[0-9a-f-]{36}$/.test(batch))
    throw new TypeError(`${position} is not a position of the record`);
  return [xid, batch];
}

/**
 * Signals that wait: in the buffer of a storm, or postponed. Both together are bounded, and the
 * oldest go first.
 */
import type { Held } from '../decision.js';
import {
  type ContentOf,
  change,
  insert,
  needed,
  seconds,
  start,
  type Turn,
  write,
} from './turn.js';

/** Whether a signal joins the buffer. One that has waited before is not counted again. */
export function isStorming(
  { event, data: { storm, bounds } }: Turn,
  signal: ContentOf<'signal'>,
): boolean {
  if (event.from !== 'mailbox') return false;
  return (signal.storm ?? 0) > bounds.storm_limit || (storm !== null && storm.buffer.length > 0);
}

export function buffer(turn: Turn, signal: ContentOf<'signal'>) {
  makeRoom(turn);
  const { storm, bounds } = turn.data;
  const held: Held = {
    mail_seq: needed(turn.event.mail_seq, 'its place in the mailbox'),
    arrival_seq: signal.arrival_seq,
  };
  const waiting = [...(storm?.buffer ?? []), held];
  change(turn, { storm: { since: storm?.since ?? turn.at, buffer: waiting } });
  if (storm) return;
  start(turn, 'named:storm', bounds.storm_every_ms);
  write(
    turn,
    'signal_storm_detected',
    'refuse',
    {
      rate: signal.storm ?? 0,
      limit: bounds.storm_limit,
      window_seconds: seconds(bounds.storm_window_ms),
      buffered: waiting.length,
      retry_after_seconds: seconds(bounds.storm_retry_ms),
    },
    { about: signal.arrival_seq },
  );
}

/** boot, intervening: signal. */
export function postpone(turn: Turn) {
  makeRoom(turn);
  turn.postpone = true;
}

/** For one more. */
function makeRoom(turn: Turn) {
  const { storm, bounds } = turn.data;
  if ((storm?.buffer.length ?? 0) + turn.postponed.length < bounds.capacity) return;
  const waiting = [...(storm?.buffer ?? []), ...turn.postponed].sort(
    (a, b) => a.arrival_seq - b.arrival_seq,
  );
  const tooMany = waiting.slice(0, Math.max(0, waiting.length + 1 - bounds.capacity));
  if (tooMany.length === 0) return;
  const dropped = new Set(tooMany.map(({ arrival_seq }) => arrival_seq));
  const isDropped = ({ arrival_seq }: Held) => dropped.has(arrival_seq);
  if (storm)
    change(turn, { storm: { ...storm, buffer: storm.buffer.filter((held) => !isDropped(held)) } });
  turn.dropped.push(...turn.postponed.filter(isDropped));
  write(
    turn,
    'signal_dropped',
    'refuse',
    {
      cause: 'buffer_full',
      dropped: tooMany.length,
      arrival_ranges: rangesOf(tooMany),
      capacity: bounds.capacity,
    },
    { settles: true },
  );
}

/** The first and last of each unbroken row. */
function rangesOf(ordered: readonly Held[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const { arrival_seq } of ordered) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === arrival_seq) last[1] = arrival_seq;
    else ranges.push([arrival_seq, arrival_seq]);
  }
  return ranges;
}

/** any: timer storm. As many are released as the tenant could have sent. */
export function release(turn: Turn) {
  const { storm, bounds } = turn.data;
  if (!storm) return;
  const free = Math.max(
    0,
    bounds.storm_limit -
      needed(turn.event.answers?.recent, 'the signals of its tenant in the window'),
  );
  for (const held of storm.buffer.slice(0, free)) insert(turn, { kind: 'held', ...held });
  const rest = storm.buffer.slice(free);
  change(turn, { storm: rest.length > 0 ? { ...storm, buffer: rest } : null });
  if (rest.length > 0) start(turn, 'named:storm', bounds.storm_every_ms);
}

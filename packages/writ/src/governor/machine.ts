/**
 * One event after the other: what a governor that is stored as data does with each. Pure. The
 * driver stores what comes out, and a replay compares it.
 */
import { hash as digest } from 'node:crypto';
import { canonicalize } from '../ledger/canonical.js';
import { type Receipt, receipt, receiptId } from '../ledger/receipt.js';
import type { Data, Decision, Effect, Held, Situation, State, Waits } from './decision.js';
import type { GovernorEvent } from './events.js';
import { eventId } from './ids.js';
import { type Action, after, due, next, nothing, type Pending, type Waiting } from './statem.js';

export type Decide = (situation: Situation, event: GovernorEvent) => Decision;

export interface MachineState {
  readonly id: string;
  readonly tenant: string;
  readonly sku: string;
  readonly state: State | null;
  readonly data: Data | null;
  readonly waiting: Waiting<Waits>;
  /** How many it has handled, and how many receipts it has. */
  readonly events: number;
  readonly receipts: number;
  /** Over all its inputs, in hex. */
  readonly hash: string;
  /** The time of its last event. */
  readonly last: number;
}

export interface Stepped {
  /** The event, as it is hashed. */
  readonly text: string;
  readonly governor: MachineState;
  readonly decision: Decision;
  /** Whole receipts, in order. */
  readonly receipts: readonly Receipt[];
  /** As they are hashed. */
  readonly entries: readonly string[];
  /** Which signals are settled, and by which receipt. */
  readonly settled: readonly (readonly [arrivalSeq: number, receiptId: string])[];
  readonly effects: readonly Effect[];
}

export const unborn = (id: string, tenant: string, sku: string): MachineState => ({
  id,
  tenant,
  sku,
  state: null,
  data: null,
  waiting: nothing,
  events: 0,
  receipts: 0,
  hash: '0'.repeat(64),
  last: 0,
});

/**
 * What is next, when the mailbox is left out: what was inserted, what is tried again, a timer of no
 * time, or a timer that is due before `until`.
 */
export type Next = {
  readonly pending: Pending<Waits>;
  readonly dueAt?: number;
  readonly waiting: Waiting<Waits>;
};

export function nextOf({ waiting }: MachineState, until: number): Next | undefined {
  const inserted = next(waiting);
  if (inserted) return { pending: inserted[0], waiting: inserted[1] };
  const timer = due(waiting, until);
  return timer && { pending: timer[0], dueAt: timer[1], waiting: timer[2] };
}

/** The first of its timers. */
export function firstDue({ waiting }: MachineState): number | undefined {
  let first: number | undefined;
  for (const timer of waiting.timers)
    if (timer.due !== 'now' && (first === undefined || timer.due < first)) first = timer.due;
  return first;
}

/** Handles an event. `waiting` is what waits without it, `text` its canonical JSON. */
export function step(
  governor: MachineState,
  event: GovernorEvent,
  waiting: Waiting<Waits>,
  decide: Decide,
  text: string = canonicalize(event),
): Stepped {
  const hash = inputsHash(governor.hash, text);
  const id = eventId(governor.id, event.event_seq);
  const decision = decide(
    {
      state: governor.state,
      data: governor.data,
      event_id: id,
      postponed: heldIn(waiting.postponed),
    },
    event,
  );
  const settled: [number, string][] = [];
  const receipts = decision.receipts.map((draft, ordinal) => {
    const { policy_version = 0, policy } = decision.data;
    const about = typeof draft.settles === 'number' ? draft.settles : draft.about;
    const made = receipt(draft.reason, {
      receipt_id: receiptId(id, ordinal),
      timestamp: new Date(event.at),
      sku_id: governor.sku,
      tenant_id: governor.tenant,
      status: draft.status as never,
      context: {
        ...draft.context,
        event_id: id,
        inputs_hash: hash,
        ...(policy_version > 0 && { policy_version }),
        ...(policy?.shadow && { shadow: true }),
        ...(about !== undefined && { arrival_seq: about }),
        ...(draft.settles !== undefined && { terminal: true }),
        stream: `governor:${governor.sku}`,
        stream_seq: governor.receipts + ordinal + 1,
      } as never,
    }).receipt as Receipt;
    if (typeof draft.settles === 'number') settled.push([draft.settles, made.receipt_id]);
    else if (draft.settles)
      for (const one of rangesOf(draft.context)) settled.push([one, made.receipt_id]);
    return made;
  });
  return {
    text,
    governor: {
      ...governor,
      state: decision.state,
      data: decision.data,
      waiting: waitingAfter(governor.state, event, waiting, decision),
      events: event.event_seq,
      receipts: governor.receipts + receipts.length,
      hash,
      last: event.at,
    },
    decision,
    receipts,
    entries: receipts.map((made) => canonicalize(made)),
    settled,
    effects: decision.effects,
  };
}

/** What waits when an event was handled, in gen_statem's order. */
function waitingAfter(
  was: State | null,
  event: GovernorEvent,
  waiting: Waiting<Waits>,
  decision: Decision,
): Waiting<Waits> {
  const actions = decision.actions.map(
    (action): Action<Waits> =>
      action.type === 'start'
        ? { ...action, content: { kind: 'timer', timer: action.name.replace(/^named:/, '') } }
        : action,
  );
  const { dropped } = decision;
  const inTime = event.content.kind === 'clock' ? setBack(waiting, event.content.back_ms) : waiting;
  const kept = dropped?.length
    ? { ...inTime, postponed: inTime.postponed.filter((pending) => !isOneOf(dropped, pending)) }
    : inTime;
  const moved = was !== decision.state;
  const unchanged =
    !moved &&
    !decision.postpone &&
    actions.length === 0 &&
    kept.timers.every(({ name }) => name !== 'event');
  if (unchanged) return kept;
  return after(
    kept,
    { event: pendingOf(event), moved, postpone: decision.postpone ?? false, actions },
    event.clock ?? event.at,
  );
}

/** Timers that were started by a clock that was ahead. */
const setBack = (waiting: Waiting<Waits>, ms: number): Waiting<Waits> => ({
  ...waiting,
  timers: waiting.timers.map((timer) =>
    timer.due === 'now' ? timer : { ...timer, due: timer.due - ms },
  ),
});

/**
 * By how much the clock of the database was set back since the last event. A negative number: it
 * was not.
 */
export const setBackBy = ({ last, data }: MachineState, clock: number): number =>
  last - (data?.behind ?? 0) - clock;

/** An event as one that waits. */
function pendingOf({ from, content, mail_seq = 0 }: GovernorEvent): Pending<Waits> {
  const waits: Waits =
    content.kind === 'signal'
      ? { kind: 'held', mail_seq, arrival_seq: content.arrival_seq }
      : (content as Extract<Waits, { kind: 'act' }>);
  return { from: from === 'mailbox' ? 'mailbox' : 'inserted', content: waits };
}

const heldIn = (postponed: readonly Pending<Waits>[]): Held[] =>
  postponed.flatMap(({ content }) =>
    content.kind === 'held'
      ? [{ mail_seq: content.mail_seq, arrival_seq: content.arrival_seq }]
      : [],
  );

const isOneOf = (held: readonly Held[], { content }: Pending<Waits>) =>
  content.kind === 'held' && held.some(({ mail_seq }) => mail_seq === content.mail_seq);

function* rangesOf(context: object): Generator<number> {
  for (const [first, last] of (context as { arrival_ranges: [number, number][] }).arrival_ranges)
    for (let one = first; one <= last; one++) yield one;
}

/** SHA-256 over the hash before and the canonical JSON of the event. */
export function inputsHash(before: string, canonicalEvent: string): string {
  return digest('sha256', Buffer.concat([Buffer.from(before, 'hex'), Buffer.from(canonicalEvent)]));
}

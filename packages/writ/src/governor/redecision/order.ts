/**
 * Whether each event was the one that was next: what was inserted or tried again before all else, a
 * timer when it was due, and the mailbox in its order. It goes by what waits after the event
 * before, as the machine says, and keeps what it cannot say: how far the mailbox has been read, and
 * which signals have no receipt yet.
 */
import { canonicalize } from '../../ledger/canonical.js';
import type { Waits } from '../decision.js';
import type { Content, GovernorEvent } from '../events.js';
import { type MachineState, type Stepped, setBackBy } from '../machine.js';
import { due, next, type Pending, type Waiting } from '../statem.js';
import { type DifferenceKind, shown } from './difference.js';

export interface Disorder {
  readonly kind: Extract<
    DifferenceKind,
    'event_order' | 'event_changed' | 'signal_lost' | 'signal_settled'
  >;
  readonly message: string;
}

/** What waits without the event, and what is wrong with its place. */
export interface Placed {
  readonly waiting: Waiting<Waits>;
  readonly fault?: Disorder;
}

export class Order {
  #mails = 0;
  #arrivals = 0;
  #arrivedAt = 0;
  /** Signals that no receipt has settled, and what they say. */
  readonly #open = new Map<number, string>();

  place(governor: MachineState, event: GovernorEvent): Placed {
    const { waiting } = governor;
    const { from, content } = event;
    if (event.at < governor.last) {
      const message = `it is of ${moment(event.at)}, before the event before it, which is of ${moment(governor.last)}`;
      return { waiting, fault: { kind: 'event_order', message } };
    }
    const { at, clock = at } = event;
    if (clock > at)
      return misplaced(
        waiting,
        `by the clock it was ${moment(clock)}, later than its time, ${moment(at)}`,
      );
    if (content.kind === 'clock' && content.back_ms !== setBackBy(governor, clock))
      return misplaced(
        waiting,
        `the clock was set back by ${setBackBy(governor, clock)} ms, and this says ${content.back_ms}`,
      );
    if (from === 'host')
      return content.kind === 'health_failed' || content.kind === 'clock'
        ? { waiting }
        : misplaced(waiting, `a host says only what has failed, and this is ${content.kind}`);
    const inserted = next(waiting);
    if (inserted)
      return { waiting: inserted[1], ...given(this.#pendingFault(event, inserted[0], undefined)) };
    if (from === 'mailbox') return { waiting, ...given(this.#mailFault(governor, event)) };
    const timer = due(waiting, Number.POSITIVE_INFINITY);
    if (from !== 'timer' || !timer)
      return misplaced(
        waiting,
        `it is ${from === 'timer' ? 'of a timer' : from}, and nothing of the kind waited`,
      );
    const [pending, dueAt, rest] = timer;
    return { waiting: rest, ...given(this.#pendingFault(event, pending, dueAt)) };
  }

  /** What waited was first in its row, so it has to be the event, or to be set aside by it. */
  #pendingFault(
    event: GovernorEvent,
    pending: Pending<Waits>,
    dueAt: number | undefined,
  ): Disorder | undefined {
    const { content: waits } = pending;
    const from =
      pending.from === 'timer'
        ? 'timer'
        : waits.kind === 'held' && pending.from === 'mailbox'
          ? 'postponed'
          : 'inserted';
    const place = waits.kind === 'held' ? waits.mail_seq : undefined;
    const expected =
      waits.kind === 'held' ? this.#open.get(waits.arrival_seq) : canonicalize(waits);
    const { content } = event;
    if (
      event.from !== from ||
      event.mail_seq !== place ||
      event.due_at !== dueAt ||
      !isAbout(content, waits)
    )
      return {
        kind: 'event_order',
        message: `next was ${nameOf(waits, from, dueAt)}, and there is ${nameOf(content, event.from, event.due_at)}`,
      };
    const clock = event.clock ?? event.at;
    if (dueAt !== undefined && clock < dueAt)
      return {
        kind: 'event_order',
        message: `its timer was due at ${moment(dueAt)}, and it is of ${moment(clock)}`,
      };
    if (
      content.kind !== 'crash' &&
      content.kind !== 'mismatch' &&
      canonicalize(content) !== expected
    )
      return {
        kind: 'event_changed',
        message: `what waited was ${expected}, and there is ${shown(content)}`,
      };
    return undefined;
  }

  #mailFault(
    { waiting }: MachineState,
    { mail_seq = 0, arrived_at = 0, at, clock = at, decide, content }: GovernorEvent,
  ): Disorder | undefined {
    const mail = this.#mails + 1;
    const arrival = this.#arrivals + 1;
    const arrivalSeq = arrivalOf(content);
    const last = this.#arrivedAt;
    this.#mails = mail_seq;
    this.#arrivedAt = arrived_at;
    if (arrivalSeq !== undefined) this.#arrivals = arrivalSeq;
    if (mail_seq !== mail)
      return {
        kind: 'signal_lost',
        message: `${places(mail, mail_seq - 1)} of its mailbox ${mail_seq > mail ? 'was never handled' : 'was handled before'}: this is number ${mail_seq}`,
      };
    if (arrivalSeq !== undefined && arrivalSeq !== arrival)
      return {
        kind: 'signal_lost',
        message: `it is signal ${arrivalSeq}, where ${arrival} should follow`,
      };
    if (arrived_at < last)
      return {
        kind: 'event_order',
        message: `it arrived at ${moment(arrived_at)}, before the one before it, at ${moment(last)}`,
      };
    // Version 1 did not look at the clock.
    const timer = due(waiting, decide < 2 ? arrived_at : Math.min(arrived_at, clock + 1));
    if (timer)
      return {
        kind: 'event_order',
        message: `it arrived at ${moment(arrived_at)}, when ${nameOf(timer[0].content, 'timer', timer[1])} was due already`,
      };
    return undefined;
  }

  /** What an event has settled. */
  handled({ content }: GovernorEvent, { settled }: Stepped): Disorder | undefined {
    const arrival = arrivalOf(content);
    if (arrival !== undefined && !this.#open.has(arrival)) this.#open.set(arrival, '');
    for (const [one] of settled)
      if (!this.#open.delete(one))
        return {
          kind: 'signal_settled',
          message: `signal ${one} has a receipt already, or never came`,
        };
    if (arrival !== undefined && this.#open.get(arrival) === '')
      this.#open.set(arrival, canonicalize(content));
    return undefined;
  }

  /** Signals that were handled, and that neither wait nor have a receipt. */
  lost({ waiting, data }: MachineState): Disorder | undefined {
    const held = [...waiting.queue, ...waiting.postponed].flatMap(({ content }) =>
      content.kind === 'held' ? [content.arrival_seq] : [],
    );
    const waits = new Set([
      ...held,
      ...(data?.storm?.buffer ?? []).map(({ arrival_seq }) => arrival_seq),
    ]);
    const lost = [...this.#open.keys()].find((one) => !waits.has(one));
    return lost === undefined
      ? undefined
      : {
          kind: 'signal_settled',
          message: `signal ${lost} was handled, and no receipt is about what became of it`,
        };
  }
}

const misplaced = (waiting: Waiting<Waits>, message: string): Placed => ({
  waiting,
  fault: { kind: 'event_order', message },
});
const given = (fault: Disorder | undefined) => (fault ? { fault } : {});

/** The signal that an event is about, as far as it is its own event. */
function arrivalOf(content: Content): number | undefined {
  return content.kind === 'signal' || content.kind === 'crash' || content.kind === 'mismatch'
    ? content.arrival_seq
    : undefined;
}

function isAbout(content: Content, waits: Waits): boolean {
  const kind = waits.kind === 'held' ? 'signal' : waits.kind;
  const isAside = content.kind === 'crash' || content.kind === 'mismatch';
  if ((isAside ? content.event : content.kind) !== kind) return false;
  if (waits.kind === 'timer' && content.kind === 'timer') return content.timer === waits.timer;
  return waits.kind !== 'held' || arrivalOf(content) === waits.arrival_seq;
}

function nameOf(content: Content | Waits, from: string, dueAt: number | undefined): string {
  const what =
    content.kind === 'timer'
      ? `timer ${content.timer}`
      : content.kind === 'held' || content.kind === 'signal'
        ? `signal ${content.arrival_seq}`
        : content.kind;
  return `${what}${content.kind === 'timer' ? '' : ` (${from})`}${dueAt === undefined ? '' : `, due at ${moment(dueAt)}`}`;
}

const places = (first: number, last: number) =>
  last > first ? `what is in places ${first} to ${last}` : `what is in place ${first}`;

/** Also of numbers that are no time. */
const moment = (at: number) => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at));

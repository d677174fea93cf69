/**
 * Deciding again: every event of a governor, in order, by the version of `decide` that decided it,
 * and what comes out against the receipts that were written then, byte for byte. Pure. Events come
 * as lines, receipts as entries of a log; a receipt is compared when the events up to it are there,
 * so that a log of any length needs no more memory than what waits.
 */
import { canonicalize } from '../ledger/canonical.js';
import type { ReceiptContainer } from '../ledger/container.js';
import { decides } from './decide/versions.js';
import type { State } from './decision.js';
import type { GovernorEvent } from './events.js';
import { eventId } from './ids.js';
import { type Decide, type MachineState, type Stepped, step, unborn } from './machine.js';
import { policyHash } from './policy.js';
import {
  type Difference,
  type DifferenceKind,
  firstDifference,
  shown,
} from './redecision/difference.js';
import { Order } from './redecision/order.js';

export type { Difference, DifferenceKind } from './redecision/difference.js';

export interface GovernorIdentity {
  readonly governor_id: string;
  readonly tenant: string;
  readonly sku: string;
}

export interface RedecisionOptions {
  /** Goes on after a difference, as far as that makes sense. */
  readonly all?: boolean;
  /** What has decided, by version. */
  readonly decides?: ReadonlyMap<number, Decide>;
}

export interface Redecided extends GovernorIdentity {
  /** Everything that could be compared is alike. */
  readonly ok: boolean;
  /** Decided again, and compared. */
  readonly events: number;
  readonly receipts: number;
  /** In the order in which it was in them first. */
  readonly states: readonly State[];
  /** Events whose receipts the log does not have yet, as far as its checkpoint goes. */
  readonly behind: number;
  readonly differences: readonly Difference[];
}

interface Expected {
  readonly receipt: ReceiptContainer;
  readonly entry: string;
}

/** One bad event can make all after it look bad. */
const mostDifferences = 100;
/** How far ahead a receipt may belong. */
const lookAhead = 256;

export class Redecision {
  readonly #who: GovernorIdentity;
  readonly #options: RedecisionOptions;
  readonly #order = new Order();
  readonly #states = new Set<State>();
  readonly #differences: Difference[] = [];
  #governor: MachineState;
  #lines: readonly string[] = [];
  #at = 0;
  /** What its last event has given and no receipt was compared with yet. */
  #expected: Expected[] = [];
  #event: GovernorEvent | undefined;
  /** The last event whose inputs a receipt bears out. */
  #agreed = 0;
  #receipts = 0;
  #stopped = false;

  constructor(who: GovernorIdentity, options: RedecisionOptions = {}) {
    this.#who = who;
    this.#options = options;
    this.#governor = unborn(who.governor_id, who.tenant, who.sku);
  }

  /** A difference was found, after which nothing more is looked at. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** More events: each a line of canonical JSON. Those before have to be used up. */
  feed(lines: readonly string[]): void {
    this.#lines =
      this.#at < this.#lines.length ? [...this.#lines.slice(this.#at), ...lines] : lines;
    this.#at = 0;
  }

  /**
   * The next receipt of its stream, and the entry that it stands in. False: it can only be compared
   * when there are more events.
   */
  hear(receipt: ReceiptContainer, entry: Uint8Array | string): boolean {
    while (!this.#stopped) {
      while (this.#expected.length === 0) {
        const line = this.#lines[this.#at];
        if (line === undefined) return false;
        this.#at++;
        this.#decide(line);
        if (this.#stopped) return true;
      }
      if (this.#compare(receipt, entry)) break;
    }
    return true;
  }

  /** A receipt for which there are no events any more. */
  unheard(receipt: ReceiptContainer): void {
    const { events } = this.#governor;
    const { stream_seq } = receipt.context;
    const message = `Its events end with ${events}, and receipt ${stream_seq} (${receipt.reason}) is of another one: events at the end are missing.`;
    this.#differ('event_missing', message, { event_seq: events + 1, stream_seq });
    this.#stopped = true;
  }

  /** That something is wrong with the events as they are stored. */
  unreadable(
    message: string,
    kind: 'event_unreadable' | 'governor' | 'event_missing' = 'event_unreadable',
  ): void {
    this.#differ(kind, message, { event_seq: this.#governor.events + 1 });
    this.#stopped = true;
  }

  /** `events`: how many there are. */
  end(events: number): Redecided {
    const lost = this.#stopped ? undefined : this.#order.lost(this.#governor);
    if (lost) this.#differ(lost.kind, `${capital(lost.message)}.`, {});
    const decided = this.#governor.events;
    return {
      ...this.#who,
      ok: this.#differences.length === 0,
      events: decided,
      receipts: this.#receipts,
      states: [...this.#states],
      behind: this.#stopped ? 0 : Math.max(0, events - decided),
      differences: this.#differences,
    };
  }

  #decide(line: string): void {
    const event = readEvent(line);
    const was = this.#governor;
    const expected = was.events + 1;
    if (typeof event === 'string')
      return void this.unreadable(`Event ${expected} cannot be read: ${event}.`);
    const { event_seq } = event;
    if (event_seq !== expected) {
      const what =
        event_seq > expected
          ? `${numbers(expected, event_seq - 1)} missing`
          : 'in its place an event stands once more';
      this.#differ(
        'event_missing',
        `Event ${expected} should follow, and there is ${event_seq}: ${what}.`,
        {
          event_seq: expected,
          expected,
          found: event_seq,
        },
      );
    }
    const decide = (this.#options.decides ?? decides).get(event.decide);
    if (!decide) {
      const known = [...(this.#options.decides ?? decides).keys()].join(', ');
      const message = `Event ${event_seq} was decided by version ${event.decide} of the table, and this Writ knows ${known}: replay it with the one that wrote it, or a newer one.`;
      this.#differ('decide_version', message, { event_seq, expected: known, found: event.decide });
      this.#stopped = true;
    }
    this.#policy(event);
    if (this.#stopped || !decide) return;
    const { waiting, fault } = this.#order.place(was, event);
    if (fault) this.#differ(fault.kind, `Event ${event_seq}: ${fault.message}.`, { event_seq });
    if (this.#stopped) return;
    let stepped: Stepped;
    try {
      stepped = step(was, event, waiting, decide, line);
    } catch (error) {
      const message = `Event ${event_seq} (${event.content.kind}) cannot be decided again: ${error instanceof Error ? error.message : String(error)}`;
      this.#differ('undecidable', message, { event_seq });
      this.#stopped = true;
      return;
    }
    this.#governor = stepped.governor;
    this.#event = event;
    this.#states.add(stepped.decision.state);
    this.#expected = stepped.receipts.map((receipt, at) => ({
      receipt: receipt as ReceiptContainer,
      entry: stepped.entries[at] as string,
    }));
    const settled = this.#order.handled(event, stepped);
    if (settled)
      this.#differ(settled.kind, `Event ${event_seq}: ${settled.message}.`, { event_seq });
  }

  /** A document has to be the one that its hash says. */
  #policy({ event_seq, content }: GovernorEvent): void {
    if (content.kind !== 'policy' || !content.policy) return;
    const { hash, document, version } = content.policy;
    const found = policyHash(document);
    if (found === hash) return;
    const message = `Event ${event_seq}: the document of policy version ${version} is not the one that was published: its hash is ${found}, and ${hash} was published.`;
    this.#differ('policy_changed', message, { event_seq, expected: hash, found });
  }

  /** Whether the receipt is done with. */
  #compare(receipt: ReceiptContainer, entry: Uint8Array | string): boolean {
    const [first] = this.#expected as [Expected];
    if (isSame(first.entry, entry)) {
      this.#expected.shift();
      this.#receipts++;
      this.#agreed = this.#governor.events;
      return true;
    }
    const { stream_seq } = receipt.context;
    if (receipt.receipt_id === first.receipt.receipt_id) {
      this.#expected.shift();
      this.#changed(first.receipt, receipt);
      this.#adopt(first.receipt, receipt);
      return true;
    }
    const missing = this.#missingBefore(receipt);
    const about = { event_seq: this.#governor.events, stream_seq };
    if (missing > 0) {
      const { reason, context } = first.receipt;
      const message = `Receipt ${context.stream_seq} (${reason}, of event ${about.event_seq}) is missing: ${missing > 1 ? `it and ${missing - 1} after it were decided, and ` : 'it was decided, and '}receipt ${stream_seq} of the log is ${receipt.reason}.`;
      this.#differ('receipt_missing', message, {
        ...about,
        expected: first.receipt,
        found: receipt,
      });
      this.#expected.splice(0, missing);
      return false;
    }
    if (stream_seq === 1 && receipt.reason === first.receipt.reason) {
      const message = `Receipt 1 is of event ${shown(receipt.context.event_id)}, and the first event of governor ${this.#who.governor_id} is ${eventId(this.#who.governor_id, 1)}: events and receipts are of different governors.`;
      this.#differ('governor', message, {
        ...about,
        expected: first.receipt.context.event_id,
        found: receipt.context.event_id,
      });
      this.#stopped = true;
      return true;
    }
    const message = `Receipt ${stream_seq} (${receipt.reason}) is of nothing that was decided: after event ${about.event_seq}, ${first.receipt.reason} should follow.`;
    this.#differ('receipt_added', message, { ...about, expected: first.receipt, found: receipt });
    return true;
  }

  /**
   * How many of those that are expected have no receipt, if this one comes later; 0: it does not.
   */
  #missingBefore({ receipt_id, context }: ReceiptContainer): number {
    const here = this.#expected.findIndex((one) => one.receipt.receipt_id === receipt_id);
    if (here > 0) return here;
    const { events } = this.#governor;
    for (let ahead = 1; ahead <= lookAhead; ahead++)
      if (context.event_id === eventId(this.#who.governor_id, events + ahead))
        return this.#expected.length;
    return 0;
  }

  #changed(expected: ReceiptContainer, found: ReceiptContainer): void {
    const { event_seq, content } = this.#event as GovernorEvent;
    const { stream_seq } = found.context;
    const about = { event_seq, stream_seq };
    const [ours, theirs] = [expected.context, found.context];
    if (
      expected.reason === 'policy_updated' &&
      found.reason === 'policy_updated' &&
      ours.policy_hash !== theirs.policy_hash
    ) {
      const message = `Event ${event_seq}: the policy is not the one that was published: its hash is ${shown(ours.policy_hash)}, and the receipt says ${shown(theirs.policy_hash)}.`;
      this.#differ('policy_changed', message, {
        ...about,
        expected: theirs.policy_hash,
        found: ours.policy_hash,
      });
    } else if (ours.inputs_hash !== theirs.inputs_hash) {
      const which =
        this.#agreed + 1 === event_seq
          ? `Event ${event_seq} (${content.kind}) is not the one that was decided on: what was sent, answered or read was changed`
          : `One of the events ${this.#agreed + 1} to ${event_seq} is not the one that was decided on: it was changed, or others before it were`;
      const message = `${which}. Their inputs hash to ${shown(ours.inputs_hash)}, and receipt ${stream_seq} says ${shown(theirs.inputs_hash)}.`;
      this.#differ('event_changed', message, {
        ...about,
        expected: theirs.inputs_hash,
        found: ours.inputs_hash,
      });
    } else {
      const where = firstDifference(expected, found);
      const message = `Receipt ${stream_seq} (${found.reason}, of event ${event_seq}) is not what was decided: ${where?.path} is ${shown(where?.found)}, and should be ${shown(where?.expected)}. It was changed, or something else has decided.`;
      this.#differ('receipt_changed', message, {
        ...about,
        expected: where?.expected,
        found: where?.found,
      });
    }
  }

  /** Going on by what is there: what follows from this difference alone is not another one. */
  #adopt({ context: ours }: ReceiptContainer, { context: theirs }: ReceiptContainer): void {
    const hash =
      typeof theirs.inputs_hash === 'string' && /^[0-9a-f]{64}$/.test(theirs.inputs_hash)
        ? theirs.inputs_hash
        : this.#governor.hash;
    const receipts = this.#governor.receipts + theirs.stream_seq - ours.stream_seq;
    if (hash === this.#governor.hash && receipts === this.#governor.receipts) return;
    this.#expected = this.#expected.map(({ receipt }) =>
      corrected(receipt, hash, theirs.stream_seq - ours.stream_seq),
    );
    this.#governor = { ...this.#governor, hash, receipts };
  }

  #differ(kind: DifferenceKind, message: string, about: Partial<Difference>): void {
    this.#differences.push({ kind, event_seq: null, stream_seq: null, ...about, message });
    if (!this.#options.all || this.#differences.length >= mostDifferences) this.#stopped = true;
  }
}

/**
 * Decides the events of a governor again and compares what comes out with its receipts: both as
 * lines of canonical JSON, from the first on.
 */
export function redecide(
  who: GovernorIdentity,
  events: readonly string[],
  receipts: Iterable<string>,
  options: RedecisionOptions = {},
): Redecided {
  const replaying = new Redecision(who, options);
  replaying.feed(events);
  for (const entry of receipts) {
    const receipt = JSON.parse(entry) as ReceiptContainer;
    if (!replaying.hear(receipt, entry)) replaying.unheard(receipt);
    if (replaying.stopped) break;
  }
  return replaying.end(events.length);
}

/**
 * The event of a line, or why it is none. That its bytes are the canonical ones shows by their
 * hash.
 */
function readEvent(line: string): GovernorEvent | string {
  let value: Partial<GovernorEvent> | null;
  try {
    value = JSON.parse(line) as Partial<GovernorEvent> | null;
  } catch {
    return 'it is not JSON';
  }
  const { event_seq, at, decide, from, content } = value ?? {};
  if (!Number.isSafeInteger(event_seq) || (event_seq as number) < 1) return 'it has no number';
  if (!Number.isSafeInteger(at)) return 'it has no time';
  if (typeof decide !== 'number' || typeof from !== 'string')
    return 'it does not say what decided it, or where it came from';
  if (typeof content !== 'object' || content === null || typeof content.kind !== 'string')
    return 'it does not say what happened';
  return value as GovernorEvent;
}

const isSame = (expected: string, entry: Uint8Array | string): boolean =>
  typeof entry === 'string' ? expected === entry : Buffer.from(expected).equals(entry);

/** A receipt as it would be after other inputs, and further on in its stream. */
function corrected(receipt: ReceiptContainer, inputs_hash: string, by: number): Expected {
  const { context } = receipt;
  const moved = {
    ...receipt,
    context: { ...context, inputs_hash, stream_seq: context.stream_seq + by },
  };
  return { receipt: moved, entry: canonicalize(moved) };
}

const numbers = (first: number, last: number) =>
  last > first ? `${first} to ${last} are` : `${first} is`;
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

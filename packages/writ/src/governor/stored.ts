/**
 * A governor as it is stored: rows of signals that wait are short, and the document of its policy,
 * which does not change, stands elsewhere.
 */
import type { Data, Held, State, Waits } from './decision.js';
import type { Content, Signal } from './events.js';
import type { MachineState } from './machine.js';
import type { PolicyVersion } from './policy-document.js';
import { nothing, type Pending, type Timer, type Waiting } from './statem.js';

/** So many in a row: their first places, in the mailbox and among the signals. */
type Run = [mailSeq: number, arrivalSeq: number, n: number];

type StoredPending = { readonly from: 'inserted' | 'mailbox'; readonly held: Run } | Pending<Waits>;

interface StoredWaiting {
  readonly queue?: readonly StoredPending[];
  readonly postponed?: readonly StoredPending[];
  readonly timers?: readonly Timer<Waits>[];
}

export type StoredPolicy = Omit<PolicyVersion, 'document'> & { readonly policy_id: string };

export type StoredMail = [mailSeq: number, at: number, arrivalSeq: number | null, content: Content];

/** A governor as fn_governors_take answers it. */
export interface TakenGovernor {
  readonly id: string;
  readonly t: string;
  readonly s: string;
  readonly events: number;
  readonly receipts: number;
  readonly done: number;
  readonly last: number;
  readonly state: State | null;
  readonly hash: string;
  readonly due: number | null;
  readonly data: Record<string, unknown>;
  readonly waiting: StoredWaiting;
  readonly crashes: number;
  readonly crash: string | null;
  readonly mails: StoredMail[] | null;
  readonly held: StoredMail[] | null;
}

/**
 * What fn_governors_take answers: when it is, by the clock of the gates and by that of the machine,
 * the latest time of what was due, when the next is, and the governors.
 */
export interface TakenBatch {
  readonly now: number;
  readonly machine: number;
  readonly last: number | null;
  readonly next: number | null;
  readonly governors: TakenGovernor[];
}

/** The first row says how things are, each further one is a governor. */
export function takenFrom([first, ...rows]: Record<string, unknown>[]): TakenBatch {
  const governors = rows.map((row) => ({
    ...row,
    ...Object.fromEntries(
      ['events', 'receipts', 'done', 'last'].map((name) => [name, Number(row[name])]),
    ),
    due: row.due === null ? null : Number(row.due),
    data: JSON.parse(String(row.data)),
    waiting: JSON.parse(String(row.waiting)),
    mails: JSON.parse(String(row.mails ?? 'null')),
    held: JSON.parse(String(row.held ?? 'null')),
  }));
  return {
    now: Number(first?.last),
    machine: Number(first?.done),
    last: (first?.taken_upto as Date | null)?.getTime() ?? null,
    next: first?.due === null ? null : Number(first?.due),
    governors: governors as unknown as TakenGovernor[],
  };
}

/** Which version of its policy it goes by; undefined: none. */
export function policyOf(taken: TakenGovernor): StoredPolicy | undefined {
  return (taken.data.policy as StoredPolicy | null | undefined) ?? undefined;
}

export function fromStored(taken: TakenGovernor, policy: PolicyVersion | null): MachineState {
  const { id, t: tenant, s: sku, state, events, receipts, hash, last } = taken;
  return {
    id,
    tenant,
    sku,
    state,
    events,
    receipts,
    hash,
    last,
    data: dataFrom(taken, policy),
    waiting: waitingFrom(taken.waiting),
  };
}

function dataFrom({ state, data }: TakenGovernor, policy: PolicyVersion | null): Data | null {
  if (state === null) return null;
  const { storm, ...rest } = data as unknown as Data & {
    storm: { since: number; buffer: Run[] } | null;
  };
  return { ...rest, policy, storm: storm && { ...storm, buffer: storm.buffer.flatMap(spread) } };
}

export function storedData(data: Data): Record<string, unknown> {
  const { policy, storm } = data;
  return {
    ...data,
    policy: policy && {
      version: policy.version,
      hash: policy.hash,
      shadow: policy.shadow,
      policy_id: policy.document.policy_id,
    },
    storm: storm && { ...storm, buffer: runs(storm.buffer) },
  };
}

function waitingFrom({ queue = [], postponed = [], timers = [] }: StoredWaiting): Waiting<Waits> {
  if (queue.length + postponed.length + timers.length === 0) return nothing;
  return { queue: queue.flatMap(unpacked), postponed: postponed.flatMap(unpacked), timers };
}

export function storedWaiting({ queue, postponed, timers }: Waiting<Waits>): StoredWaiting {
  return { queue: packed(queue), postponed: packed(postponed), timers };
}

const unpacked = (pending: StoredPending): Pending<Waits>[] =>
  'held' in pending
    ? spread(pending.held).map((held) => ({
        from: pending.from,
        content: { kind: 'held' as const, ...held },
      }))
    : [pending];

function packed(list: readonly Pending<Waits>[]): StoredPending[] {
  const short: StoredPending[] = [];
  for (const pending of list) {
    const { content, from } = pending;
    if (content.kind !== 'held' || from === 'timer') {
      short.push(pending);
      continue;
    }
    const last = short.at(-1);
    if (last && 'held' in last && last.from === from && follows(last.held, content)) last.held[2]++;
    else short.push({ from, held: [content.mail_seq, content.arrival_seq, 1] });
  }
  return short;
}

const spread = ([mail, arrival, n]: Run): Held[] =>
  Array.from({ length: n }, (_, at) => ({ mail_seq: mail + at, arrival_seq: arrival + at }));

function runs(list: readonly Held[]): Run[] {
  const short: Run[] = [];
  for (const held of list) {
    const last = short.at(-1);
    if (last && follows(last, held)) last[2]++;
    else short.push([held.mail_seq, held.arrival_seq, 1]);
  }
  return short;
}

const follows = ([mail, arrival, n]: Run, held: Held) =>
  held.mail_seq === mail + n && held.arrival_seq === arrival + n;

/** A mail as the event that it is. */
export function contentOf([, , arrivalSeq, content]: StoredMail): Content {
  return arrivalSeq === null
    ? content
    : ({ ...content, kind: 'signal', arrival_seq: arrivalSeq } as { kind: 'signal' } & Signal);
}

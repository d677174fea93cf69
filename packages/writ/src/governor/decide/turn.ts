/**
 * One decision while it is made: what it starts from, and what it says so far. It begins and ends
 * within `decide`, so nobody sees it change.
 */
import type { ContextOf, ReasonName, StatusOf } from '../../ledger/reasons/index.js';
import type {
  Data,
  Decision,
  Effect,
  Held,
  ReceiptDraft,
  Situation,
  State,
  Waits,
} from '../decision.js';
import type { Content, GovernorEvent, TimerKind } from '../events.js';
import type { GovernorPolicy } from '../policy-document.js';

export interface Turn {
  readonly event: GovernorEvent;
  readonly at: number;
  /**
   * By the clock of the database: what is due, used up or over goes by it. It is `at`, unless the
   * clock was set back.
   */
  readonly clock: number;
  /** The time in the ids of jobs. */
  readonly ids_at: number;
  readonly event_id: string;
  readonly postponed: readonly Held[];
  state: State;
  data: Data;
  postpone: boolean;
  readonly receipts: ReceiptDraft[];
  readonly actions: Decision['actions'][number][];
  readonly dropped: Held[];
  readonly effects: Effect[];
}

/** What an event is called: its kind, or its timer. */
export type EventName = Exclude<Content['kind'], 'timer'> | TimerKind;
export type ContentOf<Name> = Name extends TimerKind
  ? Extract<Content, { kind: 'timer' }>
  : Extract<Content, { kind: Name }>;

export const nameOf = (content: Content): EventName =>
  content.kind === 'timer' ? content.timer : content.kind;

export function begin(
  { event_id, postponed }: Situation,
  state: State,
  data: Data,
  event: GovernorEvent,
): Turn {
  const said = { receipts: [], actions: [], dropped: [], effects: [], postpone: false };
  const { at, clock = at, ids_at = clock } = event;
  return { event, at, clock, ids_at, event_id, postponed, state, data, ...said };
}

export function change(turn: Turn, changes: Partial<Data>) {
  turn.data = { ...turn.data, ...changes };
}

type Driven =
  | 'stream'
  | 'stream_seq'
  | 'event_id'
  | 'inputs_hash'
  | 'policy_version'
  | 'shadow'
  | 'arrival_seq'
  | 'terminal';

export function write<Name extends ReasonName>(
  turn: Turn,
  reason: Name,
  status: StatusOf<Name>,
  context: Omit<ContextOf<Name>, Driven>,
  signal: Pick<ReceiptDraft, 'settles' | 'about'> = {},
) {
  turn.receipts.push({ reason, status, context, ...signal } as unknown as ReceiptDraft);
}

type NamedTimer = `named:${Exclude<TimerKind, 'state'>}`;

export const start = (turn: Turn, name: 'state' | NamedTimer, ms: number) =>
  turn.actions.push({ type: 'start', name, ms });
export const cancel = (turn: Turn, name: NamedTimer) => turn.actions.push({ type: 'cancel', name });
export const insert = (turn: Turn, content: Waits) =>
  turn.actions.push({ type: 'insert', content });

type Given<Fields> = {
  [F in keyof Fields as undefined extends Fields[F] ? never : F]: Fields[F];
} & {
  [F in keyof Fields as undefined extends Fields[F] ? F : never]?: Exclude<Fields[F], undefined>;
};

/** Without the fields that have no value: JSON has no such thing. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<Fields>;
}

/** What is there under a name that somebody else has chosen. */
export const own = <Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined => (record && Object.hasOwn(record, name) ? record[name] : undefined);

/** An answer without which the event cannot be decided: who drives has to ask for it before. */
export function needed<Answer>(answer: Answer | undefined, what: string): Answer {
  if (answer === undefined) throw new TypeError(`the event was not given ${what}`);
  return answer;
}

const longest = 1_000;
/** What somebody else said, as far as a receipt can hold it. */
export function said(message: string | undefined): string | undefined {
  return message?.replaceAll('\0', '').slice(0, longest).toWellFormed() || undefined;
}

export const documentOf = (turn: Turn): GovernorPolicy | undefined => turn.data.policy?.document;
export const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);
export const moment = (at: number): string => new Date(at).toISOString();
export const seconds = (ms: number): number => Math.ceil(ms / 1_000);

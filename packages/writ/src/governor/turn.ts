/**
 * One turn of one governor: as many of its events as are there, decided one after the other. Pure
 * but for what it is given; the driver stores what comes out.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { canonicalize } from '../ledger/canonical.js';
import type { Answers, Content, Failure, GovernorEvent } from './events.js';
import {
  type Decide,
  type MachineState,
  nextOf,
  type Stepped,
  setBackBy,
  step,
} from './machine.js';
import type { PolicyVersion } from './policy-document.js';
import { type Question, questionOf } from './questions.js';
import {
  contentOf,
  fromStored,
  type StoredMail,
  storedData,
  storedWaiting,
  type TakenGovernor,
} from './stored.js';

export interface TurnOptions {
  readonly decide: Decide;
  readonly decideVersion: number;
  /** Who decides, for people. */
  readonly processId: string;
  /** The clock of the database. */
  readonly now: number;
  /** That of its machine; `now` unless given. */
  readonly machine?: number;
  /** Every event is decided twice, on frozen copies. */
  readonly twice: boolean;
  /** Events at most. */
  readonly limit: number;
  /** So many of its mails were read at most: there may be more than were given. */
  readonly mails: number;
  readonly crashLimit: number;
  /**
   * Writing what was decided about its next event has failed here: it is set aside at the limit.
   */
  readonly unwritable?: boolean;
}

/** What becomes of a signal that is not settled yet. */
export interface Put {
  readonly arrivalSeq: number;
  readonly as: 'buffered' | 'accepted';
}

export interface Turned {
  readonly taken: TakenGovernor;
  readonly before: MachineState;
  readonly governor: MachineState;
  readonly steps: readonly (readonly [GovernorEvent, Stepped])[];
  readonly mailDone: number;
  readonly mailAt: number | undefined;
  /** There is more to do at once. */
  readonly more: boolean;
  /** What has to be asked before it can go on. */
  readonly question: Question | undefined;
  /** What went wrong with the event that was next. */
  readonly crash: unknown;
}

export function turn(
  taken: TakenGovernor,
  policy: PolicyVersion | null,
  answers: Answers | undefined,
  told: Failure | undefined,
  options: TurnOptions,
): Turned {
  const { now, machine = now, crashLimit, decideVersion } = options;
  // After a crash one event at a time: what cannot be written must not take those before it along,
  // nor be taken for one of them.
  const limit = taken.crashes > 0 ? 1 : options.limit;
  const mails = taken.mails ?? [];
  const contents = new Map<number, StoredMail>(
    [...mails, ...(taken.held ?? [])].map((mail) => [mail[0], mail]),
  );
  const steps: (readonly [GovernorEvent, Stepped])[] = [];
  const before = fromStored(taken, policy);
  let governor = before;
  let read = 0;
  let answered = answers;
  let more = false;
  let question: Question | undefined;
  let crash: unknown;
  // Before anything else: what is due follows from it.
  const backMs = before.data ? setBackBy(before, now) : 0;
  const isSetBack = backMs > clockToleranceMs;
  for (;;) {
    const mail = mails[read];
    const setsBack = isSetBack && steps.length === 0;
    const telling = setsBack ? undefined : told;
    // What comes next in the mailbox may be older than a timer that is due.
    if (!mail && mails.length >= options.mails && !setsBack) {
      more = true;
      break;
    }
    // A mail that came while the clock was ahead does not make a timer due.
    const waiting =
      told || setsBack
        ? undefined
        : nextOf(governor, Math.min(mail?.[1] ?? Number.POSITIVE_INFINITY, now + 1));
    if (!waiting && !mail && !told && !setsBack) break;
    if (steps.length >= limit || (told && steps.length > (isSetBack ? 1 : 0))) {
      more = true;
      break;
    }
    let place: Partial<GovernorEvent>;
    let content: Content;
    if (setsBack) {
      content = { kind: 'clock', back_ms: backMs };
      place = { from: 'host' };
    } else if (telling) {
      content = { kind: 'health_failed', failure: telling };
      place = { from: 'host' };
    } else if (waiting) {
      const { pending, dueAt } = waiting;
      const waits = pending.content;
      if (waits.kind === 'held') {
        const held = contents.get(waits.mail_seq);
        if (!held) {
          more = true;
          break;
        }
        content = contentOf(held);
        place = { from: pending.from === 'mailbox' ? 'postponed' : 'inserted', mail_seq: held[0] };
      } else {
        content = waits as Content;
        place = {
          from: pending.from === 'timer' ? 'timer' : 'inserted',
          ...(dueAt !== undefined && { due_at: dueAt }),
        };
      }
    } else {
      const [mailSeq, at] = mail as StoredMail;
      content = contentOf(mail as StoredMail);
      place = { from: 'mailbox', mail_seq: mailSeq, arrived_at: at };
    }
    const eventOf = (content: Content, answers?: Answers): GovernorEvent => ({
      event_seq: governor.events + 1,
      at: Math.max(now, governor.last),
      ...(now < governor.last && { clock: now }),
      ...(Math.abs(machine - now) > apartMs && { ids_at: machine }),
      decide: decideVersion,
      ...(place as Pick<GovernorEvent, 'from'>),
      content,
      ...(answers && { answers }),
      ...(beginsAnew(governor, content) && { answers: { process_id: options.processId } }),
    });
    const rest = waiting?.waiting ?? governor.waiting;
    // An event that has crashed its governor too often is set aside, and that is an event in its
    // place. What others have counted is not enough: it has to crash here and now, too.
    const mayBeSetAside = steps.length === 0 && taken.crashes >= crashLimit && !told;
    try {
      if (mayBeSetAside && options.unwritable)
        throw new Error('what was decided cannot be written');
      question = questionOf(governor, content);
      if (question && !answered) break;
      const stepped = decided(governor, eventOf(content, question && answered), rest, options);
      steps.push([stepped.event, stepped.stepped]);
      governor = stepped.stepped.governor;
    } catch (error) {
      question = undefined;
      if (!mayBeSetAside) {
        crash = error;
        break;
      }
      const aside = eventOf(setAside(content, taken));
      const stepped = step(governor, aside, rest, options.decide);
      steps.push([aside, stepped]);
      governor = stepped.governor;
    }
    if (question) answered = undefined;
    question = undefined;
    if (place.from === 'mailbox') read++;
  }
  const last = mails[read - 1];
  return {
    taken,
    before,
    governor,
    steps,
    mailDone: last?.[0] ?? taken.done,
    mailAt: last?.[1],
    more,
    question,
    crash,
  };
}

/** Clocks are adjusted by a little all the time; timers may be late by as much. */
export const clockToleranceMs = 1_000;

/** The queue takes ids of the last hour, and of the next five minutes. */
const apartMs = 60_000;

/** A recovery that took too long: whoever drives is named. */
const beginsAnew = ({ state }: MachineState, content: Content) =>
  state === 'degraded' && content.kind === 'timer' && content.timer === 'state';

/**
 * Decides, and, if asked for, once more: another outcome is an event of its own, in place of the
 * one that gave it.
 */
function decided(
  governor: MachineState,
  event: GovernorEvent,
  waiting: MachineState['waiting'],
  { decide, twice }: TurnOptions,
): { event: GovernorEvent; stepped: Stepped } {
  if (!twice) return { event, stepped: step(governor, event, waiting, decide) };
  const frozen = deepFreeze(structuredClone(governor));
  const first = step(
    frozen,
    deepFreeze(structuredClone(event)),
    deepFreeze(structuredClone(waiting)),
    decide,
  );
  const second = step(
    frozen,
    deepFreeze(structuredClone(event)),
    deepFreeze(structuredClone(waiting)),
    decide,
  );
  if (
    isDeepStrictEqual(first.entries, second.entries) &&
    isDeepStrictEqual(first.governor, second.governor)
  )
    return { event, stepped: first };
  const at = first.entries.findIndex((entry, index) => entry !== second.entries[index]);
  const { content, answers, ...rest } = event;
  const mismatch: GovernorEvent = {
    ...rest,
    content: {
      kind: 'mismatch',
      event: content.kind,
      ...(content.kind === 'signal' && { arrival_seq: content.arrival_seq }),
      receipt_id:
        (first.receipts[Math.max(at, 0)] ?? second.receipts[Math.max(at, 0)])?.receipt_id ??
        '00000000-0000-4000-8000-000000000000',
      expected_hash: hashOf(first),
      actual_hash: hashOf(second),
    },
  };
  return { event: mismatch, stepped: step(governor, mismatch, waiting, decide) };
}

const hashOf = ({ entries, governor }: Stepped) =>
  createHash('sha256')
    .update(canonicalize([entries, governor.state, governor.data]))
    .digest('hex');

function setAside(content: Content, { crashes, crash }: TakenGovernor): Content {
  return {
    kind: 'crash',
    event: typeof content?.kind === 'string' ? content.kind.slice(0, 100) : 'unknown',
    ...(content?.kind === 'signal' && { arrival_seq: content.arrival_seq }),
    crashes,
    window_ms: 60_000,
    error_message: crash ?? 'it was not written down',
  };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** What waits for the outside: how the signals of a turn stand that no receipt has settled. */
export function putAside(steps: Turned['steps']): Put[] {
  return steps.flatMap(([{ content }, { decision, settled }]) =>
    content.kind === 'signal' && !settled.some(([arrival]) => arrival === content.arrival_seq)
      ? [
          {
            arrivalSeq: content.arrival_seq,
            as: decision.postpone ? ('accepted' as const) : ('buffered' as const),
          },
        ]
      : [],
  );
}

/** If whoever asks does not come back with the answer, somebody asks again. */
export const askingMs = 1_000;

/**
 * When a driver looks at a governor again; without a time, it has looked and found nothing to do.
 */
export interface Wake {
  readonly id: string;
  readonly at?: number;
}

/**
 * When a driver has to look at it again. The gate itself sees what is left to do for a governor
 * that has handled something; whoever writes a crash down says when to try again, and the time here
 * is for when nobody does.
 */
export function wakesOf(
  { taken: { id }, steps, more, question, crash }: Turned,
  now: number,
): Wake[] {
  if (question || crash !== undefined) return [{ id, at: now + askingMs }];
  if (more) return [{ id, at: now }];
  return steps.length === 0 ? [{ id }] : [];
}

/**
 * What fn_governors_apply takes: governors, their events, and what came of each. Places count from
 * 1.
 */
export interface TurnRows {
  readonly governors: Record<string, unknown>[];
  readonly events: Record<string, unknown>[];
  readonly receipts: { readonly e: number; readonly r: string }[];
  readonly effects: Record<string, unknown>[];
  readonly wakes: readonly Wake[];
  /** Where the driver began to look for what is due; a hint. */
  readonly after?: string;
}

export function rowsOf(
  turned: readonly Turned[],
  wakes: TurnRows['wakes'],
  after?: string,
): TurnRows {
  const rows: TurnRows = {
    governors: [],
    events: [],
    receipts: [],
    effects: [],
    wakes,
    ...(after !== undefined && { after }),
  };
  for (const { taken, before, governor, steps } of turned) {
    if (steps.length === 0) continue;
    const g = rows.governors.push({
      id: taken.id,
      rev: taken.events,
      ...(governor.data && governor.data !== before.data && { data: storedData(governor.data) }),
      ...(governor.waiting !== before.waiting && { waiting: storedWaiting(governor.waiting) }),
    });
    for (const [, { text, entries, effects, governor: after }] of steps) {
      const e = rows.events.push({ g, doc: text, state: after.state });
      for (const r of entries) rows.receipts.push({ e, r });
      // The first attempt at an action uses up quota, and the gate counts it.
      for (const effect of effects)
        if (effect.type !== 'quota') rows.effects.push({ e, ...effect });
    }
  }
  return rows;
}

/** The kind of job that carries an action out. */
export const jobKind = (actuator: string, actionType: string) =>
  actuator === 'handler' ? `governor.handler.${actionType}` : `governor.${actuator}`;

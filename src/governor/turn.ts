/** One turn of one governor: as many of its events as are there, decided one after the other. Pure but for what it is given; the driver stores what comes out. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { canonicalize } from '../ledger/canonical.js';
import type { Data, Effect } from './decision.js';
import type { Answers, Content, Failure, GovernorEvent } from './events.js';
import { type Decide, firstDue, type Governor, nextOf, type Stepped, step } from './machine.js';
import type { PublishedPolicy } from './policy-document.js';
import { type Question, questionOf } from './questions.js';
import { contentOf, fromStored, type StoredMail, storedData, storedWaiting, type TakenGovernor } from './stored.js';

export interface TurnOptions {
  readonly decide: Decide;
  readonly decideVersion: number;
  /** Who decides, for people. */
  readonly processId: string;
  /** The clock of the database. */
  readonly now: number;
  /** Every event is decided twice, on frozen copies. */
  readonly twice: boolean;
  /** Events at most. */
  readonly limit: number;
  /** So many of its mails were read at most: there may be more than were given. */
  readonly mails: number;
  readonly crashLimit: number;
}

/** What becomes of a signal that is not settled yet. */
export interface Put {
  readonly arrivalSeq: number;
  readonly as: 'buffered' | 'accepted';
}

export interface Turned {
  readonly taken: TakenGovernor;
  readonly before: Governor;
  readonly governor: Governor;
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
  policy: PublishedPolicy | null,
  answers: Answers | undefined,
  told: Failure | undefined,
  options: TurnOptions,
): Turned {
  const { now, crashLimit, decideVersion } = options;
  // After a crash one event at a time: what cannot be written must not take those before it along, nor be taken for one of them.
  const limit = taken.crashes > 0 ? 1 : options.limit;
  const mails = taken.mails ?? [];
  const contents = new Map<number, StoredMail>([...mails, ...(taken.held ?? [])].map((mail) => [mail[0], mail]));
  const steps: (readonly [GovernorEvent, Stepped])[] = [];
  const before = fromStored(taken, policy);
  let governor = before;
  let read = 0;
  let answered = answers;
  let more = false;
  let question: Question | undefined;
  let crash: unknown;
  for (;;) {
    const mail = mails[read];
    // What comes next in the mailbox may be older than a timer that is due.
    if (!mail && mails.length >= options.mails) {
      more = true;
      break;
    }
    const waiting = told ? undefined : nextOf(governor, mail ? mail[1] : now + 1);
    if (!waiting && !mail && !told) break;
    if (steps.length >= limit || (told && steps.length > 0)) {
      more = true;
      break;
    }
    let place: Partial<GovernorEvent>;
    let content: Content;
    if (told) {
      content = { kind: 'health_failed', failure: told };
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
        place = { from: pending.from === 'timer' ? 'timer' : 'inserted', ...(dueAt !== undefined && { due_at: dueAt }) };
      }
    } else {
      const [mailSeq, at] = mail as StoredMail;
      content = contentOf(mail as StoredMail);
      place = { from: 'mailbox', mail_seq: mailSeq, arrived_at: at };
    }
    // One that has crashed its governor too often is set aside, and that is an event in its place.
    if (steps.length === 0 && taken.crashes >= crashLimit && !told) content = setAside(content, taken);
    question = questionOf(governor, content);
    if (question && !answered) break;
    const event: GovernorEvent = {
      event_seq: governor.events + 1,
      at: Math.max(now, governor.last),
      decide: decideVersion,
      ...(place as Pick<GovernorEvent, 'from'>),
      content,
      ...(question && answered && { answers: answered }),
      ...(beginsAnew(governor, content) && { answers: { process_id: options.processId } }),
    };
    try {
      const stepped = decided(governor, event, waiting?.waiting ?? governor.waiting, options);
      steps.push([stepped.event, stepped.stepped]);
      governor = stepped.stepped.governor;
    } catch (error) {
      crash = error;
      question = undefined;
      break;
    }
    if (question) answered = undefined;
    question = undefined;
    if (place.from === 'mailbox') read++;
  }
  const last = mails[read - 1];
  return { taken, before, governor, steps, mailDone: last?.[0] ?? taken.done, mailAt: last?.[1], more, question, crash };
}

/** A recovery that took too long: whoever drives is named. */
const beginsAnew = ({ state }: Governor, content: Content) => state === 'degraded' && content.kind === 'timer' && content.timer === 'state';

/** Decides, and, if asked for, once more: another outcome is an event of its own, in place of the one that gave it. */
function decided(
  governor: Governor,
  event: GovernorEvent,
  waiting: Governor['waiting'],
  { decide, twice }: TurnOptions,
): { event: GovernorEvent; stepped: Stepped } {
  if (!twice) return { event, stepped: step(governor, event, waiting, decide) };
  const frozen = deepFreeze(structuredClone(governor));
  const first = step(frozen, deepFreeze(structuredClone(event)), deepFreeze(structuredClone(waiting)), decide);
  const second = step(frozen, deepFreeze(structuredClone(event)), deepFreeze(structuredClone(waiting)), decide);
  if (isDeepStrictEqual(first.entries, second.entries) && isDeepStrictEqual(first.governor, second.governor))
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
        (first.receipts[Math.max(at, 0)] ?? second.receipts[Math.max(at, 0)])?.receipt_id ?? '00000000-0000-4000-8000-000000000000',
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
    event: content.kind,
    ...(content.kind === 'signal' && { arrival_seq: content.arrival_seq }),
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
      ? [{ arrivalSeq: content.arrival_seq, as: decision.postpone ? ('accepted' as const) : ('buffered' as const) }]
      : [],
  );
}

/** If whoever asks does not come back with the answer, somebody asks again. */
export const askingMs = 1_000;

/** When somebody has to look at it again, as far as that is not known already. A crash is for whoever writes it down. */
export function wakesOf({ taken, governor, more, question }: Turned, now: number): number[] {
  const due = firstDue(governor);
  return [
    ...(due !== undefined && (due <= now || due !== taken.due) ? [due] : []),
    ...(more ? [now] : []),
    ...(question ? [now + askingMs] : []),
  ];
}

/** As fn_governors_apply takes it. */
export function stored({ taken, before, governor, mailDone, mailAt }: Turned): Record<string, unknown> {
  return {
    id: taken.id,
    rev: taken.events,
    events: governor.events,
    receipts: governor.receipts,
    done: mailDone,
    ...(mailAt !== undefined && { mail_at: mailAt }),
    last: governor.last,
    state: governor.state,
    hash: governor.hash,
    due: firstDue(governor) ?? null,
    ...(governor.data && governor.data !== before.data && { data: storedData(governor.data) }),
    ...(governor.waiting !== before.waiting && { waiting: storedWaiting(governor.waiting) }),
  };
}

/** A row of governor_event. What stands in the mailbox, and what most events have, is left out. */
export function eventRow(governorId: string, was: Governor['state'], event: GovernorEvent, { governor }: Stepped): Record<string, unknown> {
  const { event_seq, at, mail_seq, arrived_at, content, ...added } = event;
  const plain = mail_seq !== undefined && content.kind !== 'crash' && content.kind !== 'mismatch';
  const rest = plain ? added : { ...added, content };
  return {
    g: governorId,
    n: event_seq,
    at,
    kind: content.kind === 'timer' ? `timer_${content.timer}` : content.kind,
    ...(mail_seq !== undefined && { mail: mail_seq }),
    ...(was !== null && { was }),
    state: governor.state,
    ...(!(plain && rest.from === 'mailbox' && rest.decide === 1 && Object.keys(rest).length === 2) && { added: JSON.stringify(rest) }),
  };
}

/** An effect as fn_governors_apply takes it. */
export function effectRow(governor: Governor, before: Data | null, effect: Effect, now: number): Record<string, unknown> {
  const about = { g: governor.id, t: governor.tenant };
  if (effect.type === 'fence') return { ...about, ...effect, action_id: before?.in_flight?.action_id };
  if (effect.type !== 'attempt') return { ...about, ...effect };
  const { type, job_id, ...input } = effect;
  const { actuator, action_type } = effect.doing;
  const policy = governor.data?.policy;
  const rule = policy?.document.actions[action_type];
  return {
    ...about,
    type,
    job_id,
    job_kind: jobKind(actuator.kind, action_type),
    input: {
      ...input,
      governor_id: governor.id,
      tenant: governor.tenant,
      sku_id: governor.sku,
      now,
      idempotency_key: effect.action_id,
      ...(policy && { policy_id: policy.document.policy_id }),
      ...(effect.kind === 'action' && rule?.probe && { probe: rule.probe }),
    },
  };
}

/** The kind of job that carries an action out. */
export const jobKind = (actuator: string, actionType: string) =>
  actuator === 'handler' ? `governor.handler.${actionType}` : `governor.${actuator}`;

/**
 * The history of a run: its log, its plan, its stored snapshot and the values that conditions ask
 * about. It is all that a verification needs, so a history from elsewhere is judged like one of
 * this database.
 */
import type { Queryable } from '../database/connection.js';
import { readRows } from '../database/gate.js';
import { WritError } from '../errors/index.js';
import { plural } from '../errors/words.js';
import { canonicalize } from '../ledger/canonical.js';
import { checkLog, type Fault } from './check-log.js';
import { type RunEvent, runLevel } from './events.js';
import { readEvents, readPlan, readReferences, readRun } from './log.js';
import type { PlanDocument } from './plans/document.js';
import { parseRef, refsOfCondition } from './plans/refs.js';
import { emptySnapshot, GapDetected, isTerminal, type RunSnapshot, reduce } from './snapshot.js';

export interface RunHistory {
  readonly history: 1;
  readonly run: { readonly runId: string; readonly tenant: string; readonly status: string };
  readonly plan: PlanDocument;
  /** As the projector has stored it; null: it has not come to this run yet. */
  readonly snapshot: RunSnapshot | null;
  /** By reference; null: this role may not read them. */
  readonly values: Readonly<Record<string, unknown>> | null;
  readonly events: readonly RunEvent[];
}

const page = 10_000;

/** Reads a history. The statements follow one another: a run that moves meanwhile is read again. */
export async function readHistory(
  db: Queryable,
  runId: string,
  tenant?: string,
): Promise<RunHistory> {
  for (;;) {
    const before = await readRun(db, runId, tenant);
    const plan = await readPlan(db, before.planId, before.planVersion, before.planSha256);
    const values = await readValues(db, runId, plan);
    const [stored] = await readRows(
      db,
      'select snapshot::text as snapshot from writ.run_snapshots where run_id = $1',
      [runId],
    );
    const snapshot = stored ? (JSON.parse(String(stored.snapshot)) as RunSnapshot) : null;
    const events: RunEvent[] = [];
    for (;;) {
      const more = await readEvents(db, runId, {
        afterSeq: events.at(-1)?.runSeq ?? 0,
        limit: page,
      });
      events.push(...more);
      if (more.length < page) break;
    }
    const { tenant: of, status, movedAt } = await readRun(db, runId, tenant);
    if (movedAt !== before.movedAt) continue;
    return { history: 1, run: { runId, tenant: of, status }, plan, snapshot, values, events };
  }
}

/** What the conditions of a step ask about: the input as a whole, outputs of steps as a whole. */
function askedBy(step: PlanDocument['steps'][number]): string[] {
  const refs = step.when ? [...refsOfCondition(step.when)] : [];
  return refs.flatMap((ref) => {
    const target = parseRef(ref);
    return target?.root === 'input'
      ? ['input']
      : target?.root === 'step'
        ? [`steps.${target.stepId}.output`]
        : [];
  });
}

async function readValues(
  db: Queryable,
  runId: string,
  plan: PlanDocument,
): Promise<Record<string, unknown> | null> {
  const refs = [...new Set(plan.steps.flatMap(askedBy))];
  return refs.length === 0 ? {} : readReferences(db, runId, refs);
}

/**
 * A history out of a file, as far as its shape can tell that it is one; verification judges what it
 * says.
 */
export function parseHistory(value: unknown): RunHistory {
  const { history, run, plan, events } = (value ?? {}) as Partial<RunHistory>;
  const isEvent = (event: unknown) => {
    const { runId, runSeq, eventType, stepId, eventData } = (event ?? {}) as Partial<RunEvent>;
    const texts = [runId, eventType, stepId].every(
      (text) => typeof text === 'string' && text !== '',
    );
    return (
      texts && Number.isSafeInteger(runSeq) && typeof eventData === 'object' && eventData !== null
    );
  };
  if (
    history !== 1 ||
    typeof run?.runId !== 'string' ||
    !Array.isArray(plan?.steps) ||
    !Array.isArray(events) ||
    !events.every(isEvent)
  ) {
    throw new WritError('invalid_argument', 'it is not the history of a run');
  }
  return value as RunHistory;
}

/** What an event is about, in words. */
export const subjectOf = ({ eventType, stepId }: RunEvent): string =>
  stepId === runLevel ? eventType : `${eventType} of ${stepId}`;

export interface Difference {
  /** The event from which on it differs, or 0: not an event's. */
  readonly runSeq: number;
  readonly what: string;
  readonly detail: string;
}

export interface HistoryVerdict {
  readonly ok: boolean;
  readonly runId: string;
  readonly plan: string;
  readonly events: number;
  /** What the log reduces to; absent if it cannot be reduced. */
  readonly status?: RunSnapshot['status'];
  /** The earliest first. */
  readonly differences: readonly Difference[];
  readonly notes: readonly string[];
}

const faults: Record<Fault['fault'], string> = {
  not_dense: 'an event is missing before it, or it is there twice',
  other_run: 'it belongs to another run',
  wrong_event_id: 'its id is not the one of its place',
  wrong_key: 'its key is not the one of what it says',
  repeated_key: 'the same was told before',
  not_a_reference: 'it carries content where references belong',
  other_plan: 'it names another plan, or the plan has changed',
  unknown_step: 'the plan has no such step',
  illegal_move: 'it cannot follow what was before it',
  not_allowed: 'the rules of the plan did not allow it then',
  not_done: 'what should have followed did not',
};

/**
 * Reduces the log again, and compares it with what is stored and with the rules of its plan. Pure.
 */
export function verifyHistory(history: RunHistory): HistoryVerdict {
  const { run, plan, events, snapshot: stored, values } = history;
  const notes: string[] = [];
  const differences: Difference[] = [];
  let reduced: RunSnapshot | undefined;
  try {
    reduced = reduce(emptySnapshot(run.runId, run.tenant), inRun(events, run.runId));
  } catch (error) {
    if (!(error instanceof GapDetected)) throw error; // said by the check of the log
  }
  const found = checkLog(plan, events, {
    input: values?.input,
    outputs: (stepId) => values?.[`steps.${stepId}.output`] ?? undefined,
  });
  differences.push(...believable(found, history, reduced, notes));
  if (events.length === 0) notes.push('The log is empty.');
  if (stored) differences.push(...compareSnapshot(stored, history));
  else
    notes.push(
      'The projector has not stored a snapshot of this run yet, so there is none to compare with.',
    );
  if (reduced && reduced.status !== run.status) {
    const detail = `The run is stored as ${run.status}, and its log reduces to ${reduced.status}.`;
    differences.push({ runSeq: reduced.lastEventSeq, what: 'the status of the run', detail });
  }
  differences.sort((a, b) => a.runSeq - b.runSeq);
  return {
    ok: differences.length === 0,
    runId: run.runId,
    plan: `${plan.planId} ${plan.planVersion}`,
    events: events.length,
    ...(reduced && { status: reduced.status }),
    differences,
    notes,
  };
}

const inRun = (events: readonly RunEvent[], runId: string) =>
  events.filter((event) => event.runId === runId);

/**
 * Faults as differences. A condition over a value that is not known any more proves nothing, and is
 * noted instead.
 */
function believable(
  found: readonly Fault[],
  history: RunHistory,
  reduced: RunSnapshot | undefined,
  notes: string[],
): Difference[] {
  const { plan, events, values } = history;
  const unsure = new Set(
    plan.steps.flatMap((step) =>
      askedBy(step).some((ref) => values === null || (ref === 'input' && reduced?.params))
        ? [step.id]
        : [],
    ),
  );
  const kept: Difference[] = [];
  for (const { runSeq, fault, detail } of found) {
    const event = events.find((one) => one.runSeq === runSeq);
    if (
      event &&
      fault === 'not_allowed' &&
      unsure.has(event.stepId) &&
      detail.includes('CONDITION_FALSE')
    )
      continue;
    kept.push({
      runSeq,
      what: event ? subjectOf(event) : 'the log',
      detail: `${faults[fault]} (${detail})`,
    });
  }
  if (unsure.size > 0) {
    const why =
      values === null
        ? 'this role may not read the values they ask about'
        : 'the input was changed by UPDATE_PARAMS while it ran';
    notes.push(`Not judged: the conditions of ${[...unsure].join(', ')}; ${why}.`);
  }
  return kept;
}

/** The stored snapshot beside the log reduced as far as it goes. */
function compareSnapshot(stored: RunSnapshot, { run, events }: RunHistory): Difference[] {
  const last = events.at(-1)?.runSeq ?? 0;
  if (stored.lastEventSeq > last) {
    const detail = `The stored snapshot knows of event ${stored.lastEventSeq}, and the log ends with ${last}.`;
    return [{ runSeq: last + 1, what: 'the end of the log', detail }];
  }
  const upto = inRun(events, run.runId).filter(({ runSeq }) => runSeq <= stored.lastEventSeq);
  let again: RunSnapshot;
  try {
    again = reduce(emptySnapshot(run.runId, run.tenant), upto);
  } catch (error) {
    if (error instanceof GapDetected) return []; // the gap is a difference of its own
    throw error;
  }
  const names = new Set([...Object.keys(stored), ...Object.keys(again)]) as Set<keyof RunSnapshot>;
  return [...names]
    .filter((name) => !same(stored[name], again[name]))
    .map((name) => differenceOf(name, stored, again, upto));
}

function differenceOf(
  name: keyof RunSnapshot,
  stored: RunSnapshot,
  again: RunSnapshot,
  events: readonly RunEvent[],
): Difference {
  const what = 'the stored snapshot';
  if (name !== 'steps') {
    return {
      runSeq: again.lastEventSeq,
      what,
      detail: `${name} is stored as ${short(stored[name])}, and the log gives ${short(again[name])}.`,
    };
  }
  const before = new Map(stored.steps.map((step) => [step.stepId, step]));
  const after = new Map(again.steps.map((step) => [step.stepId, step]));
  const ids = [...new Set([...after.keys(), ...before.keys()])];
  const id = ids.find((stepId) => !same(before.get(stepId), after.get(stepId)));
  // The same steps in another order.
  if (id === undefined)
    return { runSeq: again.lastEventSeq, what, detail: 'its steps stand in another order.' };
  const told = events.filter(({ stepId }) => stepId === id || stepId.startsWith(`${id}[`));
  const [one, two] = [before.get(id), after.get(id)].map((step) => step?.status ?? 'nothing');
  const detail =
    one === two
      ? `step ${id} is stored otherwise than the log gives it.`
      : `step ${id} is stored as ${one}, and the log gives ${two}.`;
  return { runSeq: told.at(-1)?.runSeq ?? again.lastEventSeq, what, detail };
}

const same = (one: unknown, other: unknown): boolean =>
  one === undefined || other === undefined
    ? one === other
    : canonicalize(one) === canonicalize(other);

const short = (value: unknown): string => {
  const text =
    value === undefined ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
};

/** The verdict for people, the first line first. */
export function describeHistory(
  { ok, runId, plan, events, status, differences, notes }: HistoryVerdict,
  at: (runSeq: number) => RunEvent | undefined,
): string[] {
  const [first] = differences;
  const told = first && at(first.runSeq);
  const head = ok
    ? `Run ${runId} is what its log says: ${plural(events, 'event')} by the rules of ${plan}, ${status && isTerminal({ status }) ? 'to its end as' : 'so far'} ${status}.`
    : `Run ${runId} differs from its log or its plan ${plan}, first at event ${first?.runSeq}${told ? `, ${subjectOf(told)}, ${told.emittedAt}` : ''}.`;
  const shown = differences
    .slice(0, 20)
    .map(({ runSeq, what, detail }) => `  ✗ ${runSeq}  ${what}: ${detail}`);
  const more =
    differences.length > shown.length ? [`  … and ${differences.length - shown.length} more`] : [];
  return [
    `${ok ? '✓' : '✗'} ${head}`,
    ...shown,
    ...more,
    ...notes.map((note) => `  note: ${note}`),
  ];
}

/**
 * What is over its threshold: a level per type of signal, or per instance of a type, and whether an
 * action has answered it.
 */
import type { Data, Level } from '../decision.js';
import type { Threshold } from '../policy-document.js';
import { change, documentOf, own, start, type Turn } from './turn.js';

/**
 * Levels that a governor keeps, of those over and of those that no policy compares with anything.
 * Beyond these, the oldest is forgotten.
 */
const mostLevels = 500;

/** No type has a blank in it. */
export const keyOf = ({
  type,
  instance,
}: {
  readonly type: string;
  readonly instance?: string;
}): string => (instance === undefined ? type : `${type} ${instance}`);
export const typeOf = (key: string): string => key.split(' ', 1)[0] as string;

/** What is over stays over until it clears: between `limit` and `clear` nothing changes. */
export function isOver(
  { direction, limit, clear }: Threshold,
  value: number,
  was: boolean,
): boolean {
  if (direction === 'above') return was ? value >= clear : value > limit;
  return was ? value <= clear : value < limit;
}

/** A level that is over, in place of what was there. */
export function keep(turn: Turn, key: string, level: Level) {
  const { [key]: before, ...others } = turn.data.over;
  change(turn, { over: { ...(before ? others : withRoom(others)), [key]: level } });
}

/** A level that nothing compares with a threshold, in place of what was there. */
export function keepSeen(turn: Turn, key: string, level: Level) {
  const { [key]: before, ...others } = turn.data.seen ?? {};
  change(turn, { seen: { ...(before ? others : withRoom(others)), [key]: level } });
}

/** Nothing is kept of it any more. */
export function forget(turn: Turn, key: string) {
  const { over, seen } = turn.data;
  if (own(over, key)) change(turn, { over: without(over, key) });
  if (own(seen, key)) change(turn, { seen: without(seen ?? {}, key) });
}

function without(levels: Data['over'], key: string): Data['over'] {
  const { [key]: _, ...others } = levels;
  return others;
}

/** Another policy is in force: each level that is known is compared with its thresholds. */
export function judgeLevels(turn: Turn) {
  const { over, seen = {} } = turn.data;
  const judged = [
    ...Object.entries(over).map(([key, level]) => ({ key, level, was: true })),
    ...Object.entries(seen).map(([key, level]) => ({ key, level, was: false })),
  ].map((one) => {
    const threshold = own(documentOf(turn)?.when, typeOf(one.key));
    return { ...one, isOver: threshold ? isOver(threshold, one.level.value, one.was) : false };
  });
  change(turn, { over: {}, seen: {} });
  for (const { key, level, isOver } of judged) {
    if (isOver) keep(turn, key, level);
    else keepSeen(turn, key, level);
  }
}

function withRoom(over: Data['over']): Data['over'] {
  const entries = Object.entries(over);
  if (entries.length < mostLevels) return over;
  const [oldest] = entries.reduce((first, one) => (one[1].since < first[1].since ? one : first));
  const { [oldest]: _, ...others } = over;
  return others;
}

/** An action is attempted: it answers everything that is over of its type. */
export const answer = (turn: Turn, type: string | undefined): void =>
  mark(turn, type, ({ answered: _, ...level }) => ({ ...level, answered: true }));

/** The action was given up for a reason that is not its own. */
export const reopen = (turn: Turn, type: string | undefined): void =>
  mark(turn, type, ({ answered: _, ...level }) => level);

function mark(turn: Turn, type: string | undefined, marked: (level: Level) => Level) {
  const entries = Object.entries(turn.data.over);
  if (type === undefined || !entries.some(([key]) => typeOf(key) === type)) return;
  change(turn, {
    over: Object.fromEntries(
      entries.map(([key, level]) => [key, typeOf(key) === type ? marked(level) : level]),
    ),
  });
}

export interface Standing {
  readonly type: string;
  readonly level: Level;
  readonly threshold: Threshold;
}

/**
 * Of each type that is over by the policy in force one level: the first that no action has
 * answered, if there is one.
 */
export function standing(turn: Turn): Standing[] {
  const found = new Map<string, Standing>();
  for (const [key, level] of Object.entries(turn.data.over)) {
    const type = typeOf(key);
    const threshold = own(documentOf(turn)?.when, type);
    if (!threshold || !isOver(threshold, level.value, true)) continue;
    const before = found.get(type);
    if (!before || (before.level.answered && !level.answered))
      found.set(type, { type, level, threshold });
  }
  return [...found.values()];
}

/** Until when no action is asked for because of a type. */
export const coolingUntil = (turn: Turn, type: string): number => own(turn.data.cooling, type) ?? 0;

/** Whether an action has yet to be asked for. */
export const isUnanswered = (turn: Turn, { type, level, threshold }: Standing): boolean =>
  threshold.action !== undefined &&
  !level.answered &&
  !turn.data.queue.some(({ signal_type }) => signal_type === type);

/**
 * What is over and not answered is looked at as soon as an action may be asked for; in stable, what
 * is over at all. Without `asked`: the types for which one was asked for just now.
 */
export function lookAgain(turn: Turn, asked: readonly string[] = []) {
  if (turn.event.decide < 2) return;
  const waiting = standing(turn).filter(
    (one) => !asked.includes(one.type) && (turn.state === 'stable' || isUnanswered(turn, one)),
  );
  if (waiting.length === 0) return;
  const first =
    turn.state === 'stable' ? 0 : Math.min(...waiting.map(({ type }) => coolingUntil(turn, type)));
  start(turn, 'named:look', Math.max(1, first - turn.clock));
}

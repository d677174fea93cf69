/** The order of events is that of gen_statem: against traces of the real one, and the rules by name. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Action, after, begun, due, next, type Pending, type TimerName, type Waiting } from '../../src/governor/statem.js';

/** See gen-statem/traces.erl. */
type Coded = readonly [0] | readonly [1, number] | readonly [2, number, number, number] | readonly [3, number];
type Program = readonly [
  rules: readonly (readonly [next: number, actions: readonly Coded[]])[],
  entries: readonly (readonly Coded[])[],
  batches: readonly (readonly number[])[],
  trace: readonly (readonly [state: number, kind: number, content: number])[],
];

const limit = 24;
const names: readonly TimerName[] = ['state', 'event', 'named:a', 'named:b'];
const kindOf = (event: Pending<number>) => (event.from === 'timer' ? names.indexOf(event.name) : event.from === 'inserted' ? 4 : 6);

function decoded(actions: readonly Coded[]): Action<number>[] {
  return actions.flatMap((action): Action<number>[] => {
    if (action[0] === 1) return [{ type: 'insert', content: action[1] }];
    if (action[0] === 2) return [{ type: 'start', name: names[action[1]] as TimerName, ms: action[2], content: action[3] }];
    return action[0] === 3 ? [{ type: 'cancel', name: names[action[1]] as TimerName }] : [];
  });
}

/** Does a program as gen-statem/traces.erl does it, in a time that only moves when somebody waits. */
function run([rules, entries, batches]: Program): number[][] {
  const trace: number[][] = [];
  let state = 0;
  let now = 0;
  const entered = (old: number): readonly Coded[] => {
    const n = trace.push([state, 5, old]) - 1;
    return n >= limit ? [] : (entries[(state * 5 + n) % entries.length] as readonly Coded[]);
  };
  let waiting: Waiting<number> = begun(decoded(entered(0)), now);
  const handle = (event: Pending<number>) => {
    const n = trace.push([state, kindOf(event), event.content]) - 1;
    const [to, actions] =
      n >= limit
        ? ([-2, []] as const)
        : (rules[(state * 31 + kindOf(event) * 7 + event.content * 13 + n) % rules.length] as Program[0][number]);
    const old = state;
    if (to >= 0) state = to;
    const moved = state !== old;
    const all = moved || to === -1 ? [...actions, ...entered(old)] : actions;
    waiting = after(waiting, { event, moved, postpone: actions.some(([code]) => code === 0), actions: decoded(all) }, now);
  };
  const drain = () => {
    for (let one = next(waiting); one; one = next(waiting)) {
      waiting = one[1];
      handle(one[0]);
    }
  };
  const wait = (until: number) => {
    for (let one = due(waiting, until); one; one = due(waiting, until)) {
      [, now, waiting] = one;
      handle(one[0]);
      drain();
    }
    now = until;
  };
  drain();
  for (const batch of batches) {
    for (const content of batch) {
      handle({ from: 'mailbox', content });
      drain();
    }
    wait(now + 20);
  }
  wait(Number.POSITIVE_INFINITY);
  return trace;
}

const traces = readFileSync(new URL('gen-statem/traces.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Program);

test('there are traces to hold it against', () => {
  expect(traces.length).toBeGreaterThanOrEqual(1_000);
  const kinds = new Set(traces.flatMap(([, , , trace]) => trace.map(([, kind]) => kind)));
  expect([...kinds].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('every trace of the real gen_statem is ours, callback by callback', () => {
  const wrong = traces.filter((program) => JSON.stringify(run(program)) !== JSON.stringify(program[3]));
  expect(
    wrong
      .slice(0, 5)
      .map((program) => `${JSON.stringify(program)}\nours ${JSON.stringify(run(program))}`)
      .join('\n'),
  ).toBe('');
});

const inserted = (content: number): Action<number> => ({ type: 'insert', content });
const started = (name: TimerName, ms: number, content: number): Action<number> => ({ type: 'start', name, ms, content });
const mailbox = (content: number): Pending<number> => ({ from: 'mailbox', content });
const idle: Waiting<number> = { queue: [], postponed: [], timers: [] };

/** What is delivered until nothing but the mailbox and time is left, if nobody returns anything more than `says`. */
function delivered(waiting: Waiting<number>, says: (content: number) => readonly Action<number>[] = () => []): number[] {
  const seen: number[] = [];
  for (let one = next(waiting); one; one = next(waiting)) {
    seen.push(one[0].content);
    waiting = after(one[1], { event: one[0], moved: false, postpone: false, actions: says(one[0].content) }, 0);
  }
  return seen;
}

test('what is inserted comes before what was postponed, and an event timeout of zero is over with the first of them', () => {
  let waiting = idle;
  for (const n of [1, 2]) waiting = after(waiting, { event: mailbox(n), moved: false, postpone: true, actions: [] }, 0);
  const actions = [inserted(3), inserted(4), started('event', 0, 5)];
  waiting = after(waiting, { event: mailbox(0), moved: true, postpone: false, actions }, 0);
  expect(delivered(waiting)).toEqual([3, 4, 1, 2]);
});

test('timeouts of zero come in the order in which they were started, and one that is started again or cancelled is not the one before', () => {
  const [A, B, C, D] = [1, 2, 3, 4] as const;
  const actions = [started('event', 0, A), started('state', 0, B)];
  const waiting = after(idle, { event: mailbox(0), moved: false, postpone: false, actions }, 0);
  const says = (content: number) => (content === A ? [started('state', 0, C), started('event', 0, D)] : []);
  expect(delivered(waiting, says)).toEqual([A, C]);
});

test('without another state what was postponed stays, whatever else has changed', () => {
  let waiting = after(idle, { event: mailbox(1), moved: false, postpone: true, actions: [] }, 0);
  waiting = after(waiting, { event: mailbox(2), moved: false, postpone: false, actions: [] }, 0);
  expect([next(waiting), waiting.postponed]).toEqual([undefined, [mailbox(1)]]);
});

test('a new state ends the timeout of the one before, not the one that is started with it, and no named one', () => {
  const first = after(
    idle,
    { event: mailbox(0), moved: false, postpone: false, actions: [started('state', 5, 1), started('named:a', 5, 2)] },
    0,
  );
  const moved = after(first, { event: mailbox(0), moved: true, postpone: false, actions: [started('state', 9, 3)] }, 0);
  expect(moved.timers.map(({ content }) => content)).toEqual([2, 3]);
});

test('a timeout that was delivered can be postponed', () => {
  const [fired, at, waiting] = due(begun([started('named:a', 5, 1)], 0), 6) as NonNullable<ReturnType<typeof due<number>>>;
  const kept = after(waiting, { event: fired, moved: false, postpone: true, actions: [] }, at);
  expect(delivered(after(kept, { event: mailbox(2), moved: true, postpone: false, actions: [] }, at))).toEqual([1]);
});

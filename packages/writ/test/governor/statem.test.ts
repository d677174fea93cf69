/**
 * The order of events is that of gen_statem: against traces of the real one. The rules by their
 * numbers are in statem-rules.test.ts.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type Action,
  after,
  begun,
  due,
  type EnterAction,
  next,
  type Pending,
  type TimerName,
  type Waiting,
} from '../../src/governor/statem.js';

/** See gen-statem/traces.erl. */
type Coded =
  | readonly [0]
  | readonly [1, number]
  | readonly [2, number, number, number]
  | readonly [3, number];
type Program = readonly [
  rules: readonly (readonly [next: number, actions: readonly Coded[]])[],
  entries: readonly (readonly Coded[])[],
  batches: readonly (readonly number[])[],
  trace: readonly (readonly [state: number, kind: number, content: number])[],
];

const limit = 24;
const names: readonly TimerName[] = ['state', 'event', 'named:a', 'named:b'];
const kindOf = (event: Pending<number>) =>
  event.from === 'timer' ? names.indexOf(event.name) : event.from === 'inserted' ? 4 : 6;

function decoded(actions: readonly Coded[]): Action<number>[] {
  return actions.flatMap((action): Action<number>[] => {
    if (action[0] === 1) return [{ type: 'insert', content: action[1] }];
    if (action[0] === 2)
      return [
        { type: 'start', name: names[action[1]] as TimerName, ms: action[2], content: action[3] },
      ];
    return action[0] === 3 ? [{ type: 'cancel', name: names[action[1]] as TimerName }] : [];
  });
}

/**
 * Does a program as gen-statem/traces.erl does it, in a time that only moves when somebody waits.
 */
function run([rules, entries, batches]: Program): number[][] {
  const trace: number[][] = [];
  let state = 0;
  let now = 0;
  const entered = (old: number): readonly Coded[] => {
    const n = trace.push([state, 5, old]) - 1;
    return n >= limit ? [] : (entries[(state * 5 + n) % entries.length] as readonly Coded[]);
  };
  let waiting: Waiting<number> = begun(decoded(entered(0)) as EnterAction<number>[], now);
  const handle = (event: Pending<number>) => {
    const n = trace.push([state, kindOf(event), event.content]) - 1;
    const [to, actions] =
      n >= limit
        ? ([-2, []] as const)
        : (rules[
            (state * 31 + kindOf(event) * 7 + event.content * 13 + n) % rules.length
          ] as Program[0][number]);
    const old = state;
    if (to >= 0) state = to;
    const moved = state !== old;
    const all = moved || to === -1 ? [...actions, ...entered(old)] : actions;
    waiting = after(
      waiting,
      { event, moved, postpone: actions.some(([code]) => code === 0), actions: decoded(all) },
      now,
    );
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
  const wrong = traces.filter(
    (program) => JSON.stringify(run(program)) !== JSON.stringify(program[3]),
  );
  expect(
    wrong
      .slice(0, 5)
      .map((program) => `${JSON.stringify(program)}\nours ${JSON.stringify(run(program))}`)
      .join('\n'),
  ).toBe('');
});

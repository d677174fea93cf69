/**
 * The fifteen rules of gen_statem by their numbers, each held by itself; all of them together are
 * held by the traces in statem.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { decideVersion } from '../../src/governor/decide.js';
import type { Data, Waits } from '../../src/governor/decision.js';
import { type MachineState, step, unborn } from '../../src/governor/machine.js';
import {
  type Action,
  after,
  begun,
  due,
  type EnterAction,
  type Handled,
  next,
  type Pending,
  type TimerName,
  type Waiting,
} from '../../src/governor/statem.js';

const idle: Waiting<number> = { queue: [], postponed: [], timers: [] };
const insert = (content: number): Action<number> => ({ type: 'insert', content });
const start = (name: TimerName, ms: number, content: number): EnterAction<number> => ({
  type: 'start',
  name,
  ms,
  content,
});
const cancel = (name: TimerName): EnterAction<number> => ({ type: 'cancel', name });
const mail = (content: number): Pending<number> => ({ from: 'mailbox', content });
const contents = (waiting: readonly { readonly content: number }[]) =>
  waiting.map(({ content }) => content);

type Said = Partial<Omit<Handled<number>, 'event'>>;
/** What a callback has said about an event. */
const said = (
  event: Pending<number>,
  { moved = false, postpone = false, actions = [] }: Said = {},
): Handled<number> => ({
  event,
  moved,
  postpone,
  actions,
});
/** What waits when a mail was handled, at a time of its own. */
const handled = (waiting: Waiting<number>, content: number, saying: Said = {}, now = 0) =>
  after(waiting, said(mail(content), saying), now);
const postponing = (...mails: number[]) =>
  mails.reduce((waiting, content) => handled(waiting, content, { postpone: true }), idle);

/**
 * Handles what waits and then the mailbox, one after the other, and answers in which order; no time
 * passes. A callback says `says` of the contents that it names, and nothing of others.
 */
function delivered(
  waiting: Waiting<number>,
  mailbox: readonly number[] = [],
  says: Readonly<Record<number, Said>> = {},
): number[] {
  const order: number[] = [];
  const mails = [...mailbox];
  for (;;) {
    const first = next(waiting);
    const content = first ? first[0].content : mails.shift();
    if (content === undefined) return order;
    order.push(content);
    waiting = after(
      first ? first[1] : waiting,
      said(first ? first[0] : mail(content), says[content]),
      0,
    );
  }
}

/** Lets time pass, and answers which timers were delivered and when. */
function fired(waiting: Waiting<number>): [content: number, at: number][] {
  const order: [number, number][] = [];
  for (
    let one = due(waiting, Number.POSITIVE_INFINITY);
    one;
    one = due(waiting, Number.POSITIVE_INFINITY)
  ) {
    const [event, at, left] = one;
    order.push([event.content, at]);
    waiting = after(left, said(event), at);
  }
  return order;
}

describe('the queue', () => {
  test('1: one event at a time, inserted ones first, then timeouts of zero, then the mailbox', () => {
    const waiting = handled(idle, 0, {
      actions: [start('state', 0, 3), insert(1), start('named:a', 0, 4), insert(2)],
    });
    expect(next(waiting)?.[1]).toMatchObject({
      queue: [{ content: 2 }],
      timers: [{ content: 3 }, { content: 4 }],
    });
    expect(delivered(waiting, [5, 6])).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('2: a state change is a different state: data that changed never has postponed events tried again', () => {
    const held: Waits = { kind: 'held', mail_seq: 1, arrival_seq: 1 };
    const waiting: MachineState['waiting'] = {
      queue: [],
      postponed: [{ from: 'mailbox', content: held }],
      timers: [],
    };
    const governor: MachineState = {
      ...unborn('018f0000-0000-7000-8000-000000000001', 'acme', 'x'),
      state: 'stable',
      waiting,
    };
    const happens = (state: 'stable' | 'warning') =>
      step(
        governor,
        {
          event_seq: 1,
          at: 0,
          from: 'mailbox',
          decide: decideVersion,
          content: { kind: 'quota', quota: { month: '2026-01', used: 1 } },
        } as never,
        waiting,
        // An action as well, so that there is something to do about what waits.
        () => ({
          ...{ state, data: { since: 1 } as unknown as Data, receipts: [], effects: [] },
          actions: [{ type: 'start', name: 'named:check', ms: 1 }],
        }),
      ).governor.waiting;
    expect(happens('stable')).toMatchObject({ queue: [], postponed: [{ content: held }] });
    expect(happens('warning')).toMatchObject({ queue: [{ content: held }], postponed: [] });
  });

  test('3: after a state change come what was inserted in its order, then what was postponed, oldest first, then the rest', () => {
    const waiting = handled(postponing(1, 2), 0, { actions: [insert(7), insert(8)] });
    const says = { 7: { moved: true, actions: [insert(3), insert(4)] } };
    expect(delivered(waiting, [9], says)).toEqual([7, 3, 4, 1, 2, 8, 9]);
  });

  test('4: without a state change what was postponed stays', () => {
    const waiting = handled(postponing(1, 2), 3, { actions: [insert(4), start('state', 0, 5)] });
    expect(delivered(waiting, [6])).toEqual([4, 5, 6]);
    expect(contents(waiting.postponed)).toEqual([1, 2]);
  });

  test('5: 1 and 2 postponed, then a change of state with 3 and 4 inserted and an event timeout of zero: 3, 4, 1, 2, and the timeout never', () => {
    const waiting = handled(postponing(1, 2), 0, {
      moved: true,
      actions: [insert(3), insert(4), start('event', 0, 5)],
    });
    expect(delivered(waiting)).toEqual([3, 4, 1, 2]);
  });

  test('6: postponing concerns the event that is handled, and none before, after or inserted by it', () => {
    const waiting = handled(handled(idle, 1), 2, { postpone: true, actions: [insert(3)] });
    expect(contents(waiting.postponed)).toEqual([2]);
    expect(delivered(waiting, [4])).toEqual([3, 4]);
    // Tried again, it is gone unless it is postponed again.
    const again = handled(waiting, 4, { moved: true });
    expect(delivered(again, [5], { 5: { moved: true } })).toEqual([2, 3, 5]);
  });
});

describe('a transition', () => {
  test('7: actions, those of the enter call, postponing, trying again, timers cancelled, timers started, events inserted', () => {
    const before = handled(postponing(1), 0, {
      actions: [start('state', 50, 90), start('event', 50, 91)],
    });
    const own = [insert(3), start('state', 10, 92), start('event', 0, 93), cancel('named:a')];
    const entering = [start('state', 20, 94), start('named:a', 30, 95)];
    const waiting = handled(
      before,
      2,
      { moved: true, postpone: true, actions: [...own, ...entering] },
      100,
    );
    // The event itself is postponed before what was postponed is tried again, and what is inserted
    // comes before both.
    expect([contents(waiting.queue), waiting.postponed]).toEqual([[3, 1, 2], []]);
    // Those of before are cancelled before any is started, and of two the one of the enter call
    // counts.
    expect(waiting.timers).toEqual([
      { name: 'event', due: 'now', content: 93 },
      { name: 'state', due: 120, content: 94 },
      { name: 'named:a', due: 130, content: 95 },
    ]);
  });

  test('8: an enter call sets timeouts: in the first state, after each change, and when a state is repeated', () => {
    const first = begun([start('state', 10, 1), start('named:a', 0, 2)], 100);
    expect(first.timers).toEqual([
      { name: 'state', due: 110, content: 1 },
      { name: 'named:a', due: 'now', content: 2 },
    ]);
    const changed = handled(first, 0, { moved: true, actions: [start('state', 10, 3)] }, 200);
    expect(changed.timers).toMatchObject([
      { name: 'named:a' },
      { name: 'state', due: 210, content: 3 },
    ]);
    // Repeated, it is entered again and is the same state: its timeout is replaced, what was
    // postponed stays.
    const repeated = handled(
      handled(changed, 5, { postpone: true }),
      0,
      { actions: [start('state', 10, 4)] },
      205,
    );
    expect(repeated.timers).toMatchObject([
      { name: 'named:a' },
      { name: 'state', due: 215, content: 4 },
    ]);
    expect([repeated.queue, contents(repeated.postponed)]).toEqual([[], [5]]);
    // One that says nothing leaves the timeout of the state that is repeated, and none to another.
    expect(contents(handled(first, 0).timers)).toEqual([1, 2]);
    expect(contents(handled(first, 0, { moved: true }).timers)).toEqual([2]);
  });
});

describe('timers', () => {
  test('9: one state timeout, one event timeout, any number of named ones; starting one again replaces it', () => {
    const all = [
      start('state', 5, 1),
      start('event', 6, 2),
      start('named:a', 7, 3),
      start('named:b', 8, 4),
    ];
    const twice = [start('state', 15, 11), start('named:a', 17, 13)];
    expect(contents(handled(idle, 0, { actions: [...all, ...twice] }).timers)).toEqual([
      2, 4, 11, 13,
    ]);
    // The same with an event between them, when the first are started already.
    const waiting = handled(handled(idle, 0, { actions: all }), 0, {
      actions: [...twice, start('event', 16, 12)],
    });
    expect(contents(waiting.timers)).toEqual([4, 11, 13, 12]);
    expect(fired(waiting).map(([content]) => content)).toEqual([4, 11, 13]);
  });

  test('10: a state change cancels the state timeout first, so that one of the same actions is of the new state', () => {
    const waiting = handled(idle, 0, { actions: [start('state', 5, 1)] });
    expect(fired(handled(waiting, 0, { moved: true }))).toEqual([]);
    expect(fired(handled(waiting, 0, { moved: true, actions: [start('state', 9, 2)] }))).toEqual([
      [2, 9],
    ]);
    expect(fired(handled(waiting, 0))).toEqual([[1, 5]]);
  });

  test('11: the event timeout is cancelled by any event that is processed, be it a mail, an inserted one or another timeout', () => {
    const waiting = begun([start('event', 5, 9)], 0);
    expect(fired(waiting)).toEqual([[9, 5]]);
    const events: Pending<number>[] = [
      mail(1),
      { from: 'inserted', content: 1 },
      { from: 'timer', name: 'named:a', content: 1 },
    ];
    for (const event of events)
      for (const saying of [
        {},
        { postpone: true },
        { moved: true },
        { actions: [start('state', 5, 2)] },
      ])
        expect(contents(after(waiting, said(event, saying), 0).timers)).not.toContain(9);
  });

  test('12: named timeouts survive state changes', () => {
    const waiting = begun([start('named:a', 5, 1), start('named:b', 0, 2)], 0);
    const changed = handled(handled(waiting, 0, { moved: true }), 0, {
      moved: true,
      actions: [start('named:c', 1, 3)],
    });
    expect(delivered(changed)).toEqual([2]);
    expect(fired(changed)).toEqual([
      [3, 1],
      [1, 5],
    ]);
  });

  test('13: time zero starts no timer: it waits behind inserted events and before the mailbox, and can still be cancelled', () => {
    const waiting = handled(idle, 0, {
      actions: [start('state', 0, 1), start('named:a', 0, 2), insert(3)],
    });
    expect(fired(waiting)).toEqual([]);
    expect(delivered(waiting, [4])).toEqual([3, 1, 2, 4]);
    expect(delivered(waiting, [4], { 3: { actions: [cancel('named:a')] } })).toEqual([3, 1, 4]);
    expect(delivered(waiting, [4], { 3: { moved: true } })).toEqual([3, 2, 4]);
    const [A, B, C, D] = [11, 12, 13, 14] as const;
    const both = handled(idle, 0, { actions: [start('event', 0, A), start('state', 0, B)] });
    expect(
      delivered(both, [], { [A]: { actions: [start('state', 0, C), start('event', 0, D)] } }),
    ).toEqual([A, C]);
  });

  test('14: what a timer that was cancelled would have said is no event, however late it is', () => {
    const waiting = begun(
      [start('state', 5, 1), start('named:a', 5, 2), start('named:b', 5, 3)],
      0,
    );
    // They have been due for a while, and nobody has looked.
    const cancelled = handled(
      waiting,
      0,
      { actions: [cancel('state'), cancel('named:a'), start('named:b', 5, 4)] },
      100,
    );
    expect(fired(cancelled)).toEqual([[4, 105]]);
    expect(fired(handled(waiting, 0, { moved: true }, 100)).map(([content]) => content)).toEqual([
      2, 3,
    ]);
  });

  test('15: a timeout that was delivered can be postponed, and is then an event like another', () => {
    const [timeout, at, left] = due(begun([start('state', 5, 1)], 0), 6) as NonNullable<
      ReturnType<typeof due<number>>
    >;
    const kept = after(left, said(timeout, { postpone: true }), at);
    expect([kept.postponed, kept.timers]).toEqual([
      [{ from: 'timer', name: 'state', content: 1 }],
      [],
    ]);
    // Neither a cancellation nor another state takes it back.
    const moved = handled(kept, 2, { moved: true, actions: [cancel('state')] });
    expect(next(moved)?.[0]).toEqual({ from: 'timer', name: 'state', content: 1 });
    expect(delivered(moved)).toEqual([1]);
  });
});

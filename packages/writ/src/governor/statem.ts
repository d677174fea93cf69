/**
 * What gen_statem does with events, as pure functions over data that can be stored: which event
 * comes next, and what becomes of those that wait when one was handled. Nothing here knows what a
 * governor is. The order is OTP's, held against traces of the real one (test/governor/gen-statem).
 */

/** One of the state, one of events, and any number of named ones. */
export type TimerName = 'state' | 'event' | `named:${string}`;

export interface Timer<Content> {
  readonly name: TimerName;
  /**
   * When it is due; 0 ms after it was started is no time: it waits behind inserted events and
   * before the mailbox.
   */
  readonly due: number | 'now';
  readonly content: Content;
}

export type Pending<Content> =
  | { readonly from: 'inserted' | 'mailbox'; readonly content: Content }
  | { readonly from: 'timer'; readonly name: TimerName; readonly content: Content };

/** Everything that waits, in order. */
export interface Waiting<Content> {
  /** Inserted, and postponed ones that are tried again. */
  readonly queue: readonly Pending<Content>[];
  /** Oldest first. */
  readonly postponed: readonly Pending<Content>[];
  /** In the order in which they were started. */
  readonly timers: readonly Timer<Content>[];
}

export type Action<Content> =
  | { readonly type: 'insert'; readonly content: Content }
  | {
      readonly type: 'start';
      readonly name: TimerName;
      readonly ms: number;
      readonly content: Content;
    }
  | { readonly type: 'cancel'; readonly name: TimerName };

/** What a state enter call may say: it has no word for inserting, postponing or another state. */
export type EnterAction<Content> = Exclude<Action<Content>, { type: 'insert' }>;

export interface Handled<Content> {
  readonly event: Pending<Content>;
  /** A different state: what changed only in the data is none. */
  readonly moved: boolean;
  readonly postpone: boolean;
  /**
   * In the order in which they were returned; those of a state enter call come after those of the
   * event.
   */
  readonly actions: readonly Action<Content>[];
}

export const nothing: Waiting<never> = { queue: [], postponed: [], timers: [] };

/** The actions of the first state enter call, before any event. */
export function begun<Content>(
  actions: readonly EnterAction<Content>[],
  now: number,
): Waiting<Content> {
  return { ...nothing, timers: withTimers<Content>([], actions, now) };
}

/** What is handled before the mailbox is looked into, and what is left then. */
export function next<Content>(
  waiting: Waiting<Content>,
): readonly [Pending<Content>, Waiting<Content>] | undefined {
  const [first, ...queue] = waiting.queue;
  if (first) return [first, { ...waiting, queue }];
  const zero = waiting.timers.find(({ due }) => due === 'now');
  return (
    zero && [fired(zero), { ...waiting, timers: waiting.timers.filter((timer) => timer !== zero) }]
  );
}

/**
 * The timer that is due first, if one is before `until`; of those that are due at the same time the
 * one that was started first.
 */
export function due<Content>(
  waiting: Waiting<Content>,
  until: number,
): readonly [Pending<Content>, number, Waiting<Content>] | undefined {
  let first: (Timer<Content> & { readonly due: number }) | undefined;
  for (const timer of waiting.timers)
    if (timer.due !== 'now' && timer.due < (first?.due ?? until))
      first = timer as Timer<Content> & { readonly due: number };
  return (
    first && [
      fired(first),
      first.due,
      { ...waiting, timers: waiting.timers.filter((timer) => timer !== first) },
    ]
  );
}

/** What waits when an event was handled. */
export function after<Content>(
  waiting: Waiting<Content>,
  { event, moved, postpone, actions }: Handled<Content>,
  now: number,
): Waiting<Content> {
  const postponed = postpone ? [...waiting.postponed, event] : waiting.postponed;
  const inserted = actions.flatMap((action) =>
    action.type === 'insert' ? [{ from: 'inserted' as const, content: action.content }] : [],
  );
  // A new state has no state timeout yet, and an event that was handled ends the event timeout:
  // what is started now is started after that.
  const kept = waiting.timers.filter(
    ({ name }) => name !== 'event' && !(moved && name === 'state'),
  );
  return {
    queue: [...inserted, ...(moved ? postponed : []), ...waiting.queue],
    postponed: moved ? [] : postponed,
    timers: withTimers(kept, actions, now),
  };
}

/** Of the same name the last counts. */
function withTimers<Content>(
  timers: readonly Timer<Content>[],
  actions: readonly Action<Content>[],
  now: number,
): Timer<Content>[] {
  return actions.reduce<Timer<Content>[]>(
    (started, action) => {
      if (action.type === 'insert') return started;
      const others = started.filter(({ name }) => name !== action.name);
      return action.type === 'cancel'
        ? others
        : [
            ...others,
            {
              name: action.name,
              due: action.ms === 0 ? 'now' : now + action.ms,
              content: action.content,
            },
          ];
    },
    [...timers],
  );
}

const fired = <Content>({ name, content }: Timer<Content>): Pending<Content> => ({
  from: 'timer',
  name,
  content,
});

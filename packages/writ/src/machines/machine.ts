/**
 * A state machine as data. Everything that has to know the states of something, the TypeScript
 * unions, the guard in the database, the diagrams and the test of every (state, event) pair, is
 * derived from one such declaration.
 */
export interface Transition<State extends string, Event extends string> {
  /** '' is "does not exist yet". */
  readonly from: State | '';
  readonly event: Event;
  readonly to: State;
  /** When the same event can lead to several states, what decides. */
  readonly when?: string;
}

export interface Machine<State extends string, Event extends string> {
  readonly name: string;
  /** The section of the specification that the declaration comes from. */
  readonly source: string;
  readonly states: readonly State[];
  readonly events: readonly Event[];
  readonly terminal: readonly State[];
  readonly transitions: readonly Transition<State, Event>[];
  /**
   * Where the state is stored in a column that may be updated, which of the states are, and the
   * layer of its guard.
   */
  readonly stored?: {
    readonly table: string;
    readonly column: string;
    readonly states: readonly State[];
    readonly layer: string;
  };
}

/**
 * The states that an event can lead to from a state; empty means that the event is refused there.
 */
export function nextStates<State extends string, Event extends string>(
  machine: Machine<State, Event>,
  from: State | '',
  event: Event,
): State[] {
  return [
    ...new Set(
      machine.transitions.filter((t) => t.from === from && t.event === event).map((t) => t.to),
    ),
  ];
}

/**
 * What a governor does about an event: a function of what it knows and of the event alone. No
 * clock, nothing random, nothing read: all that comes with the event, so that deciding again gives
 * the same bytes. The table below is the governor's; each handler names its row.
 */
import { act, whenDegraded as actInDegraded, wait, whenRefused } from './decide/acts.js';
import {
  acknowledge,
  bootTimedOut,
  check,
  checkInBoot,
  crash,
  create,
  failsInBoot,
  healthFailed,
  mismatch,
  outage,
  recoveryTimedOut,
  whenBooting,
} from './decide/health.js';
import { entitlement, policy, quota, recheck } from './decide/reconsider.js';
import { acknowledged, actionTimedOut, result, undoLate } from './decide/results.js';
import { baselineMissed, rollbackTimedOut } from './decide/rollbacks.js';
import {
  look,
  setBack,
  whenDegraded as signalInDegraded,
  whenRefusing,
  whenStable,
  whenWarned,
} from './decide/signals.js';
import { buffer, isStorming, postpone, release } from './decide/storm.js';
import {
  begin,
  type ContentOf,
  change,
  type EventName,
  given,
  insert,
  nameOf,
  type Turn,
  write,
} from './decide/turn.js';
import type { Decision, Situation, State } from './decision.js';
import type { GovernorEvent } from './events.js';

export { decideVersion } from './decide/version.js';

type Handlers = { readonly [Name in EventName]?: (turn: Turn, content: ContentOf<Name>) => void };

/** What is the same in every state, but for what a handler itself looks at. */
const anywhere: Handlers = {
  result,
  acknowledged,
  policy,
  entitlement,
  quota,
  health_failed: healthFailed,
  outage,
  operator_ack: acknowledge,
  crash,
  mismatch,
  rollback: rollbackTimedOut,
  baseline: baselineMissed,
  storm: release,
  clock: setBack,
};

/** What is not here changes nothing in that state. */
const table: Readonly<Record<State, Handlers>> = {
  boot: {
    ...anywhere,
    verify: whenBooting,
    check: checkInBoot,
    signal: postpone,
    act: whenRefused,
    state: bootTimedOut,
    health_failed: failsInBoot,
    outage: failsInBoot,
  },
  stable: { ...anywhere, signal: whenStable, act, look },
  warning: { ...anywhere, signal: whenWarned, act, look },
  intervening: { ...anywhere, signal: postpone, act: wait, state: actionTimedOut },
  refusing: { ...anywhere, signal: whenRefusing, act: whenRefused, recheck },
  degraded: {
    ...anywhere,
    signal: signalInDegraded,
    act: actInDegraded,
    check,
    state: recoveryTimedOut,
  },
};

export function decide(situation: Situation, event: GovernorEvent): Decision {
  const { content } = event;
  const { state, data } = situation;
  if (state === null || data === null) {
    if (content.kind !== 'create')
      throw new TypeError(`a governor that does not exist cannot be told ${content.kind}`);
    return said(create(situation, event, content));
  }
  const turn = begin(situation, state, data, event);
  if (content.kind === 'signal' && isStorming(turn, content)) buffer(turn, content);
  else
    (table[state][nameOf(content)] as ((turn: Turn, content: unknown) => void) | undefined)?.(
      turn,
      content,
    );
  undoLate(turn);
  dequeue(turn);
  if (turn.state !== state) transition(turn, state);
  const behind = turn.at - turn.clock;
  if (behind !== (data.behind ?? 0)) change(turn, { behind });
  return said(turn);
}

/** Where it may act, and nothing is in flight, the first of those that wait is tried. */
function dequeue(turn: Turn) {
  const [first, ...queue] = turn.data.queue;
  if (!first || turn.data.in_flight || (turn.state !== 'stable' && turn.state !== 'warning'))
    return;
  change(turn, { queue });
  insert(turn, { kind: 'act', ...first });
}

function transition(turn: Turn, from: State) {
  const { refusals, causes, since } = turn.data;
  const why: Partial<Record<State, readonly string[]>> = {
    refusing: refusals.map(({ cause }) => cause),
    degraded: causes,
  };
  write(turn, 'state_transition', 'accept', {
    from_state: from,
    to_state: turn.state,
    event: nameOf(turn.event.content),
    duration_ms: turn.at - since,
    ...given({ causes: why[turn.state] as ['ledger'] | undefined }),
  });
  change(turn, { since: turn.at });
}

function said({ state, data, receipts, actions, effects, postpone, dropped }: Turn): Decision {
  return {
    state,
    data,
    receipts,
    actions,
    effects,
    ...(postpone && { postpone }),
    ...(dropped.length > 0 && { dropped }),
  };
}

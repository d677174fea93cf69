import type { Machine } from './machine.js';

export const governorStates = [
  'boot',
  'stable',
  'warning',
  'intervening',
  'refusing',
  'degraded',
] as const;
export type GovernorState = (typeof governorStates)[number];

/** What can happen to it, then its timers. */
const moves = [
  'create',
  'verify',
  'signal',
  'act',
  'acknowledged',
  'result',
  'policy',
  'entitlement',
  'quota',
  'health_failed',
  'outage',
  'operator_ack',
  'crash',
  'mismatch',
  'clock',
  'state',
  'rollback',
  'baseline',
  'check',
  'recheck',
  'storm',
  'look',
] as const;
export type GovernorMove = (typeof moves)[number];

const acting = ['stable', 'warning'] as const satisfies GovernorState[];
const idle = ['boot', 'stable', 'warning', 'refusing'] as const satisfies GovernorState[];

/**
 * What watches over one product of one tenant: it takes signals in, acts as its policy says, and
 * refuses where it may not.
 */
export const governor: Machine<GovernorState, GovernorMove> = {
  name: 'governor',
  source: 'specification 001, governor §5',
  states: governorStates,
  events: moves,
  terminal: [],
  transitions: [
    { from: '', event: 'create', to: 'boot' },
    ...(['verify', 'entitlement', 'policy', 'check', 'operator_ack'] as const).flatMap(
      (event) =>
        [
          {
            from: 'boot',
            event,
            to: 'stable',
            when: 'the entitlement is active, and no cause is left',
          },
          { from: 'boot', event, to: 'boot', when: 'otherwise' },
        ] as const,
    ),
    { from: 'boot', event: 'signal', to: 'boot', when: 'it is postponed' },
    { from: 'boot', event: 'state', to: 'degraded' },
    { from: 'boot', event: 'health_failed', to: 'boot' },
    { from: 'boot', event: 'outage', to: 'boot' },
    ...acting.flatMap(
      (from) =>
        [
          { from, event: 'signal', to: 'refusing', when: 'the entitlement is not active' },
          {
            from,
            event: 'signal',
            to: 'warning',
            when: from === 'stable' ? 'it is over' : 'it, or another, is over',
          },
          {
            from,
            event: 'signal',
            to: 'stable',
            when: from === 'stable' ? 'it is under' : 'none is over',
          },
          { from, event: 'act', to: 'intervening', when: 'every check has passed' },
          { from, event: 'act', to: from, when: 'it has to wait, or the policy is a shadow' },
          { from, event: 'act', to: 'refusing', when: 'it is denied' },
          { from, event: 'act', to: 'degraded', when: 'nobody could say whether it is allowed' },
        ] as const,
    ),
    { from: 'warning', event: 'baseline', to: 'warning' },
    { from: 'stable', event: 'look', to: 'warning', when: 'something is over' },
    { from: 'stable', event: 'look', to: 'stable', when: 'otherwise' },
    { from: 'warning', event: 'look', to: 'warning' },
    { from: 'intervening', event: 'signal', to: 'intervening', when: 'it is postponed' },
    { from: 'intervening', event: 'act', to: 'intervening', when: 'it has to wait' },
    { from: 'intervening', event: 'acknowledged', to: 'intervening' },
    {
      from: 'intervening',
      event: 'result',
      to: 'stable',
      when: 'it succeeded, and the baseline is restored',
    },
    {
      from: 'intervening',
      event: 'result',
      to: 'warning',
      when: 'it succeeded otherwise, or the last attempt failed',
    },
    {
      from: 'intervening',
      event: 'result',
      to: 'intervening',
      when: 'attempts are left, or it is stale',
    },
    {
      from: 'intervening',
      event: 'result',
      to: 'refusing',
      when: 'it was forbidden, or the next attempt is',
    },
    {
      from: 'intervening',
      event: 'result',
      to: 'degraded',
      when: 'nobody could say whether the next attempt is allowed',
    },
    { from: 'intervening', event: 'policy', to: 'refusing', when: 'it no longer has the action' },
    { from: 'intervening', event: 'policy', to: 'intervening', when: 'otherwise' },
    { from: 'intervening', event: 'entitlement', to: 'refusing', when: 'it is not active' },
    { from: 'intervening', event: 'entitlement', to: 'intervening', when: 'otherwise' },
    { from: 'intervening', event: 'state', to: 'degraded' },
    { from: 'refusing', event: 'signal', to: 'refusing' },
    ...(['policy', 'entitlement', 'quota', 'recheck'] as const).flatMap(
      (event) =>
        [
          { from: 'refusing', event, to: 'stable', when: 'nothing is left that made it refuse' },
          { from: 'refusing', event, to: 'refusing', when: 'otherwise' },
        ] as const,
    ),
    ...(['stable', 'warning', 'intervening', 'refusing'] as const).flatMap(
      (from) =>
        [
          { from, event: 'health_failed', to: 'degraded' },
          { from, event: 'outage', to: 'degraded' },
        ] as const,
    ),
    { from: 'degraded', event: 'signal', to: 'degraded' },
    { from: 'degraded', event: 'health_failed', to: 'degraded' },
    { from: 'degraded', event: 'outage', to: 'degraded' },
    {
      from: 'degraded',
      event: 'check',
      to: 'stable',
      when: 'the entitlement is active, and no cause is left',
    },
    { from: 'degraded', event: 'check', to: 'degraded', when: 'otherwise' },
    { from: 'degraded', event: 'operator_ack', to: 'degraded' },
    { from: 'degraded', event: 'state', to: 'boot' },
    ...(['boot', 'refusing', 'degraded'] as const).map(
      (from) => ({ from, event: 'act', to: from, when: 'it is refused' }) as const,
    ),
    ...idle.flatMap((from) =>
      (['result', 'rollback'] as const).flatMap(
        (event) =>
          [
            {
              from,
              event,
              to: from,
              when: 'the rollback succeeded or is tried again, or it is stale',
            },
            { from, event, to: 'degraded', when: 'the rollback failed' },
          ] as const,
      ),
    ),
    { from: 'degraded', event: 'result', to: 'degraded' },
    { from: 'degraded', event: 'rollback', to: 'degraded' },
    ...(['stable', 'warning', 'degraded'] as const).flatMap(
      (from) =>
        [
          { from, event: 'policy', to: from },
          { from, event: 'entitlement', to: from },
        ] as const,
    ),
    ...governorStates.flatMap(
      (from) =>
        [
          { from, event: 'storm', to: from },
          { from, event: 'clock', to: from },
          { from, event: 'crash', to: 'degraded' },
          { from, event: 'mismatch', to: 'degraded' },
        ] as const,
    ),
  ],
};

/**
 * The moves of the table as a function, for the gate that stores what a driver has decided. Staying
 * where it is needs no line: an event that the table does not name changes nothing.
 */
export function governorMovesSql(): string {
  const moves = governor.transitions
    .filter(({ from, to }) => from !== to)
    .map(({ from, event, to }) => `${from} ${event} ${to}`);
  const lines = [...new Set(moves)].map((move) => `  '${move}'`);
  return `-- Generated by \`npm run generate\` from src/machines/governor.ts. Do not edit.
create or replace function writ_data.governor_moves(
  p_from text,
  p_event text,
  p_to text
) returns boolean
language sql immutable parallel safe
return coalesce(p_from, '') || ' ' || p_event || ' ' || p_to in (
${lines.join(',\n')}
);
`;
}

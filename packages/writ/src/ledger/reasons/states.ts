/** The states of a governor, and the times it may spend in them. */
import Type from '../typebox.js';
import { degraded, either } from './causes.js';
import { boolean, code, integer, moment, oneOf, text } from './fields.js';
import { aside } from './reason.js';

const states = ['boot', 'stable', 'warning', 'intervening', 'refusing', 'degraded'] as const;
const quota = (description: string) =>
  Type.Union([integer('Actions.'), Type.Null()], { description });

export const stateChanges = {
  boot_start: aside({
    when: 'A governor begins, or begins anew after a recovery that took too long.',
    statuses: ['accept'],
    context: {
      governor_version: text('The version of what decides.'),
      process_id: text('The process that drives it at this moment.'),
      entitlement_required: boolean('Whether it waits for an active entitlement.'),
    },
    example: { governor_version: '1.0.0', process_id: 'host-1:4242', entitlement_required: true },
  }),
  state_transition: aside({
    when: 'A governor went from one state to another.',
    statuses: ['accept'],
    context: {
      from_state: oneOf(states, 'The state before.'),
      to_state: oneOf(states, 'The state after.'),
      event: code('The event that caused it.'),
      duration_ms: integer('Time spent in the state before.'),
      causes: Type.Optional(either('Why it is refusing or degraded now.')),
    },
    example: {
      from_state: 'boot',
      to_state: 'stable',
      event: 'entitlement_active',
      duration_ms: 125,
    },
  }),
  bootstrap_timeout: aside({
    when: 'A governor was not ready in time after its start.',
    statuses: ['error'],
    context: {
      timeout_ms: integer('The time it had.', 1),
      causes: Type.Optional(degraded('What kept it.')),
    },
    example: { timeout_ms: 30_000, causes: ['iam'] },
  }),
  recovery_timeout: aside({
    when: 'A degraded governor has not recovered in time, and begins anew.',
    statuses: ['error'],
    context: {
      timeout_ms: integer('The time it had.', 1),
      causes: Type.Optional(degraded('What keeps it.')),
    },
    example: { timeout_ms: 120_000, causes: ['ledger'] },
  }),
  entitlement_verified: aside({
    when: 'The entitlement was looked up and found as it has to be.',
    statuses: ['accept'],
    context: {
      entitlement_status: oneOf(['ACTIVE', 'INACTIVE', 'EXPIRED', 'CANCELLED'], 'What it is.'),
      entitlement_expires: Type.Optional(moment('When it ends.')),
      quota_remaining: quota('Actions that are left this month; null: without limit.'),
      quota_limit: quota('Actions per month; null: without limit.'),
    },
    example: {
      entitlement_status: 'ACTIVE',
      entitlement_expires: '2026-02-25T00:00:00Z',
      quota_remaining: 847,
      quota_limit: 1_000,
    },
  }),
};

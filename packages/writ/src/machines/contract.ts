import type { Machine } from './machine.js';

export const contractStates = [
  'DRAFT',
  'VALIDATED',
  'ELIGIBLE',
  'APPROVED',
  'ACTIVE',
  'COMPLETED',
  'FAILED',
  'REJECTED',
  'EXPIRED',
] as const;
export type ContractState = (typeof contractStates)[number];

const moves = [
  'propose',
  'validate',
  'qualify',
  'approve',
  'revoke',
  'activate',
  'pass',
  'fail',
  'void',
  'reject',
  'expire',
] as const;
export type ContractMove = (typeof moves)[number];

/** What somebody wants to have changed, and how far that has come. */
export const contract: Machine<ContractState, ContractMove> = {
  name: 'contract',
  source: 'facts §A, governor §7',
  states: contractStates,
  events: moves,
  terminal: ['COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED'],
  transitions: [
    { from: '', event: 'propose', to: 'DRAFT' },
    { from: 'DRAFT', event: 'validate', to: 'VALIDATED' },
    { from: 'DRAFT', event: 'reject', to: 'REJECTED' },
    { from: 'DRAFT', event: 'expire', to: 'EXPIRED' },
    { from: 'VALIDATED', event: 'qualify', to: 'ELIGIBLE' },
    { from: 'VALIDATED', event: 'reject', to: 'REJECTED' },
    { from: 'VALIDATED', event: 'expire', to: 'EXPIRED' },
    {
      from: 'ELIGIBLE',
      event: 'approve',
      to: 'APPROVED',
      when: 'an applier has verified as many approvals as its risk asks for, or somebody breaks the glass',
    },
    { from: 'ELIGIBLE', event: 'reject', to: 'REJECTED' },
    { from: 'ELIGIBLE', event: 'expire', to: 'EXPIRED' },
    {
      from: 'APPROVED',
      event: 'revoke',
      to: 'ELIGIBLE',
      when: 'somebody who has approved it takes that back',
    },
    { from: 'APPROVED', event: 'activate', to: 'ACTIVE' },
    {
      from: 'APPROVED',
      event: 'void',
      to: 'FAILED',
      when: 'what was approved is no longer so, or its window is over',
    },
    { from: 'ACTIVE', event: 'pass', to: 'COMPLETED' },
    { from: 'ACTIVE', event: 'fail', to: 'FAILED' },
  ],
  stored: {
    table: 'writ_data.contract',
    column: 'status',
    states: contractStates,
    layer: 'governance',
  },
};

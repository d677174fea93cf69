/**
 * Every reason that a receipt can have. A layer that writes receipts of its own adds a file here,
 * and its line below.
 */
import type Type from '../typebox.js';
import { actions } from './actions.js';
import { governanceFacts } from './governance.js';
import { health } from './health.js';
import { ledgerFacts } from './ledger.js';
import type { Reason } from './reason.js';
import { refusals } from './refusals.js';
import { signals } from './signals.js';
import { stateChanges } from './states.js';

export type { Commitment } from './fields.js';
export {
  governanceFields,
  governorFields,
  position,
  type Reason,
  type Status,
  statuses,
} from './reason.js';

export const reasons = {
  ...stateChanges,
  ...signals,
  ...actions,
  ...refusals,
  ...health,
  ...governanceFacts,
  ...ledgerFacts,
} as const satisfies Record<string, Reason>;

export type ReasonName = keyof typeof reasons;
export type StatusOf<Name extends ReasonName> = (typeof reasons)[Name]['statuses'][number];
export type ContextOf<Name extends ReasonName> = Type.Static<(typeof reasons)[Name]['context']>;

export function isReason(name: string): name is ReasonName {
  return Object.hasOwn(reasons, name);
}

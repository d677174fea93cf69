/**
 * What governance says, for people. Titles, reasons and values come from whoever proposes: they
 * have no say over how they are shown.
 */

import { plain } from '../../errors/words.js';
import type { SystemContract } from '../../governance/contracts.js';
import type { ChangeStep } from '../../governance/steps.js';
import type { ContractState } from '../../machines/contract.js';
import type { GovernanceJobState } from '../../machines/governance-job.js';
import { type Style, span } from '../output.js';

export { plain };

/** A value as it stands somewhere; one that is not there is none. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' && /^[A-Z_]+$/.test(value)
    ? value
    : plain(JSON.stringify(value));
}

export interface Step extends ChangeStep {
  /**
   * The step that a rollback's step undoes, as the database says. A contract's step has none,
   * whatever its parameters say.
   */
  readonly undo_of?: number | null;
}

/** What a step does. */
export function stepWords({ step_type, target, parameters, undo_of }: Step): string {
  if (typeof undo_of === 'number') return plain(`restore ${target}`);
  switch (step_type) {
    case 'capability_enable':
      return plain(`enable ${target}`);
    case 'capability_disable':
      return plain(`disable ${target}`);
    case 'config_update':
      return plain(`set ${target}#${String(parameters.key)}`);
    case 'soak':
      return `soak for ${span(Number(parameters.duration_ms))}`;
    case 'signal_record':
      return plain(`record the signal ${String(parameters.signal_type)}`);
    default:
      return plain(`${step_type} ${target}`);
  }
}

/** What else there is to know of a step that changes nothing by itself, or says why. */
export function stepNote({ step_type, parameters, undo_of }: Step): string {
  if (typeof undo_of === 'number') return `undoes step ${undo_of}`;
  if (step_type === 'soak') return 'health is watched; if it fails, everything is undone';
  return typeof parameters.reason === 'string' ? plain(parameters.reason) : '';
}

/**
 * Parameters that the words of a step say if they are texts, and the one that it puts into its
 * slot.
 */
const said: Readonly<Record<string, { readonly texts: readonly string[]; readonly put?: string }>> =
  {
    capability_enable: { texts: [], put: 'target_lifecycle' },
    capability_disable: { texts: ['reason'] },
    config_update: { texts: ['key'], put: 'new_value' },
    soak: { texts: [] },
    signal_record: { texts: ['signal_type', 'reason'] },
  };

/**
 * What the words of a step do not say: an approval signs it, too. A preview may come from a
 * database that lies, so this goes by what is there, and not by what a gate would accept.
 */
export function moreOf({ step_type, target, parameters }: Step): [string, unknown][] {
  const { texts, put } = said[step_type] ?? { texts: [], put: 'value' };
  const changesNothing = step_type === 'soak' || step_type === 'signal_record';
  return [
    ...(changesNothing && target !== 'SYSTEM' ? [['target', target] as [string, unknown]] : []),
    ...Object.entries(parameters).filter(
      ([name, value]) => name !== put && !(texts.includes(name) && typeof value === 'string'),
    ),
  ];
}

export const contractStyle: Readonly<Record<ContractState, Style>> = {
  DRAFT: 'dim',
  VALIDATED: 'yellow',
  ELIGIBLE: 'cyan',
  APPROVED: 'cyan',
  ACTIVE: 'cyan',
  COMPLETED: 'green',
  FAILED: 'red',
  REJECTED: 'red',
  EXPIRED: 'yellow',
};

export const jobStyle: Readonly<Record<GovernanceJobState, Style>> = {
  PENDING: 'dim',
  RUNNING: 'cyan',
  COMPLETED: 'green',
  FAILED: 'red',
  CANCELLED: 'yellow',
  AUDIT_PENDING: 'cyan',
  ROLLBACK_PENDING: 'yellow',
  ROLLED_BACK: 'yellow',
  ROLLBACK_FAILED: 'red',
};

export const healthStyle: Readonly<Record<string, Style>> = {
  HEALTHY: 'green',
  DEGRADED: 'yellow',
  UNHEALTHY: 'red',
};

/**
 * The rules by which a contract may be approved at all, as sentences about one that does not keep
 * them.
 */
const rules: Readonly<Record<string, string>> = {
  'E-100': 'its confidence is below 0.30',
  'E-101': 'critical risk is escalated first',
  'E-102': 'what it changes is frozen',
  'E-103': 'it would change the system as a whole',
  'E-104': 'what it changes is not healthy',
  'E-001': 'its confidence is below 0.70',
  'E-002': 'something that it names is not known',
  'E-003': 'a signal blocks what it changes',
  'E-004': 'it changes nothing',
  'E-005': 'its source may not propose',
  'E-006': 'the same was proposed lately',
};

/** Why a contract cannot be approved yet, or ever; one sentence per rule. */
export const obstacles = (verdict: SystemContract['eligibility_verdict']): string[] =>
  (verdict?.rules ?? [])
    .filter(({ passed }) => !passed)
    .map(({ rule, detail }) =>
      plain(`${rules[rule] ?? rule}${detail ? `: ${detail}` : ''} (${rule})`),
    );

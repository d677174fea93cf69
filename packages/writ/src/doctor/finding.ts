/** What a check of the doctor has found, and what it looks at. */
import type { Queryable } from '../database/connection.js';
import type { FactsOf, FindingCode } from '../errors/advice/findings.js';
import type { Outside } from '../ledger/ledger.js';

export type { FindingCode } from '../errors/advice/findings.js';

/** `hint`: nothing is wrong, something could be better. */
export type Level = 'ok' | 'hint' | 'warning' | 'error';

const rank: readonly Level[] = ['ok', 'hint', 'warning', 'error'];

export const worst = (...levels: readonly Level[]): Level =>
  levels.reduce((most, level) => (rank.indexOf(level) > rank.indexOf(most) ? level : most), 'ok');

/** How bad an alert or an incident is. */
export const severityLevel = { P1: 'error', P2: 'warning', P3: 'hint' } as const;

interface Said {
  /** The check that found it. */
  readonly check: string;
  /** What was seen, in a sentence. */
  readonly says: string;
  /** What follows from it, where that is not plain. */
  readonly means?: string;
}

/** All is well. */
export interface WellFinding extends Said {
  readonly level: 'ok';
  readonly code: 'ok';
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Something to see to: its code says what, its facts say of which thing and how much. */
export type Trouble = {
  [Code in FindingCode]: Said & {
    readonly level: Exclude<Level, 'ok'>;
    readonly code: Code;
    readonly facts: FactsOf<Code>;
  };
}[FindingCode];

export type Finding = WellFinding | Trouble;

export const well = (
  check: string,
  says: string,
  facts: Readonly<Record<string, unknown>> = {},
): WellFinding => ({ check, level: 'ok', code: 'ok', says, facts });

/** What a check looks at. */
export interface Patient {
  /** Ends a statement that takes too long. */
  readonly db: Queryable;
  /** For the checks that connect by themselves. */
  readonly connectionString: string | undefined;
  /** The address that workers listen on, where it differs. */
  readonly listenConnectionString?: string | undefined;
  /** A folder of this machine in which events wait for the database. */
  readonly spool?: string | undefined;
  /** Where checkpoints are kept outside. */
  readonly outside?: Outside | undefined;
}

/**
 * Looks at one thing. The function that judges what it has read needs no database, so that its
 * thresholds can be tested.
 */
export type Check = (patient: Patient) => Promise<Finding[]>;

/** The checks of one area, by the name that a finding has when its check cannot look. */
export type Checks = Readonly<Record<string, Check>>;

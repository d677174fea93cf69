import type { Session } from '../connection.js';

/** `hint`: nothing is wrong, something could be better. Only an error changes the exit code. */
export type Level = 'ok' | 'hint' | 'warning' | 'error';

const rank: readonly Level[] = ['ok', 'hint', 'warning', 'error'];

export const worst = (...levels: readonly Level[]): Level =>
  levels.reduce((most, level) => (rank.indexOf(level) > rank.indexOf(most) ? level : most), 'ok');

export interface Finding {
  readonly check: string;
  readonly level: Level;
  /** What was seen. */
  readonly says: string;
  /** What follows from it, where that is not plain. */
  readonly means?: string;
  /** What to do; of everything that is not ok. */
  readonly remedy?: string;
}

/**
 * Looks at one thing. What it judges by is a function of its own without a database, so that its
 * thresholds can be tested.
 */
export type Check = (db: Session) => Promise<Finding[]>;

/** The checks of one area, by the name that a finding has when its check cannot look. */
export type Checks = Readonly<Record<string, Check>>;

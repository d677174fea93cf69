import type { Session } from '../connection.js';

export type Level = 'ok' | 'warning' | 'error';

export interface Finding {
  readonly check: string;
  readonly level: Level;
  /** What was seen. */
  readonly says: string;
  /** What follows from it, where that is not plain. */
  readonly means?: string;
  /** What to do; only of warnings and errors. */
  readonly remedy?: string;
}

/** Looks at one thing. */
export type Check = (db: Session) => Promise<Finding[]>;

/** The checks of one area, by the name that a finding has when its check cannot look. */
export type Checks = Readonly<Record<string, Check>>;

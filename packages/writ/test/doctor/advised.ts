/** Findings as a person reads them: what was seen, what follows, what to do. */
import { withClient } from '../../src/database/pools.js';
import type { Finding, Level, Patient } from '../../src/doctor/finding.js';
import { remedyFor } from '../../src/errors/advice/findings.js';

export interface Advised {
  readonly check: string;
  readonly level: Level;
  readonly says: string;
  readonly means: string | undefined;
  readonly remedy: string | undefined;
}

const advised = (finding: Finding): Advised => {
  const { check, level, says, means } = finding;
  return { check, level, says, means, remedy: remedyFor(finding) };
};

/** A judge of one finding, with what to do. */
export const advisesOne =
  <Args extends unknown[]>(judge: (...args: Args) => Finding) =>
  (...args: Args): Advised =>
    advised(judge(...args));

/** A judge of several findings, with what to do. */
export const advises =
  <Args extends unknown[]>(judge: (...args: Args) => readonly Finding[]) =>
  (...args: Args): Advised[] =>
    judge(...args).map(advised);

/** Looks at a database over a connection of its own. */
export const examine = <T>(
  connectionString: string,
  use: (patient: Patient) => Promise<T>,
): Promise<T> => withClient(connectionString, (db) => use({ db, connectionString }));

/** What a check finds in a database. */
export const found = async (
  connectionString: string,
  check: ((patient: Patient) => Promise<Finding[]>) | undefined,
  options: Pick<Patient, 'listenConnectionString'> = {},
): Promise<Advised[]> => {
  if (!check) throw new Error('there is no such check');
  return (await examine(connectionString, (patient) => check({ ...patient, ...options }))).map(
    advised,
  );
};

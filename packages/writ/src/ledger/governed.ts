/**
 * What an export has of governance beside its receipts: the documents that were signed, and the
 * governed values of the database. Contracts are in files of so many, in the order of their ids, a
 * line of JSON each; the values are in one file.
 */
export const contractsPerFile = 1_000;

export const valuesPath = 'governance/values.jsonl';

/** The files of contracts, from 1. */
export const governedPath = (file: number): string =>
  `governance/${String(file).padStart(9, '0')}.jsonl`;

export interface ExportedGovernance {
  /** The id of the first contract of each file. */
  readonly contracts: readonly string[];
}

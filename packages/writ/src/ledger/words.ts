/** How far a ledger is, in words for people. */
import { count, plural, span } from '../errors/words.js';
import type { Comparison } from './checkpoints.js';

/** What a comparison with a place outside has found. */
export const comparisonWords: Record<Comparison['outcome'], (compared: Comparison) => string> = {
  same: () => 'everything is here',
  accepted: () => 'what is missing was accepted as lost',
  shorter: ({ known, here }) =>
    known > here ? `${plural(known - here, 'receipt')} missing` : 'of an epoch that is not here',
  different: () => 'another history: these receipts are not the ones here',
};

export const age = (seconds: number): string => span(Math.max(0, seconds) * 1000);

/** No gate counts further. */
const counted = 100_000;

export function waitingWords(n: number, seconds: number | null, one: string): string {
  if (n === 0) return 'nothing waits';
  const many = n >= counted ? `${count(counted)} ${one}s or more` : plural(n, one);
  return `${many}, the oldest for ${age(seconds ?? 0)}`;
}

/** Numbers, spans of time and texts of others, in the words of sentences for people. */
import { printable } from './printable.js';

export const count = (n: number): string => n.toLocaleString('en-US');

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;

/** A span of time in the largest fitting unit: 850 ms, 12.4 s, 5 min, 3 h, 9 d. */
export function span(ms: number): string {
  const size = Math.abs(ms);
  if (size < 1) return `${ms.toFixed(1)} ms`;
  if (size < 1_000) return `${Math.round(ms)} ms`;
  if (size < 90_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (size < 5_400_000) return `${Math.round(ms / 60_000)} min`;
  if (size < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** Text of others on one line. Nothing in it controls a terminal, and no colour of ours stays. */
export const plain = (text: unknown): string =>
  printable(String(text).replaceAll('\u001b', '\\u{1b}'));

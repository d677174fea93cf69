/**
 * The check of a spool: what waits on this machine for the database, and what a person has to look
 * at.
 */
import { Spool, type SpoolState } from '../../spool/spool.js';
import { plural, span } from '../output.js';
import type { Check, Finding } from './finding.js';

export function judgeSpool(
  folder: string,
  { waiting, oldest, refused, damaged }: SpoolState,
  now = Date.now(),
): Finding[] {
  const findings: Finding[] = [];
  if (damaged.length > 0) {
    findings.push({
      check: 'spool',
      level: 'error',
      says: `${plural(damaged.length, 'file')} in ${folder} not as written: ${damaged.join(', ')}`,
      means: 'From the changed line on, nothing of it is in the log.',
      remedy: 'Read it, append by hand what is right, and remove it. See to the disk.',
    });
  }
  if (refused > 0) {
    findings.push({
      check: 'spool',
      level: 'warning',
      says: `${plural(refused, 'event')} in ${folder} refused for good`,
      remedy: 'refused.jsonl has them, with the reasons. Read it, and remove it.',
    });
  }
  if (waiting > 0) {
    findings.push({
      check: 'spool',
      level: 'warning',
      says: `${plural(waiting, 'event')} in ${folder}, the oldest for ${span(now - Date.parse(oldest ?? ''))}`,
      means: 'They are not in the logs of their runs yet.',
      remedy:
        'Start something that connects with this folder as its spool: it appends them by itself.',
    });
  }
  return findings.length > 0
    ? findings
    : [{ check: 'spool', level: 'ok', says: `Nothing waits in ${folder}` }];
}

export const spool =
  (folder: string): Check =>
  async () =>
    judgeSpool(folder, await new Spool(folder).state());

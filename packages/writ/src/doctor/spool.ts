/**
 * The check of a spool: what waits on this machine for the database, and what a person has to look
 * at.
 */
import { plural, span } from '../errors/words.js';
import { Spool, type SpoolState } from '../spool/spool.js';
import { type Checks, type Finding, well } from './finding.js';

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
      code: 'spool_damaged',
      facts: { folder, files: damaged },
      says: `${plural(damaged.length, 'file')} in ${folder} not as written: ${damaged.join(', ')}`,
      means: 'From the changed line on, nothing of it is in the log.',
    });
  }
  if (refused > 0) {
    findings.push({
      check: 'spool',
      level: 'warning',
      code: 'spool_refused',
      facts: { folder, events: refused },
      says: `${plural(refused, 'event')} in ${folder} refused for good`,
    });
  }
  if (waiting > 0) {
    findings.push({
      check: 'spool',
      level: 'warning',
      code: 'spool_waiting',
      facts: { folder, events: waiting },
      says: `${plural(waiting, 'event')} in ${folder}, the oldest for ${span(now - Date.parse(oldest ?? ''))}`,
      means: 'They are not in the logs of their runs yet.',
    });
  }
  return findings.length > 0 ? findings : [well('spool', `Nothing waits in ${folder}`)];
}

export const spoolChecks: Checks = {
  spool: async ({ spool }) =>
    spool === undefined ? [] : judgeSpool(spool, await new Spool(spool).state()),
};

/** Checks of runs: alerts that stand, and snapshots that wait for an event that is not there. */
import { alerts as advice } from '../../errors/advice/alerts.js';
import type { Session } from '../connection.js';
import { count, oneLine, plural, span } from '../output.js';
import type { Checks, Finding, Level } from './finding.js';

export interface StandingAlert {
  readonly alert_id: string;
  readonly code: string;
  readonly severity: 'P1' | 'P2' | 'P3';
  readonly subject: string;
  readonly age_s: number;
}

export interface AlertFacts {
  /** The worst and oldest first, as many as are named. */
  readonly alerts: readonly StandingAlert[];
  readonly standing: number;
}

const named = 5;

async function readAlerts(db: Session): Promise<AlertFacts> {
  const alerts = await db.rows<StandingAlert & { standing: number }>(
    `select alert_id, code, severity, subject, extract(epoch from writ.now() - raised_at)::float8 as age_s, (count(*) over ())::integer as standing
     from writ.alert where cleared_at is null order by severity, raised_at limit $1`,
    [named],
  );
  return { alerts, standing: alerts[0]?.standing ?? 0 };
}

const levels: Record<StandingAlert['severity'], Level> = { P1: 'error', P2: 'warning', P3: 'hint' };

export function judgeAlerts({ alerts, standing }: AlertFacts): Finding[] {
  if (standing === 0) return [{ check: 'alerts', level: 'ok', says: 'None stands' }];
  const findings = alerts.map(({ alert_id, code, severity, subject, age_s }): Finding => {
    const known = advice[code];
    return {
      check: 'alerts',
      level: levels[severity],
      says: oneLine(
        `${severity} ${code} of ${subject.replace('/', ' ')}, for ${span(age_s * 1000)}`,
      ),
      ...(known && { means: known.means }),
      remedy: oneLine(
        known?.remedy(
          subject.replace(/^(run|destination|contract|governance_job)\//, ''),
          alert_id,
        ) ?? `See to it, then \`writ alerts clear ${alert_id} --reason TEXT\`.`,
      ),
    };
  });
  if (standing === alerts.length) return findings;
  const more = {
    check: 'alerts',
    says: `${count(standing - alerts.length)} more stand`,
    remedy: 'select * from writ.alert where cleared_at is null;',
  };
  return [...findings, { ...more, level: findings.at(-1)?.level ?? 'warning' }];
}

export interface StaleFacts {
  readonly stale: number;
  /** The one that has waited longest. */
  readonly run_id: string | null;
  readonly missing_seq: number | null;
  readonly age_s: number | null;
}

async function readStale(db: Session): Promise<StaleFacts> {
  const [row] = await db.rows<StaleFacts>(
    `select s.run_id, s.missing_seq, extract(epoch from writ.now() - s.updated_at)::float8 as age_s, (count(*) over ())::integer as stale
     from writ.run_snapshots s where s.stale order by s.updated_at limit 1`,
  );
  return row ?? { stale: 0, run_id: null, missing_seq: null, age_s: null };
}

export function judgeStale({ stale, run_id, missing_seq, age_s }: StaleFacts): Finding {
  if (stale === 0) return { check: 'runs', level: 'ok', says: 'Every snapshot follows its log' };
  return {
    check: 'runs',
    level: 'error',
    says: `${plural(stale, 'snapshot')} behind a gap; since ${span((age_s ?? 0) * 1000)} that of run ${run_id}, whose event ${missing_seq} is missing`,
    means:
      'The projector waits for an event that is not in the log. Logs are only ever added to, so somebody took it away, or a copy was restored in part.',
    remedy: `\`writ runs verify ${run_id}\` shows it; bring the event back from a backup, and the projector goes on by itself.`,
  };
}

export const runChecks: Checks = {
  alerts: async (db) => judgeAlerts(await readAlerts(db)),
  runs: async (db) => [judgeStale(await readStale(db))],
};

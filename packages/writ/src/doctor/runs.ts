/** Checks of runs: alerts that stand, and snapshots that wait for an event that is not there. */
import { readRows } from '../database/gate.js';
import { alerts as advice } from '../errors/advice/alerts.js';
import { count, plain, plural, span } from '../errors/words.js';
import {
  type Checks,
  type Finding,
  type Patient,
  severityLevel,
  type Trouble,
  well,
} from './finding.js';

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

async function readAlerts({ db }: Patient): Promise<AlertFacts> {
  const alerts = await readRows<StandingAlert & { standing: number }>(
    db,
    `select alert_id, code, severity, subject,
       extract(epoch from writ.now() - raised_at)::float8 as age_s,
       (count(*) over ())::integer as standing
     from writ.alert
     where cleared_at is null
     order by severity, raised_at
     limit $1`,
    [named],
  );
  return { alerts, standing: alerts[0]?.standing ?? 0 };
}

export function judgeAlerts({ alerts, standing }: AlertFacts): Finding[] {
  if (standing === 0) return [well('alerts', 'None stands')];
  const findings = alerts.map(({ alert_id, code, severity, subject, age_s }): Trouble => {
    const known = advice[code];
    return {
      check: 'alerts',
      level: severityLevel[severity],
      code: 'alert',
      facts: { alert_id, code, subject },
      says: plain(`${severity} ${code} of ${subject.replace('/', ' ')}, for ${span(age_s * 1000)}`),
      ...(known && { means: known.means }),
    };
  });
  const more = standing - alerts.length;
  if (more === 0) return findings;
  const level = findings.at(-1)?.level ?? 'warning';
  const says = `${count(more)} more stand`;
  return [...findings, { check: 'alerts', level, code: 'alerts_more', facts: { more }, says }];
}

export interface StaleFacts {
  readonly stale: number;
  /** The one that has waited longest. */
  readonly run_id: string | null;
  readonly missing_seq: number | null;
  readonly age_s: number | null;
}

async function readStale({ db }: Patient): Promise<StaleFacts> {
  const [row] = await readRows<StaleFacts>(
    db,
    `select s.run_id, s.missing_seq, extract(epoch from writ.now() - s.updated_at)::float8 as age_s,
       (count(*) over ())::integer as stale
     from writ.run_snapshots s
     where s.stale
     order by s.updated_at
     limit 1`,
  );
  return row ?? { stale: 0, run_id: null, missing_seq: null, age_s: null };
}

export function judgeStale({ stale, run_id, missing_seq, age_s }: StaleFacts): Finding {
  if (stale === 0) return well('runs', 'Every snapshot follows its log');
  return {
    check: 'runs',
    level: 'error',
    code: 'snapshots_behind_gap',
    facts: { run_id: String(run_id), missing_seq: missing_seq ?? 0, snapshots: stale },
    says: `${plural(stale, 'snapshot')} behind a gap; since ${span((age_s ?? 0) * 1000)} that of run ${run_id}, whose event ${missing_seq} is missing`,
    means:
      'The projector waits for an event that is not in the log. Logs are only ever added to, so somebody took it away, or a copy was restored in part.',
  };
}

export const runChecks: Checks = {
  alerts: async (patient) => judgeAlerts(await readAlerts(patient)),
  runs: async (patient) => [judgeStale(await readStale(patient))],
};

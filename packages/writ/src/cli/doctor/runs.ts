/** Checks of runs: alerts that stand, and snapshots that wait for an event that is not there. */
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

/** What is to be done about alerts that do not go by themselves. Their subjects are run/ID, destination/NAME, contract/ID and governance_job/ID. */
const advice: Record<
  string,
  { readonly means: string; readonly remedy: (subject: string, alertId: string) => string }
> = {
  COMPENSATION_FAILED: {
    means: 'A step was done and could not be undone: what it left behind is still there.',
    remedy: (run, id) =>
      `\`writ runs show ${run}\` names the step. Undo it by hand, then \`writ runs clear-alert ${id} --reason TEXT\`.`,
  },
  PROJECTOR_GAP_DETECTED: {
    means:
      'An event is missing in the log of the run. Its snapshot stays where it is; the run itself goes on.',
    remedy: (run) =>
      `\`writ runs replay ${run}\` says which; \`writ ledger verify\` whether somebody took it away.`,
  },
  PROJECTOR_LAG_HIGH: {
    means: 'Snapshots are behind the logs. Whoever asks for a run gets the rest from its log.',
    remedy: () =>
      'Start another worker; if one runs, its log says why it cannot keep up. The alert goes by itself.',
  },
  PAUSE_DRAIN_TIMEOUT: {
    means: 'The run was paused, and a step still runs.',
    remedy: (run) =>
      `\`writ runs show ${run}\` names the step. The alert goes when the run goes on, or with \`writ runs signal ${run} CANCEL\`.`,
  },
  DELIVERY_DEAD: {
    means: 'A destination could not be told of an event, and will not be tried again with it.',
    remedy: (name) =>
      `\`writ events dead-letters ${name}\` says why. \`writ events replay ${name} --all-dead\` tells it again, and the alert goes.`,
  },
  DESTINATION_PAUSED: {
    means: 'It accepted nothing, so it is not called any more. What happens is kept for it.',
    remedy: (name) => `See to its receiver, then \`writ webhooks resume ${name}\`: the alert goes.`,
  },
  OUTBOX_LAG_HIGH: {
    means: 'A destination is told of events long after they have happened.',
    remedy: (name) =>
      `\`writ webhooks show ${name}\` says whether it accepts them; see how long its receiver takes. The alert goes by itself.`,
  },
  ROLLBACK_FAILED: {
    means: 'A change could not be undone: what it left behind is still there, and held.',
    remedy: (job) =>
      `\`writ jobs show ${job}\` says why. Put it right, then \`writ jobs retry-rollback ${job}\`; resolving its incident ends the alert.`,
  },
  GOVERNANCE_SET_ASIDE: {
    means:
      'Something of governance that was due has failed, and was set aside for five minutes so that the rest goes on.',
    remedy: () =>
      'The detail of the alert has the error. It is tried again every five minutes; when it succeeds, the alert goes.',
  },
  AUDIT_INCONCLUSIVE: {
    means: 'A change is done, and its audit could not tell whether it is well.',
    remedy: (job) => `\`writ jobs resolve ${job} PASS --reason TEXT\`, or FAIL: the alert goes.`,
  },
  REVIEW_LATE: {
    means: 'A contract waits for its approval, and expires in two days.',
    remedy: (contract) =>
      `\`writ contracts approve ${contract}\`, or reject it. The alert goes by itself.`,
  },
  REVIEW_ESCALATED: {
    means: 'A contract waits for its approval, and expires within a day.',
    remedy: (contract) =>
      `\`writ contracts approve ${contract}\`, or reject it. The alert goes by itself.`,
  },
  CONTRACT_ESCALATED: {
    means: 'Somebody wants a contract to be seen to now.',
    remedy: (contract, id) =>
      `\`writ contracts show ${contract}\`; when somebody has, \`writ runs clear-alert ${id} --reason TEXT\`.`,
  },
  GOVERNOR_ACTION_TIMEOUT: {
    means: 'A governor gave an action up that was not done in time, and has it undone.',
    remedy: () =>
      '`writ governor list` shows which; the alert goes when the undoing has succeeded, or somebody acknowledges it.',
  },
  GOVERNOR_ROLLBACK_FAILED: {
    means:
      'A governor could not have an action undone, and does not act until a person has seen to it.',
    remedy: () =>
      '`writ governor list` shows which. Put it right, then `writ governor ack TENANT [SKU] rollback_failed --reason TEXT`: the alert goes.',
  },
  GOVERNOR_NONDETERMINISM: {
    means:
      'A governor decided an event in two ways, and does not act until a person has seen to it.',
    remedy: () =>
      '`writ governor list` shows which; then `writ governor ack TENANT [SKU] nondeterminism --reason TEXT`: the alert goes.',
  },
  GOVERNOR_CRASH: {
    means:
      'An event crashed a governor too often and was set aside; it does not act until a person has seen to it.',
    remedy: () =>
      '`writ governor list` shows which; then `writ governor ack TENANT [SKU] crash --reason TEXT`: the alert goes.',
  },
  GLASS_BROKEN: {
    means: 'A contract was activated without enough approvals, or in a freeze.',
    remedy: (contract, id) =>
      `\`writ contracts history ${contract}\` says who did so and why; when that is settled, \`writ runs clear-alert ${id} --reason TEXT\`.`,
  },
};

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
        ) ?? `See to it, then \`writ runs clear-alert ${alert_id} --reason TEXT\`.`,
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
    remedy: `\`writ runs replay ${run_id}\` shows it; bring the event back from a backup, and the projector goes on by itself.`,
  };
}

export const runChecks: Checks = {
  alerts: async (db) => judgeAlerts(await readAlerts(db)),
  runs: async (db) => [judgeStale(await readStale(db))],
};

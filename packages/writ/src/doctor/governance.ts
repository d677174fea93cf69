/**
 * Checks of governance: jobs that wait for a person, incidents that are open, probes that nobody
 * asks.
 */
import { readRows } from '../database/gate.js';
import { plain, plural, span } from '../errors/words.js';
import {
  type Checks,
  type Finding,
  type Patient,
  severityLevel,
  type Trouble,
  well,
} from './finding.js';

export interface WaitingJob {
  readonly job_id: string;
  readonly title: string;
  readonly status: 'AUDIT_PENDING' | 'ROLLBACK_FAILED';
  readonly age_s: number;
  /** Of a rollback that has failed. */
  readonly incident_id: string | null;
}

const readWaiting = ({ db }: Patient): Promise<WaitingJob[]> =>
  readRows(
    db,
    `select g.job_id, c.title, g.status,
       extract(epoch from writ.now() - g.updated_at)::float8 as age_s, null::uuid as incident_id
     from writ.governance_jobs g
     join writ.system_contracts c on c.contract_id = g.contract_id
     where g.status = 'AUDIT_PENDING' and g.audit_verdict = 'INCONCLUSIVE'
       and (select count(*) from writ.governance_audits a where a.job_id = g.job_id) > 1
     union all
     select g.job_id, c.title, g.status,
       extract(epoch from writ.now() - i.opened_at)::float8, i.incident_id
     from writ.incident i
     join writ.governance_jobs g on i.subject = 'governance_job/' || g.job_id
     join writ.system_contracts c on c.contract_id = g.contract_id
     where i.resolved_at is null and g.status = 'ROLLBACK_FAILED' and g.resolved_by_job_id is null
     order by 4 desc`,
  );

export function judgeWaiting(jobs: readonly WaitingJob[]): Finding[] {
  if (jobs.length === 0) return [well('changes', 'None waits for a person')];
  return jobs.map(({ job_id, title, status, age_s, incident_id }): Trouble => {
    const since = `for ${span(age_s * 1_000)}`;
    return status === 'ROLLBACK_FAILED'
      ? {
          check: 'changes',
          level: 'error',
          code: 'rollback_failed',
          facts: { job_id, incident_id: String(incident_id), age_s },
          says: plain(`The rollback of “${title}” has failed, ${since}: ${job_id}`),
          means:
            'What it changed is not what it was before, and is held: no other contract can change it.',
        }
      : {
          check: 'changes',
          level: 'warning',
          code: 'audit_inconclusive',
          facts: { job_id, age_s },
          says: plain(
            `“${title}” is done, and its audit could not tell whether it is well, ${since}: ${job_id}`,
          ),
          means:
            'It is neither completed nor undone until a person decides who did not propose or approve it.',
        };
  });
}

export interface OpenIncident {
  readonly incident_id: string;
  readonly severity: 'P1' | 'P2' | 'P3';
  readonly summary: string;
  readonly age_s: number;
  /** How many are open in all. */
  readonly open: number;
}

const named = 5;

/** Without those of rollbacks: they are among the changes that wait. */
const readIncidents = ({ db }: Patient): Promise<OpenIncident[]> =>
  readRows(
    db,
    `select i.incident_id, i.severity, i.summary,
       extract(epoch from writ.now() - i.opened_at)::float8 as age_s,
       (count(*) over ())::integer as open
     from writ.incident i
     where i.resolved_at is null and i.subject not like 'governance_job/%'
     order by i.severity, i.opened_at
     limit $1`,
    [named],
  );

export function judgeIncidents(incidents: readonly OpenIncident[]): Finding[] {
  const [first] = incidents;
  if (!first) return [well('incidents', 'None is open')];
  const findings = incidents.map(
    ({ incident_id, severity, summary, age_s }): Trouble => ({
      check: 'incidents',
      level: severityLevel[severity],
      code: 'incident_open',
      facts: { incident_id, severity, age_s },
      says: plain(`${severity} open for ${span(age_s * 1_000)}: ${summary}`),
    }),
  );
  const more = first.open - incidents.length;
  if (more <= 0) return findings;
  const level = findings.at(-1)?.level ?? 'warning';
  const says = `${more} more are open`;
  return [
    ...findings,
    { check: 'incidents', level, code: 'incidents_more', facts: { more }, says },
  ];
}

export interface ProbeFacts {
  /** Those that workers ask. */
  readonly asked: number;
  /** Due for longer than a worker that is there could let pass. */
  readonly late: number;
  readonly name: string | null;
  readonly capability: string | null;
  readonly late_s: number | null;
}

/** Two minutes, or three turns of the probe's own. */
async function readProbes({ db }: Patient): Promise<ProbeFacts> {
  const [row] = await readRows<ProbeFacts>(
    db,
    `with p as (
       select name, capability, greatest(120, every_ms * 0.003) as bound_s,
         extract(epoch from writ.now() - coalesce(due_at, put_at))::float8 as late_s
       from writ.probe
       where type in ('http', 'sql', 'prometheus')
     )
     select (select count(*)::integer from p) as asked,
       (select count(*)::integer from p where late_s > bound_s) as late,
       w.name, w.capability, w.late_s
     from (select 1) one
     left join lateral (
       select name, capability, late_s from p where late_s > bound_s order by late_s desc limit 1
     ) w on true`,
  );
  return row as ProbeFacts;
}

export function judgeProbes({ asked, late, name, capability, late_s }: ProbeFacts): Finding {
  if (late === 0)
    return well(
      'probes',
      asked === 0 ? 'None that workers ask' : `${plural(asked, 'probe')}, asked in time`,
      { probes: asked },
    );
  return {
    check: 'probes',
    level: 'warning',
    code: 'probes_unasked',
    facts: { probes: late, name, capability },
    says: plain(
      `Nobody asks ${plural(late, 'probe')}; ${name} of ${capability} is due for ${span((late_s ?? 0) * 1_000)}`,
    ),
    means:
      'A capability whose probes have not answered lately counts as unhealthy, and nothing that touches it is done.',
  };
}

export interface TrustFacts {
  readonly login: string;
  /**
   * Where the login's newest verdict took its trust from: `database`, or the SHA-256 of a trust
   * file.
   */
  readonly trust: string;
  readonly age_s: number;
}

/** Of each login that has verified approvals lately. */
const readTrust = ({ db }: Patient): Promise<TrustFacts[]> =>
  readRows(
    db,
    `select distinct on (v.verified_by) v.verified_by as login, v.trust,
       extract(epoch from writ.now() - v.verified_at)::float8 as age_s
     from writ.contract_review v
     where v.verified_at > writ.now() - interval '30 days'
     order by v.verified_by, v.verified_at desc`,
  );

export function judgeTrust(verified: readonly TrustFacts[]): Finding[] {
  const check = 'trust';
  if (verified.length === 0) return [well(check, 'No approval was verified in the last 30 days')];
  const byDatabase = verified.filter(({ trust }) => trust === 'database');
  if (byDatabase.length === 0) return [well(check, 'Workers verify approvals with a trust file')];
  return byDatabase.map(({ login, age_s }) => ({
    check,
    level: 'warning',
    code: 'trust_in_database',
    facts: { login, age_s },
    says: plain(
      `Workers of login ${login} verify approvals with WRIT_TRUST=database, the last ${span(Math.max(0, age_s) * 1_000)} ago`,
    ),
    means:
      'Whoever owns the database, or is a superuser, can add keys and approve changes in the name of others.',
  }));
}

export const governanceChecks: Checks = {
  changes: async (patient) => judgeWaiting(await readWaiting(patient)),
  incidents: async (patient) => judgeIncidents(await readIncidents(patient)),
  probes: async (patient) => [judgeProbes(await readProbes(patient))],
  trust: async (patient) => judgeTrust(await readTrust(patient)),
};

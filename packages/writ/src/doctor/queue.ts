/**
 * Checks of the queue at work: switches, workers, backlog, dead letters, leases that nobody takes
 * back.
 */
import { gate, readRows } from '../database/gate.js';
import { count, plain, plural, span } from '../errors/words.js';
import type { QueueHealth } from '../queue/jobs.js';
import { type Checks, type Finding, type Patient, well } from './finding.js';

const switches = {
  'queue.job_substrate.enabled': 'Jobs are neither taken nor handed out.',
  'queue.worker.enabled': 'Workers receive no jobs; what is queued waits.',
  'queue.lease.reaper_enabled': 'Jobs of a worker that died are not taken back.',
};

const readHealth = ({ db }: Patient) => gate<QueueHealth>(db, 'fn_job_queue_health()', []);

async function queue({ db }: Patient): Promise<Finding[]> {
  const rows = await readRows<{ key: string }>(
    db,
    `select key from writ.dot_config where key = any ($1) and value = 'false' order by key`,
    [Object.keys(switches)],
  );
  if (rows.length === 0) return [well('queue', 'Switched on')];
  return rows.map(({ key }) => ({
    check: 'queue',
    level: 'warning',
    code: 'queue_switched_off',
    facts: { setting: key },
    says: `${key} is false`,
    means: switches[key as keyof typeof switches],
  }));
}

export interface WorkerFacts {
  readonly workers: readonly {
    readonly executor_id: string;
    readonly freshness: 'fresh' | 'warning' | 'stale';
    readonly silent_s: number;
  }[];
  readonly backlog: number;
  /** Kinds with jobs that can begin, of which no fresh worker has said that it serves them. */
  readonly unserved: readonly { readonly kind: string; readonly backlog: number }[];
}

async function readWorkers(patient: Patient): Promise<WorkerFacts> {
  return {
    workers: await readRows(
      patient.db,
      `select executor_id, freshness,
         extract(epoch from writ.now() - last_beat_at)::float8 as silent_s
       from writ.v_queue_heartbeat
       order by last_beat_at desc`,
    ),
    backlog: (await readHealth(patient)).backlog,
    // A worker that names no kinds leaves open which it serves.
    unserved: await readRows(
      patient.db,
      `select job_kind as kind, backlog::float8 as backlog
       from writ.v_job_queue_backlog b
       where not exists (
         select from writ.v_queue_heartbeat h
         where h.freshness = 'fresh' and (h.kinds = '{}' or b.job_kind = any (h.kinds)))
       order by b.backlog desc, b.job_kind`,
    ),
  };
}

export function judgeWorkers({ workers, backlog, unserved }: WorkerFacts): Finding[] {
  const having = (freshness: WorkerFacts['workers'][number]['freshness']) =>
    workers.filter((worker) => worker.freshness === freshness);
  const says = `${having('fresh').length} fresh, ${having('warning').length} late, ${having('stale').length} silent`;
  const silent = [...having('warning'), ...having('stale')];
  const findings: Finding[] = [];
  if (having('fresh').length === 0) {
    findings.push({
      check: 'workers',
      level: backlog > 0 ? 'error' : 'warning',
      code: 'workers_none',
      facts: { backlog },
      says: workers.length === 0 ? 'None' : says,
      means:
        backlog > 0
          ? `${plural(backlog, 'job')} can begin, and nobody takes them.`
          : 'Jobs that are enqueued now will wait.',
    });
  } else {
    findings.push(well('workers', says, { fresh: having('fresh').length }));
    if (unserved.length > 0) {
      findings.push({
        check: 'workers',
        level: 'warning',
        code: 'kinds_unserved',
        facts: { kinds: unserved.map(({ kind }) => kind) },
        says: `None serves ${some(unserved.map(({ kind, backlog }) => `${kind} (${plural(backlog, 'job')})`))}`,
        means: 'These jobs can begin, and wait until a worker with a handler for them comes.',
      });
    }
  }
  if (silent.length > 0) {
    findings.push({
      check: 'workers',
      level: 'warning',
      code: 'workers_silent',
      facts: { workers: silent.map(({ executor_id }) => executor_id) },
      says: `Not heard: ${some(silent.map((worker) => `${worker.executor_id} for ${span(worker.silent_s * 1000)}`))}`,
      means:
        'They died without leaving, or cannot reach the database. Their jobs are taken back when the leases expire.',
    });
  }
  return findings;
}

const some = (names: readonly string[]): string =>
  plain(`${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}`);

async function backlog(patient: Patient): Promise<Finding[]> {
  const health = await readHealth(patient);
  const age = health.oldest_queued_age_s ?? 0;
  const oldest = health.backlog > 0 ? `, the oldest for ${span(age * 1000)}` : '';
  const ready =
    health.backlog === 0
      ? 'Nothing waits for a worker'
      : `${plural(health.backlog, 'job')} can begin${oldest}`;
  const says = `${ready}; ${count(health.waiting)} not due yet`;
  const dead: Finding =
    health.dead_letter_open === 0
      ? well('dead letters', 'None')
      : {
          check: 'dead letters',
          level: 'warning',
          code: 'dead_letters',
          facts: { jobs: health.dead_letter_open },
          says: `${count(health.dead_letter_open)} wait for a person`,
        };
  const facts = { jobs: health.backlog, age_s: age };
  if (health.backlog === 0 || age < 300) return [well('backlog', says, facts), dead];
  const means = 'Jobs come faster than they are done.';
  return [{ check: 'backlog', level: 'warning', code: 'backlog_old', facts, says, means }, dead];
}

export interface ExpiredLeases {
  readonly leases: number;
  readonly jobs: number;
  readonly age_s: number;
}

async function readExpired({ db }: Patient): Promise<ExpiredLeases> {
  const [row] = await readRows<ExpiredLeases>(
    db,
    `select count(*)::integer as leases, coalesce(sum(open_jobs), 0)::float8 as jobs,
       coalesce(extract(epoch from writ.now() - min(leased_until)), 0)::float8 as age_s
     from writ.v_queue_lease
     where leased_until < writ.now()`,
  );
  return row as ExpiredLeases;
}

export function judgeLeases({ leases, jobs, age_s }: ExpiredLeases): Finding {
  if (leases === 0) return well('leases', 'None has expired');
  const old = age_s > 60;
  return {
    check: 'leases',
    level: old ? 'error' : 'warning',
    code: 'leases_expired',
    facts: { leases, jobs, age_s },
    says: `${plural(leases, 'lease')} with ${plural(jobs, 'job')} expired, the oldest ${span(age_s * 1000)} ago`,
    means: old
      ? 'Any running worker takes expired leases back within seconds, so none does.'
      : 'The next look of a worker takes them back.',
  };
}

export const queueChecks: Checks = {
  queue,
  workers: async (patient) => judgeWorkers(await readWorkers(patient)),
  backlog,
  leases: async (patient) => [judgeLeases(await readExpired(patient))],
};

/** Checks of the queue at work: switches, workers, backlog, dead letters, leases that nobody takes back. */
import { type Health, readHealth } from '../commands/queue/stats.js';
import type { Session } from '../connection.js';
import { count, plural, span } from '../output.js';
import type { Checks, Finding } from './finding.js';

const switches = {
  'queue.job_substrate.enabled': 'Jobs are neither taken nor handed out.',
  'queue.worker.enabled': 'Workers receive no jobs; what is queued waits.',
  'queue.lease.reaper_enabled': 'Jobs of a worker that died are not taken back.',
};

async function queue(db: Session): Promise<Finding[]> {
  const rows = await db.rows<{ key: string }>(`select key from writ.dot_config where key = any ($1) and value = 'false'`, [
    Object.keys(switches),
  ]);
  if (rows.length === 0) return [{ check: 'queue', level: 'ok', says: 'Switched on' }];
  return rows.map(({ key }) => ({
    check: 'queue',
    level: 'warning',
    says: `${key} is false`,
    means: switches[key as keyof typeof switches],
    remedy: `If that is not wanted: \`writ settings set ${key} true\`.`,
  }));
}

interface Worker {
  readonly executor_id: string;
  readonly freshness: 'fresh' | 'warning' | 'stale';
  readonly silent_s: number;
}

async function workers(db: Session): Promise<Finding[]> {
  const all = await db.rows<Worker>(
    `select executor_id, freshness, extract(epoch from writ.now() - last_beat_at)::float8 as silent_s from writ.v_queue_heartbeat order by last_beat_at desc`,
  );
  const having = (freshness: Worker['freshness']) => all.filter((worker) => worker.freshness === freshness);
  const says = `${having('fresh').length} fresh, ${having('warning').length} late, ${having('stale').length} silent`;
  const silent = [...having('warning'), ...having('stale')];
  const findings: Finding[] = [];
  if (having('fresh').length === 0) {
    const { backlog } = await readHealth(db);
    findings.push({
      check: 'workers',
      level: backlog > 0 ? 'error' : 'warning',
      says: all.length === 0 ? 'None' : says,
      means: backlog > 0 ? `${plural(backlog, 'job')} can begin, and nobody takes them.` : 'Jobs that are enqueued now will wait.',
      remedy: 'Start one: `writ worker FILE`.',
    });
  } else findings.push({ check: 'workers', level: 'ok', says });
  if (silent.length > 0) {
    const named = silent.slice(0, 5).map((worker) => `${worker.executor_id} for ${span(worker.silent_s * 1000)}`);
    findings.push({
      check: 'workers',
      level: 'warning',
      says: `Not heard: ${named.join(', ')}${silent.length > 5 ? ', …' : ''}`,
      means: 'They died without leaving, or cannot reach the database. Their jobs are taken back when the leases expire.',
      remedy: 'See why they stopped.',
    });
  }
  return findings;
}

async function backlog(db: Session): Promise<Finding[]> {
  const health: Health = await readHealth(db);
  const age = health.oldest_queued_age_s ?? 0;
  const oldest = health.backlog > 0 ? `, the oldest for ${span(age * 1000)}` : '';
  const ready = health.backlog === 0 ? 'Nothing waits for a worker' : `${plural(health.backlog, 'job')} can begin${oldest}`;
  const says = `${ready}; ${count(health.waiting)} not due yet`;
  const dead: Finding =
    health.dead_letter_open === 0
      ? { check: 'dead letters', level: 'ok', says: 'None' }
      : {
          check: 'dead letters',
          level: 'warning',
          says: `${count(health.dead_letter_open)} wait for a person`,
          remedy: '`writ queue list --status dead_letter` shows them; `writ queue replay` enqueues them again.',
        };
  if (health.backlog === 0 || age < 300) return [{ check: 'backlog', level: 'ok', says }, dead];
  const remedy = 'Start more workers, or raise --concurrency; `writ queue watch` shows whether it shrinks.';
  return [{ check: 'backlog', level: 'warning', says, means: 'Jobs come faster than they are done.', remedy }, dead];
}

async function leases(db: Session): Promise<Finding[]> {
  const [row] = await db.rows<{ leases: number; jobs: number; age_s: number | null }>(
    `select count(distinct lease_token)::integer as leases, count(*)::integer as jobs,
       extract(epoch from writ.now() - min(lease_expires_at))::float8 as age_s
     from writ.job_execution where status in ('LEASED', 'IN_PROGRESS', 'COMMITTED') and lease_expires_at < writ.now()`,
  );
  const { leases: expired, jobs, age_s } = row as { leases: number; jobs: number; age_s: number | null };
  if (expired === 0) return [{ check: 'leases', level: 'ok', says: 'None has expired' }];
  const old = (age_s ?? 0) > 60;
  return [
    {
      check: 'leases',
      level: old ? 'error' : 'warning',
      says: `${plural(expired, 'lease')} with ${plural(jobs, 'job')} expired, the oldest ${span((age_s ?? 0) * 1000)} ago`,
      means: old
        ? 'Any running worker takes expired leases back within seconds, so none does.'
        : 'The next look of a worker takes them back.',
      remedy: 'Start a worker, and see that queue.lease.reaper_enabled is true.',
    },
  ];
}

export const queueChecks: Checks = { queue, workers, backlog, leases };

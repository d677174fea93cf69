/**
 * What keeps PostgreSQL from cleaning up: the oldest snapshots and transactions, and who holds
 * them. Sessions of this database count, and those of others that have written (every new snapshot
 * here reaches back to them); so do prepared transactions, replication slots and standbys. No
 * superuser is needed: how many transactions a snapshot is behind is shown to everybody, since when
 * a session holds it only to its own user and to pg_monitor.
 */
import { readRows } from '../database/gate.js';
import type { Holder } from '../errors/advice/findings.js';
import { count, plain, span } from '../errors/words.js';
import {
  type Checks,
  type Finding,
  type Level,
  type Patient,
  type Trouble,
  well,
  worst,
} from './finding.js';

export type { Holder } from '../errors/advice/findings.js';

export interface SnapshotFacts {
  readonly holders: readonly Holder[];
  readonly user: string;
  /** Whether the ages of other users' sessions are shown to this one. */
  readonly sees_all: boolean;
}

// A vacuum does not hold back another one, and this session's own snapshot is gone in a moment.
const holders = `
  select case when r.pid is null then 'session' else 'standby' end as kind,
    a.pid::text as name, a.usename::text as who, a.application_name as application,
    a.state, a.datname::text as database,
    extract(epoch from clock_timestamp() - a.xact_start)::float8 as age_s,
    greatest(age(a.backend_xmin), age(a.backend_xid)) as behind,
    true as active, false as catalogs_only
  from pg_stat_activity a
  left join pg_stat_replication r using (pid)
  where a.pid <> pg_backend_pid()
    and a.backend_type is distinct from 'autovacuum worker'
    and not exists (select from pg_stat_progress_vacuum v where v.pid = a.pid)
    and (
      a.backend_xid is not null
      or (a.backend_xmin is not null or a.state like 'idle in transaction%')
        and coalesce(a.datname, current_database()) = current_database()
    )
  union all
  select 'prepared', gid, owner::text, null, null, database::text,
    extract(epoch from clock_timestamp() - prepared)::float8, age(transaction), true, false
  from pg_prepared_xacts
  union all
  select 'slot', slot_name::text, null, plugin::text, null, database::text, null,
    greatest(age(xmin), age(catalog_xmin)), active, xmin is null
  from pg_replication_slots
  where xmin is not null or catalog_xmin is not null`;

export async function readSnapshots({ db }: Pick<Patient, 'db'>): Promise<SnapshotFacts> {
  const [rights] = await readRows<{ user: string; sees_all: boolean }>(
    db,
    `select current_user as "user", pg_has_role('pg_read_all_stats', 'usage') as sees_all`,
  );
  return {
    holders: await readRows<Holder>(db, holders),
    ...(rights as { user: string; sees_all: boolean }),
  };
}

const warningAfter = { age_s: 300, behind: 1_000_000 };
const errorAfter = { age_s: 3_600, behind: 50_000_000 };
const named = 5;

export function judgeSnapshots({ holders, user, sees_all }: SnapshotFacts): Finding[] {
  const blind: Finding[] = sees_all
    ? []
    : [
        {
          check: 'snapshots',
          level: 'hint',
          code: 'ages_hidden',
          facts: { user },
          says: `${user} is not shown since when the sessions of other users are in a transaction`,
          means:
            'They are judged by how many transactions they are behind, and one that idles without a snapshot is not seen.',
        },
      ];
  const judged = holders
    .map((holder) => ({ holder, level: levelOf(holder) }))
    .sort((a, b) => byAge(a.holder, b.holder));
  const bad = judged.flatMap(({ holder, level }) => (level === 'ok' ? [] : [{ holder, level }]));
  if (bad.length === 0) {
    const oldest = judged.map(({ holder }) => holder).find(({ behind }) => behind !== null);
    const says = oldest ? `The oldest is held by ${describe(oldest)}` : 'None is held';
    return [well('snapshots', says), ...blind];
  }
  const findings = bad.slice(0, named).map(({ holder, level }) => finding(holder, level));
  const rest = bad.slice(named);
  if (rest.length > 0) {
    findings.push({
      check: 'snapshots',
      level: worst(...rest.map(({ level }) => level)) as Trouble['level'],
      code: 'snapshots_more',
      facts: { more: rest.length },
      says: `${count(rest.length)} more, not as old`,
    });
  }
  return [...findings, ...blind];
}

function levelOf({ kind, age_s, behind, active }: Holder): Level {
  const over = (limit: typeof warningAfter) =>
    (age_s ?? 0) >= limit.age_s || (behind ?? 0) >= limit.behind;
  if (behind === null) return over(warningAfter) ? 'hint' : 'ok';
  if (over(errorAfter)) return 'error';
  // Nobody moves a slot on that nobody is connected to.
  return over(warningAfter) || (kind === 'slot' && !active) ? 'warning' : 'ok';
}

/** Oldest first, by time where it is known. */
const byAge = (a: Holder, b: Holder): number =>
  (b.age_s ?? 0) - (a.age_s ?? 0) || (b.behind ?? 0) - (a.behind ?? 0);

function describe({
  kind,
  name,
  who,
  application,
  state,
  database,
  age_s,
  behind,
  active,
}: Holder): string {
  const by = `${who ?? '?'}${application ? ` (${application})` : ''}`;
  const holder = {
    session: `process ${name} of ${by}${state ? `, ${state}` : ''}${database ? `, in ${database}` : ''}`,
    standby: `standby ${application || '?'}, connected as ${who ?? '?'}, process ${name}`,
    prepared: `prepared transaction ${name} of ${who}, in ${database}`,
    slot: `replication slot ${name}${active ? '' : ', to which nobody is connected'}`,
  }[kind];
  const ages = [
    age_s === null ? '' : `for ${span(age_s * 1000)}`,
    behind === null ? '' : `${count(behind)} transactions behind`,
  ];
  return plain([holder, ...ages.filter(Boolean)].join(', '));
}

function finding(holder: Holder, level: Trouble['level']): Trouble {
  const seen = { check: 'snapshots', level, facts: holder, says: upper(describe(holder)) } as const;
  if (holder.behind === null) {
    const means = 'It holds no snapshot, but a connection, and locks on whatever it has touched.';
    return { ...seen, code: 'transaction_old', means };
  }
  const means = holder.catalogs_only
    ? 'PostgreSQL cannot clean up its catalogs, and keeps the WAL that this slot has not read.'
    : 'PostgreSQL cannot clean up what was deleted since, in any table of the database: the queue’s tables grow and slow down.';
  return { ...seen, code: 'snapshot_old', means };
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const snapshotChecks: Checks = {
  snapshots: async (patient) => judgeSnapshots(await readSnapshots(patient)),
};

/**
 * The queue's tables as PostgreSQL keeps them: rows that wait to be cleaned up, and partitions made
 * ahead of time.
 */
import { readRows } from '../database/gate.js';
import { uuidTime } from '../database/uuid.js';
import { count, plural, span } from '../errors/words.js';
import {
  type Checks,
  type Finding,
  type Level,
  type Patient,
  type Trouble,
  well,
} from './finding.js';

export interface TableFacts {
  readonly name: string;
  readonly live: number;
  readonly dead: number;
  /** Seconds since it was last vacuumed, by hand or not; null: never. */
  readonly vacuumed_s: number | null;
  readonly autovacuum: boolean;
}

const readTables = ({ db }: Patient): Promise<TableFacts[]> =>
  readRows(
    db,
    `select s.schemaname || '.' || s.relname as name, s.n_live_tup::float8 as live,
       s.n_dead_tup::float8 as dead,
       extract(epoch from clock_timestamp() - greatest(s.last_autovacuum, s.last_vacuum))::float8
         as vacuumed_s,
       coalesce((
         select option_value::boolean
         from pg_options_to_table(c.reloptions)
         where option_name = 'autovacuum_enabled'
       ), true) as autovacuum
     from pg_stat_all_tables s
     join pg_class c on c.oid = s.relid
     where s.schemaname = 'writ_data' and c.relkind = 'r'
     order by s.n_dead_tup desc, s.relname`,
  );

/**
 * Below this a table is small whatever its share of dead rows: between two rounds of autovacuum a
 * busy queue leaves as many behind.
 */
const many = 50_000;
const veryMany = 5_000_000;
/**
 * Autovacuum comes round once a minute; one that came this recently and left so much was kept from
 * cleaning.
 */
const recently = 300;

export function judgeDeadRows(tables: readonly TableFacts[]): Finding[] {
  const findings = tables.flatMap((table): Trouble[] => {
    const { name, dead } = table;
    const unattended: Trouble[] = table.autovacuum
      ? []
      : [
          {
            check: 'dead rows',
            level: 'warning',
            code: 'autovacuum_off',
            facts: { table: name },
            says: `Autovacuum is switched off for ${name}`,
            means: 'Nothing cleans up what is deleted there.',
          },
        ];
    const level = levelOf(table);
    if (level === 'ok') return unattended;
    const { vacuumed_s, live } = table;
    const last =
      vacuumed_s === null ? 'never vacuumed' : `last vacuumed ${span(vacuumed_s * 1000)} ago`;
    const held = vacuumed_s !== null && vacuumed_s < recently;
    return [
      {
        check: 'dead rows',
        level,
        code: 'dead_rows',
        facts: { table: name, dead, live, held },
        says: `${name} has ${count(dead)} dead rows beside ${count(live)} live ones, ${last}`,
        means: held
          ? 'A vacuum was there and could not remove them: a snapshot that is older holds them.'
          : 'Every reader of the table walks over them, and no vacuum has come for them.',
      },
      ...unattended,
    ];
  });
  if (findings.length > 0) return findings;
  const dead = tables.reduce((sum, table) => sum + table.dead, 0);
  return [well('dead rows', `${count(dead)} in ${plural(tables.length, 'table')}`, { dead })];
}

function levelOf({ dead, live }: TableFacts): Level {
  if (dead < many || dead < 0.2 * (live + dead)) return 'ok';
  return dead >= veryMany && dead > live ? 'error' : 'warning';
}

export interface PartitionFacts {
  readonly name: string;
  /** As pg_get_expr writes them: FOR VALUES FROM ('…') TO ('…'). */
  readonly bounds: readonly string[];
}

export interface PartitionedFacts {
  readonly now_ms: number;
  readonly tables: readonly PartitionFacts[];
}

async function readPartitions({ db }: Patient): Promise<PartitionedFacts> {
  const [row] = await readRows<PartitionedFacts>(
    db,
    `select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
       coalesce((
         select json_agg(json_build_object('name', t.oid::regclass::text, 'bounds', array(
           select pg_get_expr(c.relpartbound, c.oid)
           from pg_inherits i
           join pg_class c on c.oid = i.inhrelid
           where i.inhparent = t.oid and not i.inhdetachpending)) order by t.relname)
         from pg_class t
         join pg_partitioned_table p on p.partrelid = t.oid
         join pg_attribute a on a.attrelid = t.oid and a.attnum = p.partattrs[0]
         where t.relnamespace = to_regnamespace('writ_data') and p.partstrat = 'r'
           and p.partnatts = 1 and a.atttypid = 'uuid'::regtype
       ), '[]') as tables`,
  );
  return row as PartitionedFacts;
}

const day = 86_400_000;
const warningBelow = 3;
const errorBelow = 1;

export function judgePartitions({ now_ms, tables }: PartitionedFacts): Finding[] {
  if (tables.length === 0) return [];
  const covered = tables.map((table) => ({
    ...table,
    days: Math.max(0, coveredUntil(table.bounds, now_ms) - now_ms) / day,
  }));
  const short = covered.filter(({ days }) => days < warningBelow);
  const least = Math.min(...covered.map(({ days }) => days));
  if (short.length === 0) {
    const says = Number.isFinite(least)
      ? `Made for the next ${plural(Math.floor(least), 'day')}`
      : 'Made without end';
    return [well('partitions', says)];
  }
  return short.map(({ name, days }) => ({
    check: 'partitions',
    level: days < errorBelow ? 'error' : 'warning',
    code: 'partitions_short',
    facts: { table: name, days },
    says:
      days === 0
        ? `${name} has no partition for now`
        : `${name} has partitions for the next ${span(days * day)} only`,
    means:
      days === 0
        ? 'What should be written there is refused.'
        : 'They are made 14 days ahead, so nobody has made any for days. After the last one, writing fails.',
  }));
}

/**
 * Up to when rows of every moment from now on have a partition. Partitions that lie behind a gap do
 * not help at the gap.
 */
function coveredUntil(bounds: readonly string[], now: number): number {
  const ranges = bounds
    .map((bound) => /FROM \((.+?)\) TO \((.+?)\)/.exec(bound))
    .filter((match) => match !== null)
    .map(([, from, to]) => ({
      from: momentOf(from as string, Number.NEGATIVE_INFINITY),
      to: momentOf(to as string, Number.POSITIVE_INFINITY),
    }))
    .sort((a, b) => a.from - b.from);
  let until = now;
  for (const { from, to } of ranges) if (from <= until) until = Math.max(until, to);
  return until;
}

const momentOf = (bound: string, unbounded: number): number =>
  bound.startsWith("'") ? uuidTime(bound.slice(1, -1)) : unbounded;

export const tableChecks: Checks = {
  'dead rows': async (patient) => judgeDeadRows(await readTables(patient)),
  partitions: async (patient) => judgePartitions(await readPartitions(patient)),
};

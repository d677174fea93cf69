/**
 * What the first schema held comes over: a database of migration 0001, with a job in every place and its payloads by content, is migrated. Every
 * status is what it was, inputs and results are with their jobs, the record is unchanged, and the queue goes on.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.js';
import { owner } from '../../src/database/roles.js';
import { readMigrations } from '../../src/database/schema.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { testDatabase } from '../../src/testing/index.js';

const name = `writ_upgrade_${randomBytes(4).toString('hex')}`;
let admin: pg.Client;
let client: pg.Client;

beforeAll(async () => {
  const any = await testDatabase(); // for the server, and for the roles that it has by now
  const url = new URL(any.connectionString);
  await any.drop();
  url.pathname = '/postgres';
  admin = new pg.Client({ connectionString: url.toString() });
  await admin.connect();
  await admin.query(`create database ${name}`);
  url.pathname = `/${name}`;
  client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await admin?.query(`drop database if exists ${name} with (force)`);
  await admin?.end();
});

const places = ['ready', 'urgent', 'delayed', 'retried', 'leased', 'started', 'committed', 'done', 'dead', 'cancelled', 'cleaned'] as const;
const ids = Object.fromEntries(places.map((place) => [place, uuidv7()])) as Record<(typeof places)[number], string>;
const token = uuidv7();
const batch = `${uuidv7().slice(0, 30)}000000`;

/** The schema as migration 0001 made it, and rows as its gates left them. */
async function installFirst(): Promise<void> {
  const [first] = readMigrations();
  if (!first) throw new Error('there are no migrations');
  await client.query(`create schema writ authorization ${owner}; create schema writ_data authorization ${owner}; set role ${owner}`);
  await client.query(`create table writ_data.schema_migration (
      version integer primary key, name text not null, sha256 text not null, breaking boolean not null, applied_at timestamptz not null default clock_timestamp());
    create table writ_data.schema_object (name text primary key, sha256 text not null, applied_at timestamptz not null default clock_timestamp())`);
  await client.query(first.sql);
  await client.query('insert into writ_data.schema_migration (version, name, sha256, breaking) values ($1, $2, $3, $4)', [
    first.version,
    first.name,
    first.sha256,
    first.breaking,
  ]);
  await client.query(`insert into writ_data.job_kind (job_kind, registered_by) values ('chore', 'test')`);
  for (const place of places) {
    const body = JSON.stringify({ place });
    await client.query(
      `with body as (insert into writ_data.payload (tenant_id, sha256, body) values ('acme', sha256(convert_to($3::text, 'UTF8')), $3) returning sha256)
       insert into writ_data.job (job_id, tenant_id, job_kind, event_domain, idempotency_key, payload_sha256, payload_classification, executor, max_attempts, priority,
         process_after, enqueued_by, enqueued_at, source_system)
       select $1, 'acme', 'chore', 'dot', $2, body.sha256, 'safe_metadata', 'external_worker', 5, case $2 when 'urgent' then 7 else 0 end, now(), 'test', now(), 'writ' from body`,
      [ids[place], place, body],
    );
    await client.query(`insert into writ_data.job_key values ('acme', 'chore', $1, $2)`, [place, ids[place]]);
  }
  const row = (place: (typeof places)[number]) => `'${ids[place]}'`;
  await client.query(`
    insert into writ_data.payload (tenant_id, sha256, body) values ('acme', sha256('{"paid":1}'), '{"paid":1}');
    insert into writ_data.job_ready (job_kind, tenant_id, priority, seq, job_id, attempts, execution_no) values
      ('chore', 'acme', 0, nextval('writ_data.job_ready_seq'), ${row('ready')}, 2, 3), ('chore', 'acme', 7, nextval('writ_data.job_ready_seq'), ${row('urgent')}, 0, 1);
    insert into writ_data.job_wait (due_at, job_kind, tenant_id, priority, job_id, attempts, execution_no, reason) values
      (now() + interval '1 hour', 'chore', 'acme', 0, ${row('delayed')}, 0, 1, 'delay'), (now() + interval '1 hour', 'chore', 'acme', 0, ${row('retried')}, 1, 2, 'retry');
    insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, start_upto, start_at, open_jobs)
      values ('${token}', 'w1', now(), now() + interval '1 hour', 30, 900, array[${row('committed')}, ${row('started')}, ${row('leased')}]::uuid[], '{0,0,0}', '{1,1,1}', '{2}', array[now()], 3);
    insert into writ_data.job_execution (job_id, execution_no, attempt, lease_token, lease_owner, status, abort_kind, final, started_at, committed_at, finished_at, result_sha256, error_code) values
      (${row('committed')}, 1, 1, '${token}', 'w1', 'COMMITTED', null, false, now(), now(), null, null, null),
      (${row('done')}, 1, 1, null, 'w1', 'DONE', null, false, now(), now(), now(), sha256('{"paid":1}'), null),
      (${row('dead')}, 1, 1, null, 'w1', 'ABORTED', 'permanent', true, now(), null, now(), null, 'e'),
      (${row('cancelled')}, 1, 0, null, null, 'ABORTED', 'cancelled', true, null, null, now(), null, 'cancelled'),
      (${row('cleaned')}, 1, 1, null, 'w1', 'DONE', null, false, now(), now(), now(), null, null);
    insert into writ_data.job_cleaned (job_id, cleaned_at, was) values (${row('cleaned')}, now(), 'succeeded');
    insert into writ_data.event_batch (batch_id, at, command, actor, types, first, last, subjects)
      values ('${batch}', now(), 'fn_job_enqueue', 'test', '{dot.job.enqueued}', '{1}', '{${places.length}}', array[${places.map(row).join()}]::uuid[]);
    reset role`);
}

const rows = async (sql: string, params?: unknown[]) => (await client.query(sql, params)).rows;

test('a queue of the first schema is migrated with everything in it, and goes on', async () => {
  await installFirst();
  await migrate(client, { enable: true });

  const jobs = await rows('select idempotency_key as place, status, attempts, writ.fn_job_payload(job_id) as payload from writ.job_queue');
  expect(Object.fromEntries(jobs.map(({ place, status, attempts }) => [place, [status, attempts]]))).toEqual({
    ready: ['queued', 2],
    urgent: ['queued', 0],
    delayed: ['queued', 0],
    retried: ['retry_waiting', 1],
    leased: ['leased', 0],
    started: ['in_progress', 1],
    committed: ['in_progress', 1],
    done: ['succeeded', 1],
    dead: ['dead_letter', 1],
    cancelled: ['cancelled', 0],
    cleaned: ['cleaned', 1],
  });
  for (const { place, payload } of jobs) expect(payload).toEqual({ input: { place }, ...(place === 'done' && { result: { paid: 1 } }) });
  expect(await rows('select event_subject_ref as id from writ.event_outbox order by id')).toEqual(
    places.map((place) => ({ id: ids[place] })),
  );

  // A lease from before can still report; what was ready is claimed in its order; keys are still taken.
  const [{ answer: finished }] = await rows(`select writ.fn_job_succeed_many($1, '{1,2}') as answer`, [token]);
  expect(finished).toMatchObject({ done: 2, refused: [] });
  const [{ answer: claim }] = await rows(`select writ.fn_job_claim_many('{chore}', 'external_worker', 'w2', 30, 10, 10) as answer`);
  expect(claim.jobs.map(([id, , , , attempt, no]: unknown[]) => [id, attempt, no])).toEqual([
    [ids.urgent, 1, 1],
    [ids.ready, 3, 3],
  ]);
  expect((await rows(`select writ.fn_job_cancel($1, 'r', 'test') as answer`, [ids.delayed]))[0].answer).toMatchObject({
    status: 'cancelled',
  });
  const again = JSON.stringify([{ id: uuidv7(), kind: 'chore', key: 'done', tenant: 'acme', input: { place: 'done' } }]);
  expect((await rows(`select writ.fn_job_enqueue_many($1, 'test') as answer`, [again]))[0].answer).toMatchObject({
    enqueued: 0,
    duplicates: [{ job_id: ids.done, same_payload: true }],
  });
});

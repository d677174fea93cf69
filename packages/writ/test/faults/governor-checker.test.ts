/**
 * The checker of the governor's fault run is worth what it finds: nothing in a sound database, and
 * each damage by its name.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';
import {
  checkGovernor,
  governorChecks,
  keepGovernorBooks,
  prepareGovernor,
} from './governor-checker.mjs';
import { replayed } from './governor-replay.mjs';
import { governor as acting } from './suites/governor/actions.mjs';
import { Service } from './suites/governor/service.mjs';
import { prepareStage } from './suites/governor/stage.mjs';

let db: TestDatabase;
let client: pg.Client;
let service: Service;

const subjects = ['plain', 'two', 'shadow', 'storming'].map((kind) => ({
  tenant: `${kind}-1`,
  sku: 'default',
  kind,
}));

/**
 * One acts and keeps what it did, one undoes it, one only watches, one has had too many signals and
 * dropped some.
 */
beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await prepareGovernor(client);
  service = await Service.open(1);
  // it never restores the baseline
  service.random = { next: () => 0.9, between: (low) => low, pick: (values) => values[2] as never };
  process.env.WRIT_FAULTS_SERVICE = service.url;
  process.env.WRIT_FAULTS_WORKER = JSON.stringify({ record: '/dev/null' });
  const writ = await db.connect();
  const worker = await writ.work([], {
    governor: { ...acting, twicePercent: 100 } as never,
    poll: '20ms',
    onError: () => undefined,
  });
  const admin = new pg.Pool({ connectionString: db.connectionString, max: 2 });
  const quick = {
    'governor.storm_limit': 8,
    'governor.storm_window_ms': 500,
    'governor.storm_every_ms': 50,
    'governor.capacity': 5,
  };
  await prepareStage(writ as never, admin, subjects as never, {
    ...quick,
    'governor.action_ms': 10_000,
  });
  await admin.end();
  const atRest = () =>
    until(
      async () =>
        (
          await db.query(
            `select from writ.governor where state not in ('stable', 'warning') or in_flight <> 'null' or in_mailbox + buffered + postponed > 0 or jsonb_path_exists(timers, '$[*].name')`,
          )
        ).length === 0,
      30_000,
    );
  await until(
    async () =>
      (await db.query(`select from writ.governor where state = 'stable' and policy_version = 1`))
        .length === 4,
  );
  const sent: object[] = [];
  let n = 0;
  const send = async ({ tenant, sku }: { tenant: string; sku: string }, value: number) => {
    const id = `signal-${++n}`;
    const answer = await (await writ.governor({ tenant, sku })).signal({ id, type: 'load', value });
    const receipt_id = answer.status === 'decided' ? answer.receipt.receipt_id : null;
    sent.push({
      id,
      tenant,
      sku,
      status: receipt_id ? 200 : 202,
      receipt_id,
      arrival_seq: answer.arrival_seq,
      tries: 1,
    });
  };
  for (const subject of subjects) for (const value of [10, 95]) await send(subject, value);
  await Promise.all(Array.from({ length: 30 }, () => send(subjects[3] as never, 20)));
  await until(
    async () =>
      (
        await db.query(
          `select from writ_data.receipt where entry::jsonb ->> 'reason' = 'action_rollback_issued'`,
        )
      ).length > 0,
    20_000,
  );
  await atRest();
  await worker.stop();
  await keepGovernorBooks(client, sent, service.calls);
}, 90_000);
afterAll(async () => {
  service.close();
  await client.end();
  await db.drop();
});

// Each test does its damage in a transaction of its own, which is undone afterwards.
beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const found = async () =>
  (await checkGovernor(client)).map(({ verdict, what }) => `${verdict}: ${what}`);
/** Past every trigger, as only an administrator can. */
const behindTheGates = (sql: string) =>
  client.query(`set local session_replication_role = replica; ${sql}`);
const governor = (kind: string) =>
  `(select governor_id from writ_data.governor where tenant_id = '${kind}-1')`;
const receipts = (kind: string, reason: string) =>
  `log_id = '${kind}-1' and entry::jsonb ->> 'reason' = '${reason}'`;
const anAttempt = (kind: string) =>
  `(select job_id from writ_data.job where tenant_id = '${kind}-1' and job_kind like 'governor.%' order by job_id limit 1)`;

test('governors without damage count nothing', async () => {
  expect(await found()).toEqual([]);
});

test('every governor decides the same again', async () => {
  for (const { governor_id } of await db.query('select governor_id::text from writ_data.governor'))
    expect(await replayed(client, String(governor_id))).toEqual([]);
});

test.each([
  [
    'an input was changed',
    `update writ_data.governor_mail set content = content || '{"value": 11}' where governor_id = ${governor('plain')} and arrival_seq = 1`,
  ],
  [
    'an event was removed',
    `delete from writ_data.governor_event where governor_id = ${governor('plain')} and event_seq = 3`,
  ],
  [
    'a receipt was changed',
    `update writ_data.receipt set entry = replace(entry, '"accept"', '"reject"') where ${receipts('plain', 'signal_received')}`,
  ],
  [
    'what it knows was changed',
    `update writ_data.governor set data = data || '{"failed_checks": 9}' where governor_id = ${governor('plain')}`,
  ],
])('a replay does not agree when %s', async (_, sql) => {
  await behindTheGates(sql);
  const [{ id }] = (await client.query(`select ${governor('plain')}::text as id`)).rows as [
    { id: string },
  ];
  expect(await replayed(client, id)).not.toEqual([]);
});

const damages: [what: string, sql: string][] = [
  [
    'lost: a signal that was answered is in no mailbox',
    `insert into fault.sent select 'elsewhere', tenant, sku, status, null, null, 1 from fault.sent limit 1`,
  ],
  [
    'lost: a signal was never settled',
    `delete from writ_data.receipt where ${receipts('plain', 'signal_received')}`,
  ],
  [
    'repeated: a signal was taken in twice',
    `update writ_data.governor_mail set signal_id = 'signal-1', at = at + interval '1 month' where governor_id = ${governor('plain')} and arrival_seq = 2`,
  ],
  [
    'repeated: a signal was settled more than once',
    `insert into writ_data.receipt select receipt_no + 100000, at, log_id, stream, stream_seq + 1000, gen_random_uuid(), entry, leaf_hash from writ_data.receipt where ${receipts('plain', 'signal_received')}`,
  ],
  [
    'repeated: the service was asked more often than somebody began',
    `insert into fault.call select * from fault.call where tenant = 'plain-1'`,
  ],
  [
    'repeated: an attempt was committed more than once',
    `drop index writ_data.a_job_has_one_effect_or_one_end; insert into writ_data.job_execution (job_id, execution_no, attempt, status, committed_at, finished_at) select x.job_id, 2, 2, x.status, x.committed_at, x.finished_at from writ_data.job_execution x where x.job_id = ${anAttempt('plain')}`,
  ],
  [
    'unreceipted: something was done without a receipt of an attempt',
    `update fault.call set key = gen_random_uuid()::text where tenant = 'plain-1'`,
  ],
  [
    'unreceipted: an attempt was handed over without a receipt',
    `update writ_data.job set input = (input::jsonb || '{"action_id": "x"}')::json where job_id = ${anAttempt('plain')}`,
  ],
  [
    'unreceipted: a stream of receipts is not dense',
    `delete from writ_data.receipt where ${receipts('plain', 'signal_received')}`,
  ],
  [
    'unreceipted: a governor has more or fewer receipts than it counted',
    `update writ_data.governor set receipts = receipts + 1 where governor_id = ${governor('plain')}`,
  ],
  [
    'unreceipted: a change of state has no receipt',
    `delete from writ_data.receipt where ${receipts('plain', 'state_transition')}`,
  ],
  [
    'stuck: a governor has not come to rest',
    `update writ_data.governor set state = 'intervening' where governor_id = ${governor('plain')}`,
  ],
  [
    'stuck: a mailbox is not empty',
    `update writ_data.governor set mail_done = mail_done - 1 where governor_id = ${governor('plain')}`,
  ],
  [
    'stuck: something waits that nobody will look at',
    `update writ_data.governor set waiting = '{"queue": [], "postponed": [{"from": "mailbox", "held": [1, 1, 1]}], "timers": []}' where governor_id = ${governor('plain')}`,
  ],
  [
    'stuck: a timer has nobody who looks',
    `update writ_data.governor set due_at = now() + interval '1 hour' where governor_id = ${governor('plain')}; delete from writ_data.governor_due`,
  ],
  [
    'stuck: an attempt is left in the queue',
    `insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs, start_upto, start_at)
     select gen_random_uuid(), 'x', now(), now(), 1, 1, array[${anAttempt('plain')}], '{0}', '{1}', 1, '{1}', array[now()]`,
  ],
  [
    'wrong: arrivals are not 1 to n',
    `update writ_data.governor_mail set arrival_seq = 7 where governor_id = ${governor('plain')} and arrival_seq = 2`,
  ],
  [
    'wrong: a mailbox is not 1 to n',
    `delete from writ_data.governor_mail where governor_id = ${governor('plain')} and mail_seq = 2`,
  ],
  [
    'wrong: events are not 1 to n',
    `delete from writ_data.governor_event where governor_id = ${governor('plain')} and event_seq = 2`,
  ],
  [
    'wrong: a mailbox has more or fewer than it counted',
    `update writ_data.governor_inbox set arrivals = arrivals + 1 where governor_id = ${governor('plain')}`,
  ],
  [
    'wrong: a mail was handled more than once, or out of order',
    `update writ_data.governor_event set mail_seq = 1 where governor_id = ${governor('plain')} and mail_seq = 2`,
  ],
  [
    'wrong: what is noted as settled is not what the receipts say',
    `update writ_data.governor_settled set receipt_id = gen_random_uuid() where governor_id = ${governor('plain')} and arrival_seq = 1`,
  ],
  [
    'wrong: a sender was answered something else',
    `update fault.sent set receipt_id = gen_random_uuid() where id = 'signal-1'`,
  ],
  [
    'wrong: the quota is not the number of actions',
    `update writ_data.governor_quota set used = used + 1 where tenant_id = 'plain-1'`,
  ],
  ['wrong: a shadow has acted', `insert into fault.call values ('shadow-1', 'x', null, true, 200)`],
  [
    'wrong: what was given up is neither undone nor for a person',
    `delete from writ_data.receipt where ${receipts('two', 'action_succeeded')}`,
  ],
  [
    'wrong: an action has no end',
    `delete from writ_data.receipt where ${receipts('plain', 'action_succeeded')}`,
  ],
  [
    'wrong: a rollback that succeeded was not carried out',
    `delete from fault.call where of is not null`,
  ],
  [
    'wrong: an event was set aside',
    `update writ_data.receipt set entry = replace(entry, 'signal_received', 'event_failed') where ${receipts('plain', 'signal_received')}`,
  ],
];

test.each(damages)('%s', async (what, sql) => {
  await behindTheGates(sql);
  expect(await found()).toContain(what);
});

test('every check has a damage that shows it', () => {
  expect(new Set(damages.map(([what]) => what))).toEqual(
    new Set(governorChecks.map(([verdict, what]) => `${verdict}: ${what}`)),
  );
});

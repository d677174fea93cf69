/**
 * Governors that everybody drives at once: four hosts in two processes, and senders in parallel;
 * and the order of their locks (governor, quota, job; mailboxes by themselves), tried with every
 * gate at random. Whatever meets whom, numbers are dense, nothing is decided twice, and nobody
 * waits in a circle.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import type { Writ } from '../../src/writ.js';
import {
  checkGovernor,
  isMoving,
  keepGovernorBooks,
  prepareGovernor,
} from '../faults/governor-checker.mjs';
import { replayed } from '../faults/governor-replay.mjs';
import { governor as acting } from '../faults/suites/governor/actions.mjs';
import { Service } from '../faults/suites/governor/service.mjs';
import { policyFor, prepareStage, type Subject } from '../faults/suites/governor/stage.mjs';
import { type Session, session, until } from './sessions.js';

let db: TestDatabase;
let client: pg.Client;
let service: Service;
let writ: Writ;
let key: string;
let child: ChildProcess;
let stopping: (() => Promise<unknown>)[];
/** What those who drive were told. */
let troubles: { code?: string; error: string }[];

/** Two products each, so that quotas are shared across whoever holds which governor. */
const subjects: Subject[] = [1, 2, 3, 4].flatMap((n) =>
  ['default', 'second'].map((sku) => ({ tenant: `plain-${n}`, sku, kind: 'plain' })),
);
const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;

beforeEach(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await prepareGovernor(client);
  service = await Service.open(1);
  process.env.WRIT_FAULTS_SERVICE = service.url;
  process.env.WRIT_FAULTS_WORKER = JSON.stringify({ record: '/dev/null' });
  writ = await db.connect();
  const admin = new pg.Pool({ connectionString: db.connectionString, max: 2 });
  key = await prepareStage(writ as never, admin, subjects, {
    'governor.storm_limit': 100_000,
    'governor.receipt_slo_ms': 60_000,
    'governor.action_ms': 20_000,
  });
  await admin.end();
  troubles = [];
  const onError = (error: unknown) =>
    void troubles.push({ code: codeOf(error) as string, error: String(error) });
  const hosts = [writ, await db.connect()];
  const workers = await Promise.all(
    hosts.map((host) =>
      host.work([], {
        governor: { ...acting, twicePercent: 100, onError } as never,
        poll: '50ms',
        onError,
      }),
    ),
  );
  const script = fileURLToPath(new URL('./driving-process.mjs', import.meta.url));
  child = fork(script, {
    env: { ...process.env, WRIT_DRIVING: db.directConnectionString },
    execArgv: [],
  });
  child.on(
    'message',
    (message: { ready?: true; code?: string; error: string }) =>
      !message.ready && troubles.push(message),
  );
  await once(child, 'message');
  stopping = [
    ...workers.map((worker) => () => worker.stop()),
    async () => {
      child.send('stop');
      await once(child, 'exit');
    },
  ];
  await until(
    async () =>
      (await db.query(`select from writ.governor where state = 'stable' and policy_version = 1`))
        .length === subjects.length,
    20_000,
  );
});
afterEach(async () => {
  child.kill('SIGKILL');
  service.close();
  await client.end();
  await db.drop();
});

const codeOf = (error: unknown): string | undefined => {
  const { code, cause } = error as { code?: string; cause?: unknown };
  return /^[0-9A-Z]{5}$/.test(code ?? '') ? code : cause ? codeOf(cause) : code;
};

/**
 * Everything has been decided, nobody is on the way back from anywhere, and whoever drives has
 * stopped. What needs a person is looked at meanwhile.
 */
async function atRest(): Promise<void> {
  service.calm = true;
  await until(async () => {
    const awaiting = await db.query(
      `select tenant_id, sku_id, cause from writ.governor, jsonb_array_elements_text(causes) cause where cause in ('crash', 'rollback_failed')`,
    );
    for (const { tenant_id, sku_id, cause } of awaiting)
      await (await writ.governor({ tenant: String(tenant_id), sku: String(sku_id) }))
        .acknowledge(cause as 'crash', { as: key, reason: 'it was looked at' })
        .catch((error) => expect(error.code).toBe('cause_not_found'));
    const moving = `select from writ.governor v where ${isMoving} or state not in ('stable', 'warning') union all select from writ_data.job_ready union all select from writ_data.job_lease`;
    return (await db.query(moving)).length === 0;
  }, 40_000);
  await Promise.all(stopping.map((stop) => stop()));
}

async function nothingIsWrong(sent: object[]): Promise<void> {
  await keepGovernorBooks(client, sent, service.calls);
  const findings = await checkGovernor(client);
  expect(findings, JSON.stringify(findings)).toEqual([]);
  for (const { id } of await db.query('select governor_id::text as id from writ_data.governor'))
    expect(await replayed(client, String(id))).toEqual([]);
}

test('four hosts in two processes drive the same governors: each signal has one receipt, and numbers are dense', async () => {
  const senders = [writ, await db.connect({ max: 3 }), await db.connect({ max: 3 })];
  const sent: object[] = [];
  let n = 0;
  const send = async () => {
    while (n < 900) {
      const id = `signal-${++n}`;
      const { tenant, sku } = pick(subjects);
      const value = Math.random() < 0.1 ? 95 : 20;
      // By two at once: whoever comes second is answered what the first one was.
      const both = await Promise.all(
        [0, 1].map(async () =>
          (await pick(senders).governor({ tenant, sku })).signal({ id, type: 'load', value }),
        ),
      );
      for (const one of both) {
        const receipt_id = one.status === 'decided' ? one.receipt.receipt_id : null;
        sent.push({
          id,
          tenant,
          sku,
          status: receipt_id ? 200 : 202,
          receipt_id,
          arrival_seq: one.arrival_seq,
          tries: 1,
        });
      }
      expect(both.filter(({ duplicate }) => duplicate)).toHaveLength(1);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
  await atRest();
  await nothingIsWrong(sent);
  expect(troubles.filter(({ code }) => code !== '55P03')).toEqual([]);
}, 90_000);

/** What any session may do to the same few governors. */
function moves(s: Session) {
  const ids = () => subjects.map(() => pick(subjects));
  const governors = () =>
    s.query('select governor_id::text as id from writ_data.governor order by random() limit 4');
  const array = (rows: Record<string, unknown>[]) => `{${rows.map(({ id }) => id).join(',')}}`;
  const of = async () => writ.governor(pick(subjects));
  let n = 0;
  return [
    () => {
      const items = ids().map(({ tenant, sku }) => ({
        ...{ t: tenant, s: sku, id: `${s.name}-${++n}` },
        c: {
          kind: 'signal',
          signal_id: `${s.name}-${n}`,
          source: 'custom',
          type: 'load',
          severity: 'LOW',
          value: Math.random() < 0.2 ? 95 : 10,
          observed_at: 0,
        },
      }));
      return s.gate(`fn_signals_take($1::json, 'race')`, [JSON.stringify(items)]);
    },
    async () =>
      s.gate(`fn_governor_tell($1::uuid[], $2::jsonb)`, [
        array(await governors()),
        JSON.stringify({
          kind: 'health_failed',
          failure: { cause: 'ledger', component: 'ledger', failure_type: 'timeout' },
        }),
      ]),
    () =>
      s.gate(`fn_governor_outage('here', $1::jsonb, now(), now())`, [
        JSON.stringify([
          {
            seq: ++n,
            ...pick(subjects),
            signal_id: `${s.name}-x${n}`,
            at: new Date().toISOString(),
          },
        ]),
      ]),
    async () =>
      s.gate(
        `fn_governor_crashed($1::uuid, (select events from writ_data.governor where governor_id = $1::uuid), 'tried', 'race')`,
        [(await governors())[0]?.id],
      ),
    () => s.gate(`fn_governor_tick('race')`),
    () => s.gate(`fn_job_tick('race')`),
    () => s.gate('fn_job_lease_reaper()'),
    async () => {
      const [job] = await s.query(
        `select job_id from writ_data.job where job_kind like 'governor.%' order by random() limit 1`,
      );
      if (job) await s.gate('fn_job_cancel($1, $2, $3)', [job.job_id, 'why not', 'race']);
    },
    () =>
      writ.governors.entitlements.put(
        { tier: 'enterprise', status: Math.random() < 0.2 ? 'CANCELLED' : 'ACTIVE' },
        { tenant: pick(subjects).tenant, as: key },
      ),
    async () =>
      (await of()).publish(policyFor('plain', Math.floor(Math.random() * 3)), { as: key }),
    async () => (await of()).act('relieve', {}, { as: key }),
    async () =>
      (await of()).acknowledge(pick(['crash', 'rollback_failed']), {
        as: key,
        reason: 'it was looked at',
      }),
    async () => {
      // Somebody who takes governors and thinks better of it.
      await s.query('begin');
      await s.query('select * from writ.fn_governors_take(3, 10)');
      await s.query('rollback');
    },
  ];
}

test('every gate at random beside four hosts: no deadlock, and everything agrees afterwards', async () => {
  const sessions = await Promise.all(Array.from({ length: 6 }, () => session(db)));
  const failures: unknown[] = [];
  let calls = 0;
  await Promise.all(
    sessions.map(async (s) => {
      const all = moves(s);
      while (calls++ < 800 && failures.length === 0) {
        try {
          await pick(all)();
        } catch (error) {
          await s.query('rollback');
          if ((error as Error).name !== 'WritRefusal' && codeOf(error) !== '55P03')
            failures.push(error);
        }
      }
    }),
  );
  expect(failures).toEqual([]);
  for (const { tenant } of subjects)
    await writ.governors.entitlements.put({ status: 'ACTIVE' }, { tenant, as: key });
  await atRest();
  await Promise.all(sessions.map((s) => s.end()));
  expect(troubles.filter(({ code, error }) => code === '40P01' || /deadlock/.test(error))).toEqual(
    [],
  );
  await nothingIsWrong([]);
}, 90_000);

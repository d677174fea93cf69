/** Calls that their callers may repeat: one effect, one answer, for their own caller only. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { act } from '../../src/database/acting.js';
import { principal } from '../../src/governance/keys.js';
import { defineJob, definePlan, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from '../hostile/logins.js';

let db: TestDatabase;
let writ: Writ;
const logins: Login[] = [];
const keys: Record<string, string> = {};

beforeAll(async () => {
  db = await testDatabase();
  writ = await Writ.connect({ connectionString: db.connectionString });
  for (const id of ['ops', 'ops2'])
    keys[id] = await writ.principals.add({ id, kind: 'person', rights: ['operate'] });
});

afterEach(async () => {
  for (const one of logins.splice(0)) await one.end();
  await db.query('delete from writ_data.request');
});

afterAll(async () => {
  await writ.close();
});

const freeze = { reason: 'a quiet week for everybody' };
const freezes = async () =>
  Number((await db.query('select count(*) as n from writ_data.freeze'))[0]?.n);
const requests = () => db.query('select * from writ_data.request order by once');
const digest = (letter: string) => letter.repeat(64);

async function as(...roles: string[]): Promise<Login> {
  const one = await login(db, roles);
  logins.push(one);
  return one;
}

describe('a call with `once`', () => {
  test('has one effect, and answers the first answer again', async () => {
    const before = await freezes();
    const ops = writ.with({ as: keys.ops as string, once: 'freeze-1' });
    const first = await ops.freezes.put(freeze);
    expect(await ops.freezes.put(freeze)).toBe(first);
    expect(await writ.freezes.put(freeze, { as: keys.ops!, once: 'freeze-1' })).toBe(first);
    expect(await freezes()).toBe(before + 1);
  });

  test('is refused where another call has used its key', async () => {
    const ops = writ.with({ as: keys.ops as string, once: 'freeze-2' });
    await ops.freezes.put(freeze);
    const before = await freezes();
    await expect(ops.freezes.put({ reason: 'another reason, as long' })).rejects.toMatchObject({
      code: 'once_conflict',
      status: 422,
    });
    await expect(
      ops.capabilities.put([{ capability_name: 'once', domain: 'd' }]),
    ).rejects.toMatchObject({ code: 'once_conflict' });
    expect(await freezes()).toBe(before);
  });

  test('keeps no refusal: the same call succeeds later', async () => {
    const call = () =>
      writ.probes.report('once-probe', 'HEALTHY', { as: keys.ops!, once: 'report-1' });
    await expect(call()).rejects.toMatchObject({ code: 'probe_not_found' });
    expect(await requests()).toEqual([]);
    await writ.capabilities.put([{ capability_name: 'once-cap', domain: 'd' }], { as: keys.ops! });
    const probe = { name: 'once-probe', capability: 'once-cap', type: 'reported' } as const;
    await writ.probes.put(probe, { as: keys.ops! });
    await call();
    expect(await requests()).toHaveLength(1);
  });

  test('waits for the same call, and answers what that one answered', async () => {
    const before = await freezes();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        writ.freezes.put(freeze, { as: keys.ops!, once: 'freeze-3' }),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    expect(await freezes()).toBe(before + 1);
  });

  test('leaves neither effect nor answer when its transaction ends without a commit', async () => {
    const before = await freezes();
    const client = new pg.Client({ connectionString: db.connectionString });
    await client.connect();
    const put = (host: Parameters<typeof act>[0]) =>
      act<{ freeze_id: string }>(
        host,
        'fn_freeze_put($1, $2::text::jsonb, $3)',
        [keyOf('ops'), JSON.stringify(freeze), 'default'],
        { once: 'freeze-4' },
        { credential: keyOf('ops') },
      );
    await client.query('begin');
    await put({ db: client });
    // The second caller waits for the first one, whose connection is lost.
    const second = put({
      db: { query: async (sql, params) => ({ rows: await db.query(sql, params) }) },
    });
    await client.end();
    await second;
    expect(await freezes()).toBe(before + 1);
    expect(await requests()).toMatchObject([{ once: 'freeze-4', principal_id: 'ops' }]);
  });

  test('belongs to its principal and tenant', async () => {
    const before = await freezes();
    const put = (who: string, tenant?: string) =>
      writ.freezes.put(freeze, {
        as: keys[who] as string,
        once: 'freeze-5',
        ...(tenant && { tenant }),
      });
    const ids = [await put('ops'), await put('ops2'), await put('ops', 'acme')];
    expect(new Set(ids).size).toBe(3);
    expect(await freezes()).toBe(before + 3);
  });

  test('is kept for requests.retention_hours', async () => {
    await writ.freezes.put(freeze, { as: keys.ops!, once: 'freeze-6' });
    await writ.freezes.put(freeze, { as: keys.ops!, once: 'freeze-7' });
    await db.query(
      `update writ_data.request set at = at - interval '25 hours' where once = 'freeze-6'`,
    );
    await db.query('select writ_data.forget_requests(10, writ.now())');
    expect((await requests()).map(({ once }) => once)).toEqual(['freeze-7']);
  });
});

describe('a hostile login', () => {
  const begin = { key: null, tenant_id: 'default', once: 'k', digest: digest('a') };

  test('reads and plants only rows of its own', async () => {
    const first = await as('writ_producer');
    const second = await as('writ_producer');
    await first.query('begin');
    expect(await first.call('fn_request_begin', begin)).toBeNull();
    await first.call('fn_request_end', { key: null, tenant_id: 'default', once: 'k', answer: '1' });
    await first.query('commit');
    expect(await second.call('fn_request_begin', begin)).toBeNull();
    expect(await first.call('fn_request_begin', begin)).toBe(1);
    // The key of a principal that it does not have makes it nobody.
    const planted = { ...begin, key: `ops:${digest('0')}`, once: 'freeze-8' };
    await second.call('fn_request_begin', planted);
    expect((await requests()).map(({ principal_id }) => principal_id)).toEqual(['', '', '']);
    await expect(first.query('select * from writ_data.request')).rejects.toThrow(/denied/);
  });

  test('names a principal only with writ_server', async () => {
    const server = await as('writ_server');
    const producer = await as('writ_producer');
    await server.call('fn_request_begin', { ...begin, key: 'ops' });
    await producer.call('fn_request_begin', { ...begin, key: 'ops' });
    expect((await requests()).map(({ principal_id }) => principal_id).sort()).toEqual(['', 'ops']);
  });

  test('never changes an answer, and ends nothing that it has not begun', async () => {
    const one = await as('writ_producer');
    const end = { key: null, tenant_id: 'default', once: 'k', answer: '1' };
    await expect(one.call('fn_request_end', end)).rejects.toMatchObject({
      message: 'invalid_once',
    });
    await one.call('fn_request_begin', begin);
    await one.call('fn_request_end', end);
    for (const answer of ['2', '{"refused": true}'])
      await one.call('fn_request_end', { ...end, answer }).catch(() => undefined);
    expect(await one.call('fn_request_begin', begin)).toBe(1);
    await one.call('fn_request_begin', { ...begin, once: 'large' });
    const large = { ...end, once: 'large', answer: JSON.stringify('x'.repeat(70_000)) };
    await expect(one.call('fn_request_end', large)).rejects.toMatchObject({
      message: 'invalid_once',
    });
  });

  test('fills its own share only, whatever its session makes of random()', async () => {
    const one = await as('writ_producer');
    await db.query(`update writ_data.dot_config set value = '100' where key = 'requests.most'`);
    await one.query(`select setseed(0.5)`);
    await one.query(
      `select writ.fn_request_begin(null, 'default', 'k' || n, $1) from generate_series(1, 5000) n`,
      [digest('a')],
    );
    // A call in a hundred looks, and deletes up to a thousand.
    expect((await requests()).length).toBeLessThan(1_500);
    await db.query(`update writ_data.dot_config set value = '100000' where key = 'requests.most'`);
  });
});

describe('a call that has a key of its own', () => {
  const mail = defineJob('once.mail', { input: z.object({ to: z.string() }) });
  const plan = definePlan('once-plan', { version: '1.0.0' }, (p) => {
    p.waitFor('word');
  });

  test('enqueues once under the key of the job', async () => {
    const bound = writ.with({ once: 'mail-1', tenant: 'acme', actor: 'ada' });
    const { jobId } = await bound.enqueue(mail, { to: 'a' });
    expect(await bound.enqueue(mail, { to: 'a' })).toMatchObject({ jobId, duplicate: true });
    await expect(bound.enqueue(mail, { to: 'b' })).rejects.toMatchObject({
      code: 'once_conflict',
    });
    expect(
      await db.query(
        `select j.tenant_id, b.actor from writ_data.job j
         join writ_data.event_batch b on b.subjects = array[j.job_id] where j.job_id = $1`,
        [jobId],
      ),
    ).toMatchObject([{ tenant_id: 'acme', actor: 'ada' }]);
    const many = await bound.enqueueMany(mail, [{ input: { to: 'a' } }, { input: { to: 'b' } }]);
    expect(await bound.enqueueMany(mail, [{ input: { to: 'a' } }, { input: { to: 'b' } }])).toEqual(
      many.map((one) => ({ ...one, duplicate: true, samePayload: true })),
    );
  });

  test('starts one run under its request', async () => {
    const bound = writ.with({ once: 'run-1' });
    const { runId } = await bound.start(plan, { n: 1 } as never);
    expect(await bound.start(plan, { n: 1 } as never)).toMatchObject({ runId, duplicate: true });
    await expect(bound.start(plan, { n: 2 } as never)).rejects.toMatchObject({
      code: 'once_conflict',
    });
  });
});

describe('a bound caller', () => {
  test('stands in the record with its request', async () => {
    const id = await writ.with({ as: keys.ops!, requestId: 'req-7' }).freezes.put(freeze);
    expect(id).toBeTruthy();
    expect(
      await db.query(`select command, login from writ.command_run where request_id = 'req-7'`),
    ).toMatchObject([{ command: 'fn_freeze_put' }]);
  });

  test('stops waiting when its signal aborts', async () => {
    const over = new AbortController();
    const run = await writ.start(
      definePlan('once-wait', { version: '1.0.0' }, (p) => {
        p.waitFor('word');
      }),
    );
    const bound = writ.with({ as: keys.ops!, signal: over.signal });
    const waiting = bound.runs.finished(run.runId);
    setTimeout(() => over.abort(new Error('the client went away')), 50);
    await expect(waiting).rejects.toThrow('the client went away');
    await expect(bound.freezes.put(freeze)).rejects.toThrow('the client went away');
    await bound.close();
  });
});

/** What a principal sends to a gate. */
function keyOf(id: string): string {
  return principal(keys[id] as string).credential;
}

/** Every method of the API that acts: one effect and one answer under one key. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../src/governance/keys.js';
import {
  action,
  configure,
  defineJob,
  definePlan,
  definePolicy,
  enable,
  PermanentFailure,
  Writ,
} from '../../src/index.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../src/ledger/note.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type ActingMethod, byOwnKey, methodsOf, reads } from '../api.js';
import { pages } from '../pages.js';
import { until } from '../races/sessions.js';

type Call = (writ: Writ) => Promise<unknown>;
/** A call, and one of the same method with another argument. */
type Example = () => Promise<readonly [call: Call, other: Call]>;

let db: TestDatabase;
let writ: Writ;
const keys = { ops: '', ada: '' };
let folder: string;
const suffix = randomBytes(4).toString('hex');

const mail = defineJob<{ to: string }>('acting.mail');
const waiting = definePlan('acting', { version: '1.0.0' }, (p) => {
  p.waitFor('word');
});
const signers = [7, 8, 9].map((n) => keyOfSeed('acme.example/test', new Uint8Array(32).fill(n)));
const [first, second, third] = signers.map(privateKeyText) as [string, string, string];
const policy = (limit: number) =>
  definePolicy('acting', {
    when: { error_rate: { above: limit, clearBelow: limit / 2, cooldown: '5m' } },
    requires: 'shop:write',
    then: action.handler('restart', { target: 'shop', inverse: 'start' }),
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'writ-acting-'));
  db = await testDatabase();
  writ = await db.connect();
  const rights = ['propose', 'approve', 'activate', 'operate', 'report', 'administer'] as const;
  keys.ops = await writ.principals.add({ id: 'ops', kind: 'person', rights });
  keys.ada = await writ.principals.add({ id: 'ada', kind: 'person', rights });
  await writ.capabilities.put(
    [
      ...Array.from({ length: 30 }, (_, n) => ({ capability_name: `c${n}`, domain: 'd' })),
      { scope: 'limits', owner_capability: 'c0', values: { max: 1 } },
    ],
    { as: keys.ops },
  );
  await writ.governors.policies.publish('default', policy(9), { as: keys.ops });
});

afterAll(async () => {
  const made = await db.query('select rolname from pg_roles where rolname like $1', [`%${suffix}`]);
  for (const { rolname } of made) {
    await db.query(`drop owned by "${rolname}"`);
    await db.query(`drop role "${rolname}"`);
  }
  rmSync(folder, { recursive: true, force: true });
  await db.drop();
});

/** Each contract is about a capability of its own. */
let contracts = 0;
const eligible = async () =>
  writ.contracts.propose(
    {
      title: `Contract ${++contracts}`,
      scope: [`c${contracts}`],
      steps: [enable(`c${contracts}`)],
    },
    { as: keys.ops },
  );

/** Contracts that an applier has approved; it ends before anything is measured. */
async function approved(count: number) {
  const made = await Promise.all(Array.from({ length: count }, eligible));
  const options = { governance: 'verify', trust: 'database', poll: '200ms' } as const;
  const worker = await writ.work([], options);
  for (const contract of made) {
    const { hash } = await contract.preview({ as: keys.ada });
    await contract.approve({ as: keys.ada, hash });
  }
  await worker.stop();
  return made.map(({ id }) => id) as [string, string];
}

async function deadLetters(count: number): Promise<string[]> {
  const ids = await Promise.all(
    Array.from({ length: count }, async () => (await writ.enqueue(mail, { to: 'nobody' })).jobId),
  );
  const dies = mail.handle(async () => {
    throw new PermanentFailure('no such address');
  });
  const worker = await writ.work([dies]);
  const dead = async (id: string) => (await writ.jobs.get(id)).status === 'dead_letter';
  await until(async () => (await Promise.all(ids.map(dead))).every(Boolean));
  await worker.stop();
  return ids;
}

const jobs = async (count: number) =>
  (await writ.enqueueMany(mail, Array(count).fill({ input: { to: 'ada' } }))).map(
    ({ jobId }) => jobId,
  ) as [string, string];
const runs = async () => [(await writ.start(waiting)).runId, (await writ.start(waiting)).runId];
const destination = (name: string) =>
  writ.destinations.put(name, { bus: 'webhook', config: { url: 'https://example.com' } });
const schedule = async () => {
  for (const name of ['one', 'two'])
    await writ.schedules.put(name, mail, { cron: '@daily', input: { to: 'ada' } });
};
const reason = 'somebody has looked at it';
const another = 'somebody else has looked';
const cases = <Given>(
  prepare: () => Promise<Given>,
  call: (writ: Writ, given: Given) => Promise<unknown>,
  other: (writ: Writ, given: Given) => Promise<unknown>,
): Example => {
  return async () => {
    const given = await prepare();
    return [(w) => call(w, given), (w) => other(w, given)];
  };
};
const plain = (call: Call, other: Call): Example => cases(async () => undefined, call, other);

/** Those whose repetition needs a state that only a failure of another kind leaves. */
type Elsewhere = 'audits.resolve' | 'changes.retryRollback';

const examples: Readonly<Record<Exclude<ActingMethod, Elsewhere>, Example>> = {
  'jobs.cancel': cases(
    () => jobs(2),
    (w, [one]) => w.jobs.cancel(one),
    (w, [, two]) => w.jobs.cancel(two),
  ),
  'jobs.requeue': cases(
    () => deadLetters(1),
    (w, [one]) => w.jobs.requeue(one as string, { reason }),
    (w, [one]) => w.jobs.requeue(one as string, { reason: another }),
  ),
  'jobs.requeueMany': cases(
    () => deadLetters(2),
    (w, ids) => w.jobs.requeueMany(ids, { reason }),
    (w, ids) => w.jobs.requeueMany(ids.slice(1), { reason }),
  ),
  'kinds.pause': plain(
    (w) => w.kinds.pause(mail.kind),
    (w) => w.kinds.pause('acting.other'),
  ),
  'kinds.resume': plain(
    (w) => w.kinds.resume(mail.kind),
    (w) => w.kinds.resume('acting.other'),
  ),
  'workers.setWeight': plain(
    (w) => w.workers.setWeight('acme', 2),
    (w) => w.workers.setWeight('acme', 3),
  ),
  'alerts.clear': cases(
    async () => {
      await db.query(
        `select writ_data.raise_alert('RUN_STUCK', 'P2', 'x', 'run/x', '{}', 'test', now())`,
      );
      return (await writ.alerts.list()).items[0]?.alertId as string;
    },
    (w, id) => w.alerts.clear(id, { reason }),
    (w, id) => w.alerts.clear(id, { reason: another }),
  ),
  'settings.set': plain(
    (w) => w.settings.set('requests.most', 50_000),
    (w) => w.settings.set('requests.most', 60_000),
  ),
  'schedules.put': plain(
    (w) => w.schedules.put('daily', mail, { cron: '@daily', input: { to: 'ada' } }),
    (w) => w.schedules.put('daily', mail, { cron: '@hourly', input: { to: 'ada' } }),
  ),
  'schedules.pause': cases(
    schedule,
    (w) => w.schedules.pause('one'),
    (w) => w.schedules.pause('two'),
  ),
  'schedules.resume': cases(
    schedule,
    (w) => w.schedules.resume('one'),
    (w) => w.schedules.resume('two'),
  ),
  'schedules.runNow': cases(
    schedule,
    (w) => w.schedules.runNow('one'),
    (w) => w.schedules.runNow('two'),
  ),
  'schedules.remove': cases(
    schedule,
    (w) => w.schedules.remove('one'),
    (w) => w.schedules.remove('two'),
  ),
  'runs.start': plain(
    (w) => w.runs.start(waiting, { n: 1 } as never).then(({ runId }) => runId),
    (w) => w.runs.start(waiting, { n: 2 } as never),
  ),
  'runs.signal': cases(
    runs,
    (w, [one]) => w.runs.signal(one as string, { type: 'PAUSE' }).then(({ status }) => status),
    (w, [, two]) => w.runs.signal(two as string, { type: 'PAUSE' }),
  ),
  'runs.deliver': cases(
    runs,
    (w, [one]) => w.runs.deliver(one as string, 'word', { n: 1 }),
    (w, [one]) => w.runs.deliver(one as string, 'word', { n: 2 }),
  ),
  'runs.setAdmission': plain(
    (w) => w.runs.setAdmission('acme', { policy: 'QUEUE', maxRunning: 2 }),
    (w) => w.runs.setAdmission('acme', { policy: 'QUEUE', maxRunning: 3 }),
  ),
  'runs.dequeueAndStart': cases(
    async () => {
      await writ.runs.setAdmission('default', { policy: 'QUEUE', maxRunning: 1 });
      for (const n of [1, 2]) await writ.start(waiting, { n } as never);
      await writ.runs.setAdmission('default', undefined);
    },
    (w) => w.runs.dequeueAndStart(),
    (w) => w.runs.dequeueAndStart({ actor: 'somebody else' }),
  ),
  'runs.rebuild': cases(
    runs,
    (w, ids) => w.runs.rebuild(ids),
    (w, ids) => w.runs.rebuild(ids.slice(1)),
  ),
  'plans.register': plain(
    (w) => w.plans.register(waiting as never).then(({ id }) => id),
    (w) =>
      w.plans.register(
        definePlan('acting', { version: '1.0.0' }, (p) => {
          p.waitFor('another');
        }) as never,
      ),
  ),
  'ledger.rotateKey': cases(
    () => writ.ledger.checkpoint({ key: first, places: [] }),
    (w) => w.ledger.rotateKey({ old: first, next: second }),
    (w) => w.ledger.rotateKey({ old: first, next: third }),
  ),
  'ledger.acceptRestore': plain(
    (w) => w.ledger.acceptRestore({ ...accepting, reason: 'The disk was lost, and restored.' }),
    (w) => w.ledger.acceptRestore({ ...accepting, reason: 'Another disk was lost as well.' }),
  ),
  'ledger.archived': cases(
    async () => {
      await db.query(`select writ_data.make_receipt_partition('2020-01-15')`);
      await writ.ledger.checkpoint({ key: second, places: [] });
      const exported = await writ.ledger.export(folder);
      return { key: second, month: '2020-01', exported };
    },
    (w, archive) => w.ledger.archived({ ...archive, place: '/archive' }),
    (w, archive) => w.ledger.archived({ ...archive, place: '/another' }),
  ),
  'ledger.erase': cases(
    async () => (await writ.ledger.receipts()).items.map(({ receipt }) => receipt.receipt_id),
    (w, [id]) => w.ledger.erase(id as string, 'Ada asked for it on Monday.'),
    (w, [, id]) => w.ledger.erase(id as string, 'Ada asked for it on Monday.'),
  ),
  'governors.signal': plain(
    (w) => w.governors.signal('default', { type: 'x', observedAt }).then(counted),
    (w) => w.governors.signal('default', { type: 'y', observedAt }),
  ),
  'governors.act': plain(
    (w) => w.governors.act('default', { type: 'restart' }),
    (w) => w.governors.act('default', { type: 'start' }),
  ),
  'governors.acknowledge': cases(
    () =>
      db.query(
        `update writ_data.governor set data = data || '{"causes": ["crash", "action_timeout"]}'`,
      ),
    (w) => w.governors.acknowledge('default', { cause: 'crash', reason }),
    (w) => w.governors.acknowledge('default', { cause: 'action_timeout', reason }),
  ),
  'governors.policies.publish': plain(
    (w) => w.governors.policies.publish('default', policy(1)),
    (w) => w.governors.policies.publish('default', policy(2)),
  ),
  'governors.policies.withdraw': plain(
    (w) => w.governors.policies.withdraw('default'),
    (w) => w.governors.policies.withdraw('default', { version: 9 }),
  ),
  'governors.entitlements.put': plain(
    (w) => w.governors.entitlements.put({ status: 'ACTIVE' }),
    (w) => w.governors.entitlements.put({ status: 'CANCELLED' }),
  ),
  'consumers.put': plain(
    (w) => w.consumers.put('follow', { on: 'dot.job.succeeded', job: mail.kind }),
    (w) => w.consumers.put('follow', { on: 'dot.job.dead_letter', job: mail.kind }),
  ),
  'consumers.remove': plain(
    (w) => w.consumers.remove('follow'),
    (w) => w.consumers.remove('another'),
  ),
  'apiKeys.revoke': cases(
    async () => (await writ.apiKeys.make({ principal: 'ada' }, { as: keys.ops })).keyId,
    (w, id) => w.apiKeys.revoke(id),
    (w) => w.apiKeys.revoke('0123456789abcdef'),
  ),
  'apiKeys.make': plain(
    // No key is shown twice.
    (w) => w.apiKeys.make({ principal: 'ada' }).catch(({ code }) => code),
    (w) => w.apiKeys.make({ principal: 'ops' }),
  ),
  'subscriptions.put': plain(
    (w) => w.subscriptions.put('w1', { kind: mail.kind }),
    (w) => w.subscriptions.put('w2', { kind: mail.kind }),
  ),
  'subscriptions.remove': plain(
    (w) => w.subscriptions.remove('w1', { kind: mail.kind }),
    (w) => w.subscriptions.remove('w2', { kind: mail.kind }),
  ),
  'contracts.propose': plain(
    (w) => w.contracts.propose(proposal).then(({ id }) => id),
    (w) => w.contracts.propose({ ...proposal, title: 'Another title' }),
  ),
  'contracts.revise': cases(
    async () => {
      const { id } = await eligible();
      await writ.contracts.reject(id, { as: keys.ada, reason });
      return id;
    },
    (w, id) => w.contracts.revise(id, { ...proposal, title: 'Revised' }).then((made) => made.id),
    (w, id) => w.contracts.revise(id, { ...proposal, title: 'Revised twice' }),
  ),
  'contracts.read': cases(
    async () => ({ one: await eligible(), two: await eligible() }),
    (w, { one }) => w.contracts.read(one.id),
    (w, { two }) => w.contracts.read(two.id),
  ),
  'contracts.submit': cases(
    async () => ({
      other: await eligible(),
      draft: await writ.contracts.propose(
        { ...proposal, title: 'Draft' },
        { as: keys.ops, draft: true },
      ),
    }),
    (w, { draft }) => w.contracts.submit(draft.id),
    (w, { other }) => w.contracts.submit(other.id),
  ),
  'contracts.approve': cases(
    async () => {
      const { id } = await eligible();
      return { id, ...(await writ.contracts.preview(id, { as: keys.ada })) };
    },
    (w, { id, hash }) => w.contracts.approve(id, { as: keys.ada, hash, timeoutMs: 0 }),
    (w, { id }) => w.contracts.reject(id, { as: keys.ada, reason }),
  ),
  'contracts.reject': cases(
    eligible,
    (w, { id }) => w.contracts.reject(id, { as: keys.ada, reason }),
    (w, { id }) => w.contracts.reject(id, { as: keys.ada, reason: another }),
  ),
  'contracts.requestClarification': cases(
    eligible,
    (w, { id }) => w.contracts.requestClarification(id, { as: keys.ada, reason }),
    (w, { id }) => w.contracts.requestClarification(id, { as: keys.ada, reason: another }),
  ),
  'contracts.clarify': cases(
    async () => {
      const { id } = await eligible();
      await writ.contracts.requestClarification(id, { as: keys.ada, reason });
      return id;
    },
    (w, id) => w.contracts.clarify(id, { reason }),
    (w, id) => w.contracts.clarify(id, { reason: another }),
  ),
  'contracts.escalate': cases(
    () => writ.contracts.propose({ ...proposal, title: 'Big', risk: 'critical' }, { as: keys.ops }),
    (w, { id }) => w.contracts.escalate(id, { as: keys.ada, reason }),
    (w, { id }) => w.contracts.escalate(id, { as: keys.ada, reason: another }),
  ),
  'contracts.revoke': cases(
    () => approved(1),
    (w, [id]) => w.contracts.revoke(id, { as: keys.ada, reason }),
    (w, [id]) => w.contracts.revoke(id, { as: keys.ada, reason: another }),
  ),
  'contracts.activate': cases(
    () => approved(2),
    (w, [one]) => w.contracts.activate(one),
    (w, [, two]) => w.contracts.activate(two),
  ),
  'contracts.stop': cases(
    async () => {
      const [id] = await approved(1);
      await writ.contracts.activate(id, { as: keys.ops });
      return [id];
    },
    (w, ids) => w.contracts.stop(ids, { reason }),
    (w, ids) => w.contracts.stop(ids, { reason: another }),
  ),
  'changes.cancel': cases(
    async () => {
      const [id] = await approved(1);
      return (await writ.contracts.activate(id, { as: keys.ops })).job_id;
    },
    (w, id) => w.changes.cancel(id, { reason }),
    (w, id) => w.changes.cancel(id, { reason: another }),
  ),
  'capabilities.put': plain(
    (w) => w.capabilities.put([{ capability_name: 'new', domain: 'd' }]),
    (w) => w.capabilities.put([{ capability_name: 'newer', domain: 'd' }]),
  ),
  'probes.put': plain(
    (w) => w.probes.put({ name: 'p', capability: 'c0', type: 'reported' }),
    (w) => w.probes.put({ name: 'q', capability: 'c0', type: 'reported' }),
  ),
  'probes.report': plain(
    (w) => w.probes.report('p', 'HEALTHY'),
    (w) => w.probes.report('p', 'DEGRADED'),
  ),
  'probes.remove': plain(
    (w) => w.probes.remove('p'),
    (w) => w.probes.remove('q'),
  ),
  'freezes.put': plain(
    (w) => w.freezes.put({ reason, from: new Date('2090-01-01T00:00Z') }),
    (w) => w.freezes.put({ reason: another, from: new Date('2090-01-01T00:00Z') }),
  ),
  'freezes.lift': cases(
    () => writ.freezes.put({ reason, from: new Date('2090-01-01T00:00Z') }, { as: keys.ops }),
    (w, id) => w.freezes.lift(id),
    (w) => w.freezes.lift('01900000-0000-7000-8000-000000000000'),
  ),
  'incidents.open': plain(
    (w) => w.incidents.open({ summary: 'it burns' }),
    (w) => w.incidents.open({ summary: 'it still burns' }),
  ),
  'incidents.resolve': cases(
    () => writ.incidents.open({ summary: 'it burns' }, { as: keys.ops }),
    (w, id) => w.incidents.resolve(id, { resolution: reason }),
    (w, id) => w.incidents.resolve(id, { resolution: another }),
  ),
  'signals.record': plain(
    (w) => w.signals.record({ scope: 'c0', decision: 'WARN', reason }),
    (w) => w.signals.record({ scope: 'c0', decision: 'WARN', reason: another }),
  ),
  'policy.publish': plain(
    (w) => w.policy.publish({ review_days: 5 }),
    (w) => w.policy.publish({ review_days: 6 }),
  ),
  'principals.add': plain(
    (w) => w.principals.add({ id: 'eve', kind: 'person', key: evesKey }),
    (w) => w.principals.add({ id: 'mallory', kind: 'person' }),
  ),
  'principals.change': plain(
    (w) => w.principals.change('ada', { permissions: ['flags:write'] }),
    (w) => w.principals.change('ada', { permissions: [] }),
  ),
  'logins.put': plain(
    async (w) => w.logins.put(await w.logins.plan(worker), { password: 'correct horse' }),
    async (w) => w.logins.put(await w.logins.plan(worker), { password: 'battery staple' }),
  ),
  'logins.remove': cases(
    () => writ.logins.planRemoval(worker.login),
    (w, plan) => w.logins.remove(plan, { dropRole: true }),
    (w, plan) => w.logins.remove(plan),
  ),
  'destinations.put': plain(
    (w) => w.destinations.put('shop', { bus: 'webhook', config: { url: 'https://a.example' } }),
    (w) => w.destinations.put('shop', { bus: 'webhook', config: { url: 'https://b.example' } }),
  ),
  'destinations.pause': cases(
    () => destination('two'),
    (w) => w.destinations.pause('shop'),
    (w) => w.destinations.pause('two'),
  ),
  'destinations.resume': plain(
    (w) => w.destinations.resume('shop'),
    (w) => w.destinations.resume('two'),
  ),
  'destinations.redeliver': plain(
    (w) => w.destinations.redeliver('shop', { since: observedAt }),
    (w) => w.destinations.redeliver('two', { since: observedAt }),
  ),
  'destinations.remove': plain(
    (w) => w.destinations.remove('shop'),
    (w) => w.destinations.remove('two'),
  ),
  'deployment.renew': cases(
    async () => (await writ.deployment.get()).deployment_id,
    (w, replaces) => w.deployment.renew({ reason, replaces }),
    (w, replaces) => w.deployment.renew({ reason: another, replaces }),
  ),
};

const observedAt = new Date();
const counted = ({ arrival_seq }: { readonly arrival_seq: number }) => arrival_seq;
const evesKey = newKey('eve');
const worker = { login: `acting-${suffix}`, roles: ['writ_worker'] };
const accepting = { places: [], keys: [publicKeyText(signers[1] as never)], key: second };
const proposal = {
  title: 'Raise the limit',
  scope: ['limits'],
  steps: [configure('limits', 'max', 2)],
};

/** The row that tells of a call; nothing works on the side. */
const effects = async () => {
  const [row] = await db.query(
    `select (select count(*) from writ_data.event_batch) as calls,
       (select count(*) from writ_data.receipt) as receipts`,
  );
  return row;
};

/** Another call is answered as the first one was: nothing compares the two. */
const comparesNothing = ['governors.signal'];
const otherRefusals: Readonly<Record<string, string>> = { 'plans.register': 'PLAN_VERSION_EXISTS' };

describe('a call that is made twice under one key', () => {
  test.each(Object.entries(examples))(
    '%s has one effect and the same answer, and its key serves no other call',
    async (name, example) => {
      const [call, other] = await example();
      const bound = writ.with({ as: keys.ops, once: `once-${name}`, actor: 'ops' });
      const answer = await call(bound);
      const before = await effects();
      expect(await call(bound)).toEqual(name === 'apiKeys.make' ? 'api_key_exists' : answer);
      expect(await effects()).toEqual(before);
      if (comparesNothing.includes(name)) return;
      const code = otherRefusals[name] ?? 'once_conflict';
      await expect(other(bound)).rejects.toMatchObject({ code });
      expect(await effects()).toEqual(before);
    },
  );

  test.each<[Elsewhere, (writ: Writ, what: string) => Promise<unknown>]>([
    ['audits.resolve', (w, what) => w.audits.resolve(what, { verdict: 'PASS', reason })],
    ['changes.retryRollback', (w, what) => w.changes.retryRollback(what)],
  ])('%s sends its key and what it means', async (_, call) => {
    const sent: (readonly [string, unknown])[] = [];
    const recording = await Writ.connect({
      db: {
        query: async (sql: string, params: unknown[] = []) => {
          if (sql.includes('fn_request_begin')) sent.push([sql, params.at(-1)]);
          return sql.includes('fn_request_begin')
            ? { rows: [{ answer: '{}' }] }
            : { rows: await db.query(sql, params) };
        },
      },
    });
    const bound = recording.with({ as: keys.ops, once: 'k' });
    const [one, two] = [
      '01900000-0000-7000-8000-00000000000',
      '01900000-0000-7000-8000-00000000001',
    ];
    for (const what of [`${one}0`, `${one}0`, `${two}0`]) await call(bound, what);
    expect(sent).toHaveLength(3);
    expect(sent[1]).toEqual(sent[0]);
    expect(sent[2]?.[1]).not.toEqual(sent[0]?.[1]);
    await recording.close();
  });
});

describe('a call that has a key of its own', () => {
  test('a workflow is emitted once under its key', async () => {
    const bound = writ.with({ once: 'graph' });
    const emit = () =>
      bound.emitGraph({ kind: 'acting', generator: 'test' }, [{ job: mail, input: { to: 'ada' } }]);
    const emitted = await emit();
    const before = await effects();
    expect(await emit()).toEqual({ ...emitted, duplicate: true });
    expect(await effects()).toEqual(before);
  });

  test('a tree is signed and published once, however often a checkpoint is made', async () => {
    const place = join(folder, 'checkpoint');
    const sign = () => writ.ledger.checkpoint({ key: second, places: [place] });
    await sign();
    const trees = () => db.query('select log_id, size from writ.ledger_checkpoint order by 1, 2');
    const known = await trees();
    const again = await sign();
    expect(again.map(({ log }) => log)).toEqual(['_system']);
    expect(await trees()).toEqual(known);
  });
});

test('every method of the API acts, answers a page, or only reads', () => {
  const known = [
    ...Object.keys(examples),
    ...['audits.resolve', 'changes.retryRollback'],
    ...Object.keys(pages),
    ...byOwnKey,
    ...reads,
  ];
  expect(methodsOf(writ).sort()).toEqual(known.sort());
});

describe('a row that has moved', () => {
  test('refuses a schedule that was changed in the meantime', async () => {
    const put = (cron: string, version: number) =>
      writ.schedules.put('moved', mail, { cron, input: { to: 'ada' }, version });
    await put('@daily', 0);
    await expect(put('@hourly', 0)).rejects.toMatchObject({ code: 'schedule_moved', status: 409 });
    await put('@hourly', 1);
    await expect(put('@weekly', 1)).rejects.toMatchObject({ code: 'schedule_moved' });
    expect(await writ.schedules.get('moved')).toMatchObject({ cron: '@hourly', version: 2 });
    await expect(writ.schedules.remove('moved', { version: 1 })).rejects.toMatchObject({
      code: 'schedule_moved',
    });
    await writ.schedules.remove('moved', { version: 2 });
  });

  test('lets one of several that make the same schedule go on', async () => {
    const outcomes = await Promise.allSettled(
      ['@daily', '@hourly', '@weekly'].map((cron) =>
        writ.schedules.put('raced', mail, { cron, input: { to: 'ada' }, version: 0 }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await writ.schedules.get('raced')).toMatchObject({ version: 1 });
  });

  test('refuses a governance policy that was published in the meantime', async () => {
    const publish = (review_days: number, version: number) =>
      writ.policy.publish({ review_days }, { as: keys.ops, tenant: 'moved', version });
    expect(await publish(5, 0)).toBe(1);
    await expect(publish(6, 0)).rejects.toMatchObject({ code: 'policy_moved', status: 409 });
    expect(await publish(6, 1)).toBe(2);
  });
});

/**
 * What logins of processes can make governors believe: crashes, failures of the ledger, outages,
 * results, signals.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import type { GovernorHandle } from '../../src/governor/governors.js';
import { governorScene, scaling } from '../governor/scene.js';
import { until } from '../races/sessions.js';
import { type Login, login } from './logins.js';

const s = governorScene();
let engine: Login;
let applier: Login;
let producer: Login;
let governor: GovernorHandle;
let worker: Awaited<ReturnType<typeof s.work>>;

beforeEach(async () => {
  worker = await s.work();
  governor = await s.stable(scaling());
  engine = await login(s.db, ['writ_engine']);
  applier = await login(s.db, ['writ_applier']);
  producer = await login(s.db, ['writ_producer']);
});
afterEach(async () => {
  for (const one of [engine, applier, producer]) await one.end();
});

const mails = async () =>
  (await s.sql('select count(*)::int as n from writ_data.governor_mail'))[0]?.n as number;

/** Whatever is refused leaves nothing in a mailbox. */
async function refused(
  who: Login,
  gate: string,
  parameters: Record<string, unknown>,
  reason: string,
): Promise<void> {
  const before = await mails();
  expect(await who.call(gate, parameters)).toMatchObject({ refused: true, reason });
  expect(await mails()).toBe(before);
}

test('invented crash reports do not set a good signal aside', async () => {
  await worker.stop();
  await governor.signal({ type: 'error_rate', value: 0.01 });
  const rev = Number((await governor.get()).events);
  const crashed = { governor_id: governor.id, rev, error: 'TypeError', actor: 'mallory' };
  for (let n = 0; n < 13; n++) {
    await s.db.clock.advance('501ms');
    await engine.call('fn_governor_crashed', crashed);
  }
  expect(await engine.call('fn_governor_crashed', crashed)).toMatchObject({
    crashes: 13,
    limit: 10,
  });
  await s.work();
  expect((await s.receipt(governor, 'signal_received')).context).toMatchObject({
    arrival_seq: 1,
    terminal: true,
  });
  expect(await s.reasons(governor)).not.toContain('event_failed');
});

test('fn_governor_crashed counts at most one crash per pause, and none while there is nothing to decide', async () => {
  await worker.stop();
  const rev = Number((await governor.get()).events);
  const crashed = { governor_id: governor.id, rev, error: 'TypeError', actor: 'mallory' };
  for (let n = 0; n < 13; n++)
    expect(await engine.call('fn_governor_crashed', crashed)).toMatchObject({ crashes: 0 });
  await governor.signal({ type: 'error_rate', value: 0.01 });
  for (let n = 0; n < 100; n++)
    await engine.query(`select writ.fn_governor_crashed($1, $2, 'x', 'mallory')`, [
      governor.id,
      rev,
    ]);
  expect(Number((await engine.call('fn_governor_crashed', crashed)).crashes)).toBeLessThan(10);
});

test('crash reports that do not count postpone no governor', async () => {
  await worker.stop();
  await governor.signal({ type: 'error_rate', value: 0.01 });
  const rev = Number((await governor.get()).events);
  const crashed = { governor_id: governor.id, rev, error: 'TypeError', actor: 'mallory' };
  const due = async () => {
    const [row] = await s.sql(
      'select max(due_at)::text as due from writ_data.governor_due where governor_id = $1',
      [governor.id],
    );
    return row?.due;
  };
  for (let n = 0; n < 6; n++) {
    await s.db.clock.advance('501ms');
    await engine.call('fn_governor_crashed', crashed);
  }
  const counted = await due(); // its pause is half a second
  for (let n = 1; n <= 4; n++) {
    await s.db.clock.advance('50ms');
    expect(await engine.call('fn_governor_crashed', crashed)).toMatchObject({ crashes: 6 });
    expect(await due()).toBe(counted);
  }
});

test('fn_governor_tell refuses everything but a failure of the ledger', async () => {
  const tell = (failure: unknown) => ({
    governors: `{${governor.id}}`,
    failure: JSON.stringify(failure),
  });
  for (const failure of [
    null,
    {},
    { kind: 'health_failed' },
    { cause: 'crash', failure_type: 'timeout', message: 'x' },
    { cause: 'ledger', failure_type: 'x'.repeat(1_000), message: 'x' },
    { cause: 'ledger', failure_type: 'timeout' },
    { cause: 'ledger', failure_type: 'timeout', message: 'x'.repeat(1_001) },
    { cause: 'ledger', failure_type: 'timeout', message: '' },
  ])
    await refused(engine, 'fn_governor_tell', tell(failure), 'invalid_argument');
  const real = tell({ cause: 'ledger', failure_type: 'timeout', message: 'late' });
  expect(await engine.call('fn_governor_tell', real)).toEqual({ told: 1 });
  await s.receipt(governor, 'health_check_failed');
});

test('a driver sets undecidable mail aside, and decides the mail after it', async () => {
  // Past every gate, as an older version or a restore could have left it.
  await s.setting('governor.crashes', 2);
  for (const content of [
    '{"kind": "health_failed"}',
    '{"kind": "policy", "policy": 7}',
    '"text"',
    'null',
  ])
    await s.sql('select writ_data.put_mail(array[$1::uuid], array[$2::jsonb], writ.now())', [
      governor.id,
      content,
    ]);
  await governor.signal({ type: 'error_rate', value: 0.01 });
  await until(
    async () =>
      (await s.sql('select from writ_data.governor_settled where governor_id = $1', [governor.id]))
        .length === 1,
  );
  expect(await s.reasons(governor)).toContain('event_failed');
});

test('fn_governor_outage refuses what is out of bounds, and merges the good entry beside bad ones', async () => {
  const entry = {
    seq: 1,
    tenant: 'acme',
    sku: 'default',
    signal_id: 's',
    at: new Date().toISOString(),
  };
  const told = (entries: unknown, more: object = {}) => ({
    ...{
      host: 'here',
      entries: JSON.stringify(entries),
      from: new Date().toISOString(),
      to: new Date().toISOString(),
      ...more,
    },
  });
  for (const wrong of [
    told({}),
    told('x'),
    told([entry], { host: '' }),
    told([entry], { host: 'x'.repeat(201) }),
    told([entry], { from: '-infinity' }),
    told(Array.from({ length: 10_001 }, () => entry)),
  ])
    await refused(engine, 'fn_governor_outage', wrong, 'invalid_argument');
  const bad = [
    { ...entry, at: 'never' },
    { ...entry, at: '9999-01-01' },
    { ...entry, seq: 'NaN' },
    { ...entry, tenant: null },
    7,
    null,
  ];
  expect(
    await engine.call('fn_governor_outage', told([...bad, entry], { to: '9999-01-01' })),
  ).toEqual({ merged: 1 });
  const [row] = await s.sql<{ content: { to: number } }>(
    "select content from writ_data.governor_mail where content ->> 'kind' = 'outage'",
  );
  expect(row?.content.to).toBeLessThan(Date.now() + 60_000);
});

test('fn_requests_rejected refuses what is out of bounds, and records no future time', async () => {
  const said = (more: object) => ({
    host: 'here',
    codes: '{"body_too_large": 1}',
    from: '2026-01-01',
    to: '9999-01-01',
    ...more,
  });
  for (const wrong of [{ host: null }, { codes: '[]' }, { codes: null }, { from: '-infinity' }])
    expect(await engine.call('fn_requests_rejected', said(wrong))).toMatchObject({
      reason: 'invalid_argument',
    });
  expect(
    await engine.call('fn_requests_rejected', said({ from: new Date().toISOString() })),
  ).toEqual({ rejected: 1 });
  const [row] = await s.sql<{ to: string }>(
    `select entry::jsonb #>> '{context,to}' as to from writ_data.receipt where entry like '%requests_rejected%'`,
  );
  expect(Date.parse(String(row?.to))).toBeLessThan(Date.now() + 60_000);
});

describe('a result', () => {
  test('is accepted only from the applier that holds the job', async () => {
    let finish = (_: object) => {};
    s.answers.push(() => new Promise<object>((resolve) => (finish = resolve)));
    await governor.signal({ type: 'cpu_utilization', value: 90 });
    await until(() => s.calls.length === 1);
    const [job] = await s.sql<{ id: string }>(
      "select job_id as id from writ_data.job where job_kind like 'governor.handler.%'",
    );
    const report = { job_id: job?.id, report: '{"kind":"result","ok":true,"baseline":"restored"}' };
    await refused(
      applier,
      'fn_governor_report',
      { ...report, lease_token: uuidv7() },
      'action_not_in_flight',
    );
    // The right lease, and nothing committed under it.
    const [lease] = await s.sql<{ token: string }>(
      'select lease_token as token from writ_data.job_lease where $1 = any (job_ids)',
      [job?.id],
    );
    await refused(
      applier,
      'fn_governor_report',
      { ...report, lease_token: lease?.token },
      'action_not_in_flight',
    );
    expect(
      await applier.attempt('select writ.fn_governor_commit($1, $2)', [job?.id, uuidv7()]),
    ).toBe('WR001');
    expect(
      await engine.attempt('select writ.fn_governor_report($1, $2, $3)', [
        job?.id,
        lease?.token,
        report.report,
      ]),
    ).toBe('42501');
    finish({ baseline: 'restored' });
    await s.inState(governor, 'stable');
    // Committed, and said once.
    await refused(
      applier,
      'fn_governor_report',
      { ...report, lease_token: lease?.token },
      'action_not_in_flight',
    );
  });

  test('of a job that is no action cannot be committed as one', async () => {
    const [row] = await s.sql<{ id: string }>(
      "select writ_data.enqueue_alike('governor.webhook', array[writ_data.uuidv7()], '[{}]', 'test', 'acme') as a, job_id as id from writ_data.job limit 1",
    );
    expect(
      await applier.attempt('select writ.fn_governor_commit($1, $2)', [
        row?.id ?? uuidv7(),
        uuidv7(),
      ]),
    ).toBe('WR001');
  });
});

describe('a signal', () => {
  const good = {
    kind: 'signal',
    signal_id: 'one',
    source: 'custom',
    type: 'load',
    severity: 'LOW',
    value: 1,
    observed_at: Date.now(),
  };
  const take = async (items: unknown) =>
    (
      await producer.query(`select writ.fn_signals_take($1, 'mallory') as a`, [
        JSON.stringify(items),
      ])
    )[0]?.a;

  test('is refused by itself if it is malformed', async () => {
    const wrong: object[] = [
      ...[
        { kind: 'policy' },
        { kind: 'crash' },
        { signal_id: 'two' },
        { source: 'weather' },
        { type: 'X' },
        { severity: 'URGENT' },
      ],
      ...[
        { value: 1e300 },
        { value: '1' },
        { threshold: null },
        { observed_at: 'now' },
        { observed_at: -1 },
        { metadata: [] },
      ],
      ...[
        { metadata: { text: 'x'.repeat(40_000) } },
        { correlation_id: '' },
        { storm: 1 },
        { arrival_seq: 7 },
        { more: 1 },
      ],
    ].map((change) => ({ t: 'acme', s: 'default', id: 'one', c: { ...good, ...change } }));
    const odd = [null, 'text', 7, []].map((c) => ({ t: 'acme', s: 'default', id: 'one', c }));
    const ids = ['', ' ', 'x'.repeat(201), 'a\nb'].map((id) => ({
      t: 'acme',
      s: 'default',
      id,
      c: { ...good, signal_id: id },
    }));
    const answers = (await take([
      ...wrong,
      ...odd,
      ...ids,
      { t: 'acme', s: 'default', id: 'one', c: good },
    ])) as object[];
    expect(
      answers.slice(0, -1).every((one) => 'reason' in one && one.reason === 'invalid_signal'),
    ).toBe(true);
    expect(answers.at(-1)).toMatchObject({ n: 1 });
  });

  test('that cannot be stored is refused, and the others of its call are stored', async () => {
    const item = (id: string) =>
      JSON.stringify({ t: 'acme', s: 'default', id, c: { ...good, signal_id: id } });
    const bad = [
      item('nul').replace('"load"', '"\\u0000"'),
      item('half').replace('"load"', '"\\ud800"'),
      item('much').replace('"value":1', '"value":1e999999'),
      item('whose').replace('"acme"', '"\\u0000"'),
      '7',
      'null',
      '[]',
    ];
    const [row] = await producer.query(`select writ.fn_signals_take($1, 'mallory') as a`, [
      `[${[...bad, item('one')].join(',')}]`,
    ]);
    const answers = row?.a as object[];
    expect(answers).toHaveLength(8);
    expect(
      answers.slice(0, -1).every((one) => 'reason' in one && one.reason === 'invalid_signal'),
    ).toBe(true);
    expect(answers.at(-1)).toMatchObject({ n: 1 });
  });

  test('is found by fn_signals_settled beside malformed items', async () => {
    await take([{ t: 'acme', s: 'default', id: 'one', c: good }]);
    await s.receipt(governor, 'signal_received');
    const items = JSON.stringify([
      7,
      null,
      { g: 'x', n: 1 },
      { g: governor.id, n: 'y' },
      { g: governor.id, n: 1e30 },
      { g: governor.id, n: 1 },
    ]);
    expect(await producer.call('fn_signals_settled', { items })).toMatchObject([
      { g: governor.id, n: 1, receipt: {} },
    ]);
    expect(await producer.call('fn_signals_settled', { items: '{}' })).toMatchObject({
      reason: 'invalid_argument',
    });
  });

  test('is refused in a list of more than a thousand', async () => {
    const many = Array.from({ length: 1_001 }, () => ({
      t: 'acme',
      s: 'default',
      id: 'one',
      c: good,
    }));
    for (const items of [many, {}, 'text', null])
      expect(await take(items)).toMatchObject({ reason: 'invalid_argument' });
  });

  test('for a tenant other than the login’s is refused: governor_not_found', async () => {
    const bound = await login(s.db, ['writ_producer', 'writ_engine'], { tenant_id: 'globex' });
    try {
      const [row] = await bound.query(`select writ.fn_signals_take($1, 'mallory') as a`, [
        JSON.stringify([{ t: 'acme', s: 'default', id: 'one', c: good }]),
      ]);
      expect(row?.a).toMatchObject([{ reason: 'governor_not_found' }]);
      expect(
        await bound.call('fn_governor_put', { tenant: 'acme', sku: 'other', actor: 'x' }),
      ).toMatchObject({
        reason: 'TENANT_ACCESS_DENIED',
      });
      expect(
        await bound.call('fn_permissions', { tenant: 'acme', principals: '{governor}' }),
      ).toMatchObject({
        reason: 'TENANT_ACCESS_DENIED',
      });
      expect(
        await bound.call('fn_governor_tell', {
          governors: `{${governor.id}}`,
          failure: '{"cause":"ledger","failure_type":"timeout","message":"x"}',
        }),
      ).toEqual({ told: 0 });
      expect(
        await bound.query(
          `select id from writ.fn_governors_take(10, 10, '-infinity', $1) where id is not null`,
          [`{${governor.id}}`],
        ),
      ).toEqual([]);
    } finally {
      await bound.end();
    }
  });
});

test('an entitlement with a future time is refused, and every change leaves a receipt', async () => {
  await expect(
    s.writ.governors.entitlements.put(
      { status: 'ACTIVE', toldAt: new Date(Date.now() + 3_600_000) },
      { tenant: 'acme', as: s.key },
    ),
  ).rejects.toMatchObject({
    code: 'invalid_entitlement',
  });
  await s.writ.governors.entitlements.put({ tier: 'enterprise' }, { tenant: 'acme', as: s.key });
  const rows = await s.sql<{ context: Record<string, string> }>(
    `select entry::jsonb -> 'context' as context from writ_data.receipt where log_id = 'acme' and stream = 'controls' order by stream_seq`,
  );
  expect(rows.map(({ context }) => context.control)).toEqual(
    expect.arrayContaining(['entitlement', 'governor_policy']),
  );
  expect(rows.at(-1)?.context).toMatchObject({
    control: 'entitlement',
    by: 'olga',
    login: expect.any(String),
  });
});

describe('the tick', () => {
  /** A governance job that carries an action of the governor out, and has come to rest. */
  async function settled(): Promise<void> {
    await s.sql(`insert into writ_data.contract (contract_id, tenant_id, status, source, title, content, scope_hash, scope, steps, risk_level,
        confidence, policy_version, created_by, created_at, updated_at, expires_at)
      values ('00000000-0000-4000-8000-000000000001', 'acme', 'FAILED', 'manual', 'x', '{}', sha256('{}'), '{}', '[]', 'low', 1, 0, 'x',
        now(), now(), now())`);
    await s.sql(`insert into writ_data.governance_job (job_id, tenant_id, contract_id, kind, status, run_id, total_steps, max_duration_ms,
        scope_hash, state_before, created_at, updated_at)
      values ('00000000-0000-4000-8000-000000000002', 'acme', '00000000-0000-4000-8000-000000000001', 'forward', 'CANCELLED',
        gen_random_uuid(), 1, 1, '', '', now(), now())`);
    await s.sql(
      `insert into writ_data.governor_contract (job_id, governor_id, action_id, attempt, stops)
      values ('00000000-0000-4000-8000-000000000002', $1, 'x', 1, false)`,
      [governor.id],
    );
  }

  test('makes the current month before it writes into a mailbox', async () => {
    await worker.stop();
    await settled();
    await s.db.clock.advance('200d');
    expect(await engine.call('fn_governor_tick', { actor: 'clockwork' })).toEqual({ settled: 1 });
  });

  test('settles governance jobs although a month of events cannot be dropped, and raises an alert', async () => {
    await worker.stop();
    await settled();
    const month = new Date().toISOString().slice(0, 7).replace('-', '');
    await s.sql(`create view public.kept as select * from writ_data.governor_event_${month}`);
    await s.db.clock.advance('800d');
    expect(await engine.call('fn_governor_tick', { actor: 'clockwork' })).toEqual({ settled: 1 });
    const alerts = `select subject from writ.alert where code = 'GOVERNORS_NOT_KEPT' and cleared_at is null`;
    expect(await s.sql(alerts)).toEqual([{ subject: `governors/${month}` }]);
  });

  test('settles nothing of another tenant for a bound login, and requires an actor', async () => {
    await worker.stop();
    await settled();
    const bound = await login(s.db, ['writ_engine'], { tenant_id: 'globex' });
    try {
      expect(await bound.call('fn_governor_tick', { actor: 'x' })).toEqual({ settled: 0 });
    } finally {
      await bound.end();
    }
    for (const actor of [null, ' ', 'x'.repeat(201)])
      expect(await engine.call('fn_governor_tick', { actor })).toMatchObject({
        reason: 'actor_required',
      });
    expect(await engine.call('fn_governor_tick', { actor: 'clockwork' })).toEqual({ settled: 1 });
  });
});

test('a bound login writes nothing into the log _system, and the receipts of other logins there name them', async () => {
  const bound = await login(s.db, ['writ_engine'], { tenant_id: 'acme' });
  const rejected = {
    host: 'h',
    codes: '{"invalid_signal": 3}',
    from: new Date().toISOString(),
    to: new Date().toISOString(),
  };
  try {
    expect(await bound.call('fn_requests_rejected', rejected)).toMatchObject({
      reason: 'tenant_forbidden',
    });
    expect(await engine.call('fn_requests_rejected', rejected)).toEqual({ rejected: 3 });
    const rows = await s.sql(
      `select log_id, entry::jsonb #>> '{context,login}' as login from writ_data.receipt where entry::jsonb ->> 'reason' = 'requests_rejected'`,
    );
    expect(rows).toEqual([{ log_id: '_system', login: engine.name }]);
  } finally {
    await bound.end();
  }
});

test('fn_governor_events clamps its limit', async () => {
  const auditor = await login(s.db, ['writ_auditor']);
  try {
    for (const [limit, most] of [
      [-1, 1],
      [null, 1000],
      [1, 1],
    ])
      expect(
        (
          await auditor.query('select * from writ.fn_governor_events($1, 0, $2)', [
            governor.id,
            limit,
          ])
        ).length,
      ).toBeLessThanOrEqual(Number(most));
  } finally {
    await auditor.end();
  }
});

test('the record names the login that opens a governor or asks it for an action', async () => {
  await s.writ.principals.add({ id: 'otto', kind: 'person', rights: ['operate'] });
  const otto = await login(s.db, ['writ_principal'], { principal_id: 'otto' });
  try {
    await producer.call('fn_governor_put', { tenant: 'acme', sku: 'other', actor: 'olga' });
    const asked = {
      key: null,
      tenant: 'acme',
      sku: 'default',
      id: uuidv7(),
      action_type: 'scale_up_cloud_run',
      parameters: '{}',
    };
    expect(await otto.call('fn_governor_act', asked)).toHaveProperty('action_id');
    expect(
      await s.sql(
        `select command, actor, login from writ_data.event_batch where login in ($1, $2) and command like 'fn_governor_%' order by batch_id`,
        [producer.name, otto.name],
      ),
    ).toEqual([
      { command: 'fn_governor_put', actor: 'olga', login: producer.name },
      { command: 'fn_governor_act', actor: 'otto', login: otto.name },
    ]);
  } finally {
    await otto.end();
  }
});

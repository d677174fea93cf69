/** Several hosts, services outside, contracts, outages, and who may tell a governor what. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { principal } from '../../src/governance/keys.js';
import { configure } from '../../src/governance/steps.js';
import type { ActionJob } from '../../src/governor/actuators/job.js';
import { action, definePolicy, policyHash } from '../../src/index.js';
import type { Receipt } from '../../src/ledger/receipt.js';
import { validateReceipt } from '../../src/ledger/validate.js';
import { verifying } from '../governance/verifying.js';
import { until } from '../races/sessions.js';
import { governorScene, scaling } from './scene.js';

const s = governorScene();
const over = { type: 'error_rate', value: 0.5, source: 'monitoring' as const };
const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => servers.splice(0).map((server) => server.close()));

async function service(answer: (n: number) => { status: number; body?: object }) {
  const asked: { key: string; body: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      asked.push({ key: String(request.headers['idempotency-key']), body: JSON.parse(body) });
      const { status, body: said = {} } = answer(asked.length);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/act` };
}

test('a webhook is asked with the same key each time, and its answer is the result', async () => {
  const { asked, url } = await service((n) =>
    n === 1 ? { status: 503 } : { status: 200, body: { baseline: 'restored' } },
  );
  await s.work({ reach: { allowHttp: true, allowPrivate: true } });
  const governor = await s.stable(
    definePolicy('calm', {
      when: { error_rate: { above: 0.1 } },
      then: action.webhook('scale_up_cloud_run', { target: 'catalog', url }),
    }),
  );
  await governor.signal(over);
  expect((await s.receipt(governor, 'action_succeeded')).context).toMatchObject({
    attempt: 2,
    service_response_code: 200,
    baseline: 'restored',
  });
  expect((await s.receipt(governor, 'action_failed')).context).toMatchObject({
    failure_reason: 'service_error',
    service_response_code: 503,
  });
  await s.inState(governor, 'stable');
  expect(new Set(asked.map(({ key }) => key)).size).toBe(1);
  expect(asked[0]?.body).toMatchObject({
    action_type: 'scale_up_cloud_run',
    target: 'catalog',
    tenant_id: 'acme',
  });
});

describe('contracts', () => {
  async function template() {
    await s.writ.capabilities.put(
      [
        { capability_name: 'checkout' },
        { scope: 'limits', owner_capability: 'checkout', values: { max: 100 } },
      ],
      { as: s.key, tenant: 'acme' },
    );
    const agent = await s.writ.principals.add({
      id: 'bot',
      kind: 'agent',
      onBehalfOf: 'olga',
    });
    const ada = await s.writ.principals.add({
      id: 'ada',
      kind: 'person',
      rights: ['approve'],
    });
    const proposed = await s.writ.contracts.propose(
      {
        title: 'Lower the limit',
        scope: ['limits'],
        steps: [configure('limits', 'max', 10)],
        template: { pre: { 'limits#max': { in: [100, 10] } }, activations: 5, expiresIn: '1h' },
      },
      { as: agent, tenant: 'acme' },
    );
    const { hash } = await proposed.preview({ as: ada });
    await verifying(s.writ);
    await proposed.approve({ as: ada, hash });
    return proposed;
  }

  test('an action that is a contract is acknowledged when it is active, and ends as its job ends', async () => {
    const approved = await template();
    const writ = await s.db.connect({ key: s.key } as never);
    await writ.work([], { governance: true, governor: { twicePercent: 100 }, poll: '100ms' });
    const governor = await s.stable(
      definePolicy('calm', {
        when: { error_rate: { above: 0.1 } },
        then: action.contract(approved, { completeWithin: '30s' }),
        requires: 'flags:write',
      }),
    );
    await governor.signal(over);
    const acknowledged = await s.receipt(governor, 'action_acknowledged');
    expect(acknowledged.context).toMatchObject({
      completion_timeout_ms: 30_000,
      reference: expect.stringMatching(/^governance_job:/),
    });
    const succeeded = await s.receipt(governor, 'action_succeeded');
    expect(succeeded.context).toMatchObject({
      baseline: 'unknown',
      result: { status: 'COMPLETED' },
    });
    await s.inState(governor, 'warning');
    expect(
      await s.sql(
        "select value from writ_data.configuration where scope = 'limits' and key = 'max'",
      ),
    ).toEqual([{ value: 10 }]);
  });
});

describe('several hosts', () => {
  test('whichever is there drives: each signal has one receipt, in the order of its arrival', async () => {
    const others = await Promise.all([s.db.connect(), s.db.connect()]);
    await s.setting('governor.storm_limit', 100_000);
    await s.work();
    for (const other of others) await other.work([], { governor: { twicePercent: 100 } });
    const governors = await Promise.all(
      ['a', 'b', 'c'].map((tenant) => s.stable(undefined, { tenant })),
    );
    const hosts = [s.writ, ...others];
    const sending = Array.from({ length: 300 }, (_, n) =>
      (hosts[n % 3] as typeof s.writ).governors.take(
        (governors[(n % 7) % 3] as (typeof governors)[number]).name,
        {
          ...{
            signal_id: `n-${n}`,
            source: 'custom',
            type: 'cpu_utilization',
            severity: 'LOW',
            value: n,
            observed_at: Date.now(),
          },
        } as never,
      ),
    );
    await Promise.all(sending);
    await until(async () => (await s.sql('select from writ_data.governor_settled')).length === 300);
    for (const governor of governors) {
      const receipts = await governor.receipts({ limit: 1_000 });
      const arrivals = receipts.flatMap(({ context }) =>
        (context as { terminal?: boolean }).terminal
          ? [(context as { arrival_seq: number }).arrival_seq]
          : [],
      );
      expect(arrivals).toEqual(Array.from(arrivals, (_, n) => n + 1));
      expect(receipts.map(({ context }) => context.stream_seq)).toEqual(
        Array.from(receipts, (_, n) => n + 1),
      );
    }
  });

  test('what one has begun another goes on with: a mailbox and timers outlive the process', async () => {
    const worker = await s.work();
    await s.writ.governor({ tenant: 'acme' });
    await until(
      async () =>
        (await s.sql("select from writ.governor where state = 'boot' and events = 2")).length === 1,
    );
    await worker.stop();
    await s.db.clock.advance('31s'); // longer than it may boot
    await s.work();
    const governor = await s.writ.governor({ tenant: 'acme' });
    await s.inState(governor, 'degraded');
    expect(await s.reasons(governor)).toEqual([
      'boot_start',
      'bootstrap_timeout',
      'state_transition',
    ]);
  });
});

describe('outages', () => {
  test('a host that could not write says so afterwards: the governor is degraded, the signals were never accepted', async () => {
    await s.setting('governor.backoff_ms', [300]);
    await s.work();
    const governor = await s.stable(scaling());
    const intake = s.writ.governors.intake();
    const entry = {
      host: 'edge-1',
      spoolSeq: 1,
      at: '2026-11-16T10:00:00.000Z',
      payload: { kind: 'signal' as const, tenant: 'acme', sku: 'default', signal_id: 'lost' },
    };
    await intake.missed?.(entry);
    await intake.missed?.(entry);
    expect((await s.receipt(governor, 'health_check_failed')).context).toMatchObject({
      causes: ['outage'],
      outage_from: '2026-11-16T10:00:00.000Z',
    });
    const moves = (await governor.receipts())
      .filter(({ reason }) => reason === 'state_transition')
      .map(({ context }) => context);
    expect(moves).toContainEqual(
      expect.objectContaining({ from_state: 'stable', to_state: 'degraded' }),
    );
    expect(await s.sql('select signal_id from writ.governor_outage')).toEqual([
      { signal_id: 'lost' },
    ]);
    expect((await governor.get()).signals).toBe(0);
    await s.inState(governor, 'stable');
  });
});

test('requests that were no signals are counted in the log of the deployment, and nothing of them is kept', async () => {
  const intake = s.writ.governors.intake();
  const [from, to] = [new Date('2026-01-25T14:31:00Z'), new Date('2026-01-25T14:32:00Z')];
  await intake.rejected?.(
    new Map([
      ['signature_invalid', 12],
      ['body_parse_error', 1],
    ]),
    from,
    to,
  );
  const [row] = await s.sql<{ receipt: Receipt }>(
    "select receipt from writ.receipt where log_id = '_system' and stream = 'requests'",
  );
  expect(row?.receipt).toMatchObject({
    reason: 'requests_rejected',
    context: { rejected: 13, codes: { signature_invalid: 12, body_parse_error: 1 } },
  });
  expect(validateReceipt(row?.receipt)).toBeNull();
});

describe('who may', () => {
  test('only principals with the right to operate publish, entitle, act and acknowledge, and only persons acknowledge', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    const service = await s.writ.principals.add({
      id: 'robot',
      kind: 'service',
      rights: ['operate'],
    });
    const agent = await s.writ.principals.add({
      id: 'bot',
      kind: 'agent',
      onBehalfOf: 'olga',
    });
    await expect(governor.publish(scaling(), { as: agent })).rejects.toMatchObject({
      code: 'agents_only_propose',
    });
    await expect(
      s.writ.governors.entitlements.put({ tier: 'enterprise' }, { tenant: 'acme', as: agent }),
    ).rejects.toMatchObject({
      code: 'agents_only_propose',
    });
    await expect(governor.act('scale_up_cloud_run', {}, { as: agent })).rejects.toMatchObject({
      code: 'agents_only_propose',
    });
    await expect(
      governor.acknowledge('crash', { as: service, reason: 'It is over, I think.' }),
    ).rejects.toMatchObject({
      code: 'person_required',
    });
    await expect(
      governor.acknowledge('crash', { as: s.key, reason: 'It is over, I think.' }),
    ).rejects.toMatchObject({
      code: 'cause_not_found',
    });
    await expect(
      governor.acknowledge('crash', { as: s.key, reason: 'short' }),
    ).rejects.toMatchObject({ code: 'reason_required' });
  });

  test('an action that somebody asks for is checked like any other', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    await governor.act('scale_up_cloud_run', { replicas_delta: 4 }, { as: s.key });
    expect((await s.receipt(governor, 'action_attempted')).context).toMatchObject({
      replicas_delta: 4,
      initiated_by: 'olga',
    });
    await s.inState(governor, 'warning');
    await governor.act('scale_up_cloud_run', { replicas_delta: 50 }, { as: s.key });
    await s.inState(governor, 'refusing');
    expect((await s.receipt(governor, 'policy_violation')).context).toMatchObject({
      reason: 'bounds_exceeded',
    });
  });

  test('the same policy is published once, another is the next version, and none ever changes', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    expect(await governor.publish(scaling(), { as: s.key })).toBe(1);
    expect(await governor.publish(scaling({ budget: 5 }), { as: s.key })).toBe(2);
    expect((await governor.policy(1)).document).toEqual(scaling());
    await expect(s.sql('update writ_data.governor_policy set shadow = true')).rejects.toThrow();
    await expect(s.sql('delete from writ_data.governor_event')).rejects.toThrow();
    await expect(s.sql('delete from writ_data.governor_mail')).rejects.toThrow();
  });
});

describe('what is hostile or broken', () => {
  test('a policy under the hash of another is nobody else’s policy', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    const other = await s.stable(undefined, { tenant: 'globex' });
    // Past the library, by somebody who may publish in globex: a policy that never acts, with the
    // hash of acme's.
    const { credential } = principal(s.key);
    const silent = { ...scaling(), when: {} };
    const [row] = await s.sql<{ answer: object }>(
      'select writ.fn_governor_policy_publish($1, $2, $3, $4, $5, $6, false) as answer',
      [
        ...[
          credential,
          'globex',
          'default',
          silent.policy_id,
          JSON.stringify(silent),
          policyHash(scaling()),
        ],
      ],
    );
    expect(row?.answer).toEqual({ version: 1 });
    await s.receipt(other, 'policy_updated');
    await governor.signal({ type: 'cpu_utilization', value: 90 });
    expect((await s.receipt(governor, 'threshold_exceeded')).context).toMatchObject({
      threshold: 75,
    });
  });

  test('a job that somebody made up for an action is not carried out, whatever it says, and a webhook not asked', async () => {
    const { asked, url } = await service(() => ({ status: 200 }));
    await s.work({ reach: { allowHttp: true, allowPrivate: true } });
    const governor = await s.stable(scaling());
    let finish = (_: object) => {};
    s.answers.push(() => new Promise<object>((resolve) => (finish = resolve)));
    await governor.signal({ type: 'cpu_utilization', value: 90 });
    await until(() => s.calls.length === 1);
    // As the governor's own in everything but its id, with a greater parameter; and the same as a
    // request.
    const [own] = await s.sql<{ id: string; input: ActionJob }>(
      "select job_id as id, input from writ_data.job where job_kind = 'governor.handler.scale_up_cloud_run'",
    );
    const { id, input } = own as { id: string; input: ActionJob };
    const greater = { ...input, doing: { ...input.doing, parameters: { replicas_delta: 500 } } };
    const posted = { ...input, doing: { ...input.doing, actuator: { kind: 'webhook', url } } };
    const forged = [uuidv7(), uuidv7()];
    const enqueue = 'select writ.fn_job_enqueue_alike($1, array[$2::uuid], $3, $4, $5) as answer';
    const made = [
      [
        'governor.handler.scale_up_cloud_run',
        forged[0],
        JSON.stringify([greater]),
        'mallory',
        'acme',
      ],
      ['governor.webhook', forged[1], JSON.stringify([posted]), 'mallory', 'acme'],
    ];
    for (const job of made)
      expect(await s.sql(enqueue, job)).toMatchObject([
        { answer: { enqueued: 0, refused: [{ reason: 'reserved_job_kind' }] } },
      ]);
    // Past that gate, by somebody who owns the database, a job that the governor does not wait for
    // is not begun.
    for (const job of made)
      await s.sql(enqueue.replace('writ.fn_job_enqueue_alike', 'writ_data.enqueue_alike'), job);
    const ends =
      "select error_code from writ_data.job_execution where job_id = any ($1) and status = 'ABORTED' and final";
    await until(async () => (await s.sql(ends, [forged])).length === 2);
    expect(await s.sql(ends, [forged])).toEqual([
      { error_code: 'action_not_in_flight' },
      { error_code: 'action_not_in_flight' },
    ]);
    for (const job of [id, forged[0]])
      expect(
        await s.sql('select writ.fn_governor_report($1, $2, $3) as answer', [
          job,
          uuidv7(),
          '{"kind":"result","ok":true}',
        ]),
      ).toMatchObject([{ answer: { reason: 'action_not_in_flight' } }]);
    finish({ baseline: 'restored' });
    expect((await s.receipt(governor, 'action_succeeded')).context).toMatchObject({ attempt: 1 });
    expect(s.calls.map(({ given }) => given.parameters)).toEqual([{ replicas_delta: 3 }]);
    expect(asked).toEqual([]);
  });

  test('an action with the name of something that every object has is not in the policy', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    await governor.act('constructor', {}, { as: s.key });
    expect((await s.receipt(governor, 'policy_violation')).context).toMatchObject({
      reason: 'action_not_in_policy',
      action_type: 'constructor',
    });
    await expect(governor.act('Scale Up', {}, { as: s.key })).rejects.toMatchObject({
      code: 'invalid_action',
    });
    for (const nothing of [
      [uuidv7(), null],
      [null, 'scale_up_cloud_run'],
    ])
      expect(
        await s.sql("select writ.fn_governor_act($1, 'acme', 'default', $2, $3, '{}') as answer", [
          principal(s.key).credential,
          ...nothing,
        ]),
      ).toMatchObject([{ answer: { reason: 'invalid_action' } }]);
  });

  test('an entitlement that no receipt could tell of is refused', async () => {
    const put = (change: object) =>
      s.writ.governors.entitlements.put(change, { tenant: 'acme', as: s.key });
    await expect(put({ quota: 2 ** 60 })).rejects.toMatchObject({ code: 'invalid_entitlement' });
    await expect(put({ expiresAt: new Date('+012026-01-01T00:00:00Z') })).rejects.toMatchObject({
      code: 'invalid_entitlement',
    });
  });

  test('the ledger is pinged on after the database was away', async () => {
    await s.setting('governor.ping_every_ms', 100);
    await s.work();
    const governor = await s.stable();
    // A ping that waits, and whose connection goes.
    const away = await s.lock('ledger_checkpoint');
    const cut =
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%fn_ledger_health%'";
    await until(async () => (await s.sql(cut)).length > 0);
    await away();
    await until(() => s.errors.length > 0);
    await s.setting('governor.ping_ms', 100);
    const free = await s.lock('ledger_checkpoint');
    await s.inState(governor, 'degraded');
    await free();
  });
});

test('others are told of what becomes of a governor, and whose it is', async () => {
  await s.work();
  const governor = await s.stable();
  const [fact] = await s.sql(
    "select * from writ.event_outbox where event_type = 'governor.state_changed' order by created_at limit 1",
  );
  expect(fact).toMatchObject({
    tenant_id: 'acme',
    event_subject_table: 'governor',
    event_subject_ref: governor.id,
    canonical_address: `governor/${governor.id}`,
  });
  for await (const { event } of s.writ.events({ types: ['governor.*'], after: 'beginning' })) {
    expect(event).toMatchObject({
      source: `/writ/governors/${governor.id}`,
      tenantid: 'acme',
      type: 'governor.state_changed',
    });
    break;
  }
});

/**
 * Tenants. Gates take the tenant and check it; with `set local writ.tenant` in a transaction, rows
 * of others do not exist there, neither in views nor for gates: a guard against a forgotten WHERE,
 * in our code or in a caller's.
 */

import { beforeEach, describe, expect, test } from 'vitest';
import { readSchemaObjects } from '../../src/database/schema.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob, definePlan } from '../../src/index.js';
import { type DatabaseError, rolledBackGates } from '../queue/gates/harness.js';

const gates = rolledBackGates();
const as = (tenant: string) =>
  gates.db.query(`select set_config('writ.tenant', $1, true)`, [tenant]);

type Jobs = Record<'queued' | 'held' | 'dead', string>;

/**
 * A job of each tenant in each of several situations. What shall stay queued is enqueued last, so
 * that nothing else claims it.
 */
async function populate(): Promise<Record<'acme' | 'globex', Jobs>> {
  await gates.register();
  const jobs = { acme: {} as Jobs, globex: {} as Jobs };
  const tenants = ['acme', 'globex'] as const;
  for (const tenant of tenants) {
    const dead = await gates.enqueue({ tenant, key: 'dead', input: { tenant } });
    const { token } = await gates.claim({ start: 1 });
    await gates.call('fn_job_fail_permanent', {
      job_id: dead,
      lease_token: token,
      error_code: 'e',
      error_message: 'm',
      actor: 'w1',
    });
    const held = await gates.enqueue({ tenant, key: 'held' });
    await gates.claim({ start: 1 });
    Object.assign(jobs[tenant], { dead, held });
    await gates.db.query(
      `insert into writ_data.job_workflow (workflow_id, tenant_id, workflow_kind, generator, enqueued_by) values ($1, $2, 'w', 'MOT:g', 'test')`,
      [uuidv7(), tenant],
    );
    await schedule(tenant);
    await run(tenant);
    await told(tenant);
    await governed(tenant);
    await governor(tenant);
    const login = `insert into writ_data.login (login, tenant_id, roles, put_by, put_at)
      values ($1, $2, '{}', 'test', now())`;
    await gates.db.query(login, [tenant, tenant]);
    await gates.call('fn_tenant_weight_set', { tenant_id: tenant, weight: 2, actor: tenant });
  }
  for (const tenant of tenants)
    jobs[tenant].queued = await gates.enqueue({ tenant, key: 'queued' });
  return jobs;
}

/** A destination with something that it did not take, and a rule for runs. */
async function told(tenant: string): Promise<void> {
  const put = {
    name: tenant,
    bus: 'webhook',
    types: '{dot.run.*}',
    tenant_id: tenant,
    config: '{}',
    since: null,
    actor: 'test',
  };
  expect(await gates.call('fn_destination_put', put)).toMatchObject({ new: true });
  await gates.db.query(
    `with sent as (insert into writ_data.delivery (delivery_id, destination, tenant_id, event_id, attempt, at, ok) values (writ_data.uuidv7(), $1, $1, gen_random_uuid(), 1, now(), false))
     insert into writ_data.undelivered (destination, event_id, stream, due_at) values ($1, gen_random_uuid(), gen_random_uuid(), now())`,
    [tenant],
  );
  const rule = {
    tenant_id: tenant,
    policy: 'QUEUE',
    max_running: 100,
    max_pending: null,
    delay_ms: null,
    actor: 'test',
  };
  expect(await gates.call('fn_admission_put', rule)).toMatchObject({ policy: 'QUEUE' });
}

/** Somebody, something to change, a contract about it, its job and its audit, and an incident. */
async function governed(tenant: string): Promise<void> {
  await gates.db.query(
    `with person as (insert into writ_data.principal (principal_id, tenant_id, kind, rights, auth_sha256, public_key, added_by, added_at) values ($1, $1, 'person', '{}', sha256(''), sha256(''), 'test', now())),
     key as (insert into writ_data.api_key (key_id, principal_id, tenant_id, label, secret_sha256, expires_at, added_by, added_at) values (left(md5($1), 16), $1, $1, 'x', sha256(''), now() + interval '1 day', 'test', now())),
     capability as (insert into writ_data.capability (tenant_id, capability_name, updated_by, updated_at) values ($1, 'c', 'test', now())),
     scope as (insert into writ_data.configuration_scope (tenant_id, scope, owner_capability) values ($1, 's', 'c')),
     value as (insert into writ_data.configuration (tenant_id, scope, key, value, version, updated_by, updated_at) values ($1, 's', 'k', '1', 1, 'test', now())),
     frozen as (insert into writ_data.freeze (freeze_id, tenant_id, reason, begins_at, put_by) values (gen_random_uuid(), $1, 'x', now(), 'test')),
     signal as (insert into writ_data.governance_signal (signal_id, tenant_id, signal_type, scope, decision, reason, recorded_by, recorded_at) values (gen_random_uuid(), $1, 'x', 'c', 'CLEAN', 'x', 'test', now())),
     incident as (insert into writ_data.incident (incident_id, tenant_id, severity, subject, summary, opened_by, opened_at) values (gen_random_uuid(), $1, 'P3', 'x', 'y', 'test', now())),
     contract as (insert into writ_data.contract (contract_id, tenant_id, status, source, title, content, scope_hash, scope, steps, risk_level, confidence, policy_version, created_by, created_at, updated_at, expires_at)
       values (gen_random_uuid(), $1, 'DRAFT', 'manual', 't', '{}', sha256('{}'), '{}', '[]', 'low', 1, 0, 'test', now(), now(), now()) returning contract_id),
     document as (insert into writ_data.contract_document (contract_id, hash, document, kept_at) select contract_id, sha256('{}'), '{}', now() from contract),
     review as (insert into writ_data.contract_review (contract_id, review_no, action, by, at) select contract_id, 1, 'ESCALATE', 'test', now() from contract),
     reading as (insert into writ_data.contract_read (contract_id, step_type, job_id, requested_by, requested_at, due_at)
       select contract_id, 'flag', gen_random_uuid(), 'test', now(), now() from contract),
     found as (insert into writ_data.contract_value (contract_id, slot, value, job_id, login, read_at)
       select contract_id, 'flag:a', '1', gen_random_uuid(), 'test', now() from contract),
     job as (insert into writ_data.governance_job (job_id, tenant_id, contract_id, kind, status, run_id, total_steps, max_duration_ms, scope_hash, state_before, created_at, updated_at)
       select gen_random_uuid(), $1, c.contract_id, 'forward', 'PENDING', r.run_id, 1, 1, '', '', now(), now() from contract c, writ_data.run r where r.tenant_id = $1 returning job_id, contract_id),
     step as (update writ_data.run set input = '{"steps": [{"step_type": "x"}]}' where tenant_id = $1)
     insert into writ_data.governance_audit (audit_id, tenant_id, job_id, contract_id, verdict, verdict_reason, checks, evidence, auditor_version, duration_ms, created_at) select gen_random_uuid(), $1, job_id, contract_id, 'PASS', 'x', '[]', '{}', '1', 1, now() from job`,
    [tenant],
  );
  await gates.db.query(
    `insert into writ_data.probe (tenant_id, name, capability, type, config, every_ms, timeout_ms, put_by, put_at) values ($1, 'p', 'c', 'http', '{}', 1000, 1000, 'test', now())`,
    [tenant],
  );
}

/** A governor with a policy, an event, an entitlement, and something that it missed. */
async function governor(tenant: string): Promise<void> {
  await gates.db.query(
    `with made as (insert into writ_data.governor (governor_id, tenant_id, sku_id, created_by, created_at) values (gen_random_uuid(), $1, 'x', 'test', now()) returning governor_id),
     inbox as (insert into writ_data.governor_inbox (governor_id) select governor_id from made),
     event as (insert into writ_data.governor_event (governor_id, event_seq, at, kind, state) select governor_id, 1, now(), 'create', 'boot' from made),
     policy as (insert into writ_data.governor_policy (governor_id, version, policy_id, hash, shadow, published_by, published_at) select governor_id, 1, 'p', sha256(''), false, 'test', now() from made),
     missed as (insert into writ_data.governor_outage (host, at, spool_seq, tenant_id, sku_id, signal_id, merged_at) values ('h', now(), 1, $1, 'x', 's', now()))
     insert into writ_data.entitlement (tenant_id, entitlement_id, status, tier, put_by, put_at) values ($1, 'e', 'ACTIVE', 'free', 'test', now())`,
    [tenant],
  );
}

/** A schedule that has fired. Its job is of a kind that nobody here claims. */
async function schedule(tenant: string): Promise<void> {
  await gates.register('report');
  const [tick, move_to] = ['2026-01-05T09:00:00Z', '2026-01-06T09:00:00Z'];
  const definition = JSON.stringify({ cron: '0 9 * * *', kind: 'report', job: {} });
  await gates.call('fn_schedule_put', {
    schedule: 'nightly',
    definition,
    next_tick: tick,
    actor: 'test',
    tenant_id: tenant,
  });
  const due = JSON.stringify([
    { tenant, schedule: 'nightly', version: 1, next_tick: tick, ticks: [tick], move_to },
  ]);
  expect(await gates.call('fn_schedule_fire', { due, actor: 'w1' })).toMatchObject({ fired: 1 });
}

/** A run with a snapshot and an alert. Its step is of a kind that nobody here claims. */
async function run(tenant: string): Promise<void> {
  const plan = definePlan('tenancy', { version: '1' }, (p) => {
    p.step('only', defineJob('report'));
  });
  await gates.call('fn_plan_register', {
    document: new TextDecoder().decode(plan.canonical),
    sha256: plan.sha256,
    actor: 'test',
  });
  const runs = JSON.stringify([
    { run_id: uuidv7(), plan_id: plan.id, plan_version: plan.version, sha256: plan.sha256, tenant },
  ]);
  expect(await gates.call('fn_run_start_many', { runs, actor: 'test' })).toMatchObject({
    refused: [],
  });
  await gates.db.query(
    `with run as (select run_id from writ_data.run where tenant_id = $1), snapshot as (insert into writ_data.run_snapshot (run_id, last_seq, status, snapshot, updated_at) select run_id, 1, 'RUNNING', '{}', now() from run),
     delivery as (insert into writ_data.run_delivery (run_id, delivery_id, event, delivered_at, delivered_by) select run_id, 'd', 'e', now(), 'test' from run)
     insert into writ_data.alert (alert_id, code, severity, tenant_id, subject, detail, raised_at) select run_id, 'TEST', 'P3', $1, 'run/' || run_id, '{}', now() from run`,
    [tenant],
  );
}

describe('with p_tenant_id', () => {
  test("another tenant's job cannot be cancelled", async () => {
    const { acme } = await populate();
    for (const job_id of [acme.queued, acme.held]) {
      await gates.refuses('job_not_found', 'fn_job_cancel', {
        job_id,
        reason: 'r',
        actor: 'ada',
        tenant_id: 'globex',
      });
    }
  });

  test("another tenant's dead letter cannot be replayed", async () => {
    const { acme } = await populate();
    await gates.refuses('dead_letter_not_found', 'fn_job_dead_letter_replay', {
      job_id: acme.dead,
      triage: 't',
      actor: 'ada',
      tenant_id: 'globex',
    });
  });

  test("another tenant's input cannot be read", async () => {
    const { acme } = await populate();
    await gates.refuses('job_not_found', 'fn_job_payload', {
      job_id: acme.dead,
      tenant_id: 'globex',
    });
    expect(await gates.call('fn_job_payload', { job_id: acme.dead, tenant_id: 'acme' })).toEqual({
      input: { tenant: 'acme' },
    });
  });

  test('one’s own job can be cancelled and replayed', async () => {
    const { acme } = await populate();
    expect(
      await gates.call('fn_job_cancel', {
        job_id: acme.queued,
        reason: 'r',
        actor: 'ada',
        tenant_id: 'acme',
      }),
    ).toMatchObject({
      status: 'cancelled',
    });
    expect(
      await gates.call('fn_job_dead_letter_replay', {
        job_id: acme.dead,
        triage: 't',
        actor: 'ada',
        tenant_id: 'acme',
      }),
    ).toMatchObject({
      replayed: acme.dead,
    });
  });
});

test('keys are unique per tenant', async () => {
  await gates.register();
  const jobs = ['acme', 'globex', 'acme'].map((tenant) => ({
    id: uuidv7(),
    kind: 'chore',
    key: 'order-1',
    tenant,
  }));
  const answer = await gates.enqueueMany(jobs);
  expect(answer).toMatchObject({ enqueued: 2, duplicates: [{ job_id: expect.any(String) }] });
});

test('a workflow of another tenant is unknown', async () => {
  await populate();
  const [row] = await gates.db.query(
    `select workflow_id from writ_data.job_workflow where tenant_id = 'acme'`,
  );
  const job = { id: uuidv7(), kind: 'chore', tenant: 'globex', workflow_id: row?.workflow_id };
  await gates.refusesEach('unknown_workflow', 'fn_job_enqueue_many', {
    jobs: JSON.stringify([job]),
    actor: 'test',
  });
});

describe('with writ.tenant set', () => {
  let jobs: Awaited<ReturnType<typeof populate>>;
  beforeEach(async () => {
    jobs = await populate();
  });
  const views = readSchemaObjects().filter((object) => object.type === 'view');
  const columnsOf = async (view: string) =>
    (
      await gates.db.query(
        `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0`,
        [view],
      )
    ).map((row) => row.name);

  test.each(views.map((view) => view.name))('%s shows no job of another tenant', async (view) => {
    await as('acme');
    const columns = await columnsOf(view);
    const rows = await gates.db.query(`select * from ${view}`);
    if (columns.includes('tenant_id'))
      expect([...new Set(rows.map((row) => row.tenant_id))]).toEqual(['acme']);
    if (columns.includes('job_id')) {
      const others = Object.values(jobs.globex);
      expect(rows.filter((row) => others.includes(String(row.job_id)))).toEqual([]);
      expect(rows.length).toBeGreaterThan(0);
    }
  });

  test.each(views.map((view) => view.name))(
    '%s evaluates no condition of its reader on a row of another tenant',
    async (view) => {
      const others = ['globex', ...Object.values(jobs.globex)].join('|');
      await gates.db.query(
        `create function pg_temp.spies(anyelement) returns boolean language plpgsql cost 1e-9 as $$
       begin if $1::text ~ '${others}' then raise exception 'A condition was evaluated on %', $1; end if; return true; end $$`,
      );
      await as('acme');
      for (const column of await columnsOf(view))
        await gates.db.query(`select from ${view} where pg_temp.spies(${column})`);
    },
  );

  test('counts by kind are those of the tenant', async () => {
    await as('acme');
    expect(
      await gates.db.query('select * from writ.v_job_queue_backlog order by job_kind'),
    ).toEqual([
      { job_kind: 'chore', backlog: '1' },
      { job_kind: 'report', backlog: '2' },
    ]);
    expect(await gates.db.query('select * from writ.v_job_queue_in_progress')).toEqual([
      { job_kind: 'chore', in_progress: '1' },
    ]);
  });

  test('facts about other tenants are not shown', async () => {
    await as('acme');
    const rows = await gates.db.query('select event_subject_ref, tenant_id from writ.event_outbox');
    expect(rows.length).toBeGreaterThan(0);
    expect([...new Set(rows.map((row) => row.tenant_id))]).toEqual(['acme']);
  });

  test('a tenant that has nothing sees nothing', async () => {
    await as('initech');
    for (const view of [
      'writ.job_queue',
      'writ.job_execution',
      'writ.v_job_state',
      'writ.event_outbox',
      'writ.v_job_queue_backlog',
    ]) {
      expect([view, await gates.db.query(`select * from ${view}`)]).toEqual([view, []]);
    }
  });

  test('a job of another tenant cannot be cancelled, even without p_tenant_id', async () => {
    await as('globex');
    await gates.refuses('job_not_found', 'fn_job_cancel', {
      job_id: jobs.acme.queued,
      reason: 'r',
      actor: 'ada',
    });
  });

  test('a dead letter of another tenant cannot be replayed, even without p_tenant_id', async () => {
    await as('globex');
    await gates.refuses('dead_letter_not_found', 'fn_job_dead_letter_replay', {
      job_id: jobs.acme.dead,
      triage: 't',
      actor: 'ada',
    });
  });

  test('an input of another tenant cannot be read, even by naming that tenant', async () => {
    await as('globex');
    await gates.refuses('job_not_found', 'fn_job_payload', {
      job_id: jobs.acme.dead,
      tenant_id: 'acme',
    });
    await gates.refuses('job_not_found', 'fn_job_payload', { job_id: jobs.acme.dead });
  });

  test('a job cannot be enqueued for another tenant', async () => {
    await as('globex');
    const outcome = await gates.unchanged(() =>
      gates
        .enqueueMany([{ id: uuidv7(), kind: 'chore', tenant: 'acme', input: { a: 1 } }])
        .catch((error: DatabaseError) => error),
    );
    expect(outcome).toSatisfy(
      (o: { code?: string; refused?: unknown[] }) => o.code === '42501' || o.refused?.length === 1,
    );
  });

  test('without a tenant set, all are shown', async () => {
    await as('');
    const rows = await gates.db.query('select distinct tenant_id from writ.job_queue order by 1');
    expect(rows).toEqual([{ tenant_id: 'acme' }, { tenant_id: 'globex' }]);
  });
});

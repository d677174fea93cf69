/** What each role must never achieve, tried by a login that has that role and nothing else. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { documentBytes } from '../../src/governance/document.js';
import { principal } from '../../src/governance/keys.js';
import { configure, defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { verifying } from '../governance/verifying.js';
import { type Binding, type Login, login } from './logins.js';

let db: TestDatabase;
let writ: Writ;
const keys: Record<string, string> = {};
const entered: Login[] = [];
const work = defineJob('never.work', {});

beforeAll(async () => {
  db = await testDatabase();
  writ = await db.connect();
  const add = async (id: string, kind: 'person' | 'service' | 'agent', more: object = {}) => {
    keys[id] = await writ.principals.add({ id, kind, ...more });
  };
  await add('ops', 'person', { rights: ['propose', 'approve', 'activate', 'operate'] });
  await add('ada', 'person');
  await add('deployer', 'service');
  await add('agent', 'agent', { onBehalfOf: 'ops' });
  await writ.capabilities.put([{ capability_name: 'checkout' }], { as: String(keys.ops) });
});
afterEach(async () => {
  for (const one of entered.splice(0)) await one.end();
});
afterAll(() => db.drop());

async function enter(role: string, binding?: Binding): Promise<Login> {
  const one = await login(db, [role], binding);
  entered.push(one);
  return one;
}

/** Whether PostgreSQL refuses the call itself: the role has no such gate. */
async function hasGate(as: Login, ...gates: string[]): Promise<string[]> {
  const rows = await db.query(
    `select p.proname as name from pg_proc p where p.pronamespace = 'writ'::regnamespace
     and p.proname = any ($1) and has_function_privilege($2, p.oid, 'execute')`,
    [gates, as.name],
  );
  return rows.map(({ name }) => String(name));
}

let proposals = 0;
/** A contract on a scope of its own: two that are alike would not both be eligible. */
async function propose(as = 'agent') {
  const scope = `limits-${++proposals}`;
  await writ.capabilities.put([{ scope, owner_capability: 'checkout', values: { max: 1 } }], {
    as: String(keys.ops),
  });
  const steps = [configure(scope, 'max', 2)];
  return writ.contracts.propose(
    { title: `More ${proposals}`, scope: [scope], steps },
    { as: String(keys[as]) },
  );
}
const receipts = async () =>
  Number((await db.query('select count(*)::int as n from writ_data.receipt'))[0]?.n);

describe('writ_principal', () => {
  test('acts for no other principal', async () => {
    const agent = await enter('writ_principal', { principal_id: 'agent' });
    const contract = await propose('ops');
    const answer = await agent.call('fn_contract_review', {
      key: principal(String(keys.ada)).credential,
      contract_id: contract.id,
      action: 'REJECT',
      reason: 'I say so, as ada',
    });
    expect(answer).toMatchObject({ refused: true, reason: 'not_authenticated' });
  });

  test('cannot approve as an agent', async () => {
    const agent = await enter('writ_principal', { principal_id: 'agent' });
    const contract = await propose('ops');
    const { document, hash } = await contract.preview({ as: String(keys.ada) });
    const signature = principal(String(keys.agent)).sign(hash);
    const signed = { document: documentBytes(document), signature };
    const answer = await agent.call('fn_contract_review', {
      key: null,
      contract_id: contract.id,
      action: 'APPROVE',
      ...signed,
    });
    expect(answer).toMatchObject({ refused: true, reason: 'agents_only_propose' });
  });

  test('has no gate to claim, to apply, to finish or to write receipts', async () => {
    const agent = await enter('writ_principal', { principal_id: 'agent' });
    expect(
      await hasGate(
        agent,
        'fn_job_claim_many',
        'fn_job_claim',
        'fn_changes_apply',
        'fn_change_begin',
        'fn_governors_apply',
        'fn_job_payload',
        'fn_run_deliver',
      ),
    ).toEqual([]);
  });
});

describe('writ_producer', () => {
  test.each(['governance.change', 'governance.ended', 'governor.action', 'writ.anything'])(
    'enqueues no job of kind %s',
    async (kind) => {
      const producer = await enter('writ_producer');
      const before = await db.query('select count(*)::int as n from writ_data.job');
      const answer = await producer.call('fn_job_enqueue_many', {
        jobs: JSON.stringify([{ id: '01900000-0000-7000-8000-000000000001', kind, input: {} }]),
        actor: 'x',
      });
      expect(JSON.stringify(answer)).toMatch(/reserved_job_kind|unknown_job_kind/);
      expect(await db.query('select count(*)::int as n from writ_data.job')).toEqual(before);
    },
  );

  test('has no gate to claim, to finish, to cancel or to steer', async () => {
    const producer = await enter('writ_producer');
    expect(
      await hasGate(
        producer,
        'fn_job_claim_many',
        'fn_job_succeed_many',
        'fn_job_abort_many',
        'fn_job_cancel',
        'fn_job_commit',
        'fn_run_signal',
      ),
    ).toEqual([]);
  });

  test('cannot enqueue for another tenant', async () => {
    await writ.enqueue(work, undefined);
    const producer = await enter('writ_producer', { tenant_id: 'mine' });
    const jobs = JSON.stringify([{ id: uuidv7(), kind: 'never.work' }]);
    const answer = await producer.call('fn_job_enqueue_many', {
      jobs,
      actor: 'x',
      tenant_id: 'default',
    });
    expect(JSON.stringify(answer)).toMatch(/tenant_forbidden|TENANT_ACCESS_DENIED/);
  });
});

describe('writ_worker', () => {
  test('cannot claim a job of a reserved kind, and still claims the others', async () => {
    const worker = await enter('writ_worker');
    await writ.enqueue(work, undefined);
    const contract = await propose('ops');
    const { hash } = await contract.preview({ as: String(keys.ada) });
    await verifying(writ);
    await contract.approve({ as: String(keys.ada), hash });
    await contract.activate({ as: String(keys.deployer) });
    const answer = await worker.call('fn_job_claim_many', {
      kinds: ['governance.change', 'never.work'],
      executor: 'external_worker',
      lease_holder: 'mallory',
      limit: 10,
    });
    const claimed = (answer.jobs as unknown[][]).map(([, kind]) => kind);
    expect(claimed).toContain('never.work');
    expect(claimed).not.toContain('governance.change');
    await db.query('delete from writ_data.job_lease');
  });

  test('cannot finish a job that another worker holds', async () => {
    const worker = await enter('writ_worker');
    await writ.enqueue(work, undefined);
    const [held] = await db.query(
      `select writ.fn_job_claim_many('{never.work}', 'external_worker', 'honest', p_limit => 1) as answer`,
    );
    const { lease_token, jobs } = (held as { answer: { lease_token: string; jobs: string[][] } })
      .answer;
    const readable = await worker.query(
      `select c.relname from pg_class c where c.relnamespace = 'writ'::regnamespace and c.relkind = 'v'
       and has_table_privilege(c.oid, 'select')`,
    );
    for (const { relname } of readable as { relname: string }[]) {
      const rows = await worker.query(`select * from writ.${relname}`);
      expect([relname, JSON.stringify(rows).includes(lease_token)]).toEqual([relname, false]);
    }
    const answer = await worker.call('fn_job_succeed', {
      job_id: jobs[0]?.[0],
      lease_token: '01900000-0000-7000-8000-00000000dead',
      result_ref: null,
      actor: 'mallory',
    });
    expect(answer).toMatchObject({ refused: true, reason: 'lease_lost' });
    await db.query('delete from writ_data.job_lease');
  });

  test('writes no receipt', async () => {
    const worker = await enter('writ_worker');
    const before = await receipts();
    expect(
      await hasGate(
        worker,
        'fn_governors_apply',
        'fn_requests_rejected',
        'fn_signal_record',
        'fn_governance_ended',
      ),
    ).toEqual([]);
    expect(await worker.attempt(`select writ_data.append_receipts(array['{}'], now())`)).toBe(
      '42501',
    );
    expect(await receipts()).toBe(before);
  });
});

describe('writ_applier', () => {
  test('cannot apply a change that is not approved', async () => {
    const applier = await enter('writ_applier');
    const contract = await propose('ops');
    const answer = await applier.call('fn_contracts_activate', {
      key: principal(String(keys.deployer)).credential,
      items: JSON.stringify([
        { contract: contract.id, job: '01900000-0000-7000-8000-000000000003' },
      ]),
    });
    expect(JSON.stringify(answer)).toMatch(/"refused": ?true/);
    expect(
      await db.query('select from writ_data.governance_job where contract_id = $1', [contract.id]),
    ).toEqual([]);
  });

  test('cannot apply a step of a job that it does not lease', async () => {
    const applier = await enter('writ_applier');
    const answer = await applier.call('fn_changes_apply', {
      items: JSON.stringify([
        {
          job: '01900000-0000-7000-8000-000000000004',
          token: '01900000-0000-7000-8000-000000000005',
          evidence: {},
        },
      ]),
      actor: 'mallory',
    });
    expect(JSON.stringify(answer)).toContain('lease_lost');
  });
});

describe('writ_engine', () => {
  test('has no gate to propose, to approve, to activate or to apply a change', async () => {
    const engine = await enter('writ_engine');
    expect(
      await hasGate(
        engine,
        'fn_contract_propose',
        'fn_contract_review',
        'fn_contracts_activate',
        'fn_changes_apply',
        'fn_change_begin',
        'fn_template_activate',
        'fn_setting_set',
      ),
    ).toEqual([]);
  });

  test('cannot write an invented receipt', async () => {
    const engine = await enter('writ_engine');
    const before = await receipts();
    const entry = JSON.stringify({
      receipt_id: '01900000-0000-7000-8000-000000000006',
      timestamp: '2026-01-01T00:00:00.000Z',
      sku_id: 'governance',
      tenant_id: 'default',
      status: 'accept',
      reason: 'contract_reviewed',
      context: { stream: 'contract:x', stream_seq: 1, by: 'ada', action: 'APPROVE' },
    });
    const turn = {
      governors: [],
      wakes: [],
      events: [],
      settled: [],
      entries: [entry],
      effects: [],
    };
    await engine.attempt(`select writ.fn_governors_apply($1::jsonb, 'mallory')`, [
      JSON.stringify(turn),
    ]);
    await engine
      .call('fn_governors_apply', { turn: JSON.stringify(turn), actor: 'mallory' })
      .catch(() => undefined);
    expect(await receipts()).toBe(before);
  });

  test('cannot store a snapshot that is ahead of its log', async () => {
    const engine = await enter('writ_engine');
    await engine.call('fn_run_changes', { projector: 'mallory' });
    await engine
      .call('fn_run_project', {
        projector: 'mallory',
        xid: '18446744073709551615',
        batch_id: 'ffffffff-ffff-7fff-bfff-ffffffffffff',
        snapshots: JSON.stringify([
          {
            run_id: '01900000-0000-7000-8000-000000000007',
            last_seq: 2147483647,
            status: 'COMPLETED',
            snapshot: {},
          },
        ]),
        gaps: '[]',
        lag_ms: 0,
      })
      .catch(() => undefined);
    expect(
      await db.query('select from writ_data.run_snapshot where last_seq = 2147483647'),
    ).toEqual([]);
    const [at] = await db.query(
      `select (position).xid::text::numeric < 18446744073709551615 as sane from writ_data.run_projector`,
    );
    expect(at).toEqual({ sane: true });
  });
});

describe('writ_server', () => {
  test('cannot do anything that the principal it names may not do', async () => {
    const server = await enter('writ_server');
    const contract = await propose('ops');
    const answer = await server.call('fn_contract_review', {
      key: 'agent',
      contract_id: contract.id,
      action: 'REJECT',
      reason: 'as the agent',
    });
    expect(answer).toMatchObject({ refused: true });
    const activated = await server.call('fn_contracts_activate', {
      key: 'agent',
      items: JSON.stringify([
        { contract: contract.id, job: '01900000-0000-7000-8000-000000000008' },
      ]),
    });
    expect(JSON.stringify(activated)).toMatch(/"refused": ?true/);
  });

  test('has no gate to claim, to apply or to sign', async () => {
    const server = await enter('writ_server');
    expect(
      await hasGate(
        server,
        'fn_job_claim_many',
        'fn_changes_apply',
        'fn_change_begin',
        'fn_governors_apply',
        'fn_ledger_key_add',
        'fn_ledger_checkpoint_record',
      ),
    ).toEqual([]);
  });
});

describe('writ_signer', () => {
  test('has only gates of the ledger', async () => {
    const signer = await enter('writ_signer');
    const rows = await db.query(
      `select p.proname as name from pg_proc p where p.pronamespace = 'writ'::regnamespace and has_function_privilege($1, p.oid, 'execute')`,
      [signer.name],
    );
    expect(
      rows
        .map(({ name }) => String(name))
        .filter((name) => !/^(fn_ledger_|fn_login$|now$|visible_tenant$)/.test(name)),
    ).toEqual([]);
  });
});

describe('writ_auditor', () => {
  test('changes nothing with any gate that it may call', async () => {
    const auditor = await enter('writ_auditor');
    const gates = await db.query(
      `select p.oid::regproc::text as name, coalesce((select string_agg('null::' || format_type(t, null), ', ' order by n) from unnest(p.proargtypes) with ordinality a(t, n)), '') as arguments
       from pg_proc p where p.pronamespace = 'writ'::regnamespace and has_function_privilege($1, p.oid, 'execute')`,
      [auditor.name],
    );
    await auditor.query('set default_transaction_read_only = on');
    for (const { name, arguments: given } of gates)
      expect([name, await auditor.attempt(`select ${name}(${given})`)]).not.toEqual([
        name,
        '25006',
      ]);
  });

  test('sees no lease token, no payload and no credential', async () => {
    const auditor = await enter('writ_auditor');
    await writ.enqueue(defineJob('never.secret', {}), { word: 'hush-hush' } as never);
    await db.query(
      `select writ.fn_job_claim_many('{never.work,never.secret}', 'external_worker', 'honest', p_limit => 1)`,
    );
    const [{ secrets } = { secrets: [] }] = (await db.query(
      `select array(select lease_token::text from writ_data.job_lease) || array(select encode(auth_sha256, 'hex') from writ_data.principal) || array['hush-hush'] as secrets`,
    )) as { secrets: string[] }[];
    const views = await auditor.query(
      `select c.relname from pg_class c where c.relnamespace = 'writ'::regnamespace and c.relkind = 'v' and has_table_privilege(c.oid, 'select')`,
    );
    for (const { relname } of views as { relname: string }[]) {
      const text = JSON.stringify(await auditor.query(`select * from writ.${relname}`));
      expect([relname, secrets.filter((secret) => text.includes(secret))]).toEqual([relname, []]);
    }
    await db.query('delete from writ_data.job_lease');
  });
});

describe('writ_admin', () => {
  test('cannot approve or apply', async () => {
    const admin = await enter('writ_admin');
    expect(
      await hasGate(
        admin,
        'fn_contract_review',
        'fn_contract_propose',
        'fn_contracts_activate',
        'fn_changes_apply',
        'fn_change_begin',
        'fn_template_activate',
        'fn_job_claim_many',
      ),
    ).toEqual([]);
  });
});

describe('a login without any role of Writ', () => {
  test('cannot stop Writ by taking advisory locks', async () => {
    const stranger = await enter('pg_monitor');
    const names = [
      'writ.fn_job_tick',
      'writ.fn_job_cleanup_sweep',
      'writ.fn_consumer_dispatch_many',
      'writ.relay_idle',
      'governance_policy/default',
      'writ principal eve',
    ];
    for (const name of names)
      await stranger.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
    const [tick] = await db.query(`select writ.fn_job_tick('test') as answer`);
    expect(tick?.answer).not.toMatchObject({ busy: true });
    await db.query(`set statement_timeout = '3s'`);
    await expect(writ.principals.add({ id: 'eve', kind: 'service' })).resolves.toBeDefined();
    await db.query(`reset statement_timeout`);
    const { rows } = {
      rows: await db.query(
        `select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted`,
      ),
    };
    expect(rows).toEqual([{ n: 0 }]);
  });

  test('cannot read a table or view of Writ or call a gate', async () => {
    const stranger = await enter('pg_monitor');
    for (const sql of [
      'select * from writ.job_queue',
      'select writ.now()',
      'select * from writ_data.job',
      'create schema mine',
    ])
      expect([sql, await stranger.attempt(sql)]).toEqual([sql, '42501']);
  });
});

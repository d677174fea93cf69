import { describe, expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { session, untilBlocked } from '../../races/sessions.js';
import { type Answer, freshGates, type Row, rolledBackGates, stranger } from '../gates/harness.js';

const gate = 'fn_mot_graph_emit';
const workflow = { kind: 'import', generator: 'nightly' };
const call = (w: Row, jobs: unknown, rest: Row = {}): Row => ({
  workflow: w,
  jobs: JSON.stringify(jobs),
  actor: 'test',
  ...rest,
});
const two = [
  { kind: 'chore', input: { n: 1 } },
  { kind: 'other', key: 'k', priority: 4 },
];

describe('a graph', () => {
  const gates = rolledBackGates();
  const prepare = async () => {
    await gates.register('chore');
    await gates.register('other');
  };
  const emit = (w: Row, jobs: unknown, rest: Row = {}): Promise<Answer> =>
    gates.call(gate, call(w, jobs, rest));

  test('is one workflow and its jobs, of several kinds, in the order of the call', async () => {
    await prepare();
    const answer = await emit(
      { ...workflow, correlation_id: 'c' },
      [...two, { kind: 'chore', correlation_id: 'own' }],
      {
        tenant_id: 'acme',
      },
    );
    expect(answer).toMatchObject({
      duplicate: false,
      job_ids: [expect.any(String), expect.any(String), expect.any(String)],
    });
    const jobs: Answer[] = [];
    for (const id of answer.job_ids) jobs.push(await gates.job(id));
    const common = { workflow_id: answer.workflow_id, tenant_id: 'acme', status: 'queued' };
    expect(jobs).toMatchObject([
      { ...common, job_kind: 'chore', correlation_id: 'c' },
      { ...common, job_kind: 'other', idempotency_key: 'k', priority: 4 },
      { ...common, job_kind: 'chore', correlation_id: 'own' },
    ]);
    expect(await gates.db.query('select * from writ.job_workflow')).toMatchObject([
      {
        workflow_id: answer.workflow_id,
        tenant_id: 'acme',
        workflow_kind: 'import',
        generator: 'MOT:nightly',
        status: 'active',
        correlation_id: 'c',
        enqueued_by: 'test',
        finished_at: null,
        jobs: '3',
        open: '3',
      },
    ]);
    expect(
      await gates.db.query(`select actor from writ.command_run where command = $1`, [gate]),
    ).toEqual([{ actor: 'test' }]);
  });

  test('with the same id or the same key again is a no-op that answers what is there', async () => {
    await prepare();
    const byKey = { ...workflow, key: '2026-11-15' };
    const byId = { ...workflow, id: uuidv7() };
    for (const w of [byKey, byId]) {
      const first = await emit(w, [{ kind: 'chore' }, { kind: 'chore' }]);
      expect(await gates.unchanged(() => emit(w, [{ kind: 'chore' }, { kind: 'chore' }]))).toEqual({
        ...first,
        duplicate: true,
      });
    }
    expect(await emit({ ...byKey, kind: 'export' }, [{ kind: 'chore' }])).toMatchObject({
      duplicate: false,
    });
    expect(await emit(byKey, [{ kind: 'chore' }], { tenant_id: 'acme' })).toMatchObject({
      duplicate: false,
    });
  });

  test('of which one job is refused is refused, and nothing of it stands', async () => {
    await prepare();
    const refusals: [string, Row][] = [
      ['unknown_job_kind', { kind: 'nothing' }],
      ['forbidden_payload_key', { kind: 'chore', safe_payload: { password: 'x' } }],
      ['invalid_job', { kind: 'chore', priority: 'high' }],
      ['invalid_job_id', { kind: 'chore', id: 'x' }],
      ['invalid_job_id', { kind: 'chore', id: stranger }],
      ['unknown_workflow', { kind: 'chore', tenant: 'globex' }],
    ];
    for (const [reason, bad] of refusals)
      await gates.refuses(reason, gate, call(workflow, [...two, bad, ...two]));
    expect(await emit(workflow, [{ kind: 'chore' }, { kind: 'nothing' }])).toMatchObject({
      detail: 'job 1: nothing',
    });
  });

  test('cannot take in a job that is there already, nor the same key twice', async () => {
    await prepare();
    const there = await gates.enqueue({ key: 'mine' });
    await gates.refuses(
      'workflow_job_exists',
      gate,
      call(workflow, [{ kind: 'chore' }, { kind: 'chore', key: 'mine' }]),
    );
    await gates.refuses(
      'workflow_job_exists',
      gate,
      call(workflow, [
        { kind: 'chore', key: 'k' },
        { kind: 'chore', key: 'k' },
      ]),
    );
    expect(await gates.job(there)).toMatchObject({ workflow_id: null });
  });

  test.each([
    ['actor_required', workflow, two, { actor: '' }],
    ['invalid_workflow', { generator: 'g' }, two, {}],
    ['invalid_workflow', { kind: 'import' }, two, {}],
    ['invalid_workflow', { ...workflow, generator: 'MOT:' }, two, {}],
    ['invalid_workflow', { ...workflow, kind: 'a b' }, two, {}],
    ['invalid_workflow', { ...workflow, id: 'x' }, two, {}],
    ['invalid_workflow', { ...workflow, id: null }, two, {}],
    ['invalid_workflow', { ...workflow, id: stranger }, two, {}],
    ['invalid_workflow', { ...workflow, after: [1] }, two, {}],
    ['invalid_idempotency_key', { ...workflow, key: '' }, two, {}],
    ['invalid_idempotency_key', { ...workflow, key: 'x'.repeat(1001) }, two, {}],
    ['invalid_tenant', workflow, two, { tenant_id: '' }],
    ['invalid_tenant', workflow, two, { tenant_id: null }],
    ['invalid_jobs', workflow, [], {}],
    ['invalid_jobs', workflow, {}, {}],
    ['invalid_jobs', workflow, [1], {}],
    ['invalid_jobs', workflow, [null], {}],
    ['invalid_jobs', workflow, [two], {}],
  ])('%s: %j %j %j', async (reason, w, jobs, rest) => {
    await prepare();
    await gates.refuses(reason, gate, call(w, jobs, rest));
  });

  test('is refused when the queue is off, and leaves no workflow', async () => {
    await prepare();
    await gates.set('queue.job_substrate.enabled', false);
    await gates.refuses('job_substrate_disabled', gate, call(workflow, two));
  });

  test('of another tenant is neither shown nor answered, and its id is not to be had', async () => {
    await prepare();
    const id = uuidv7();
    await emit({ ...workflow, id }, [{ kind: 'chore' }], { tenant_id: 'acme' });
    await gates.refuses(
      'invalid_workflow',
      gate,
      call({ ...workflow, id }, [{ kind: 'chore' }], { tenant_id: 'globex' }),
    );
    await gates.db.query(`select set_config('writ.tenant', 'globex', true)`);
    expect(await gates.db.query('select * from writ.job_workflow')).toEqual([]);
    await gates.refuses('tenant_forbidden', gate, call(workflow, two, { tenant_id: 'acme' }));
  });
});

describe('a generator', () => {
  const gates = rolledBackGates();
  const beat = { executor_kind: 'external_worker', domain_scope: ['dot'], cadence_seconds: 10 };

  test('never beats', async () => {
    await gates.refuses('generator_forbidden', 'fn_queue_heartbeat', {
      executor_id: 'MOT:nightly',
      ...beat,
    });
    await gates.raises('23514', /a_generator_never_beats/, () =>
      gates.db.query(
        `insert into writ_data.queue_worker values ('MOT:x', 'external_worker', '{}', '{}', now(), 10)`,
      ),
    );
  });

  test('never claims', async () => {
    await gates.register();
    await gates.enqueue();
    const claim = {
      executor: 'external_worker',
      lease_holder: 'MOT:nightly',
      lease_ttl_seconds: 30,
    };
    await gates.refuses('generator_forbidden', 'fn_job_claim_many', { kinds: ['chore'], ...claim });
    await gates.refuses('generator_forbidden', 'fn_job_claim', {
      kind: 'chore',
      lease_name: null,
      ...claim,
    });
    await gates.refuses('executor_forbidden', 'fn_job_claim_many', {
      kinds: ['chore'],
      ...claim,
      executor: 'MOT',
    });
  });

  test('holds no lease, however it came by one', async () => {
    await gates.held();
    await gates.raises('23514', /a_generator_never_leases/, () =>
      gates.db.query(`update writ_data.job_lease set holder = 'MOT:nightly'`),
    );
  });

  test('has a name that no worker can have, also if it was given without its prefix', async () => {
    await gates.register();
    await gates.call(gate, call({ ...workflow, generator: 'worker-1' }, [{ kind: 'chore' }]));
    expect(await gates.db.query('select generator from writ.job_workflow')).toEqual([
      { generator: 'MOT:worker-1' },
    ]);
    await gates.raises('23514', /generator_is_named_as_one/, () =>
      gates.db.query(
        `insert into writ_data.job_workflow (workflow_id, tenant_id, workflow_kind, generator, enqueued_by) values ($1, 't', 'w', 'worker-1', 'x')`,
        [uuidv7()],
      ),
    );
  });
});

describe('at once', () => {
  const gates = freshGates();

  test('two emits of one key are one workflow: the second waits for the first and answers the same', async () => {
    await gates.register();
    const [a, b] = await Promise.all([session(gates.db), session(gates.db)]);
    const sql = `${gate}($1, $2, 'test')`;
    const params = [
      JSON.stringify({ ...workflow, key: 'k' }),
      JSON.stringify([{ kind: 'chore' }, { kind: 'chore' }]),
    ];
    await a.query('begin');
    const first = await a.gate(sql, params);
    const waiting = b.gate(sql, params);
    await untilBlocked(gates.db, b);
    await a.query('commit');
    expect(await waiting).toEqual({ ...first, duplicate: true });
    await Promise.all([a.end(), b.end()]);
    expect(await gates.db.query('select count(*)::int as n from writ.job_queue')).toEqual([
      { n: 2 },
    ]);
  });

  test('when the first one rolls back, the second emits', async () => {
    await gates.register();
    const [a, b] = await Promise.all([session(gates.db), session(gates.db)]);
    const sql = `${gate}($1, $2, 'test')`;
    const params = [JSON.stringify({ ...workflow, key: 'k' }), JSON.stringify([{ kind: 'chore' }])];
    await a.query('begin');
    await a.gate(sql, params);
    const waiting = b.gate(sql, params);
    await untilBlocked(gates.db, b);
    await a.query('rollback');
    expect(await waiting).toMatchObject({ duplicate: false });
    await Promise.all([a.end(), b.end()]);
  });
});

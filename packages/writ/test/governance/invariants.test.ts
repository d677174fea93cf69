/** The invariants of the specifications, by their names. */

import { describe, expect, test } from 'vitest';
import type { GovernedStep } from '../../src/governance/changes.js';
import { configure, disable, enable, recordSignal, soak } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { outside, probes } from './outside.js';
import { five, scene } from './scene.js';

/** Of a step that was done. */
interface Times {
  readonly started_at: string;
  readonly completed_at: string;
  readonly receipt_no: number;
}

const s = scene();
const probe = probes();
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };

describe('governance jobs', () => {
  test('JOB-001: jobs execute the scope of their contract only', async () => {
    const contract = await s.approved({ steps: [enable('checkout')], scope: ['checkout'] });
    const job = await contract.activate({ as: s.keys.service });
    // As if somebody had edited what is done, and not what was approved.
    await s.sql(
      `update writ_data.contract set steps = '[{"step_type": "capability_disable", "target": "search", "parameters": {"reason": "x"}}]' where contract_id = $1`,
      [contract.id],
    );
    await s.work();
    expect(await job.finished()).toMatchObject({ status: 'ROLLED_BACK' });
    expect(await s.state()).toEqual(before);
  });

  test.each([
    ['outside its scope', '["checkout"]', 'capability_disable', 'search', 'scope_violation'],
    ['of an empty scope', '[]', 'capability_disable', 'search', 'scope_empty'],
    ['on SYSTEM', '["checkout"]', 'capability_disable', 'SYSTEM', 'scope_violation'],
    [
      'of a scope that says SYSTEM',
      '["SYSTEM"]',
      'capability_disable',
      'SYSTEM',
      'scope_violation',
    ],
  ])(
    'JOB-001: a step %s is refused by the gate of its effect, though every hash was forged to match',
    async (_, scope, type, target, code) => {
      const contract = await s.approved({ steps: [disable('checkout', 'x')], scope: ['checkout'] });
      const job = await contract.activate({ as: s.keys.service });
      const content = `{"scope":${scope},"steps":[{"parameters":{"reason":"x"},"step_type":"${type}","target":"${target}"}]}`;
      await s.sql(`begin; set local session_replication_role = replica;
      update writ_data.contract set content = '${content}', scope_hash = sha256('${content}'), scope = array(select jsonb_array_elements_text('${scope}')), steps = '${content}'::jsonb -> 'steps';
      update writ_data.contract_document d set document = x.document, hash = sha256(convert_to(x.document, 'UTF8'))
        from (select contract_id, (document::jsonb || '${content}')::text as document from writ_data.contract_document) x where x.contract_id = d.contract_id;
      update writ_data.contract c set approval_hash = d.hash from writ_data.contract_document d where d.contract_id = c.contract_id;
      update writ_data.contract_review r set hash = c.approval_hash from writ_data.contract c; update writ_data.governance_job g set scope_hash = c.scope_hash from writ_data.contract c; commit`);
      // A worker that checks nothing.
      const [claim] = (await s.sql(
        `select writ.fn_job_claim_many('{governance.change}', 'external_worker', 'mallory', 30, 1, 1, null, false, gen_random_uuid(), false, '') as answer`,
      )) as [{ answer: { lease_token: string; jobs: string[][] } }];
      const item = { job: claim.answer.jobs[0]?.[0], token: claim.answer.lease_token };
      const [applied] = await s.sql(
        `select writ.fn_changes_apply($1::jsonb, 'mallory') as answer`,
        [JSON.stringify([item])],
      );
      expect(applied).toMatchObject({ answer: [{ reason: code }] });
      expect(await s.state()).toEqual(before);
      expect(await job.get()).toMatchObject({ status: 'PENDING', completed_steps: 0 });
    },
  );

  test('JOB-002: health blocks execution', async () => {
    await s.writ.probes.put(
      { name: 'up', capability: 'checkout', type: 'http', config: { url: await probe(() => 200) } },
      { as: s.keys.ops },
    );
    await s.work();
    await until(async () => (await s.writ.health.get()).system === 'HEALTHY');
    const contract = await s.approved();
    await s.writ.probes.put(
      { name: 'up', capability: 'checkout', type: 'http', config: { url: await probe(() => 503) } },
      { as: s.keys.ops },
    );
    const end = await (await contract.activate({ as: s.keys.service })).finished();
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(end.status_reason).toContain('checkout is unhealthy: probe up: it answered 503');
    const { history } = await s.writ.changes.handle(end.job_id).get();
    expect(history.map(({ event }) => event)).toContain('health_block');
    expect(await s.state()).toEqual(before);
  });

  /** Seven steps, of which the last fails. */
  async function failing() {
    const { flag, trouble, values } = outside({ a: 5 });
    trouble.apply = (key) => {
      if (key === 'b') throw new Error('no such flag');
    };
    await s.use(flag);
    await s.work([flag]);
    const done = await s.done({
      scope: ['checkout', 'limits', 'flag:a', 'flag:b'],
      steps: [...five, flag({ key: 'a', percent: 50 }), flag({ key: 'b', percent: 1 })],
    });
    return { ...done, values };
  }

  test('JOB-003: a job that fails is rolled back by itself, and the state is what it was', async () => {
    const { job, end, values } = await failing();
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(end.state_after).toBe(end.state_before);
    expect(await s.state()).toEqual(before);
    expect(values).toEqual({ a: 5 });
    const { history } = await job.get();
    expect(history.map(({ to_status }) => to_status)).toEqual([
      'PENDING',
      'RUNNING',
      'FAILED',
      'ROLLBACK_PENDING',
      'ROLLED_BACK',
    ]);
    expect(await s.sql('select from writ_data.target_hold')).toEqual([]);
    expect(await s.sql('select status from writ.system_contracts')).toEqual([{ status: 'FAILED' }]);
  });

  test('JOB-006: a rollback reverses the steps that were completed, and one whose end nobody knows, the last first', async () => {
    const { job, end } = await failing();
    const undone = await s.writ.changes.handle(String(end.rollback_job_id)).steps();
    expect(undone.map(({ undo_of }) => undo_of)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(undone.every(({ status }) => status === 'COMPLETED')).toBe(true);
    expect((await job.steps()).map(({ status }) => status)).toEqual([
      ...Array<string>(6).fill('COMPLETED'),
      'FAILED',
    ]);
  });

  test('JOB-004: steps execute one after the other', async () => {
    await s.work();
    const max = (value: number) => configure('limits', 'max', value);
    const { job } = await s.done({
      steps: [max(1), max(2), soak('20ms'), max(3), soak('20ms'), max(4), max(5)],
    });
    const steps = (await job.steps()) as readonly (GovernedStep & Times)[];
    // Those in the database that follow one another are one transaction; the others begin when
    // those before them are done.
    const together = [[1, 2], [3], [4], [5], [6, 7]].map((part) =>
      part.map((n) => steps[n - 1] as (typeof steps)[number]),
    );
    for (const [n, part] of together.entries()) {
      expect(new Set(part.map(({ completed_at }) => completed_at)).size).toBe(1);
      if (n > 0)
        expect(String(part[0]?.started_at) >= String(together[n - 1]?.[0]?.completed_at)).toBe(
          true,
        );
    }
    const receipts = steps.map(({ receipt_no }) => Number(receipt_no));
    expect(receipts).toEqual([...receipts].sort((a, b) => a - b));
    expect(
      (
        await s.sql(
          `select found from writ_data.governance_step where found is not null order by step_no`,
        )
      ).map(({ found }) => found),
    ).toEqual([100, 1, 2, 3, 4].map((value) => ({ 'limits#max': value })));
    const [first] = await s.sql<{ run_id: string }>('select run_id from writ.governance_jobs');
    const [lease] = await s.sql<{ job_id: string }>(
      'select job_id from writ_data.job where run_id = $1 and step_no = 3',
      [first?.run_id],
    );
    const answer = await s.sql(`select writ.fn_changes_apply($1::jsonb, 'mallory') as answer`, [
      JSON.stringify([{ job: lease?.job_id, token: lease?.job_id }]),
    ]);
    expect(answer).toMatchObject([{ answer: [{ reason: 'already_committed' }] }]);
  });

  test('JOB-005: a job is completed when it was audited, and not before', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    const job = await contract.activate({ as: s.keys.service });
    expect(
      await codeOf(
        s.sql(`update writ_data.governance_job set status = 'COMPLETED' where job_id = $1`, [
          job.id,
        ]),
      ),
    ).toBeDefined();
    await s.work();
    const end = await job.finished();
    expect(end.status).toBe('COMPLETED');
    const { history } = await job.get();
    expect(history.map(({ to_status }) => to_status)).toEqual([
      'PENDING',
      'RUNNING',
      'COMPLETED',
      'AUDIT_PENDING',
      'COMPLETED',
    ]);
    expect(await job.audit()).toMatchObject({
      verdict: 'PASS',
      checks_passed: 7,
      checks_failed: 0,
      checks_inconclusive: 0,
    });
    expect(await s.state()).toMatchObject({ checkout: 'LAUNCHED' });
  });
});

describe('contracts', () => {
  /** By whoever owns the tables, past the gates. */
  const write = (id: string, change: string) =>
    codeOf(s.sql(`update writ_data.contract set ${change} where contract_id = $1`, [id]));
  const statusOf = async (contract: { get(): Promise<{ readonly status: string }> }) =>
    (await contract.get()).status;

  test('CONTRACT-001: only legal moves, whoever writes', async () => {
    const contract = await s.propose();
    for (const status of ['ACTIVE', 'COMPLETED', 'DRAFT', 'VALIDATED', 'FAILED'])
      expect(
        await write(
          contract.id,
          `status = '${status}', approved_by = '{ada}', audit_verdict = 'PASS', job_id = gen_random_uuid()`,
        ),
      ).toBe('WR002');
    expect(await statusOf(contract)).toBe('ELIGIBLE');
  });

  test('CONTRACT-002: approved means approved by somebody', async () => {
    const contract = await s.propose();
    expect(await write(contract.id, `status = 'APPROVED'`)).toBe('23514');
    expect(await statusOf(contract)).toBe('ELIGIBLE');
  });

  test('CONTRACT-003: an active contract has its one job, however many activate it, and however often', async () => {
    const contract = await s.approved({ steps: [enable('checkout'), recordSignal('ROLLOUT')] });
    expect(await write(contract.id, `status = 'ACTIVE'`)).toBe('23514');
    const tries = await Promise.all(
      Array.from({ length: 5 }, () => codeOf(contract.activate({ as: s.keys.service }))),
    );
    expect(tries.sort()).toEqual([...Array<string>(4).fill('already_activated'), undefined]);
    await s.work();
    const { job_id } = await contract.get();
    expect(await s.writ.changes.finished(String(job_id), { timeoutMs: 20_000 })).toMatchObject({
      status: 'COMPLETED',
    });
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('already_activated');
    expect(await s.sql('select job_id from writ.governance_jobs')).toEqual([{ job_id }]);
  });

  test('CONTRACT-004: completed means that the audit has passed', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    await contract.activate({ as: s.keys.service });
    for (const verdict of [`'FAIL'`, `'INCONCLUSIVE'`, `'PENDING'`])
      expect(await write(contract.id, `status = 'COMPLETED', audit_verdict = ${verdict}`)).toBe(
        '23514',
      );
    expect(await statusOf(contract)).toBe('ACTIVE');
  });

  test('CONTRACT-005: what has come to its end does not change, whoever writes', async () => {
    const contract = await s.propose();
    await contract.reject({ as: s.keys.ada, reason: 'not in the holidays' });
    for (const change of [`status = 'DRAFT'`, `title = 'x'`, `status_reason = 'no'`])
      expect(await write(contract.id, change)).toBe('WR002');
    const again = [
      () => contract.submit({ as: s.keys.agent }),
      () => contract.escalate({ as: s.keys.ada }),
      () => contract.activate({ as: s.keys.service }),
    ];
    for (const call of again) expect(await codeOf(call())).toBe('contract_terminal');
    expect(await statusOf(contract)).toBe('REJECTED');
  });

  test.each([
    ['no step', []],
    [
      'a lifecycle that is none',
      [
        {
          step_type: 'capability_enable',
          target: 'checkout',
          parameters: { target_lifecycle: 'MAYBE' },
        },
      ],
    ],
    [
      'a value without its key',
      [{ step_type: 'config_update', target: 'limits', parameters: { new_value: 1 } }],
    ],
    [
      'a key without its value',
      [{ step_type: 'config_update', target: 'limits', parameters: { key: 'max' } }],
    ],
    [
      'parameters that are none',
      [{ step_type: 'capability_enable', target: 'checkout', parameters: [] }],
    ],
    [
      'a field that nobody knows',
      [{ step_type: 'capability_enable', target: 'checkout', parameters: {}, force: true }],
    ],
    [
      'a signal that decides nothing',
      [
        {
          step_type: 'signal_record',
          target: 'SYSTEM',
          parameters: { signal_type: 'X', decision: 'MAYBE' },
        },
      ],
    ],
    ['a soak without an end', [{ step_type: 'soak', target: 'SYSTEM', parameters: {} }]],
  ])('CONTRACT-006: proposed changes are as their schema says: %s is refused', async (_, steps) => {
    expect(await codeOf(s.propose({ steps: steps as never }))).toBe('invalid_contract');
    expect(await s.sql('select from writ.system_contracts')).toEqual([]);
  });

  test('CONTRACT-006: what stands in a contract is what its hash is of', async () => {
    const contract = await s.propose({ steps: [configure('limits', 'max', 7)], scope: ['limits'] });
    expect(await write(contract.id, `content = '{"scope":[],"steps":[]}'`)).toBe('23514');
  });

  test('CONTRACT-007: confidence is a share', async () => {
    for (const confidence of [-0.01, 1.01, 2])
      expect(await codeOf(s.propose({ confidence }))).toBe('invalid_contract');
    const contract = await s.propose();
    expect(await write(contract.id, 'confidence = 1.5')).toBe('23514');
    expect(await write(contract.id, 'confidence = -0.5')).toBe('23514');
  });
});

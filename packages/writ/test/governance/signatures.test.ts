/**
 * A worker looks at the signatures itself: what somebody has put into the database past every guard
 * lets nothing happen.
 */
import { describe, expect, test } from 'vitest';
import { configure, defineStep, enable, newKey, param, principal, soak } from '../../src/index.js';
import { codeOf } from '../runs/engine/scene.js';
import { scene } from './scene.js';

const s = scene();
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };

/** As a superuser, past every guard. */
async function tamper(sql: string): Promise<void> {
  await s.sql(`begin; set local session_replication_role = replica; ${sql}; commit`);
}

async function endsVoid(
  job: { finished(options: { timeoutMs: number }): Promise<{ status: string; reason?: string }> },
  says: string,
) {
  const end = await job.finished({ timeoutMs: 20_000 });
  expect(end).toMatchObject({
    status: 'ROLLED_BACK',
    status_reason: expect.stringContaining(says),
  });
  expect(await s.state()).toEqual(before);
  const failed = await s.sql(
    `select data #>> '{error,errorCode}' as code from writ_data.run_event where event_type = 'StepFailed'`,
  );
  expect(failed).toEqual([{ code: 'approval_void' }]);
  expect(await s.sql('select status from writ.system_contracts where job_id is not null')).toEqual([
    { status: 'FAILED' },
  ]);
}

describe('a forged approval', () => {
  test.each([
    [
      'whose signature was altered',
      `update writ_data.contract_review set signature = set_byte(signature, 0, get_byte(signature, 0) # 1)`,
    ],
    [
      'that was copied from another contract',
      `update writ_data.contract_review r set signature = o.signature from writ_data.contract_review o where o.contract_id <> r.contract_id and r.contract_id = (select contract_id from writ_data.governance_job)`,
    ],
    [
      'whose key is not the one that signed',
      `update writ_data.contract_review set public_key = (select public_key from writ_data.principal where principal_id = 'bob')`,
    ],
  ])('%s: the first step fails, and nothing is changed', async (_, forgery) => {
    await s.approved({
      title: 'Another',
      scope: ['search'],
      steps: [enable('search', 'DEPRECATED')],
    });
    const contract = await s.approved();
    const job = await contract.activate({ as: s.keys.service });
    await tamper(forgery);
    await s.work();
    await endsVoid(job, 'ada has not signed this');
  });

  test('beside one that is genuine counts for neither', async () => {
    const contract = await s.approved({ risk: 'high' });
    const job = await contract.activate({ as: s.keys.service });
    await tamper(
      `update writ_data.contract_review set signature = decode(repeat('00', 64), 'hex') where by = 'bob'`,
    );
    await s.work();
    await endsVoid(job, 'bob has not signed this');
  });

  test('holds for every type of step, also for one of your own: nothing outside is even read', async () => {
    const calls: string[] = [];
    const note = defineStep<number>('note', {
      target: () => 'note:a',
      read: async () => calls.push('read') && 1,
      apply: async () => calls.push('apply'),
      revert: async () => calls.push('revert'),
    });
    await s.use(note);
    for (const step of [note(2), soak('10ms')]) {
      const contract = await s.approved({
        scope: ['note:a', 'checkout'],
        steps: [step, enable('checkout')],
      });
      const job = await contract.activate({ as: s.keys.service });
      calls.length = 0;
      await tamper(
        `update writ_data.contract_review set signature = decode(repeat('00', 64), 'hex')`,
      );
      const worker = await s.work([note]);
      expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({
        status: 'ROLLED_BACK',
        status_reason: expect.stringContaining('ada'),
      });
      await worker.stop();
      expect(calls).toEqual([]);
    }
    expect(await s.state()).toEqual(before);
  });
});

test('what a worker is told to do is what was signed, and not what somebody has put into its input', async () => {
  const applied: unknown[] = [];
  const note = defineStep<number>('note', {
    target: () => 'note:a',
    read: async () => 1,
    apply: async (value) => void applied.push(value),
    revert: async () => undefined,
  });
  await s.use(note);
  const contract = await s.approved({ scope: ['note:a'], steps: [note(2)] });
  const job = await contract.activate({ as: s.keys.service });
  await tamper(
    `update writ_data.job_ready set inputs = array(select replace(i, '"value": 2', '"value": 9000') from unnest(inputs) i) where inputs::text like '%value%'`,
  );
  await s.work([note]);
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({
    status: 'ROLLED_BACK',
    status_reason: expect.stringContaining('is not what was signed'),
  });
  expect(applied).toEqual([]);
});

test('approvals are asked for once per governance job and process, whatever the number of its steps', async () => {
  await s.sql(`create sequence asked; alter function writ.fn_governed_approvals(uuid[]) rename to fn_asked;
    create function writ.fn_governed_approvals(uuid[]) returns jsonb language sql as $$ select nextval('asked'); select writ.fn_asked($1) $$`);
  const asked = async () =>
    (
      await s.sql(
        `select case when is_called then last_value else 0 end::integer as times from asked`,
      )
    )[0]?.times;
  await s.work();
  for (const [n, proposal] of [
    {},
    { scope: ['search'], steps: [enable('search', 'DEPRECATED')] },
  ].entries()) {
    expect(await s.done(proposal)).toMatchObject({ end: { status: 'COMPLETED' } });
    expect(await asked()).toBe(n + 1);
  }
});

describe('an instance of a template', () => {
  const template = {
    params: { to: { min: 1, max: 500 } },
    pre: { 'limits#max': { min: 1, max: 500 } },
    activations: 5,
    expiresIn: '1d',
  } as const;
  const proposal = {
    template,
    scope: ['limits'],
    steps: [configure('limits', 'max', param('to'))],
  };

  test('is done under the signatures of its template', async () => {
    const contract = await s.approved(proposal);
    await s.work();
    const job = await contract.instantiate({ to: 200 }, { as: s.keys.service });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
  });

  test('is not done when those are forged', async () => {
    const contract = await s.approved(proposal);
    const job = await contract.instantiate({ to: 200 }, { as: s.keys.service });
    await tamper(
      `update writ_data.contract_review set signature = decode(repeat('00', 64), 'hex')`,
    );
    await s.work();
    await endsVoid(job, 'ada has not signed this');
  });
});

describe('a broken glass', () => {
  const reason = 'the shop is down';
  const broken = async () =>
    s.breakGlass(await s.propose({ steps: [enable('checkout')] }), ` ${reason} `);

  test('is signed by whoever breaks it, with the reason, and is done under that', async () => {
    const job = await broken();
    expect(await s.sql('select action, by, reason from writ.contract_review')).toEqual([
      { action: 'BREAK_GLASS', by: 'ops', reason },
    ]);
    await s.work();
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
  });

  test.each([
    [
      'whose signature was altered',
      `update writ_data.contract_review set signature = decode(repeat('00', 64), 'hex')`,
      'ops has not signed this',
    ],
    [
      'for another reason',
      `update writ_data.contract set glass_broken = 'because I wanted to'`,
      'What was signed is for another reason',
    ],
    [
      'that nobody has broken',
      `delete from writ_data.contract_review`,
      '0 of 1 persons have approved this',
    ],
  ])('%s: nothing is done', async (_, forgery, says) => {
    const job = await broken();
    await tamper(forgery);
    await s.work();
    await endsVoid(job, says);
  });

  test('without a signature is refused', async () => {
    const contract = await s.propose({ steps: [enable('checkout')] });
    const answer = await s.sql(`select writ.fn_contracts_activate($1, $2::jsonb) as answer`, [
      principal(s.keys.ops).credential,
      JSON.stringify([{ contract: contract.id, break_glass: reason }]),
    ]);
    expect(answer).toMatchObject([{ answer: [{ refused: true, reason: 'invalid_argument' }] }]);
    expect(await contract.get()).toMatchObject({ status: 'ELIGIBLE', glass_broken: null });
    expect(await codeOf(s.breakGlass(contract, 'x'.repeat(1001)))).toBe('invalid_argument');
  });
});

test('somebody who has another key by now has still signed what they signed', async () => {
  const contract = await s.approved({ steps: [enable('checkout')] });
  await s.writ.principals.change('ada', { key: newKey('ada') });
  await s.work();
  expect(
    await (await contract.activate({ as: s.keys.service })).finished({ timeoutMs: 20_000 }),
  ).toMatchObject({ status: 'COMPLETED' });
});

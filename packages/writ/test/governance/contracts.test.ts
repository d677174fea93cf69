import { describe, expect, test } from 'vitest';
import { configure, disable, enable, signedBy } from '../../src/index.js';
import { codeOf } from '../runs/engine/scene.js';
import { five, scene } from './scene.js';
import { verifying } from './verifying.js';

const s = scene();

describe('proposing', () => {
  test('an agent proposes, and what it would change is shown, step by step, with the undo of each', async () => {
    const contract = await s.propose();
    const preview = await contract.preview({ as: s.keys.agent });
    expect(preview).toMatchObject({
      status: 'ELIGIBLE',
      approvals_needed: 1,
      approved_by: [],
      created_by: 'agent',
    });
    expect(
      preview.steps.map(({ slot, before, after, undo }) => [slot, before, after, undo?.restore]),
    ).toEqual([
      ['checkout', 'DISABLED', 'PREVIEW', 'DISABLED'],
      ['limits#max', 100, 200, 100],
      ['limits#burst', null, 5, null],
      ['limits#max', 200, 300, 200],
      ['checkout', 'PREVIEW', 'LAUNCHED', 'PREVIEW'],
    ]);
    expect(await s.state()).toEqual({
      checkout: 'DISABLED',
      search: 'LAUNCHED',
      'limits#max': 100,
    });
  });

  test.each([
    ['a step outside the scope', { scope: ['checkout'] }, 'scope_violation'],
    ['an empty scope', { scope: [] }, 'scope_empty'],
    ['SYSTEM in the scope', { scope: ['SYSTEM', 'checkout', 'limits'] }, 'scope_violation'],
    [
      'SYSTEM as the target of a change',
      { steps: [{ ...enable('checkout'), target: 'SYSTEM' }] },
      'scope_violation',
    ],
    [
      'something that nobody knows',
      { scope: ['nothing'], steps: [enable('nothing')] },
      'unknown_target',
    ],
    [
      'a type that nobody knows',
      { steps: [{ step_type: 'magic', target: 'checkout', parameters: {} }] },
      'unknown_step_type',
    ],
    [
      'a type with the name of a job of Writ',
      { steps: [{ step_type: 'verify', target: 'checkout', parameters: { value: 1 } }] },
      'unknown_step_type',
    ],
    ['no steps', { steps: [] }, 'invalid_contract'],
    ['a confidence of 2', { confidence: 2 }, 'invalid_contract'],
    ['a window of an eon', { windowHours: 1000 }, 'invalid_contract'],
    ['a title of nothing', { title: '' }, 'invalid_contract'],
    [
      'a step with something that nobody reads',
      { steps: [{ ...enable('checkout'), force: true }] },
      'invalid_contract',
    ],
  ])('%s is refused, and nothing is there', async (_, proposal, code) => {
    expect(await codeOf(s.propose(proposal as never))).toBe(code);
    expect(await s.sql('select from writ.system_contracts')).toEqual([]);
  });

  test('nobody proposes without a key, with a wrong one, or after it was disabled', async () => {
    expect(
      await codeOf(
        s.propose({}, `${s.keys.agent.slice(0, -1)}${s.keys.agent.endsWith('0') ? '1' : '0'}`),
      ),
    ).toBe('not_authenticated');
    expect(
      await codeOf(s.writ.contracts.propose({ title: 'x', scope: ['checkout'], steps: five })),
    ).toBe('not_authenticated');
    await s.sql(
      `select writ.fn_principal_put('{"principal_id": "agent", "disabled": true}', 'test')`,
    );
    expect(await codeOf(s.propose())).toBe('not_authenticated');
  });

  test('low confidence is rejected; health, and what is frozen, only wait', async () => {
    expect((await s.propose({ confidence: 0.2 })) as never).toMatchObject({ status: 'REJECTED' });
    await s.writ.capabilities.put([{ capability_name: 'checkout', frozen: 'end of the year' }], {
      as: s.keys.ops,
    });
    const contract = await s.propose();
    expect(contract as never).toMatchObject({ status: 'VALIDATED' });
    const { eligibility_verdict } = await contract.get();
    expect(
      eligibility_verdict?.rules?.filter(({ passed }) => !passed).map(({ rule }) => rule),
    ).toEqual(['E-102']);
    await s.writ.capabilities.put([{ capability_name: 'checkout', frozen: null }], {
      as: s.keys.ops,
    });
    expect(await contract.submit({ as: s.keys.agent })).toMatchObject({ status: 'ELIGIBLE' });
  });

  test('the same content within a day is similar, and waits', async () => {
    await s.propose();
    expect((await s.propose({ title: 'Again' })) as never).toMatchObject({ status: 'VALIDATED' });
  });

  test('sent again with the same id it is one contract; with other content it is refused', async () => {
    const id = '01a1e25c-ba25-7248-a824-2d78be7c3463';
    const about = { title: 'x', scope: ['checkout'], steps: [enable('checkout')] };
    const first = await s.writ.contracts.propose(about, { as: s.keys.agent, id });
    expect((await s.writ.contracts.propose(about, { as: s.keys.agent, id })).id).toBe(first.id);
    expect(
      await codeOf(
        s.writ.contracts.propose(
          { ...about, steps: [disable('checkout', 'no')] },
          { as: s.keys.agent, id },
        ),
      ),
    ).toBe('contract_exists');
  });
});

describe('approving', () => {
  test('only persons who did not ask for it approve, each for a hash that they have seen, signed', async () => {
    await verifying(s.writ);
    const contract = await s.propose();
    const { hash } = await contract.preview({ as: s.keys.ada });
    expect(await codeOf(contract.approve({ as: s.keys.agent, hash }))).toBe('agents_only_propose');
    expect(await codeOf(contract.approve({ as: s.keys.service, hash }))).toBe('not_authorized');
    expect(await codeOf(contract.approve({ as: s.keys.ops, hash }))).toBe('own_contract');
    expect(
      await codeOf(
        contract.approve({
          as: s.keys.ada,
          hash: hash.replace(/^./, (d) => (d === '0' ? '1' : '0')),
        }),
      ),
    ).toBe('approval_void');
    expect(await contract.approve({ as: s.keys.ada, hash })).toMatchObject({
      status: 'APPROVED',
      approved_by: ['ada'],
    });
    const [review] = await s.sql<{ hash: string; signature: string; public_key: string }>(
      'select * from writ.contract_review',
    );
    expect(signedBy(String(review?.public_key), hash, String(review?.signature))).toBe(true);
    const denied = await s.sql(
      `select entry::jsonb -> 'context' ->> 'principal' as who from writ_data.receipt where entry::jsonb ->> 'reason' = 'access_denied' order by receipt_no`,
    );
    expect(denied.map(({ who }) => who)).toEqual(['agent', 'deployer', 'ops']);
  });

  test('high risk takes two, and critical an escalation besides', async () => {
    await verifying(s.writ);
    const high = await s.propose({ risk: 'high' });
    const { hash } = await high.preview({ as: s.keys.ada });
    expect(await high.approve({ as: s.keys.ada, hash })).toMatchObject({
      status: 'ELIGIBLE',
      approved_by: ['ada'],
      approvals_needed: 2,
    });
    expect(await high.approve({ as: s.keys.ada, hash })).toMatchObject({
      status: 'ELIGIBLE',
      approved_by: ['ada'],
    });
    expect(await high.approve({ as: s.keys.bob, hash })).toMatchObject({ status: 'APPROVED' });
    const critical = await s.propose({ risk: 'critical', steps: [enable('checkout')] });
    expect(critical as never).toMatchObject({ status: 'VALIDATED' });
    expect(await critical.escalate({ as: s.keys.bob, reason: 'it burns' })).toMatchObject({
      status: 'ELIGIBLE',
    });
    expect(await s.alerts()).toContain('CONTRACT_ESCALATED');
  });

  test('what changes after the preview makes an approval of it void, before and after', async () => {
    await verifying(s.writ);
    const contract = await s.propose({ risk: 'high', steps: [configure('limits', 'max', 7)] });
    const seen = await contract.preview({ as: s.keys.ada });
    await contract.approve({ as: s.keys.ada, hash: seen.hash });
    const other = await s.approved({ steps: [configure('limits', 'max', 150)], scope: ['limits'] });
    await s.work();
    expect(await (await other.activate({ as: s.keys.service })).finished()).toMatchObject({
      status: 'COMPLETED',
    });
    const now = await contract.preview({ as: s.keys.bob });
    expect(now.hash).not.toBe(seen.hash);
    expect(now.approved_by).toEqual([]);
    expect(await codeOf(contract.approve({ as: s.keys.bob, hash: seen.hash }))).toBe(
      'approval_void',
    );
    expect(await contract.approve({ as: s.keys.bob, hash: now.hash })).toMatchObject({
      status: 'ELIGIBLE',
      approved_by: ['bob'],
    });
  });

  test('a rejection has a reason, and is the end', async () => {
    const contract = await s.propose();
    expect(await codeOf(contract.reject({ as: s.keys.ada, reason: 'no' }))).toBe('reason_required');
    expect(await contract.reject({ as: s.keys.ada, reason: 'not in the holidays' })).toMatchObject({
      status: 'REJECTED',
    });
    const { hash } = await contract
      .preview({ as: s.keys.bob })
      .catch(() => ({ hash: '0'.repeat(64) }));
    expect(await codeOf(contract.approve({ as: s.keys.bob, hash: hash ?? '0'.repeat(64) }))).toBe(
      'contract_terminal',
    );
  });

  test('a question stops the clock, and its answer starts it again', async () => {
    const contract = await s.propose();
    await contract.requestClarification({ as: s.keys.ada, reason: 'why so many?' });
    await s.db.clock.advance('30d');
    await s.sql(`select writ.fn_governance_tick('test')`);
    expect(await contract.get()).toMatchObject({ status: 'ELIGIBLE' });
    await contract.clarify({ as: s.keys.agent, reason: 'because' });
    await s.db.clock.advance('6d');
    await s.sql(`select writ.fn_governance_tick('test')`);
    expect(await contract.get()).toMatchObject({ status: 'ELIGIBLE' });
    await s.db.clock.advance('2d');
    await s.sql(`select writ.fn_governance_tick('test')`);
    expect(await contract.get()).toMatchObject({ status: 'EXPIRED' });
  });
});

describe('the time of a contract', () => {
  test('a review is warned of, escalated, and over after seven days', async () => {
    const contract = await s.propose();
    const after = async (time: '5d' | '1d') => {
      await s.db.clock.advance(time);
      await s.sql(`select writ.fn_governance_tick('test')`);
      return s.alerts();
    };
    expect(await after('5d')).toEqual(['REVIEW_LATE']);
    expect(await after('1d')).toEqual(['REVIEW_LATE', 'REVIEW_ESCALATED']);
    expect(await after('1d')).toEqual([]);
    expect(await contract.get()).toMatchObject({ status: 'EXPIRED' });
  });

  test('what was raised because nobody had decided is over when somebody has', async () => {
    const [approved, rejected] = [
      await s.propose(),
      await s.propose({ steps: [enable('checkout')] }),
    ];
    await s.db.clock.advance('5d');
    await s.sql(`select writ.fn_governance_tick('test')`);
    expect(await s.alerts()).toEqual(['REVIEW_LATE', 'REVIEW_LATE']);
    await s.approve(approved);
    expect(await s.alerts()).toEqual(['REVIEW_LATE']);
    await rejected.reject({ as: s.keys.ada, reason: 'not in the holidays' });
    expect(await s.alerts()).toEqual([]);
  });

  test('past its window an approved contract has failed, and a draft takes its place', async () => {
    const contract = await s.approved();
    await s.db.clock.advance('25h' as never);
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('window_elapsed');
    expect(await contract.get()).toMatchObject({
      status: 'FAILED',
      status_reason: 'window_elapsed',
    });
    expect(
      await s.sql(
        'select status, parent_contract_id from writ.system_contracts where contract_id <> $1',
        [contract.id],
      ),
    ).toEqual([{ status: 'DRAFT', parent_contract_id: contract.id }]);
  });

  test('nothing is activated in a freeze, unless somebody breaks the glass, with a reason, for all to see', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    await s.writ.freezes.put({ reason: 'end of the year' }, { as: s.keys.ops });
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('changes_frozen');
    expect(await codeOf(s.breakGlass(contract, 'the shop is down', s.keys.ada))).toBe(
      'not_authorized',
    );
    await s.work();
    const job = await s.breakGlass(contract, 'the shop is down');
    expect(await job.finished()).toMatchObject({ status: 'COMPLETED' });
    expect(await s.alerts()).toContain('GLASS_BROKEN');
  });
});

describe('what the database holds to', () => {
  test('a contract that was edited after its preview is not approved by the hash of that', async () => {
    const contract = await s.propose();
    const { hash } = await contract.preview({ as: s.keys.ada });
    await s.sql(
      `update writ_data.contract set content = x.c, scope_hash = sha256(convert_to(x.c, 'UTF8')), steps = x.c::jsonb -> 'steps' from (select replace(content, '300', '9000') as c from writ_data.contract) x`,
    );
    expect(await codeOf(contract.approve({ as: s.keys.ada, hash }))).toBe('approval_void');
    expect(await contract.get()).toMatchObject({ status: 'ELIGIBLE', approved_by: [] });
    expect(await s.sql('select from writ.contract_review')).toEqual([]);
    expect((await contract.preview({ as: s.keys.ada })).hash).not.toBe(hash);
  });

  test('an edited contract voids its approval, even if its hash was edited with it', async () => {
    const contract = await s.approved();
    const [{ content }] = (await s.sql<{ content: string }>(
      'select content from writ.system_contracts',
    )) as [{ content: string }];
    const edited = content.replace('300', '9000');
    await s.sql(
      `update writ_data.contract set content = $2, scope_hash = sha256(convert_to($2, 'UTF8')), steps = $2::jsonb -> 'steps' where contract_id = $1`,
      [contract.id, edited],
    );
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('approval_void');
    expect(await s.state()).toMatchObject({ 'limits#max': 100 });
    expect(await contract.get()).toMatchObject({
      status: 'FAILED',
      status_reason: 'approval_void',
    });
  });

  test('a capability is not changed past a contract: not by a role, and not by naming it again', async () => {
    expect(
      await codeOf(
        s.writ.capabilities.put([{ capability_name: 'checkout', lifecycle: 'LAUNCHED' }], {
          as: s.keys.ops,
        }),
      ),
    ).toBe('change_needs_a_contract');
    expect(
      await codeOf(
        s.writ.capabilities.put(
          [{ scope: 'limits', owner_capability: 'checkout', values: { max: 1 } }],
          { as: s.keys.ops },
        ),
      ),
    ).toBe('change_needs_a_contract');
    for (const role of ['workflow_admin', 'dot_executor', 'writ_auditor'])
      expect(
        await codeOf(
          s.sql(
            `do $$ begin set local role ${role}; update writ_data.capability set lifecycle = 'LAUNCHED'; end $$`,
          ),
        ),
      ).toBe('42501');
  });
});

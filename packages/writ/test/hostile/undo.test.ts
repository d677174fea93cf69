/** A proposer cannot make its change look like an undo, which needs no approval. */
import { expect, test } from 'vitest';
import { stepNote, stepWords } from '../../src/cli/governance/words.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { outside } from '../governance/outside.js';
import { scene } from '../governance/scene.js';
import { attackers } from './attackers.js';

const s = scene();
const enter = attackers(s);

test('a step whose parameters contain undo_of runs only with a genuine signature', async () => {
  const { flag, values } = outside({ a: 1 });
  s.writ.governance.use(flag);
  await s.work([flag]);
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const step = {
    step_type: 'flag',
    target: 'flag:a',
    parameters: { value: { key: 'a', percent: 99 }, undo_of: 1 },
  };
  const proposed = await agent.call('fn_contract_propose', {
    key: null,
    content: canonicalize({ scope: ['flag:a'], steps: [step] }),
    about: JSON.stringify({ title: 'Put it back', risk_level: 'low' }),
  });
  expect(proposed).toMatchObject({ status: 'ELIGIBLE' });
  const contract = s.writ.contracts.get(String(proposed.contract_id));

  const shown = (await contract.preview({ as: s.keys.ada })).steps[0];
  expect(shown && [stepWords(shown), stepNote(shown)]).toEqual(['flag flag:a', '']);

  // An approval of zero bytes, by a person whose login is hostile.
  const ada = await enter(['writ_principal'], { principal_id: 'ada' });
  const { hash } = await contract.preview({ as: s.keys.ada });
  const reviewed = await ada.call('fn_contract_review', {
    key: null,
    contract_id: contract.id,
    action: 'APPROVE',
    hash,
    signature: '00'.repeat(64),
    read: JSON.stringify({ 'flag:a': 1 }),
  });
  expect(reviewed).toMatchObject({ status: 'APPROVED' });
  const job = await contract.activate({ as: s.keys.service });
  expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLED_BACK' });
  expect(values).toEqual({ a: 1 });
});

/** Ids that follow from others: nobody may take one before the gate that derives it. */
import { beforeEach, expect, test } from 'vitest';
import { instanceId } from '../../src/governor/actuators/contract.js';
import { actionId, eventId } from '../../src/governor/ids.js';
import { configure } from '../../src/index.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { scene } from '../governance/scene.js';
import { attackers } from './attackers.js';
import type { Login } from './logins.js';

const s = scene();
const enter = attackers(s);
let agent: Login;
beforeEach(async () => {
  agent = await enter(['writ_principal'], { principal_id: 'agent' });
});

const propose = (contract_id: string) =>
  agent.call('fn_contract_propose', {
    key: null,
    content: canonicalize({
      scope: ['limits'],
      steps: [
        { step_type: 'config_update', target: 'limits', parameters: { key: 'max', new_value: 7 } },
      ],
    }),
    about: JSON.stringify({ title: 'Mine', risk_level: 'low', contract_id }),
  });

test('an agent cannot propose a contract under the id of an instance that a governor will activate', async () => {
  // An agent sees the id and the number of events of a governor, so it can work the next actions
  // out.
  const action = actionId(eventId('018f0000-0000-7000-8000-000000000001', 42), 'action');
  for (const id of [instanceId(action, 1), instanceId(action, 1).toUpperCase()]) {
    expect(await propose(id)).toMatchObject({ refused: true, reason: 'invalid_contract' });
  }
  expect(await s.sql('select from writ_data.contract')).toEqual([]);
  const own = await s.propose({
    title: 'Other',
    scope: ['limits'],
    steps: [configure('limits', 'max', 1)],
  });
  expect(await own.get()).toMatchObject({ status: 'ELIGIBLE' });
});

test('the database and an applier derive the same id of an instance', async () => {
  const action = actionId(eventId('018f0000-0000-7000-8000-000000000001', 42), 'action');
  for (const attempt of [1, 20]) {
    const [row] = await s.sql('select writ_data.is_instance($1, $2, $3, $3) as same', [
      instanceId(action, attempt),
      action,
      attempt,
    ]);
    expect(row).toEqual({ same: true });
  }
});

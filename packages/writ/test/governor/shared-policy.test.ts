/**
 * What a host remembers is of the document alone, and what arrives is looked at at once, however
 * the database's clock was set.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { definePolicy, handler } from '../../src/governor/policy.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import type { Writ } from '../../src/writ.js';
import { until } from '../races/sessions.js';
import { patient } from './patient.js';

let db: TestDatabase;
let writ: Writ;
let key: string;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  key = await writ.principals.add({ id: 'olga', kind: 'person', rights: ['operate'] });
  await patient(db);
});
afterEach(() => db.drop());

const policy = definePolicy('load', {
  when: { load: { above: 80 } },
  then: handler('scale_up_cloud_run', { target: 'pool' }),
  as: 'olga',
});
const stable = (n: number) =>
  until(
    async () =>
      (await db.query(`select from writ.governor where state = 'stable' and in_mailbox = 0`))
        .length === n,
  );

test('of two governors with the same document, one as a shadow, each goes by its own version', async () => {
  const first = await writ.drive();
  for (const tenant of ['live', 'shadow']) {
    await writ.governors.entitlements.put({ tier: 'starter' }, { tenant, as: key });
    await (await writ.governor({ tenant })).publish(policy, {
      as: key,
      shadow: tenant === 'shadow',
    });
  }
  await stable(2);
  await first.stop();
  // A host that has seen neither being published loads the document once.
  const other = await db.connect();
  await other.drive();
  for (const tenant of ['live', 'shadow', 'live', 'shadow'])
    await (await other.governor({ tenant })).signal({ type: 'load', value: 10 });
  await until(async () => (await db.query('select from writ_data.governor_settled')).length === 4);
  const receipts = await db.query(
    `select distinct log_id as tenant, coalesce((entry::jsonb #>> '{context,shadow}')::boolean, false) as shadow from writ_data.receipt where entry::jsonb ->> 'reason' = 'signal_received' order by 1`,
  );
  expect(receipts).toEqual([
    { tenant: 'live', shadow: false },
    { tenant: 'shadow', shadow: true },
  ]);
});

test('a signal is decided at once although the clock was set back by an hour', async () => {
  await db.clock.advance('1h');
  await writ.drive();
  await writ.governors.entitlements.put({ tier: 'starter' }, { tenant: 'acme', as: key });
  const governor = await writ.governor({ tenant: 'acme' });
  await stable(1);
  await governor.signal({ type: 'load', value: 1 });
  await db.clock.reset();
  expect(await governor.signal({ type: 'load', value: 2 })).toMatchObject({ arrival_seq: 2 });
  await until(async () => (await db.query('select from writ_data.governor_settled')).length === 2);
  // Its own time stands still meanwhile: no event is before the one that it follows, and no receipt
  // either.
  const events = await db.query(
    'select at, lag(at) over (partition by governor_id order by event_seq) as before from writ_data.governor_event order by event_seq',
  );
  expect(events.filter(({ at, before }) => before !== null && Number(at) < Number(before))).toEqual(
    [],
  );
  const times = (await governor.receipts({ limit: 100 })).map(({ timestamp }) => timestamp);
  expect(times).toEqual([...times].sort());
});

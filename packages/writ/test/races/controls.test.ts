/** Controls that two sessions make known at the same time. */
import { expect, test } from 'vitest';
import { principal } from '../../src/index.js';
import { testDatabase } from '../../src/testing/index.js';
import { direct, session, untilBlocked } from './sessions.js';

test('two sessions that put the same capability leave one receipt of first values', async () => {
  const db = await testDatabase();
  const first = await session(direct(db));
  const second = await session(direct(db));
  try {
    const writ = await db.connect();
    const key = await writ.principals.add({ id: 'ops', kind: 'person', rights: ['operate'] });
    const { credential } = principal(key);
    const put = (of: typeof first, monitored: boolean) =>
      of.gate('fn_capability_put($1, $2)', [
        credential,
        JSON.stringify([{ capability_name: 'checkout', monitored }]),
      ]);
    await first.query('begin');
    await put(first, false);
    const waiting = put(second, true);
    await untilBlocked(db, second);
    await first.query('commit');
    expect(await waiting).toEqual({ put: 1 });
    const receipts = await db.query(
      `select entry::jsonb #> '{context,was}' is null as first from writ_data.receipt
       where entry::jsonb #>> '{context,control}' = 'capability' order by receipt_no`,
    );
    expect(receipts).toEqual([{ first: true }, { first: false }]);
  } finally {
    await first.end();
    await second.end();
    await db.drop();
  }
});

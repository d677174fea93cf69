/** What the doctor finds of governors, and when it is worth a word. */
import { expect, test } from 'vitest';
import {
  governorChecks,
  judgeHeld as heldJudge,
  judgeMonths as monthsJudge,
  judgeUndriven as undrivenJudge,
} from '../../src/doctor/governor.js';
import { testDatabase } from '../../src/testing/index.js';
import { advises, advisesOne, found } from './advised.js';

const judgeHeld = advises(heldJudge);
const judgeMonths = advisesOne(monthsJudge);
const judgeUndriven = advisesOne(undrivenJudge);

test('one that waits for a person is an error, others that do not act are warnings; each says what to do', () => {
  expect(judgeHeld({ governors: 0, held: 0, named: [] })).toMatchObject([
    { level: 'ok', says: 'None' },
  ]);
  expect(judgeHeld({ governors: 3, held: 0, named: [] })).toMatchObject([
    { level: 'ok', says: '3 governors, none refuses or is degraded' },
  ]);
  const at = { tenant_id: 'acme', sku_id: 'default', age_s: 60 };
  const [degraded, refusing, ledger, more] = judgeHeld({
    governors: 9,
    held: 5,
    named: [
      { ...at, state: 'degraded', causes: ['rollback_failed'], refusals: [] },
      {
        ...at,
        state: 'refusing',
        causes: [],
        refusals: [{ cause: 'quota_exceeded', action_type: 'x' }],
      },
      { ...at, state: 'degraded', causes: ['ledger'], refusals: [] },
    ],
  });
  expect(degraded).toMatchObject({
    level: 'error',
    remedy: expect.stringContaining('writ governor ack acme rollback_failed'),
  });
  expect(refusing).toMatchObject({
    level: 'warning',
    says: 'acme is refusing for 60.0 s: the actions of this month are used up (x)',
    remedy: expect.stringContaining('writ governor entitlement set acme --quota'),
  });
  expect(ledger).toMatchObject({ level: 'warning' });
  expect(more).toMatchObject({ says: '2 more refuse or are degraded' });
});

test('what is due for longer than a driver that is there could let pass', () => {
  const none = { undriven: 0, tenant_id: null, sku_id: null, late_s: null };
  expect(judgeUndriven(none)).toMatchObject({ level: 'ok' });
  const late = (late_s: number) =>
    judgeUndriven({ undriven: 2, tenant_id: 'acme', sku_id: 'web', late_s });
  expect(late(6)).toMatchObject({
    level: 'warning',
    says: 'Nobody drives 2 governors; something for acme web is due for 6.0 s',
    remedy: expect.stringContaining('writ worker'),
  });
  expect(late(61)).toMatchObject({ level: 'error' });
});

test('months that are missing', () => {
  expect(judgeMonths({ days_left: 1, now: [], next: [] })).toMatchObject({ level: 'ok' });
  expect(judgeMonths({ days_left: 20, now: [], next: ['governor_mail_202604'] })).toMatchObject({
    level: 'warning',
    says: expect.stringContaining('governor_mail_202604'),
  });
  expect(judgeMonths({ days_left: 2, now: [], next: ['governor_mail_202604'] })).toMatchObject({
    level: 'error',
  });
  expect(judgeMonths({ days_left: 20, now: ['governor_mail_202603'], next: [] })).toMatchObject({
    level: 'error',
  });
});

test('on a real database', async () => {
  const db = await testDatabase();
  try {
    const look = (check: string) => found(db.connectionString, governorChecks[check]);
    const writ = await db.connect();
    expect(await look('governors')).toMatchObject([{ level: 'ok', says: 'None' }]);
    expect(await look('driving')).toMatchObject([{ level: 'ok' }]);
    expect(await look('governor months')).toMatchObject([{ level: 'ok' }]);
    await writ.governor({ tenant: 'acme' });
    expect(await look('driving')).toMatchObject([{ level: 'ok' }]);
    await db.clock.advance('30s');
    expect(await look('driving')).toMatchObject([
      {
        level: 'warning',
        says: expect.stringMatching(
          /^Nobody drives 1 governor; something for acme is due for 3\d\.\d s$/,
        ),
      },
    ]);
    const driving = await writ.drive();
    const governor = await writ.governor({ tenant: 'acme' });
    for (
      const giveUp = Date.now() + 10_000;
      Number((await governor.get()).events) === 0 && Date.now() < giveUp;
    )
      await new Promise((resume) => setTimeout(resume, 20));
    expect(await look('driving')).toMatchObject([{ level: 'ok' }]);
    await db.clock.advance('31s'); // longer than it may boot
    for (
      const giveUp = Date.now() + 10_000;
      (await governor.get()).state !== 'degraded' && Date.now() < giveUp;
    )
      await new Promise((resume) => setTimeout(resume, 20));
    await driving.stop();
    expect(await look('governors')).toMatchObject([
      {
        level: 'warning',
        says: expect.stringMatching(/^acme is degraded for .*: it was not ready in time/),
      },
    ]);
    await db.query(
      `drop table writ_data.governor_settled_${new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1)).toISOString().slice(0, 7).replace('-', '')}`,
    );
    expect(await look('governor months')).toMatchObject([
      { says: expect.stringMatching(/^Missing for the next month.*governor_settled_\d{6}$/) },
    ]);
  } finally {
    await db.drop();
  }
});

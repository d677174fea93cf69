/**
 * What is taken in: an alert for as long as it fires, and every signal of those that come together.
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { governorScene, scaling } from './scene.js';

const s = governorScene();
const over = { type: 'error_rate', value: 0.5 } as const;
const day = 86_400_000;

test.each(['26h', '13d', '40d'] as const)(
  'an alert that has fired for %s is known, and a new one that comes with it is taken',
  async (later) => {
    const governor = await s.writ.governor({ tenant: 'acme' });
    const began = new Date();
    const alert = { ...over, id: 'alert-1', instance: 'web-1', observedAt: began };
    expect(await governor.signal(alert)).toMatchObject({ status: 'accepted', arrival_seq: 1 });
    await s.db.clock.advance(later as never);
    const both = await Promise.all([
      governor.signal(alert),
      governor.signal({ ...alert, id: 'alert-2', instance: 'web-2' }),
    ]);
    expect(both).toMatchObject([
      { arrival_seq: 1, duplicate: true },
      { status: 'accepted', arrival_seq: 2 },
    ]);
  },
);

test('an alert is known for 40 days though the clock of its sender is a minute ahead', async () => {
  const governor = await s.writ.governor({ tenant: 'acme' });
  const alert = { ...over, id: 'alert-1', observedAt: new Date(Date.now() + 60_000) };
  expect(await governor.signal(alert)).toMatchObject({ status: 'accepted', arrival_seq: 1 });
  await s.db.clock.advance('40d');
  expect(await governor.signal(alert)).toMatchObject({ arrival_seq: 1, duplicate: true });
});

test('an id that is used again in the same month is known however late', async () => {
  const [{ at }] = (await s.sql(
    `select extract(epoch from (date_trunc('month', clock_timestamp() at time zone 'UTC') + interval '1 month') at time zone 'UTC'
       - clock_timestamp()) * 1000 as at`,
  )) as [{ at: unknown }];
  const toNextMonth = Number(at);
  const governor = await s.writ.governor({ tenant: 'acme' });
  const observed = (ms: number) => ({ observedAt: new Date(Date.now() + ms) });
  await s.db.clock.advance(toNextMonth + day);
  const one = { ...over, id: randomUUID() };
  await governor.signal({ ...one, ...observed(toNextMonth + day) });
  await s.db.clock.advance(10 * day);
  expect(await governor.signal({ ...one, ...observed(toNextMonth + 11 * day) })).toMatchObject({
    arrival_seq: 1,
    duplicate: true,
  });
});

test('of signals that come together one that cannot be stored fails, and no other', async () => {
  await s.work();
  const governor = await s.stable(scaling());
  await s.sql(`create function writ_data.refuse_one() returns trigger language plpgsql as
    $$ begin if new.signal_id = 'bad' then raise 'not this one'; end if; return new; end $$`);
  await s.sql(
    'create trigger refuse_one before insert on writ_data.governor_mail for each row execute function writ_data.refuse_one()',
  );
  const sent = await Promise.allSettled(
    ['good-1', 'bad', 'good-2', 'good-3'].map((id) => governor.signal({ ...over, value: 0, id })),
  );
  expect(sent.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(
    sent.flatMap((one) => (one.status === 'fulfilled' ? [one.value.arrival_seq] : [])).sort(),
  ).toEqual([1, 2, 3]);
});

test('an instance has 1 to 100 printable characters', async () => {
  const governor = await s.writ.governor({ tenant: 'acme' });
  for (const instance of ['', ' ', 'a\nb', 'x'.repeat(101)])
    await expect(governor.signal({ ...over, instance })).rejects.toMatchObject({
      code: 'invalid_signal',
    });
  const content = {
    kind: 'signal',
    source: 'custom',
    severity: 'LOW',
    type: 'cpu',
    observed_at: 0,
  };
  const put = async (instance: unknown, id: string) => {
    const items = [{ t: 'acme', s: 'default', id, c: { ...content, signal_id: id, instance } }];
    const [{ answer }] = (await s.sql('select writ.fn_signals_take($1::text::json, $2) as answer', [
      JSON.stringify(items),
      'test',
    ])) as [{ answer: object[] }];
    return answer[0];
  };
  expect(await put('x'.repeat(101), 'long')).toMatchObject({ reason: 'invalid_signal' });
  expect(await put(7, 'number')).toMatchObject({ reason: 'invalid_signal' });
  expect(await put('x'.repeat(100), 'fits')).toMatchObject({ n: 1 });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { type Answer, type Row, rolledBackGates } from '../gates/harness.js';

const gates = rolledBackGates();
const put = (executor_id: string, change: Row = {}): Promise<Answer> =>
  gates.call('fn_job_subscription_put', {
    executor_id,
    job_kind: null,
    event_domain: null,
    priority_floor: null,
    actor: 'test',
    ...change,
  });
const remove = (executor_id: string, change: Row = {}): Promise<Answer> =>
  gates.call('fn_job_subscription_remove', {
    executor_id,
    job_kind: null,
    event_domain: null,
    actor: 'test',
    ...change,
  });
const listed = () =>
  gates.db.query(
    'select executor_id, job_kind, event_domain, priority_floor from writ.job_subscription order by 1, 2, 3',
  );

beforeEach(async () => {
  await gates.register('chore');
  await gates.register('paint', { event_domain: 'iu' });
  await gates.register('draw', { event_domain: 'iu' });
});

test('a subscription is said once: again it changes its floor, and the same again changes nothing', async () => {
  await put('w1', { job_kind: 'chore' });
  await put('w1', { job_kind: 'chore', priority_floor: 5 });
  await put('w1');
  await gates.unchanged(() => put('w1', { job_kind: 'chore', priority_floor: 5 }));
  expect(await listed()).toEqual([
    { executor_id: 'w1', job_kind: 'chore', event_domain: null, priority_floor: 5 },
    { executor_id: 'w1', job_kind: null, event_domain: null, priority_floor: -32768 },
  ]);
  const record = await gates.db.query(
    `select count(*)::int as n from writ.command_run where command = 'fn_job_subscription_put'`,
  );
  expect(record).toEqual([{ n: 3 }]);
});

test('one that is removed is gone; the answer says whether the worker is still limited', async () => {
  await put('w1', { job_kind: 'chore' });
  await put('w1', { event_domain: 'iu' });
  expect(await remove('w1', { job_kind: 'chore' })).toEqual({ removed: true, limited: true });
  expect(await remove('w1', { event_domain: 'iu' })).toEqual({ removed: true, limited: false });
  const nothing = { executor_id: 'w1', job_kind: null, event_domain: null };
  await gates.refuses('subscription_not_found', 'fn_job_subscription_remove', {
    ...nothing,
    actor: 'test',
  });
  await gates.refuses('actor_required', 'fn_job_subscription_remove', { ...nothing, actor: null });
});

test.each([
  ['actor_required', { actor: ' ' }],
  ['invalid_subscription', { executor_id: '' }],
  ['invalid_subscription', { executor_id: null }],
  ['invalid_subscription', { event_domain: 'nowhere' }],
  ['invalid_subscription', { priority_floor: 40_000 }],
  ['unknown_job_kind', { job_kind: 'nothing' }],
  ['generator_forbidden', { executor_id: 'MOT:nightly' }],
])('%s: %j', async (reason, change) => {
  const plain = {
    executor_id: 'w1',
    job_kind: null,
    event_domain: null,
    priority_floor: null,
    actor: 'test',
  };
  await gates.refuses(reason, 'fn_job_subscription_put', { ...plain, ...change });
});

describe('a claim', () => {
  const kinds = ['chore', 'paint', 'draw'];
  /** One job of each kind at each priority, named by both. */
  const fill = async () => {
    for (const kind of kinds)
      for (const priority of [0, 5])
        await gates.enqueue({ kind, priority, key: `${kind} ${priority}` });
  };
  const claimed = async (lease_holder: string, rest: Row = {}): Promise<string[]> => {
    const { ids } = await gates.claim({ kinds, lease_holder, limit: 100, ...rest });
    const rows = await gates.db.query(
      'select idempotency_key from writ.job_queue where job_id = any ($1) order by 1',
      [ids],
    );
    return rows.map((row) => String(row.idempotency_key));
  };

  test('of a worker without subscriptions is not limited by those of others', async () => {
    await fill();
    await put('other', { job_kind: 'chore' });
    expect(await claimed('w1')).toHaveLength(6);
  });

  test.each<[string, Row[], string[]]>([
    ['its kind', [{ job_kind: 'chore' }], ['chore 0', 'chore 5']],
    ['its domain', [{ event_domain: 'iu' }], ['draw 0', 'draw 5', 'paint 0', 'paint 5']],
    ['its kind only if in its domain', [{ job_kind: 'chore', event_domain: 'iu' }], []],
    ['its priorities', [{ priority_floor: 5 }], ['chore 5', 'draw 5', 'paint 5']],
    [
      'whatever any of them allows',
      [{ job_kind: 'chore', priority_floor: 5 }, { job_kind: 'draw' }],
      ['chore 5', 'draw 0', 'draw 5'],
    ],
    [
      'from the lowest floor',
      [{ priority_floor: 5 }, { job_kind: 'chore', priority_floor: 0 }],
      ['chore 0', 'chore 5', 'draw 5', 'paint 5'],
    ],
  ])('gets jobs of %s', async (_, subscriptions, expected) => {
    await fill();
    for (const subscription of subscriptions) await put('w1', subscription);
    expect(await claimed('w1')).toEqual(expected);
  });

  test('of one kind is limited as well', async () => {
    await fill();
    await put('w1', { job_kind: 'chore', priority_floor: 5 });
    expect(await claimed('w1', { kinds: ['chore'] })).toEqual(['chore 5']);
    expect(await claimed('w1', { kinds: ['paint'] })).toEqual([]);
  });

  test('is limited by the name of its lease too', async () => {
    await fill();
    await put('night-shift', { job_kind: 'paint' });
    expect(await claimed('w1', { lease_name: 'night-shift' })).toEqual(['paint 0', 'paint 5']);
    expect(await claimed('w2')).toHaveLength(4);
  });

  test('leaves what it may not have to others', async () => {
    await fill();
    await put('w1', { job_kind: 'chore', priority_floor: 5 });
    await claimed('w1');
    expect(await claimed('w2')).toEqual(['chore 0', 'draw 0', 'draw 5', 'paint 0', 'paint 5']);
  });
});

/**
 * The gates of schedules as SQL sees them: what they refuse, what they leave behind, and what the
 * record says.
 */
import { describe, expect, test } from 'vitest';
import { type Row, rolledBackGates } from '../queue/gates/harness.js';

const gates = rolledBackGates();
const past = '2026-01-05T09:00:00+00:00';
const later = '2026-01-05T10:00:00+00:00';
const definition = {
  cron: '0 9 * * *',
  time_zone: 'Europe/Berlin',
  catch_up: 'last',
  kind: 'chore',
  job: { input: { n: 1 }, priority: 5 },
};

const put = (change: Row = {}, parameters: Row = {}) => ({
  schedule: 'nightly',
  definition: JSON.stringify({ ...definition, ...change }),
  next_tick: past,
  actor: 'ada',
  ...parameters,
});
const firing = (change: Row = {}) => ({
  tenant: 'default',
  schedule: 'nightly',
  version: 1,
  next_tick: past,
  ticks: [past],
  move_to: later,
  ...change,
});
const fire = (...firings: unknown[]) =>
  gates.call('fn_schedule_fire', { due: JSON.stringify(firings), actor: 'w1' });

async function defined(change: Row = {}, parameters: Row = {}): Promise<void> {
  await gates.register();
  expect(await gates.call('fn_schedule_put', put(change, parameters))).toMatchObject({
    changed: true,
  });
}
const schedules = () => gates.db.query('select * from writ.schedule order by tenant_id, schedule');
const ticks = () =>
  gates.db.query('select schedule, tick, job_id from writ.schedule_tick order by tick, schedule');
const jobs = () =>
  gates.db.query(
    'select job_id, job_kind, tenant_id, idempotency_key, priority, safe_payload, enqueued_by from writ.job_queue order by job_id',
  );

describe('putting', () => {
  test('defines a schedule, and enqueues nothing', async () => {
    await defined();
    expect(await schedules()).toMatchObject([
      {
        tenant_id: 'default',
        schedule: 'nightly',
        cron: '0 9 * * *',
        time_zone: 'Europe/Berlin',
        catch_up: 'last',
        job_kind: 'chore',
        version: 1,
        created_by: 'ada',
        paused_at: null,
        last_tick: null,
      },
    ]);
    expect(await jobs()).toEqual([]);
  });

  test('does not show the input to everybody who reads', async () => {
    await defined();
    expect((await schedules())[0]?.job_options).toEqual({ priority: 5 });
  });

  test('what is there already changes nothing', async () => {
    await defined();
    const answer = await gates.unchanged(() =>
      gates.call('fn_schedule_put', put({}, { next_tick: later, actor: 'bob' })),
    );
    expect(answer).toMatchObject({ changed: false, next_tick: past });
  });

  test('another job keeps the tick that is waited for, another cron or zone begins at the given one', async () => {
    await defined();
    expect(
      await gates.call('fn_schedule_put', put({ job: {} }, { next_tick: later })),
    ).toMatchObject({ changed: true, next_tick: past });
    expect(
      await gates.call('fn_schedule_put', put({ job: {}, time_zone: 'UTC' }, { next_tick: later })),
    ).toMatchObject({
      next_tick: later,
    });
    expect(
      await gates.call(
        'fn_schedule_put',
        put({ cron: '@daily', time_zone: 'UTC' }, { next_tick: past }),
      ),
    ).toMatchObject({
      next_tick: past,
    });
    expect((await schedules())[0]).toMatchObject({ version: 4, cron: '@daily' });
  });

  test('a paused schedule stays paused', async () => {
    await defined();
    await gates.call('fn_schedule_pause', { schedule: 'nightly', actor: 'ada' });
    await gates.call('fn_schedule_put', put({ cron: '@daily' }));
    expect((await schedules())[0]).toMatchObject({ paused_by: 'ada', cron: '@daily' });
  });

  test.each([
    ['actor_required', {}, { actor: ' ' }],
    ['invalid_schedule', {}, { schedule: 'not a name' }],
    ['invalid_schedule', {}, { schedule: null }],
    ['invalid_schedule', { job: [1] }, {}],
    ['invalid_schedule', {}, { definition: '[]' }],
    ['invalid_tenant', {}, { tenant_id: '' }],
    ['invalid_cron', { cron: null }, {}],
    ['invalid_cron', { cron: '* * * *' }, {}],
    ['invalid_cron', { cron: '* * * * * *' }, {}],
    ['invalid_time_zone', { time_zone: '+01:00' }, {}],
    ['invalid_catch_up', { catch_up: 'some' }, {}],
    ['invalid_ticks', {}, { next_tick: '2026-01-05T09:00:01Z' }],
    ['invalid_ticks', {}, { next_tick: 'infinity' }],
    ['invalid_ticks', {}, { next_tick: null }],
    ['unknown_job_kind', { kind: 'unheard' }, {}],
    ['unknown_job_kind', { kind: null }, {}],
    ['forbidden_payload_key', { job: { safe_payload: { password: 'x' } } }, {}],
    ['invalid_safe_payload', { job: { safe_payload: 'label' } }, {}],
    ['invalid_max_attempts', { job: { max_attempts: 0 } }, {}],
    ['invalid_job', { job: { priority: 'high' } }, {}],
  ])(
    '%s is refused when it is defined, and nothing changes: %j %j',
    async (reason, change, parameters) => {
      await gates.register();
      await gates.refuses(reason, 'fn_schedule_put', put(change, parameters));
    },
  );

  test('an input that is too large is refused when it is defined', async () => {
    await gates.register();
    await gates.set('queue.payload.max_bytes', 10);
    await gates.refuses(
      'payload_too_large',
      'fn_schedule_put',
      put({ job: { input: 'x'.repeat(20) } }),
    );
  });

  test('for another tenant than the one that is set is refused', async () => {
    await gates.register();
    await gates.db.query(`select set_config('writ.tenant', 'acme', true)`);
    await gates.refuses('tenant_forbidden', 'fn_schedule_put', put());
  });
});

describe('firing', () => {
  test('writes the tick, enqueues its job and moves the schedule, all on the record', async () => {
    await defined({ job: { input: { n: 1 }, priority: 5, safe_payload: { team: 'billing' } } });
    expect(await fire(firing())).toEqual({ fired: 1, moved: 1, refused: [] });
    const [job] = await jobs();
    expect(job).toMatchObject({
      job_kind: 'chore',
      priority: 5,
      idempotency_key: 'schedule:nightly:2026-01-05T09:00:00Z',
      safe_payload: { team: 'billing', schedule: 'nightly', tick: '2026-01-05T09:00:00Z' },
      enqueued_by: 'w1',
    });
    expect(await ticks()).toEqual([
      { schedule: 'nightly', tick: new Date(past), job_id: job?.job_id },
    ]);
    expect((await schedules())[0]).toMatchObject({
      next_tick: new Date(later),
      last_tick: new Date(past),
      last_job_id: job?.job_id,
      version: 1,
    });
    expect(
      await gates.db.query(
        `select actor, jobs, note from writ.command_run where command = 'fn_schedule_fire'`,
      ),
    ).toEqual([{ actor: 'w1', jobs: 1, note: 'default/nightly' }]);
  });

  test('the same call again changes nothing', async () => {
    await defined();
    await fire(firing());
    expect(await gates.unchanged(() => fire(firing()))).toEqual({
      fired: 0,
      moved: 0,
      refused: [],
    });
  });

  test('a tick that has a row does not fire again, even for a schedule that was set back', async () => {
    await defined();
    await fire(firing());
    await gates.db.query('update writ_data.schedule set next_tick = $1', [past]);
    expect(await fire(firing())).toEqual({ fired: 0, moved: 1, refused: [] });
    expect(await jobs()).toHaveLength(1);
  });

  test('a schedule that was removed and defined again does not fire the same tick twice: the key of its job stands', async () => {
    await defined();
    await fire(firing());
    const [first] = await jobs();
    await gates.call('fn_schedule_remove', { schedule: 'nightly', actor: 'ada' });
    expect(await ticks()).toEqual([]);
    await defined();
    await fire(firing());
    expect(await jobs()).toHaveLength(1);
    expect(await ticks()).toEqual([
      { schedule: 'nightly', tick: new Date(past), job_id: first?.job_id },
    ]);
  });

  test('no tick: the schedule moves, and that is on the record', async () => {
    await defined();
    expect(await fire(firing({ ticks: [] }))).toEqual({ fired: 0, moved: 1, refused: [] });
    expect([await jobs(), await ticks()]).toEqual([[], []]);
    expect(
      await gates.db.query(`select jobs from writ.command_run where command = 'fn_schedule_fire'`),
    ).toEqual([{ jobs: 0 }]);
  });

  test('many schedules and ticks are one call, and their jobs are queued in the order of their ticks', async () => {
    await defined();
    await defined({}, { schedule: 'other', tenant_id: 'acme' });
    const between = '2026-01-05T09:30:00+00:00';
    const answer = await fire(
      firing({ ticks: [past, between] }),
      firing({ tenant: 'acme', schedule: 'other', ticks: [past] }),
    );
    expect(answer).toEqual({ fired: 3, moved: 2, refused: [] });
    expect((await ticks()).map(({ schedule, tick }) => [schedule, tick])).toEqual([
      ['nightly', new Date(past)],
      ['other', new Date(past)],
      ['nightly', new Date(between)],
    ]);
  });

  test.each([
    ['an older definition', { version: 0 }],
    ['another tick than the one waited for', { next_tick: '2026-01-04T09:00:00Z' }],
    ['a schedule that is gone', { schedule: 'gone' }],
    ['a schedule of another tenant', { tenant: 'acme' }],
  ])('%s is left alone', async (_, change) => {
    await defined();
    expect(await gates.unchanged(() => fire(firing(change)))).toEqual({
      fired: 0,
      moved: 0,
      refused: [],
    });
  });

  test('a paused schedule is left alone', async () => {
    await defined();
    await gates.call('fn_schedule_pause', { schedule: 'nightly', actor: 'ada' });
    expect(await gates.unchanged(() => fire(firing()))).toEqual({
      fired: 0,
      moved: 0,
      refused: [],
    });
  });

  test('a job that the queue refuses leaves its schedule due, and the others fire', async () => {
    await defined();
    await defined({ job: { input: 'x'.repeat(100) } }, { schedule: 'large' });
    await gates.set('queue.payload.max_bytes', 50);
    expect(await fire(firing({ schedule: 'large' }), firing())).toEqual({
      fired: 1,
      moved: 1,
      refused: [
        {
          tenant: 'default',
          schedule: 'large',
          reason: 'payload_too_large',
          detail: expect.any(String),
        },
      ],
    });
    expect((await schedules()).map(({ schedule, next_tick }) => [schedule, next_tick])).toEqual([
      ['large', new Date(past)],
      ['nightly', new Date(later)],
    ]);
  });

  test('while the queue is off nothing fires and nothing moves', async () => {
    await defined();
    await gates.set('queue.job_substrate.enabled', false);
    await gates.refuses('job_substrate_disabled', 'fn_schedule_fire', {
      due: JSON.stringify([firing()]),
      actor: 'w1',
    });
  });

  test.each([
    [
      'a tick after now',
      [firing({ ticks: ['2999-01-01T00:00:00Z'], move_to: '2999-01-02T00:00:00Z' })],
    ],
    ['a tick before the one waited for', [firing({ ticks: ['2026-01-04T09:00:00Z'] })]],
    ['a tick that is not before the next', [firing({ ticks: [later] })]],
    ['a tick within a minute', [firing({ ticks: ['2026-01-05T09:00:30Z'] })]],
    ['no next tick', [firing({ move_to: undefined })]],
    ['a next tick that is not later', [firing({ move_to: past })]],
    ['a next tick that never comes', [firing({ move_to: 'infinity' })]],
    ['what is no time', [firing({ ticks: ['soon'] })]],
    ['what is no object', [1]],
  ])('%s is refused, and nothing changes', async (_, due) => {
    await defined();
    await gates.refusesEach('invalid_ticks', 'fn_schedule_fire', {
      due: JSON.stringify(due),
      actor: 'w1',
    });
  });

  test('what is no array is refused as a whole', async () => {
    await gates.refuses('invalid_ticks', 'fn_schedule_fire', { due: '{}', actor: 'w1' });
  });

  test('without an actor is refused', async () => {
    await gates.refuses('actor_required', 'fn_schedule_fire', { due: '[]', actor: '' });
  });

  test('ticks past retention go, the newest stays', async () => {
    await defined();
    await fire(firing());
    await gates.db.clock.advance('40d');
    const move_to = '2026-01-05T11:00:00+00:00';
    await fire(firing({ next_tick: later, ticks: [later], move_to }));
    expect((await ticks()).map(({ tick }) => tick)).toEqual([new Date(later)]);
    await gates.set('queue.retention.finished_sec', 0);
    await fire(firing({ next_tick: move_to, ticks: [], move_to: '2026-01-05T12:00:00Z' }));
    expect((await ticks()).map(({ tick }) => tick)).toEqual([new Date(later)]);
  });

  test('a tick cannot be rewritten', async () => {
    await defined();
    await fire(firing());
    await gates.raises('WR002', /illegal_transition/, () =>
      gates.db.query('update writ_data.schedule_tick set job_id = gen_random_uuid()'),
    );
  });
});

describe('what is due', () => {
  test('is shown the longest due first, page by page, with when the next one is', async () => {
    for (const [name, next_tick] of [
      ['b', past],
      ['a', later],
      ['c', past],
      ['d', '2099-01-01T00:00:00Z'],
    ] as const)
      await defined({}, { schedule: name, next_tick });
    const first = await gates.call('fn_schedule_due', { limit: 2 });
    expect(first.due.map((each: Row) => each.schedule)).toEqual(['b', 'c']);
    expect(new Date(first.next_due)).toEqual(new Date('2099-01-01T00:00:00Z'));
    const last = first.due[1];
    const second = await gates.call('fn_schedule_due', {
      limit: 2,
      after_tick: last.next_tick,
      after_tenant: last.tenant,
      after_schedule: last.schedule,
    });
    expect(second.due).toEqual([
      {
        tenant: 'default',
        schedule: 'a',
        cron: '0 9 * * *',
        time_zone: 'Europe/Berlin',
        catch_up: 'last',
        version: 1,
        next_tick: later,
      },
    ]);
  });

  test('is found by an index, however many schedules wait', async () => {
    await defined();
    await gates.db.query(
      `insert into writ_data.schedule select tenant_id, 's' || n, cron, time_zone, catch_up, job_kind, job, 1, '2999-01-01', null, null, created_at, created_by, updated_at, updated_by
       from writ_data.schedule, generate_series(1, 20000) n`,
    );
    await gates.db.query('analyze writ_data.schedule');
    const touched = async () => {
      const [row] = await gates.db.query(
        `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as n from pg_stat_xact_user_tables where relname = 'schedule'`,
      );
      return Number(row?.n);
    };
    const before = await touched();
    expect((await gates.call('fn_schedule_due', { limit: 200 })).due).toHaveLength(1);
    expect((await touched()) - before).toBeLessThan(10);
  });
});

describe('operating', () => {
  test('pause and resume say whether they changed something, and are on the record', async () => {
    await defined();
    const call = (verb: string) =>
      gates.call(`fn_schedule_${verb}`, { schedule: 'nightly', actor: 'bob' });
    expect(await call('pause')).toEqual({ schedule: 'nightly', changed: true });
    expect(await gates.unchanged(() => call('pause'))).toEqual({
      schedule: 'nightly',
      changed: false,
    });
    expect((await schedules())[0]).toMatchObject({ paused_by: 'bob', next_tick: new Date(past) });
    expect((await gates.call('fn_schedule_due', { limit: 9 })).due).toEqual([]);
    expect(await call('resume')).toEqual({ schedule: 'nightly', changed: true });
    expect(await gates.unchanged(() => call('resume'))).toEqual({
      schedule: 'nightly',
      changed: false,
    });
    expect((await gates.call('fn_schedule_due', { limit: 9 })).due).toHaveLength(1);
    expect(
      await gates.db.query(
        `select command from writ.command_run where actor = 'bob' and note = 'nightly' order by run_id`,
      ),
    ).toEqual([{ command: 'fn_schedule_pause' }, { command: 'fn_schedule_resume' }]);
  });

  test('run now enqueues a job each time, paused or not, and leaves the ticks as they are', async () => {
    await defined();
    await gates.call('fn_schedule_pause', { schedule: 'nightly', actor: 'ada' });
    const before = await schedules();
    const ids = [];
    for (const actor of ['ada', 'bob'])
      ids.push((await gates.call('fn_schedule_run_now', { schedule: 'nightly', actor })).job_id);
    expect((await jobs()).map((job) => [job.job_id, job.enqueued_by, job.safe_payload])).toEqual([
      [ids[0], 'ada', { schedule: 'nightly' }],
      [ids[1], 'bob', { schedule: 'nightly' }],
    ]);
    expect([await ticks(), await schedules()]).toEqual([[], before]);
  });

  test('run now is refused with the reason of the queue', async () => {
    await defined();
    await gates.set('queue.job_substrate.enabled', false);
    await gates.refuses('job_substrate_disabled', 'fn_schedule_run_now', {
      schedule: 'nightly',
      actor: 'ada',
    });
    await gates.set('queue.job_substrate.enabled', true);
    await gates.set('queue.payload.max_bytes', 1);
    await gates.refuses('payload_too_large', 'fn_schedule_run_now', {
      schedule: 'nightly',
      actor: 'ada',
    });
  });

  test('remove ends the schedule and keeps its jobs', async () => {
    await defined();
    await fire(firing());
    expect(await gates.call('fn_schedule_remove', { schedule: 'nightly', actor: 'ada' })).toEqual({
      schedule: 'nightly',
      removed: true,
    });
    expect([await schedules(), await ticks()]).toEqual([[], []]);
    expect(await jobs()).toHaveLength(1);
  });

  test.each(['pause', 'resume', 'run_now', 'remove'])(
    '%s refuses a schedule that is not there, of another tenant, or without an actor',
    async (verb) => {
      await defined();
      const gate = `fn_schedule_${verb}`;
      await gates.refuses('schedule_not_found', gate, { schedule: 'gone', actor: 'ada' });
      await gates.refuses('schedule_not_found', gate, {
        schedule: 'nightly',
        actor: 'ada',
        tenant_id: 'acme',
      });
      await gates.refuses('actor_required', gate, { schedule: 'nightly', actor: ' ' });
      await gates.db.query(`select set_config('writ.tenant', 'acme', true)`);
      await gates.refuses('schedule_not_found', gate, { schedule: 'nightly', actor: 'ada' });
    },
  );
});

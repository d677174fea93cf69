/** `writ events` and `writ runs admission`, as a person would use them. */
import { expect, test } from 'vitest';
import { eventually, json, writ as run, start } from '../run.js';
import { saga } from '../runs/scene.js';
import { eventsOfRun, scene } from './scene.js';

const nobody = '01999999-0000-7000-8000-000000000000';

interface Line {
  readonly event?: { readonly id: string; readonly type: string; readonly sequence?: string };
  readonly position: string;
}
const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('tail follows what happens, a line each, and ends with the position from which nothing is missed', async () => {
  const { db, env, completed } = await scene();
  await completed();
  // An open transaction in any database of the server keeps what came after it from being read.
  const readable = () =>
    eventually(
      async () =>
        (
          await db.query(
            'select from writ_data.event_batch where xid >= pg_snapshot_xmin(pg_current_snapshot()) limit 1',
          )
        ).length === 0,
    );
  await readable();
  const following = start(
    ['events', 'tail', '--type', 'dot.run.*', '--listen-url', db.directConnectionString],
    { env },
  );
  // It is connected when it listens; what happened before is not shown.
  await eventually(
    async () =>
      (
        await db.query(
          `select from pg_stat_activity where application_name = 'writ events' and datname = current_database()`,
        )
      ).length === 1,
  );
  const first = await completed();
  await following.saying(
    new RegExp(
      `^\\d{4}-\\d\\d-\\d\\d [\\d:.]{12}  dot\\.run\\.RunStarted  run ${first}  saga 1\\.0\\.0\n`,
    ),
  );
  await following.saying(new RegExp(`  dot\\.run\\.StepCompleted  run ${first} ship\n`));
  await following.saying(/dot\.run\.RunCompleted/);
  following.kill('SIGINT');
  const { code, stdout, stderr } = await following.ended;
  const [, position = ''] = /^8 events\. Go on with --after (\S+)\n$/.exec(stderr) ?? [];
  expect([code, stdout.split('\n').length - 1]).toEqual([0, eventsOfRun]);

  const second = await completed();
  await readable();
  const rest = await run(
    ['events', 'tail', '--type', 'dot.run.*', '--after', position, '--until-now'],
    { env },
  );
  expect(rest.stdout.match(/run (\S+)/g)).toEqual(Array(eventsOfRun).fill(`run ${second}`));
  const all = linesOf(
    (await run(['events', 'tail', '--after', 'beginning', '--until-now', '--json'], { env }))
      .stdout,
  );
  expect(all.filter(({ event }) => event?.type === 'dot.run.RunCompleted')).toHaveLength(3);
  expect(all.at(-1)).toEqual({ position: all.at(-2)?.position });
  const acme = await run(
    ['events', 'tail', '--after', 'beginning', '--until-now', '--tenant', 'acme'],
    { env },
  );
  expect([acme.stdout, acme.stderr]).toEqual(['', '0 events. Go on with --after beginning\n']);
});

test('a position that is none, and an end without a beginning, are wrong usage', async () => {
  const { env } = await scene();
  const wrong = await run(['events', 'tail', '--after', 'yesterday'], { env });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('`beginning`')]);
  expect(await run(['events', 'tail', '--until-now'], { env })).toMatchObject({ code: 2 });
  expect(await run(['events', 'redeliver', 'shop'], { env })).toMatchObject({ code: 2 });
  expect(
    await run(['events', 'redeliver', 'shop', '--all-dead', '--since', '2h'], { env }),
  ).toMatchObject({ code: 2 });
  expect(await run(['events', 'redeliver', 'shop', '--since', 'noon'], { env })).toMatchObject({
    code: 2,
  });
  expect(await run(['events', 'dead-letters', 'shop'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no such destination'),
  });
});

test('what a receiver refuses is a dead letter, which is told again when somebody has looked; the rest of its run goes on', async () => {
  const { db, receiver, env, completed, relay } = await scene();
  await json(
    ['webhooks', 'add', 'shop', receiver.url, '--secret', 'shop', '--type', 'dot.run.Run*'],
    { env },
  );
  await receiver.answer({ mode: 'status', status: 400, times: 1 });
  const relaying = await relay();
  await completed();
  await relaying.saying(
    /✗ shop: 1 dead letter: the endpoint answered 400\. `writ events dead-letters shop` shows them\./,
  );
  await eventually(async () => receiver.deliveries().length === 2);

  const [letter] = await json<{ eventId: string }[]>(['events', 'dead-letters', 'shop'], { env });
  const shown = await run(['events', 'dead-letters', 'shop'], { env });
  expect(shown.stdout).toMatch(
    new RegExp(`\n${letter?.eventId} .* 400 +the endpoint answered 400\n$`),
  );
  expect(shown.stderr).toContain('writ events redeliver shop --all-dead');
  expect((await run(['webhooks', 'list'], { env })).stdout).toMatch(/\nshop +active .* 0 +1 +http/);
  const doctor = await run(['doctor'], {
    env: { ...env, DATABASE_URL: db.directConnectionString },
  });
  expect(doctor.stdout).toMatch(
    /! destinations +shop has 1 dead letter[\s\S]*writ events\s+redeliver shop --all-dead/,
  );

  const asked = await run(['events', 'redeliver', 'shop', '--all-dead'], { env });
  expect([asked.code, asked.stdout, asked.stderr]).toEqual([
    1,
    expect.stringContaining(String(letter?.eventId)),
    expect.stringMatching(/again of this dead letter\?.*nothing was done[\s\S]*Add --yes/),
  ]);
  const other = await run(['events', 'redeliver', 'shop', '--event', nobody, '--yes'], { env });
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringContaining(`shop has no dead letter ${nobody}`),
  ]);
  expect(receiver.deliveries()).toHaveLength(2);
  expect(
    await json(['events', 'redeliver', 'shop', '--event', String(letter?.eventId), '--yes'], {
      env,
    }),
  ).toEqual({
    name: 'shop',
    redelivered: 1,
  });
  await eventually(async () => receiver.deliveries().length === 3);
  expect(receiver.deliveries()[2]).toMatchObject({ id: letter?.eventId, status: 204 });
  await eventually(async () => (await db.query('select from writ.undelivered')).length === 0);
  expect(await db.query('select from writ.alert where cleared_at is null')).toEqual([]);
  expect((await run(['events', 'redeliver', 'shop', '--all-dead'], { env })).stdout).toBe(
    'shop has no dead letter.\n',
  );
});

test('everything since a time is told again with the ids that it had, also while a relay has the turn', async () => {
  const { db, receiver, env, completed, relay } = await scene();
  await json(['webhooks', 'add', 'shop', receiver.url, '--secret', 'shop', '--type', 'dot.run.*'], {
    env,
  });
  const relaying = await relay();
  await completed();
  await eventually(async () => receiver.deliveries().length === eventsOfRun);
  const asked = await run(['events', 'redeliver', 'shop', '--since', '1h'], { env });
  expect(asked.code).toBe(1);
  expect(asked.stdout).toMatch(
    /^ +1 {2}dot\.run\.RunCompleted\n +1 {2}dot\.run\.RunStarted\n +3 {2}dot\.run\.StepCompleted\n +3 {2}dot\.run\.StepStarted\n/,
  );
  expect(asked.stderr).toMatch(/Tell shop again of 8 events since .* UTC.*nothing was done/);
  // The relay is in the middle of telling when the position is put back: it must not put its own
  // over it.
  await receiver.answer({ mode: 'slow', ms: 5_000, status: 204, times: 1 });
  await completed();
  await eventually(async () => receiver.deliveries().length > eventsOfRun);
  expect(await db.query('select relay is not null as held from writ.destination')).toEqual([
    { held: true },
  ]);
  expect(
    (await run(['events', 'redeliver', 'shop', '--since', '1h', '--yes'], { env })).stdout,
  ).toMatch(/^shop is told again what has happened since/);
  const ids = () => receiver.deliveries().map(({ id }) => id);
  await eventually(async () => new Set(ids().slice(eventsOfRun + 1)).size === 2 * eventsOfRun);
  expect(ids().slice(eventsOfRun + 1)).toEqual(expect.arrayContaining(ids().slice(0, eventsOfRun)));
  relaying.kill('SIGTERM');
  expect((await relaying.ended).code).toBe(0);
});

test('admission is shown and set: what is too much is refused, or queued', async () => {
  const { writ, env } = await scene();
  expect((await run(['runs', 'admission'], { env })).stdout).toBe(
    'No rules: every run starts at once.\n',
  );
  const set = await run(['runs', 'admission', 'acme', '--policy', 'REJECT', '--max-running', '1'], {
    env,
  });
  expect([set.code, set.stdout]).toEqual([0, 'acme: no rule → 1 at once, more are refused\n']);
  await writ.start(saga, { id: 'o-1' }, { tenant: 'acme' });
  await expect(writ.start(saga, { id: 'o-2' }, { tenant: 'acme' })).rejects.toThrow(
    expect.objectContaining({ code: 'TENANT_OVERLOADED' }),
  );
  const queued = await run(
    ['runs', 'admission', 'acme', '--policy', 'QUEUE', '--max-running', '1', '--max-pending', '5'],
    { env },
  );
  expect(queued.stdout).toBe(
    'acme: 1 at once, more are refused → 1 at once, more are queued, 5 at most\n',
  );
  await writ.start(saga, { id: 'o-2' }, { tenant: 'acme' });
  await json(
    ['runs', 'admission', '*', '--policy', 'DELAY', '--max-running', '100', '--delay', '30s'],
    { env },
  );
  expect((await run(['runs', 'admission'], { env })).stdout).toBe(
    'TENANT  RUNNING  WAITING  RULE\n*             –        –  100 at once, more are started 30.0 s later, 10,000 at most\nacme          1        1  1 at once, more are queued, 5 at most\n',
  );
  expect(await json(['runs', 'admission', 'acme', '--none'], { env })).toMatchObject({
    was: { policy: 'QUEUE', pending: 1 },
    rule: null,
  });
  expect(await run(['runs', 'admission', 'acme', '--max-running', '3'], { env })).toMatchObject({
    code: 2,
  });
  expect(
    await run(['runs', 'admission', '--policy', 'QUEUE', '--max-running', '3'], { env }),
  ).toMatchObject({ code: 2 });
  expect(
    await run(
      ['runs', 'admission', 'acme', '--policy', 'QUEUE', '--max-running', '3', '--delay', '1s'],
      { env },
    ),
  ).toMatchObject({
    code: 2,
  });
});

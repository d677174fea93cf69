/** `writ runs`, as a person would use it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { defineJob, definePlan, type ListedRun, type RunEvent } from '../../../src/index.js';
import { json, writ as run, start } from '../run.js';
import { documentOf, parcels, type Scene, saga, scene, until } from './scene.js';

let now: Scene;
let env: Record<string, string>;
let folder: string;
beforeEach(async () => {
  now = await scene();
  env = { ...now.env };
  folder = mkdtempSync(join(tmpdir(), 'writ-runs-'));
});
afterEach(async () => {
  await now.db.drop();
  rmSync(folder, { recursive: true, force: true });
});

const nobody = '01999999-0000-7000-8000-000000000000';
const fileOf = (name: string, value: unknown) => {
  const path = join(folder, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};

/** The projector has come to the end of the run: it writes no more. */
const projected = (runId: string) =>
  until(
    async () =>
      (
        await now.db.query(
          `select from writ.run_snapshots where run_id = $1 and status in ('COMPLETED', 'FAILED')`,
          [runId],
        )
      ).length === 1,
  );

describe('start', () => {
  test('starts the version registered last, says the run’s id, and who is missing', async () => {
    await now.writ.runs.register(saga as never);
    const { code, stdout, stderr } = await run(
      ['runs', 'start', 'saga', '--input', '{"id": "o-1"}', '--tenant', 'acme'],
      { env },
    );
    const [, id] = /^Started run (\S+) of saga 1\.0\.0\.\n/.exec(stdout) ?? [];
    expect([code, stdout]).toEqual([0, expect.stringContaining(`writ runs watch ${id}`)]);
    expect(stderr).toContain('No worker serves charge, release, reserve, ship');
    expect((await now.writ.runs.list({ tenant: 'acme' })).items).toMatchObject([
      { runId: id, planId: 'saga', status: 'RUNNING' },
    ]);
    expect(await now.db.query('select started_by from writ.run')).toEqual([
      { started_by: expect.stringMatching(/^cli/) },
    ]);
  });

  test('the same request is the same run', async () => {
    await now.writ.runs.register(saga as never);
    const once = await json(['runs', 'start', 'saga', '--request', 'r-1'], { env });
    expect(once).toMatchObject({ duplicate: false, planId: 'saga', planVersion: '1.0.0' });
    expect(await json(['runs', 'start', 'saga', '--request', 'r-1'], { env })).toEqual({
      ...once,
      duplicate: true,
    });
  });

  test('a plan in a file is shown and registered, if its kinds are known', async () => {
    const file = fileOf('plan.json', { ...documentOf(parcels), planId: 'from-a-file' });
    const unknown = await run(['runs', 'start', '--plan', file], { env });
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('pack, release, reserve, ship, of plan from-a-file'),
    ]);
    await now.work();
    const { code, stdout, stderr } = await run(
      ['runs', 'start', '--plan', file, '--input', `@${fileOf('input.json', { parcels: [] })}`],
      {
        env,
      },
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/from-a-file 1\.0\.0, 4 steps, sha256 [0-9a-f]{64}\n/);
    expect(stdout).toMatch(
      /reserve +reserve, undone by release\n +approval +waits for approval\n +pack +pack for each of input\.parcels, 2 at a time\n/,
    );
    expect(await now.db.query(`select plan_id, plan_version from writ.plan`)).toEqual([
      { plan_id: 'from-a-file', plan_version: '1.0.0' },
    ]);
  });

  test('--wait follows the run, and its end is the exit code', async () => {
    await now.work();
    await now.writ.runs.register(saga as never);
    const good = await run(['runs', 'start', 'saga', '--input', '{"id": "o-1"}', '--wait'], {
      env,
    });
    expect([good.code, good.stdout]).toEqual([
      0,
      expect.stringMatching(/RunCompleted\nCOMPLETED after/),
    ]);
    const bad = await run(
      ['runs', 'start', 'saga', '--input', '{"id": "o-1", "fails": true}', '--wait'],
      { env },
    );
    expect([bad.code, bad.stdout]).toEqual([
      1,
      expect.stringMatching(/FAILED after.*card declined.*what was done has been undone/),
    ]);
  });

  test('what is wrong is said in words', async () => {
    await now.writ.runs.register(saga as never);
    const cases: [args: string[], code: number, words: string | RegExp][] = [
      [['saga', '--input', '{"id":'], 2, '--input is not JSON'],
      [['saga', '--input', `@${join(folder, 'gone.json')}`], 2, 'There is no file at'],
      [['nope'], 1, 'nope; there is saga'],
      [['saga', '--plan-version', '7'], 1, 'saga 7; there is 1.0.0'],
      [[], 2, 'Start takes the id of a plan, or --plan with a file.'],
      [
        [
          '--plan',
          fileOf('bad.json', {
            schemaVersion: 1,
            planId: 'x',
            planVersion: '1',
            steps: [{ id: 'a', type: 'dance' }],
          }),
        ],
        1,
        /step a/,
      ],
      [['--plan', fileOf('text.json', 'not json')], 2, 'is not JSON'],
    ];
    for (const [args, code, words] of cases) {
      const ended = await run(['runs', 'start', ...args], { env });
      expect([args, ended.code]).toEqual([args, code]);
      expect(ended.stderr).toMatch(words);
    }
  });
});

describe('list and show', () => {
  test('the newest first, by status, plan and tenant; a page at a time', async () => {
    await now.work();
    const { runId: failed } = await now.failed();
    const { runId: waiting } = await now.waiting();
    const ids = async (...args: string[]) =>
      (await json<ListedRun[]>(['runs', 'list', ...args], { env })).map(({ runId }) => runId);
    expect(await ids()).toEqual([waiting, failed]);
    expect(await ids('--status', 'FAILED')).toEqual([failed]);
    expect(await ids('--plan', 'parcels')).toEqual([waiting]);
    expect(await ids('--tenant', 'acme')).toEqual([]);
    expect(await ids('--limit', '1', '--before', waiting)).toEqual([failed]);
    const { stdout } = await run(['runs', 'list'], { env });
    expect(stdout).toMatch(new RegExp(`^${failed} +saga 1\\.0\\.0 +FAILED .* ago +\\d`, 'm'));
    expect((await run(['runs', 'list', '--status', 'LOST'], { env })).code).toBe(2);
  });

  test('nothing is said as such', async () => {
    expect((await run(['runs', 'list'], { env })).stdout).toBe('No runs yet.\n');
    expect(await json(['runs', 'list', '--status', 'FAILED'], { env })).toEqual([]);
  });

  test('show tells what was done, what failed, what was undone, and what it was started with', async () => {
    await now.work();
    const { runId } = await now.failed();
    const { stdout } = await run(['runs', 'show', runId], { env });
    expect(stdout).toMatch(/^✓ reserve .*↩ undone$/m);
    expect(stdout).toMatch(/^✗ charge .*handler_error: card declined/m);
    expect(stdout).toContain('input    {"id":"o-1","fails":true}');
    expect(stdout).not.toContain('\u001b[2J');
    expect(await json(['runs', 'show', runId], { env })).toMatchObject({
      snapshot: { status: 'FAILED', undone: true },
      input: { fails: true },
      alerts: [],
    });
  });

  test('show tells of tries that failed while a step goes on, and of alerts', async () => {
    const stubborn = defineJob<{ id: string }>('stubborn', {
      retry: { attempts: 5, base: '1h', cap: '1h' },
    });
    const trying = definePlan<{ id: string }>('trying', { version: '1' }, (p) => {
      p.step('try', stubborn);
    });
    await now.work([
      stubborn.handle(() => {
        throw new Error('no answer');
      }),
    ]);
    const { runId } = await now.writ.start(trying, { id: 'o-1' });
    await until(
      async () =>
        (await now.db.query(`select from writ.job_queue where status = 'retry_waiting'`)).length ===
        1,
    );
    await now.db.query(
      `insert into writ_data.alert (alert_id, code, severity, tenant_id, subject, detail, raised_at) values (gen_random_uuid(), 'COMPENSATION_FAILED', 'P1', 'default', 'run/' || $1, '{"steps": ["undo:reserve"]}', writ.now())`,
      [runId],
    );
    const { stdout } = await run(['runs', 'show', runId], { env });
    expect(stdout).toMatch(/^⠋ try .*try 1 of 5, the next in .*: no answer$/m);
    expect(stdout).toMatch(/^alert +P1 COMPENSATION_FAILED since .*undo:reserve/m);
  });

  test('a run that is not there, or another tenant’s, is not found', async () => {
    await now.work();
    const { runId } = await now.completed();
    for (const args of [
      ['show', nobody],
      ['show', runId, '--tenant', 'acme'],
      ['watch', nobody],
      ['events', nobody],
      ['verify', nobody],
      ['signal', nobody, 'PAUSE'],
    ]) {
      const { code, stderr } = await run(['runs', ...args], { env });
      expect([args[0], code, stderr]).toEqual([
        args[0],
        1,
        expect.stringContaining('There is no such run.'),
      ]);
    }
    expect((await run(['runs', 'show', 'o-1'], { env })).code).toBe(2);
  });

  test('a database without runs says that it is older', async () => {
    await now.db.query('drop view writ.run cascade');
    const { code, stderr } = await run(['runs', 'list'], { env });
    expect([code, stderr]).toEqual([3, expect.stringContaining('writ migrate')]);
  });
});

describe('watch and events', () => {
  test('without a terminal every event is a line, and the end the exit code', async () => {
    await now.work();
    const { runId } = await now.waiting();
    const watching = start(['runs', 'watch', runId], { env });
    await watching.saying(/StepStarted {2}approval {2}waits for approval until/);
    await now.writ.runs.deliver(runId, 'approval', { by: 'ada' });
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    const events = (await now.writ.runs.events(runId)).items;
    expect(stdout.trimEnd().split('\n')).toHaveLength(events.length + 1);
    expect(stdout).toMatch(/StepStarted {2}pack {2}3 items, 2 at a time/);
    expect(stdout).toMatch(/COMPLETED after .*\n$/);
  });

  test('Ctrl-C ends the watch and not the run, which has not completed', async () => {
    await now.work();
    const { runId } = await now.waiting();
    const watching = start(['runs', 'watch', runId, '--json'], { env });
    await watching.saying(/"approval"/);
    watching.kill('SIGINT');
    expect((await watching.ended).code).toBe(1);
    expect((await now.writ.runs.snapshot(runId)).status).toBe('RUNNING');
  });

  test('events begin where they are asked to, and are whole as JSON', async () => {
    await now.work();
    const { runId } = await now.failed();
    const events = await json<RunEvent[]>(['runs', 'events', runId, '--after', '3'], { env });
    expect(events.map(({ runSeq }) => runSeq)).toEqual([4, 5, 6, 7, 8]);
    expect(events[0]).toMatchObject({
      eventType: 'StepStarted',
      stepId: 'charge',
      eventId: expect.any(String),
      idempotencyKey: expect.any(String),
    });
    const { stdout, stderr } = await run(['runs', 'events', runId, '--limit', '2'], { env });
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).toContain('--after 2');
  });
});

describe('rebuild', () => {
  test('asks first, and with --yes has the snapshot made again from the log', async () => {
    await now.work();
    const { runId } = await now.completed();
    await projected(runId);
    const [before] = await now.db.query('select snapshot from writ.run_snapshots');
    // A snapshot that somebody has changed.
    await now.db.query(`update writ_data.run_snapshot set status = 'FAILED', snapshot = '{}'`);
    const snapshots = () => now.db.query('select status, snapshot from writ.run_snapshots');
    const asked = await run(['runs', 'rebuild', runId], { env });
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining(runId)]);
    expect(asked.stderr).toContain('Add --yes');
    expect(await snapshots()).toEqual([{ status: 'FAILED', snapshot: {} }]);

    const answer = await json(['runs', 'rebuild', runId, '--yes'], { env });
    expect(answer).toEqual({ runId, rebuilt: true });
    await projected(runId);
    expect(await snapshots()).toEqual([{ status: 'COMPLETED', snapshot: before?.snapshot }]);
  });

  test('touches no run of another tenant than --tenant names', async () => {
    const { runId } = await now.writ.start(saga, { id: 'o-1' });
    const elsewhere = ['runs', 'rebuild', runId, '--tenant', 'elsewhere', '--yes'];
    const { code, stderr } = await run(elsewhere, { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('no such run')]);
    expect(
      await now.db.query(`select from writ.command_run where command = 'fn_run_rebuild'`),
    ).toEqual([]);
  });
});

describe('signal and deliver', () => {
  test('a cancel is shown first and done with --yes', async () => {
    await now.work();
    const { runId } = await now.waiting();
    const shown = await run(['runs', 'signal', runId, 'CANCEL'], { env });
    expect([shown.code, shown.stdout, shown.stderr]).toEqual([
      1,
      expect.stringMatching(/will be undone, in this order: reserve\./),
      expect.stringMatching(/nothing was done\.[\s\S]*Add --yes/),
    ]);
    expect((await now.writ.runs.get(runId)).status).toBe('RUNNING');
    expect(
      await json(['runs', 'signal', runId, 'CANCEL', '--yes', '--reason', 'nobody wants it'], {
        env,
      }),
    ).toMatchObject({ duplicate: false });
    expect(await now.writ.runs.finished(runId, { timeoutMs: 15_000 })).toMatchObject({
      status: 'CANCELLED',
      reason: 'nobody wants it',
      undone: true,
    });
    for (const type of ['PAUSE', 'CANCEL']) {
      const late = await run(['runs', 'signal', runId, type], { env });
      expect([late.code, late.stdout, late.stderr]).toEqual([
        1,
        '',
        expect.stringContaining('has ended'),
      ]);
    }
  });

  test('pause and resume are done at once, and the same signal again changes nothing', async () => {
    await now.work();
    const { runId } = await now.waiting();
    const id = uuidv7();
    expect(
      (await run(['runs', 'signal', runId, 'pause', '--signal-id', id], { env })).stdout,
    ).toContain('PAUSE is accepted: the run is PAUSED.');
    expect(
      (await run(['runs', 'signal', runId, 'PAUSE', '--signal-id', id], { env })).stdout,
    ).toContain('accepted before: nothing changed');
    expect((await run(['runs', 'signal', runId, 'RESUME'], { env })).code).toBe(0);
    expect(
      (await now.writ.runs.events(runId)).items.filter(
        ({ eventType }) => eventType === 'RunPaused',
      ),
    ).toHaveLength(1);
  });

  test('a failed run is started again as a new one', async () => {
    await now.work();
    const { runId } = await now.failed();
    const { stdout } = await run(
      ['runs', 'signal', runId, 'RETRY_RUN', '--reason', 'the card works now'],
      { env },
    );
    const [, again] = /^Started again as (\S+)\./.exec(stdout) ?? [];
    expect(await json(['runs', 'show', String(again)], { env })).toMatchObject({
      run: { originalRunId: runId },
    });
  });

  test('what a signal lacks is wrong usage, and nothing is asked of the database', async () => {
    for (const args of [
      ['SKIP_STEP'],
      ['UPDATE_PARAMS', '--params', '[1]'],
      ['EMERGENCY_STOP'],
      ['DANCE'],
    ]) {
      expect(
        (
          await run(['runs', 'signal', nobody, ...args], {
            env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' },
          })
        ).code,
      ).toBe(2);
    }
  });

  test('a delivery ends a wait once, and one that nothing waits for yet is kept', async () => {
    const { runId } = await now.writ.start(parcels, { id: 'o-1', parcels: [] });
    const deliver = (...args: string[]) => run(['runs', 'deliver', runId, ...args], { env });
    expect(
      (await deliver('approval', '--payload', '{"by": "ada"}', '--id', 'd-1')).stdout,
    ).toContain('kept until one does');
    await now.work();
    expect((await now.writ.runs.finished(runId, { timeoutMs: 15_000 })).status).toBe('COMPLETED');
    expect((await deliver('approval', '--id', 'd-1')).stdout).toBe(
      'Delivered before. Step approval has it.\n',
    );
    expect((await deliver('approval')).stderr).toContain('has ended');
    expect((await deliver('approval', '--payload', 'yes')).code).toBe(2);
  });
});

describe('verify', () => {
  test('a real log is what its plan and its snapshot say, here and from a file without a database', async () => {
    await now.work();
    const { runId } = await now.failed();
    await projected(runId);
    const { code, stdout } = await run(['runs', 'verify', runId], { env });
    expect([code, stdout]).toEqual([
      0,
      `✓ Run ${runId} is what its log says: 8 events by the rules of saga 1.0.0, to its end as FAILED.\n`,
    ]);
    const file = join(folder, 'history.json');
    expect((await run(['runs', 'events', runId, '--export', file], { env })).stdout).toContain(
      'Wrote 8 events',
    );
    expect((await run(['runs', 'events', runId, '--export', file], { env })).stderr).toContain(
      'EEXIST',
    );
    expect(await json(['runs', 'verify', '--export', file])).toMatchObject({
      ok: true,
      events: 8,
      status: 'FAILED',
      notes: [],
    });

    const history = JSON.parse(readFileSync(file, 'utf8'));
    history.events.splice(4, 1);
    const damaged = await run(['runs', 'verify', '--export', fileOf('damaged.json', history)]);
    expect([damaged.code, damaged.stdout]).toEqual([
      1,
      expect.stringContaining('first at event 6, StepStarted of undo:reserve'),
    ]);
    expect((await run(['runs', 'verify', '--export', fileOf('other.json', { a: 1 })])).code).toBe(
      2,
    );
    expect((await run(['runs', 'verify'])).code).toBe(2);
  });

  test('a snapshot that somebody changed is found', async () => {
    await now.work();
    const { runId } = await now.completed();
    await projected(runId);
    await now.db.query(
      `update writ_data.run_snapshot set snapshot = jsonb_set(snapshot::jsonb, '{status}', '"FAILED"')::json where run_id = $1`,
      [runId],
    );
    const { code, stdout } = await run(['runs', 'verify', runId], { env });
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('status is stored as FAILED, and the log gives COMPLETED'),
    ]);
  });
});

test('an alert that a person has seen to is cleared once, on the record', async () => {
  const [alert] = await now.db.query(
    `insert into writ_data.alert (alert_id, code, severity, tenant_id, subject, detail, raised_at) values (writ_data.uuidv7(), 'COMPENSATION_FAILED', 'P1', 'default', 'run/x', '{}', writ.now()) returning alert_id`,
  );
  const clear = () =>
    run(
      [
        'alerts',
        'clear',
        String(alert?.alert_id),
        '--reason',
        'released by hand',
        '--actor',
        'ada',
      ],
      { env },
    );
  expect((await clear()).stdout).toBe('COMPENSATION_FAILED of run x is over.\n');
  expect((await clear()).stdout).toBe('COMPENSATION_FAILED of run x was over already.\n');
  expect(await now.db.query('select cleared_by from writ.alert')).toEqual([{ cleared_by: 'ada' }]);
  expect(
    await now.db.query(`select 1 from writ.event_outbox where event_type = 'system.alert_cleared'`),
  ).toHaveLength(1);
  expect(
    (await run(['alerts', 'clear', nobody, '--reason', 'it is not there'], { env })).stderr,
  ).toContain('There is no such alert.');
  expect((await run(['alerts', 'clear', nobody, '--reason', 'short'], { env })).code).toBe(1);
});

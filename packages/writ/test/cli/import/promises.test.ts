/** What holds of an import from the real packages: once, on one side, whatever happens in the middle. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineJob } from '../../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import { type Ended, eventually, json, writ as run, start } from '../run.js';
import { type Added, add, missing, type System, systems, work } from './peer.js';

let db: TestDatabase;
let env: Record<string, string>;
beforeEach(async () => {
  db = await testDatabase();
  env = { DATABASE_URL: db.connectionString };
  await db.query('create table ran (n integer, side text)');
});
afterEach(() => db.drop());

interface Result {
  readonly copied: number;
  readonly already: number;
  readonly gone: number;
  readonly deleted: number;
  readonly troubles: { name: string; id: string; reason: string }[];
}
const command = (system: System, ...args: string[]) => [
  'queue',
  'import',
  '--from',
  system,
  ...args,
];
const bring = async (system: System, ...args: string[]) =>
  (await json<{ result: Result }>(command(system, '--yes', ...args), { env })).result;
/** For an import that ends with exit code 1 because something could not be copied. */
const bringWithTrouble = async (
  system: System,
  ...args: string[]
): Promise<Ended & { result: Result }> => {
  const ended = await run(command(system, '--yes', '--json', ...args), { env });
  return { ...ended, result: (JSON.parse(ended.stdout) as { result: Result }).result };
};

const count = async (sql: string) =>
  Number((await db.query(`select count(*)::integer as n from ${sql}`))[0]?.n);
const there: Record<System, string> = {
  'pg-boss': `pgboss.job where name = 'mail' and state in ('created', 'retry')`,
  'graphile-worker': 'graphile_worker._private_jobs',
};
const imported = 'writ.job_queue where source_ref is not null';
/** Also what a worker of the source has in hand. */
const unfinished: Record<System, string> = {
  ...there,
  'pg-boss': `pgboss.job where name = 'mail' and state in ('created', 'retry', 'active')`,
};
const numbered = (n: number): Added => ({
  queues: [{ name: 'mail' }],
  bulk: [{ name: 'mail', jobs: Array.from({ length: n }, (_, index) => ({ data: { n: index } })) }],
});
const mail = defineJob<{ n: number }>('mail');
const writeDown = mail.handle(({ input, commit }) =>
  commit((tx) => tx.query(`insert into ran (n, side) values ($1, 'writ')`, [input.n])),
);

describe.skipIf(missing).each(systems)('from %s', (system) => {
  test('a second run copies nothing twice, and one with --delete takes away what the first has copied', {
    timeout: 90_000,
  }, async () => {
    await add(system, db.connectionString, numbered(1500));
    expect(await bring(system)).toMatchObject({ copied: 1500, already: 0, deleted: 0 });
    expect(await bring(system)).toMatchObject({ copied: 0, already: 1500, deleted: 0 });
    expect(await count(there[system])).toBe(1500);
    expect(await bring(system, '--delete')).toMatchObject({
      copied: 0,
      already: 1500,
      deleted: 1500,
    });
    expect(await count(there[system])).toBe(0);
    expect(await count('writ.job_queue')).toBe(1500);
  });

  test('it shows what it would do, and does nothing until it is told to', async () => {
    await add(system, db.connectionString, numbered(3));
    const shown = await run(command(system), { env });
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/^mail +mail +3 +0 +0$/m);
    expect(shown.stdout).toMatch(/copies 3 jobs\..*both sides/);
    expect(shown.stdout).toMatch(/Nothing was copied\. Add --yes/);
    expect((await run(command(system, '--delete', '--dry-run'), { env })).code).toBe(0);
    expect([
      await count('writ.job_queue'),
      await count(`writ.job_kind where registered_by <> 'migration'`),
      await count(there[system]),
    ]).toEqual([0, 0, 3]);
    const done = await run(command(system, '--yes'), { env });
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/Copied 3 jobs\.\n$/)]);
    expect(done.stderr).toContain('3 of 3');
  });

  test('a limit takes the first of them, and with --delete the next run goes on', async () => {
    await add(system, db.connectionString, numbered(5));
    expect(await bring(system, '--limit', '2', '--delete')).toMatchObject({
      copied: 2,
      deleted: 2,
    });
    expect(await bring(system, '--limit', '2', '--delete')).toMatchObject({
      copied: 2,
      deleted: 2,
    });
    expect([await count('writ.job_queue'), await count(there[system])]).toEqual([4, 1]);
  });

  test.each([[[]], [['--delete']]])(
    'killed in the middle, it loses nothing, and the next run finishes it (%s)',
    async (flags) => {
      await add(system, db.connectionString, numbered(3000));
      // Somebody holds the key of a job in the last page: the import comes to wait there, and is killed.
      const [last] = await db.query(
        system === 'pg-boss'
          ? `select id::text as identity from pgboss.job where name = 'mail' order by created_on desc, id desc limit 1`
          : `select concat(id, '@', floor(extract(epoch from created_at) * 1000000)::bigint) as identity from graphile_worker._private_jobs
           order by run_at desc, id desc limit 1`,
      );
      const holder = new pg.Client({ connectionString: db.connectionString });
      await holder.connect();
      const writ = await db.connect();
      // One of its kind is there before: the import shall meet the key, and nothing that the first job of a kind brings with it.
      await writ.cancel((await writ.enqueue(mail, { n: -2 })).jobId);
      try {
        await holder.query('begin');
        await writ.enqueue(
          mail,
          { n: -1 },
          { key: `import:${system}:${last?.identity}`, db: holder },
        );
        const importing = start(command(system, '--yes', ...flags), { env });
        const waiting = `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        await eventually(async () => (await count(waiting)) === 1);
        importing.kill('SIGKILL');
        expect((await importing.ended).signal).toBe('SIGKILL');
        await holder.query('rollback');
        await eventually(
          async () =>
            (await count(
              `pg_stat_activity where datname = current_database() and application_name = 'writ cli'`,
            )) === 0,
        );
      } finally {
        await holder.end();
      }
      const between = await count(imported);
      expect(between).toBeGreaterThanOrEqual(2000);
      if (flags.length > 0) expect(between + (await count(there[system]))).toBe(3000);
      await bring(system, ...flags);
      expect(await count(imported)).toBe(3000);
      expect(await count(`(select distinct source_ref from ${imported}) s`)).toBe(3000);
      expect(await count(there[system])).toBe(flags.length > 0 ? 0 : 3000);
    },
  );

  test('with --delete, while a worker of the source is at work, every job runs on one side only, once', async () => {
    await add(system, db.connectionString, numbered(4000));
    const worker = await work(system, db.connectionString, { names: ['mail'], batch: 50 });
    await eventually(async () => (await count('ran')) > 0);
    const result = await bring(system, '--delete');
    expect(result.troubles).toEqual([]);
    expect(result.deleted).toBe(result.copied);
    await eventually(async () => (await count(unfinished[system])) === 0);
    await worker.stop();
    await runUntilIdle(await db.connect(), [writeDown]);
    expect(
      await db.query(
        'select count(*)::integer as runs, count(distinct n)::integer as jobs from ran',
      ),
    ).toEqual([{ runs: 4000, jobs: 4000 }]);
    expect(await count(`ran where side = 'writ'`)).toBe(result.copied);
    expect(result.copied).toBeGreaterThan(0);
  });

  test('with --delete, a job that a worker is claiming at this moment is passed over, not waited for', async () => {
    await add(system, db.connectionString, numbered(3));
    const claiming = new pg.Client({ connectionString: db.connectionString });
    await claiming.connect();
    try {
      await claiming.query('begin');
      await claiming.query(
        system === 'pg-boss'
          ? `update pgboss.job set state = 'active', started_on = now() where data ->> 'n' = '1'`
          : `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'one', attempts = 1 where payload ->> 'n' = '1'`,
      );
      expect(await bring(system, '--delete')).toMatchObject({
        copied: 2,
        gone: 1,
        deleted: 2,
        troubles: [],
      });
      await claiming.query('commit');
    } finally {
      await claiming.end();
    }
    expect([await count('writ.job_queue'), await count(unfinished[system])]).toEqual([2, 1]);
  });

  test('a key that stands for another job is not taken over: the job stays where it was', async () => {
    const own = system === 'pg-boss' ? { singletonKey: 'order-7' } : { jobKey: 'order-7' };
    await add(system, db.connectionString, {
      queues: [{ name: 'mail', policy: 'exclusive' }],
      jobs: [{ name: 'mail', data: { n: 1 }, ...own }],
    });
    const writ = await db.connect();
    await writ.enqueue(mail, { n: 1 }, { key: 'order-7' });
    const { code, result } = await bringWithTrouble(system, '--delete');
    expect(code).toBe(1);
    expect(result).toMatchObject({
      copied: 0,
      already: 0,
      deleted: 0,
      troubles: [{ name: 'mail', reason: 'key_taken' }],
    });
    expect([await count('writ.job_queue'), await count(there[system])]).toEqual([1, 1]);
  });

  test('a job that has changed since it was copied is not deleted as if it were the same', async () => {
    await add(system, db.connectionString, {
      queues: [{ name: 'mail' }],
      jobs: [{ name: 'mail', data: { n: 1 } }],
    });
    expect(await bring(system)).toMatchObject({ copied: 1 });
    const [table, column] =
      system === 'pg-boss'
        ? ['pgboss.job', 'start_after']
        : ['graphile_worker._private_jobs', 'run_at'];
    await db.query(`update ${table} set ${column} = ${column} + interval '1 hour'`);
    const { result } = await bringWithTrouble(system, '--delete');
    expect(result).toMatchObject({
      copied: 0,
      already: 0,
      deleted: 0,
      troubles: [{ reason: 'key_taken' }],
    });
    expect(await count(there[system])).toBe(1);
  });

  test('what a gate refuses stays where it was, and the others are copied', async () => {
    await add(system, db.connectionString, {
      queues: [{ name: 'mail' }],
      jobs: [
        { name: 'mail', data: { n: 1, text: 'x'.repeat(2000) } },
        { name: 'mail', data: { n: 2 } },
      ],
    });
    await db.query(`select writ.fn_setting_set('queue.payload.max_bytes', '1000', 'test')`);
    const { code, result } = await bringWithTrouble(system, '--delete');
    expect(code).toBe(1);
    expect(result).toMatchObject({
      copied: 1,
      deleted: 1,
      troubles: [{ reason: 'payload_too_large' }],
    });
    expect([await count('writ.job_queue'), await count(there[system])]).toEqual([1, 1]);
  });

  test('what a definition says of a kind survives an import of its jobs', async () => {
    const writ = await db.connect();
    await writ.enqueue(defineJob<{ n: number }>('mail', { timeout: '7m' }), { n: 0 });
    await add(system, db.connectionString, numbered(1));
    await bring(system);
    expect(await db.query(`select timeout_s from writ.job_kind where job_kind = 'mail'`)).toEqual([
      { timeout_s: 420 },
    ]);
  });

  test('from another database it copies, and does not offer to delete there', async () => {
    const other = await testDatabase();
    try {
      await add(system, other.connectionString, numbered(1200));
      expect(await bring(system, '--source-url', other.connectionString)).toMatchObject({
        copied: 1200,
      });
      expect(await bring(system, '--source-url', other.connectionString)).toMatchObject({
        copied: 0,
        already: 1200,
      });
      expect(await count('writ.job_queue')).toBe(1200);
      const refused = await run(
        command(system, '--yes', '--delete', '--source-url', other.connectionString),
        { env },
      );
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringMatching(/one database only/),
      ]);
    } finally {
      await other.drop();
    }
  });

  test('another schema is named, and one that is not there, not known or not shown is said to be so', async () => {
    await add(system, db.connectionString, { ...numbered(2), schema: 'elsewhere' });
    expect((await run(command(system, '--yes'), { env })).stderr).toMatch(
      /not there.*\n.*--schema/,
    );
    expect(await bring(system, '--schema', 'elsewhere')).toMatchObject({ copied: 2 });
    if (system === 'graphile-worker') {
      await db.query(
        `do $$ begin create role cli_importer login password 'o8ntw3'; exception when duplicate_object then null; end $$`,
      );
      await db.query('grant workflow_admin to cli_importer');
      await db.query('grant usage on schema elsewhere to cli_importer');
      await db.query('grant select on all tables in schema elsewhere to cli_importer');
      const url = new URL(db.connectionString);
      url.username = 'cli_importer';
      url.password = 'o8ntw3';
      const hidden = await run(
        command(system, '--yes', '--schema', 'elsewhere', '--database-url', url.href),
      );
      expect([hidden.code, hidden.stderr]).toEqual([
        1,
        expect.stringMatching(/Row-level security hides.*\n.*owner/),
      ]);
    }
    await db.query(
      `alter table elsewhere.${system === 'pg-boss' ? 'job' : '_private_jobs'} rename priority to rank`,
    );
    const unknown = await run(command(system, '--yes', '--schema', 'elsewhere'), { env });
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/does not know.*priority/),
    ]);
  });

  test('a queue that is switched off refuses the import as a whole', async () => {
    await add(system, db.connectionString, numbered(1));
    await db.query(`select writ.fn_setting_set('queue.job_substrate.enabled', 'false', 'test')`);
    const { code, stderr } = await run(command(system, '--yes', '--delete'), { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('writ migrate --enable')]);
    expect(await count(there[system])).toBe(1);
  });
});

test.each([
  ['no source', ['--yes']],
  ['a source that is none', ['--from', 'cron']],
  ['a map that is none', ['--from', 'pg-boss', '--kind-map', 'mail']],
  ['a connection string that is none', ['--from', 'pg-boss', '--source-url', 'localhost']],
])('wrong usage exits 2: %s', async (_name, args) => {
  const { code, stdout } = await run(['queue', 'import', ...args], { env });
  expect([code, stdout]).toEqual([2, '']);
});

/**
 * Our side of docs/moving.md is one program, in the page's order: it is run as it stands, against
 * the built package.
 */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../src/testing/index.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
let db: TestDatabase;
let folder: string;

beforeEach(async () => {
  db = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'writ-moving-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(root, 'packages/writ'), join(folder, 'node_modules', 'writ'));
  for (const name of ['zod', 'pg'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await db.query('create table customer (name text)');
  await db.query('create table sent (address text, subject text)');
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Our code under each heading of the page. */
const sections = new Map(
  readFileSync(join(root, 'docs/moving.md'), 'utf8')
    .split(/^### /m)
    .slice(1)
    .flatMap((text) => {
      const code = /```js\n([\s\S]*?)```/.exec(text)?.[1];
      return code === undefined ? [] : [[text.slice(0, text.indexOf('\n')), code] as const];
    }),
);

const before = `
import pg from 'pg';
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const posted = [];
const post = async (input, { idempotencyKey, signal }) => void posted.push([input.to, idempotencyKey.length, signal.aborted]);
`;
const until = (sql: string) =>
  `while (!(await pool.query(\`${sql}\`)).rowCount) await new Promise((resume) => setTimeout(resume, 20));\n`;

async function program(
  headings: readonly string[],
  between: Record<string, string> = {},
): Promise<string> {
  const code = headings.map((heading) => `${sections.get(heading)}\n${between[heading] ?? ''}`);
  writeFileSync(
    join(folder, 'program.js'),
    [before, ...code, 'await writ.close();\nawait pool.end();\n'].join('\n'),
  );
  return (
    await run(process.execPath, ['program.js'], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: db.connectionString },
    })
  ).stdout;
}

const later = ['Cron', 'Limits'];

test('the page defines, enqueues, works, retries, stops, replays and watches as it says', async () => {
  const headings = [...sections.keys()].filter((heading) => !later.includes(heading));
  expect(headings).toEqual([
    ...[
      'Define',
      'Enqueue',
      'Unique keys',
      'Delays and priorities',
      'Many at once',
      'In your transaction',
      'Work',
      'Retries',
      'Stop',
    ],
    ...['Dead letters', 'Watching'],
  ]);
  const printed = await program(headings, {
    Retries:
      until(`select from writ.job_queue where status = 'dead_letter'`) +
      until('select from sent having count(*) = 6'),
    Watching:
      'console.log(JSON.stringify({ backlog, waiting, in_progress, dead_letter_open, posted: posted.length }));',
  });
  expect(printed).toContain('true true true');
  expect(JSON.parse(printed.trimEnd().split('\n').at(-1) as string)).toEqual({
    backlog: 1, // the replayed report
    waiting: 2,
    in_progress: 0,
    dead_letter_open: 0,
    posted: 6,
  });
  expect(
    (await db.query('select subject from sent order by subject')).map((row) => row.subject),
  ).toEqual(['Hello', 'Hello', 'One', 'Twice at most', 'Two', 'Welcome']);
  expect(
    await db.query(`select priority from writ.job_queue where status = 'queued' and priority > 0`),
  ).toEqual([{ priority: 10 }]);
});

// Leaves out what this version does not have, and says so.
test.skipIf(!existsSync(join(root, 'packages/writ/src/schedules')))(
  'the page schedules and limits as it says',
  async () => {
    await program(['Define', ...later]);
    const kinds = await db.query(
      `select job_kind from writ.job_kind where registered_by <> 'migration' order by 1`,
    );
    expect(kinds).toEqual([{ job_kind: 'report' }, { job_kind: 'sync' }]);
    expect(await db.query(`select job_kind, status from writ.job_queue`)).toEqual([
      { job_kind: 'sync', status: 'queued' },
    ]);
  },
);

// The columns that the statements use, as pg-boss 12 and graphile-worker 0.18 declare them.
const sources = {
  'pg-boss': [
    'create schema pgboss',
    `create table pgboss.job (id uuid default gen_random_uuid(), name text, data jsonb,
       state text default 'created', priority integer default 0, policy text,
       start_after timestamptz default now(), created_on timestamptz default clock_timestamp(),
       retry_limit integer default 2, retry_count integer default 0, singleton_key text,
       singleton_on timestamp, group_id text, blocked boolean default false,
       blocking boolean default false, primary key (name, id))`,
    `insert into pgboss.job (name, data, priority) select 'mail', jsonb_build_object('n', n), n
     from generate_series(1, 3) n`,
    `insert into pgboss.job (name, data, policy, singleton_key)
     values ('mail', '{"n": 4}', 'short', 'ada')`,
    `insert into pgboss.job (name, data, state, policy, group_id) values
       ('mail', '{}', 'active', null, null), ('mail', '{}', 'failed', null, null),
       ('mail', '{}', 'created', 'stately', null), ('mail', '{}', 'created', null, 'g'),
       ('report', '{}', 'created', null, null)`,
  ],
  'graphile-worker': [
    'create schema graphile_worker',
    `create table graphile_worker._private_tasks (id integer primary key, identifier text)`,
    `create table graphile_worker._private_jobs (id bigint generated always as identity primary key,
       task_id integer, job_queue_id integer, payload json, priority smallint default 0,
       run_at timestamptz default now(), attempts smallint default 0,
       max_attempts smallint default 25, key text, locked_at timestamptz,
       created_at timestamptz default now())`,
    `insert into graphile_worker._private_tasks values (1, 'mail'), (2, 'report')`,
    `insert into graphile_worker._private_jobs (task_id, payload, priority)
     select 1, json_build_object('n', n), -n from generate_series(1, 3) n`,
    `insert into graphile_worker._private_jobs (task_id, payload, key) values (1, '{"n":4}', 'ada')`,
    `insert into graphile_worker._private_jobs (task_id, payload, locked_at, attempts, job_queue_id)
     values (1, '{}', now(), 1, null), (1, '{}', null, 25, null), (1, '{}', null, 0, 1),
       (2, '{}', null, 0, null)`,
  ],
} as const;
const tables = { 'pg-boss': 'pgboss.job', 'graphile-worker': 'graphile_worker._private_jobs' };

test.each(['pg-boss', 'graphile-worker'] as const)(
  'the statement of the page moves the waiting jobs of %s, each once, or none of them',
  async (system) => {
    for (const sql of sources[system]) await db.query(sql);
    const page = readFileSync(join(root, 'docs/moving.md'), 'utf8');
    const [, statement = ''] =
      new RegExp(`From ${system},[\\s\\S]*?\`\`\`sql\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
    const left = async () =>
      Number((await db.query(`select count(*) from ${tables[system]}`))[0]?.count);
    const before = await left();
    // The kind is not known yet.
    await expect(db.query(statement)).rejects.toThrow(/nothing moved: .*unknown_job_kind/);
    expect(await left()).toBe(before);

    await db.query(`select writ.fn_job_kind_register('mail', '{}', 'test')`);
    expect(await db.query(statement)).toEqual([{ moved: '4' }]);
    expect(await db.query(statement)).toEqual([{ moved: '0' }]);
    expect(await left()).toBe(before - 4);
    expect(
      await db.query(
        `select writ.fn_job_payload(job_id) -> 'input' ->> 'n' as n, priority, status,
           idempotency_key = 'ada' as keyed
         from writ.job_queue order by 1`,
      ),
    ).toEqual(
      [1, 2, 3, 4].map((n) => ({
        n: String(n),
        priority: n === 4 ? 0 : n,
        status: 'queued',
        keyed: n === 4,
      })),
    );
  },
);

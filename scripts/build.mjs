// @ts-check
// Builds every package into its dist/ from scratch, so that a file that was removed from src/ does
// not live on. Packages are built in the order of the workspaces: each may need those before it.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** @param {string} folder */
const compile = (folder) => {
  rmSync(`${folder}/dist`, { recursive: true, force: true });
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder], {
    stdio: 'inherit',
  });
};

/** @param {string} name */
const licenceOf = (name) => {
  const file = name === 'typebox' ? 'license' : 'LICENSE';
  return `${name}\n${readFileSync(`node_modules/${name}/${file}`, 'utf8').trim()}`;
};

/**
 * Bundles one file with what it imports, under the licences of what is not ours.
 * @param {string} input @param {string} file @param {string[]} licences
 */
const bundle = (input, file, licences) =>
  build({
    input,
    platform: 'neutral',
    logLevel: 'warn',
    output: { file, banner: `/*\n${licences.map(licenceOf).join('\n\n')}\n*/` },
  });

/**
 * Copies a declaration file and those that it imports. @param {string} from @param {string} to
 * @param {string} file @param {Set<string>} [seen]
 */
function copyTypes(from, to, file, seen = new Set()) {
  if (seen.has(file)) return;
  seen.add(file);
  const text = readFileSync(join(from, file), 'utf8');
  mkdirSync(dirname(join(to, file)), { recursive: true });
  writeFileSync(join(to, file), text);
  for (const [, target = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)\.js'/g))
    copyTypes(from, to, `${normalize(join(dirname(file), target))}.d.ts`, seen);
}

/** Files that are loaded by name: as a package entry, a program, or a process of their own. */
const entries = {
  index: 'index.js',
  testing: 'testing/index.js',
  webhooks: 'outbox/webhooks.js',
  main: 'cli/main.js',
  worker: 'demo/worker.js',
};

/**
 * Bundles what users load. Loading one module for every source file takes a third of the time that
 * `import 'writ'` may take. dist/bundle/ is as deep in the package as most sources, because files
 * are found relative to the module that names them.
 */
async function bundleEntries() {
  const dist = 'packages/writ/dist';
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [name, `${dist}/${file}`]),
    ),
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
    logLevel: 'warn',
  });
  await bundle.write({
    dir: `${dist}/bundle`,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    banner: ({ moduleIds }) =>
      moduleIds.some((id) => id.endsWith('ledger/typebox.js'))
        ? `/*\n${licenceOf('typebox')}\n*/`
        : '',
  });
  copyFileSync(`${dist}/queue/worker/renewer.mjs`, `${dist}/bundle/renewer.mjs`);
}

compile('packages/writ');
const typebox = 'packages/writ/dist/ledger/typebox.js';
await bundle(typebox, typebox, ['typebox']);
await bundleEntries();
for (const text of ['README.md', 'CHANGELOG.md', 'LICENSE'])
  copyFileSync(text, `packages/writ/${text}`);

rmSync('packages/verify/dist', { recursive: true, force: true });
const verify = 'packages/writ/dist/ledger/browser.js';
await bundle(verify, 'packages/verify/dist/index.js', ['@noble/curves', '@noble/hashes']);
copyTypes('packages/writ/dist', 'packages/verify/dist', 'ledger/browser.d.ts');
copyFileSync('LICENSE', 'packages/verify/LICENSE');

compile('packages/openfeature');
copyFileSync('LICENSE', 'packages/openfeature/LICENSE');

compile('packages/client');
copyFileSync('LICENSE', 'packages/client/LICENSE');

compile('packages/server');
copyFileSync('LICENSE', 'packages/server/LICENSE');

/**
 * Two versions of the package, side by side in a folder of this repository, where both find its dependencies: the one before, as `npm pack` made it when
 * it was released, and this one, as `npm run build` has left it. When a version is released, its tarball takes the place of the one here.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tarball = fileURLToPath(new URL('./writ-0.1.0.tgz', import.meta.url));

export type Writ = typeof import('../../src/index.js');

export interface Package {
  readonly folder: string;
  load(): Promise<Writ>;
}

export interface Packages {
  readonly previous: Package;
  readonly next: Package;
  remove(): void;
}

const migrations = (folder: string) => readdirSync(join(folder, 'sql/migrations')).sort();

export function packages(): Packages {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first');
  mkdirSync(join(root, '.cache'), { recursive: true });
  // Called node_modules, so that Node itself loads them, as it does for users, and not the test runner.
  const both = mkdtempSync(join(root, '.cache/upgrade-'));
  const [previous, next] = [join(both, 'node_modules/previous'), join(both, 'node_modules/next')];
  mkdirSync(previous, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', previous, '--strip-components=1']);
  for (const part of ['dist', 'sql', 'package.json']) cpSync(join(root, part), join(next, part), { recursive: true });
  if (migrations(next).length === migrations(previous).length) pretendMigration(next);
  const of = (folder: string): Package => ({ folder, load: () => import(pathToFileURL(join(folder, 'dist/index.js')).href) });
  return { previous: of(previous), next: of(next), remove: () => rmSync(both, { recursive: true, force: true }) };
}

/** Right after a release there is nothing to upgrade to. Then a migration is made up that touches the busiest table, and every gate counts as changed. */
function pretendMigration(folder: string): void {
  const number = String(migrations(folder).length + 1).padStart(4, '0');
  writeFileSync(join(folder, `sql/migrations/${number}_pretended.sql`), 'alter table writ_data.job_lease add column pretended text;\n');
  for (const file of readdirSync(join(folder, 'sql/gates'), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.sql')) appendFileSync(join(folder, 'sql/gates', file), '-- changed\n');
  }
}

/**
 * `writ worker` takes one store of artifacts, from a module that exports it; what else is exported
 * by that name is said in words.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-exported-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const said = (...files: string[]) =>
  promisify(execFile)(
    process.execPath,
    [
      join(root, 'dist/cli/main.js'),
      'worker',
      ...files,
      '--database-url',
      'postgres://nobody@127.0.0.1:1/x',
    ],
    {
      cwd: folder,
    },
  ).then(
    () => 'nothing',
    ({ stderr }: { stderr: string }) => stderr,
  );
const write = (file: string, exported: string) =>
  writeFileSync(
    join(folder, file),
    `import { defineJob, fileArtifacts } from '${join(root, 'dist/index.js')}';
     export const handler = defineJob('${file.replace('.mjs', '')}').handle(() => undefined);
     export const artifacts = ${exported};`,
  );

test('something that is not a store', async () => {
  write('a.mjs', '{ folder: "artifacts" }');
  expect(await said('a.mjs')).toMatch(
    /a\.mjs exports artifacts, and it is not a store\.[\s\S]*fileArtifacts/,
  );
});

test('two stores', async () => {
  write('a.mjs', 'fileArtifacts({ folder: "one" })');
  write('b.mjs', 'fileArtifacts({ folder: "two" })');
  expect(await said('a.mjs', 'b.mjs')).toMatch(/b\.mjs exports another store/);
});

test('one store, or none, is fine: the next complaint is about the database', async () => {
  write('a.mjs', 'fileArtifacts({ folder: "one" })');
  write('b.mjs', 'undefined');
  expect(await said('a.mjs', 'b.mjs')).toMatch(/database/i);
});

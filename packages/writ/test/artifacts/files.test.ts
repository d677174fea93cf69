/** Artifacts in a folder. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ArtifactRef, fileArtifacts } from '../../src/index.js';
import { keepsItsPromises } from './conformance.js';

const base = 'writ-file://files/';
const pathOf = (folder: string, ref: ArtifactRef) => join(folder, ref.uri.slice(base.length));
const filesIn = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
        statSync(join(folder, path)).isFile(),
      )
    : [];

describe('a folder', () => {
  keepsItsPromises(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-artifacts-'));
    return {
      store: 'fileArtifacts',
      options: { folder },
      make: (options = {}) => fileArtifacts({ folder, ...options }),
      keys: async () => filesIn(folder).filter((path) => !path.startsWith('.incoming')),
      overwrite: (ref, bytes) => writeFile(pathOf(folder, ref), bytes),
      end: async () => rmSync(folder, { recursive: true, force: true }),
    };
  });
});

describe('a folder, beyond what is promised of every store', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'writ-artifacts-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('is made when the first artifact comes, however deep', async () => {
    const deep = join(folder, 'a', 'b', 'c');
    const store = fileArtifacts({ folder: deep });
    expect(await store.sweep()).toEqual({ deleted: 0 });
    expect(existsSync(deep)).toBe(false);
    const ref = await store.put('x', { kind: 'report' });
    expect(existsSync(pathOf(deep, ref))).toBe(true);
  });

  test('can be moved: references name the store, not the machine', async () => {
    const ref = await fileArtifacts({ folder: join(folder, 'here') }).put('x', { kind: 'report' });
    renameSync(join(folder, 'here'), join(folder, 'there'));
    expect(ref.uri).not.toContain(folder);
    expect(
      (await buffer(await fileArtifacts({ folder: join(folder, 'there') }).get(ref))).toString(),
    ).toBe('x');
    const another = fileArtifacts({ folder: join(folder, 'there'), name: 'archive' });
    await expect(another.get(ref)).rejects.toMatchObject({ code: 'artifact_reference_invalid' });
  });

  test('keeps no temporary file of a put that succeeded or failed', async () => {
    const store = fileArtifacts({ folder });
    await store.put('x', { kind: 'report' });
    const broken = (async function* () {
      yield 'x';
      throw new Error('broken');
    })();
    await expect(store.put(broken, { kind: 'report' })).rejects.toThrow('broken');
    expect(filesIn(join(folder, '.incoming'))).toEqual([]);
  });

  test('a sweep removes what a crash left, a day later, and not what is being written', async () => {
    const store = fileArtifacts({ folder });
    mkdirSync(join(folder, '.incoming'));
    for (const name of ['left', 'writing']) writeFileSync(join(folder, '.incoming', name), 'half');
    const yesterday = new Date(Date.now() - 86_400_000 - 60_000);
    utimesSync(join(folder, '.incoming', 'left'), yesterday, yesterday);
    expect(await store.sweep()).toEqual({ deleted: 0 });
    expect(filesIn(join(folder, '.incoming'))).toEqual(['writing']);
  });

  test('a sweep removes the folders of days that are over, and nothing that is not an artifact', async () => {
    const store = fileArtifacts({ folder });
    await store.put('x', { kind: 'report', expiresAt: new Date('2199-01-01T10:00:00Z') });
    await store.put('x', { kind: 'report', expiresAt: new Date('2199-01-02T10:00:00Z') });
    mkdirSync(join(folder, 'default', '2199-01-03'));
    writeFileSync(join(folder, 'default', '2199-01-03', 'notes.txt'), 'mine');
    expect(await store.sweep({ now: new Date('2199-01-05') })).toEqual({ deleted: 2 });
    expect(readdirSync(join(folder, 'default'))).toEqual(['2199-01-03']);
    expect(filesIn(folder)).toEqual(['default/2199-01-03/notes.txt']);
  });

  test('a link in the place of an artifact is not followed', async () => {
    const store = fileArtifacts({ folder });
    const ref = await store.put('abc', { kind: 'report' });
    rmSync(pathOf(folder, ref));
    writeFileSync(join(folder, 'elsewhere'), 'abc');
    symlinkSync(join(folder, 'elsewhere'), pathOf(folder, ref));
    await expect(store.get(ref)).rejects.toMatchObject({ code: 'artifact_damaged' });
    expect(await store.exists(ref)).toBe(false);
  });

  test('a folder in the place of an artifact is not one', async () => {
    const store = fileArtifacts({ folder });
    const ref = await store.put('', { kind: 'report' });
    rmSync(pathOf(folder, ref));
    mkdirSync(pathOf(folder, ref));
    await expect(store.get(ref)).rejects.toMatchObject({ code: 'artifact_damaged' });
  });

  test('a place that cannot be a folder: said in words', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(
      fileArtifacts({ folder: join(folder, 'file') }).put('x', { kind: 'report' }),
    ).rejects.toMatchObject({
      code: 'artifact_store_refused',
      message: expect.stringContaining('file'),
    });
  });

  test.runIf(process.getuid?.() !== 0)(
    'a folder that we may not write to: said in words',
    async () => {
      chmodSync(folder, 0o500);
      await expect(fileArtifacts({ folder }).put('x', { kind: 'report' })).rejects.toMatchObject({
        code: 'artifact_store_refused',
      });
    },
  );

  test.each([
    { folder: '' },
    { folder: 'x', name: '../x' },
    { folder: 'x', maxBytes: 0 },
    { folder: 'x', maxBytes: Number.NaN },
  ])('options that mean nothing are refused at once: %o', (options) => {
    expect(() => fileArtifacts(options)).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

/** Tiles and bundles, as C2SP tlog-tiles lays them out. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inclusionProof, leafHash, rootOf, verifyInclusion } from '../../src/ledger/merkle.js';
import { toHex, utf8 } from '../../src/ledger/text.js';
import {
  decodeBundle,
  encodeBundle,
  logFolder,
  TileBuilder,
  tileBytes,
  tilePath,
  tileSource,
  tileWidthAt,
} from '../../src/ledger/tiles.js';

const go = JSON.parse(readFileSync(new URL('vectors/notes.json', import.meta.url), 'utf8'));

test.each(Object.entries(go.paths as Record<string, string>))(
  'tile %s is at %s, but for the height that Go adds',
  (tile, path) => {
    const [level, index, width] = tile.split(' ').map(Number) as [number, number, number];
    expect(tilePath(level, index, width)).toBe(path.replace('tile/8/', 'tile/'));
  },
);

test('bundles are beside the tiles', () => {
  expect(tilePath('entries', 0)).toBe('tile/entries/000');
  expect(tilePath('entries', 1_234_067, 37)).toBe('tile/entries/x001/x234/067.p/37');
});

test('the folder of a log is one folder, whatever its name', () => {
  expect(['acme', '..', 'a/b', 'Zürich 1.2'].map(logFolder)).toEqual([
    'logs/acme',
    'logs/%2E%2E',
    'logs/a%2Fb',
    'logs/Z%C3%BCrich%201%2E2',
  ]);
});

test('a tree of 70,000 has the tiles of the example in the specification', () => {
  const count = (level: number) => {
    let full = 0;
    while (tileWidthAt(level, full, 70_000) === 256) full += 1;
    return [full, tileWidthAt(level, full, 70_000)];
  };
  expect([0, 1, 2, 3].map(count)).toEqual([
    [273, 112],
    [1, 17],
    [0, 1],
    [0, 0],
  ]);
});

describe('bundles', () => {
  const entries = ['', 'a', 'ü'.repeat(300), 'x'.repeat(65_535)].map(utf8);
  test('come back as they were', () => {
    expect(decodeBundle(encodeBundle(entries))).toEqual(entries);
    expect(decodeBundle(new Uint8Array())).toEqual([]);
    expect([...encodeBundle([utf8('ab')])]).toEqual([0, 2, 97, 98]);
  });
  test('that are cut off, or hold too much, are refused', () => {
    const bytes = encodeBundle([utf8('abc'), utf8('def')]);
    for (const length of [1, 2, 4, 6, 7, 9]) {
      expect(() => decodeBundle(bytes.slice(0, length))).toThrow(
        expect.objectContaining({ code: 'invalid_tile' }),
      );
    }
    const many = Array.from({ length: 257 }, () => utf8('x'));
    expect(() => decodeBundle(encodeBundle(many))).toThrow(/more than 256/);
    expect(() => encodeBundle([new Uint8Array(65_536)])).toThrow(
      expect.objectContaining({ code: 'entry_too_large' }),
    );
  });
});

test('roots and proofs come out of tiles', async () => {
  const builder = new TileBuilder();
  const files = new Map<string, Uint8Array>();
  const roots = new Map<number, string>();
  const leaves = Array.from({ length: 70_000 }, (_, n) => leafHash(utf8(`entry ${n}`)));
  for (const leaf of leaves) {
    builder.append(leaf);
    if ([1, 255, 256, 257, 1000, 65_536, 65_537, 69_999, 70_000].includes(builder.size))
      roots.set(builder.size, toHex(builder.root()));
  }
  for (const tile of [...builder.takeFull(), ...builder.partial()])
    files.set(tilePath(tile.level, tile.index, tile.hashes.length), tileBytes(tile));
  expect([...files.keys()].filter((path) => path.includes('.p/'))).toEqual([
    'tile/0/273.p/112',
    'tile/1/001.p/17',
    'tile/2/000.p/1',
  ]);
  const source = tileSource(async (path) => files.get(path) ?? null, 70_000);
  for (const [size, root] of roots) expect(toHex(await rootOf(size, source))).toBe(root);
  expect(toHex(await rootOf(1000, source))).toBe(
    go.checkpoints.find((one: { size: number }) => one.size === 1000).root,
  );
  for (const index of [0, 255, 256, 65_535, 69_999]) {
    verifyInclusion(
      leaves[index]!,
      index,
      70_000,
      await inclusionProof(index, 70_000, source),
      builder.root(),
    );
  }
  files.delete('tile/1/000');
  await expect(inclusionProof(69_999, 70_000, source)).resolves.toBeDefined();
  await expect(inclusionProof(0, 70_000, source)).rejects.toThrow(/tile\/1\/000 is missing/);
});

/**
 * The tree of RFC 6962: the inputs that certificate transparency tests itself with, a second
 * implementation after the RFC's words, and Go's.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  CompactRange,
  consistencyProof,
  type HashSource,
  inclusionProof,
  leafHash,
  nodeHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from '../../src/ledger/merkle.js';
import { fromBase64, fromHex, toHex, utf8 } from '../../src/ledger/text.js';

const go = JSON.parse(readFileSync(new URL('vectors/notes.json', import.meta.url), 'utf8'));
const hexes = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const inputs = hexes.map((hex) => fromHex(hex)!);
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/**
 * RFC 6962 §2.1 word for word, on entries, with another hash implementation: slow, and simple
 * enough to be believed.
 */
const sha = (...parts: Uint8Array[]) =>
  new Uint8Array(createHash('sha256').update(Buffer.concat(parts)).digest());
const split = (n: number) => 2 ** Math.floor(Math.log2(n - 1));
function MTH(d: readonly Uint8Array[]): Uint8Array {
  if (d.length === 0) return sha();
  if (d.length === 1) return sha(Uint8Array.of(0), d[0]!);
  const k = split(d.length);
  return sha(Uint8Array.of(1), MTH(d.slice(0, k)), MTH(d.slice(k)));
}
function PATH(m: number, d: readonly Uint8Array[]): Uint8Array[] {
  if (d.length === 1) return [];
  const k = split(d.length);
  return m < k
    ? [...PATH(m, d.slice(0, k)), MTH(d.slice(k))]
    : [...PATH(m - k, d.slice(k)), MTH(d.slice(0, k))];
}
function SUBPROOF(m: number, d: readonly Uint8Array[], b: boolean): Uint8Array[] {
  if (m === d.length) return b ? [] : [MTH(d)];
  const k = split(d.length);
  return m <= k
    ? [...SUBPROOF(m, d.slice(0, k), b), MTH(d.slice(k))]
    : [...SUBPROOF(m - k, d.slice(k), false), MTH(d.slice(0, k))];
}

const entries = Array.from({ length: 300 }, (_, n) => utf8(`entry ${n}`));
const source =
  (of: readonly Uint8Array[]): HashSource =>
  (subtrees) =>
    subtrees.map(({ level, index }) => MTH(of.slice(index * 2 ** level, (index + 1) * 2 ** level)));
const refused = (detail: RegExp) =>
  expect.objectContaining({ code: 'invalid_proof', detail: expect.stringMatching(detail) });

test.each(roots.map((root, size) => [size, root] as const))(
  'the tree of the first %i inputs of RFC 6962 has the root %s',
  async (size, root) => {
    const range = new CompactRange();
    for (const input of inputs.slice(0, size)) range.append(leafHash(input));
    expect(toHex(range.root())).toBe(root);
    expect(toHex(await rootOf(size, source(inputs)))).toBe(root);
  },
);

test.each([
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
] as const)('leaf %i of %i has the known inclusion proof', async (index, size, proof) => {
  expect((await inclusionProof(index, size, source(inputs))).map(toHex)).toEqual(proof);
});

test.each([
  [1, 1, []],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
] as const)(
  'a tree of %i in one of %i has the known consistency proof',
  async (from, to, proof) => {
    expect((await consistencyProof(from, to, source(inputs))).map(toHex)).toEqual(proof);
  },
);

describe('Go agrees', () => {
  const all = Array.from({ length: 1000 }, (_, n) => leafHash(utf8(`entry ${n}`)));
  const rootAt = (size: number) =>
    fromHex(go.checkpoints.find((one: { size: number }) => one.size === size).root)!;
  test('on roots', () => {
    const range = new CompactRange();
    const seen = new Map<number, string>();
    for (const leaf of all) {
      range.append(leaf);
      seen.set(range.size, toHex(range.root()));
    }
    for (const { size, root } of go.checkpoints) expect(seen.get(size)).toBe(root);
  });
  test('on inclusion', () => {
    for (const { size, index, proof } of go.inclusions) {
      verifyInclusion(all[index]!, index, size, proof.map(fromBase64), rootAt(size));
    }
    expect(go.inclusions.length).toBeGreaterThan(20);
  });
  test('on consistency', () => {
    for (const { from, to, proof } of go.consistencies) {
      verifyConsistency(from, to, proof.map(fromBase64), rootAt(from), rootAt(to));
    }
    expect(go.consistencies.length).toBeGreaterThan(20);
  });
});

test('every size from 0 to 300 has the root that the RFC defines', async () => {
  const range = new CompactRange();
  for (let size = 0; size <= 300; size++) {
    expect(toHex(range.root())).toBe(toHex(MTH(entries.slice(0, size))));
    if (size % 37 === 0)
      expect(toHex(await rootOf(size, source(entries)))).toBe(toHex(range.root()));
    if (size < 300) range.append(leafHash(entries[size]!));
  }
});

test('every inclusion proof in trees up to 40, and some up to 300, is the RFC’s, and holds', async () => {
  const sizes = [...Array(40).keys()]
    .map((n) => n + 1)
    .concat([63, 64, 65, 127, 128, 129, 255, 256, 257, 300]);
  for (const size of sizes) {
    const d = entries.slice(0, size);
    const root = MTH(d);
    for (let index = 0; index < size; index += size > 40 ? 17 : 1) {
      const proof = await inclusionProof(index, size, source(d));
      expect(proof.map(toHex)).toEqual(PATH(index, d).map(toHex));
      verifyInclusion(leafHash(d[index]!), index, size, proof, root);
    }
  }
});

test('every consistency proof between trees up to 40, and some up to 300, is the RFC’s, and holds', async () => {
  const sizes = [...Array(40).keys()].map((n) => n + 1).concat([64, 129, 256, 300]);
  for (const to of sizes) {
    for (let from = 1; from <= to; from += to > 40 ? 13 : 1) {
      const d = entries.slice(0, to);
      const proof = await consistencyProof(from, to, source(d));
      expect(proof.map(toHex)).toEqual(SUBPROOF(from, d, true).map(toHex));
      verifyConsistency(from, to, proof, MTH(d.slice(0, from)), MTH(d));
    }
  }
});

describe('a proof is refused', () => {
  const d = entries.slice(0, 11);
  const root = MTH(d);
  const leaf = leafHash(d[5]!);

  test('if it is too long, too short, changed, or for another place', async () => {
    const proof = await inclusionProof(5, 11, source(d));
    const check = (path: Uint8Array[], index = 5, size = 11, of = leaf) =>
      verifyInclusion(of, index, size, path, root);
    check(proof);
    expect(() => check([...proof, root])).toThrow(refused(/too long/));
    expect(() => check(proof.slice(1))).toThrow(refused(/too short/));
    expect(() => check([])).toThrow(refused(/too short/));
    expect(() => check(proof.toReversed())).toThrow(refused(/lead/));
    expect(() => check(proof, 4)).toThrow(refused(/lead/));
    // A tree of 16 has a path as long for this leaf; only the root ties the size.
    expect(() => check(proof, 5, 16, leaf)).not.toThrow();
    expect(() => check(proof, 5, 17)).toThrow(refused(/short/));
    expect(() => check(proof, 5, 8)).toThrow(refused(/long/));
    expect(() => check(proof, 5, 11, leafHash(d[4]!))).toThrow(refused(/lead/));
    for (let at = 0; at < proof.length; at++) {
      const bent = proof.map((hash, n) =>
        n === at ? hash.map((byte, b) => (b === 31 ? byte ^ 1 : byte)) : hash,
      );
      expect(() => check(bent)).toThrow(refused(/lead/));
    }
  });

  test.each([-1, 11, 12, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])(
    'if its index is %s',
    async (index) => {
      const proof = await inclusionProof(5, 11, source(d));
      expect(() => verifyInclusion(leaf, index, 11, proof, root)).toThrow(
        refused(/there is no leaf/),
      );
      await expect(inclusionProof(index, 11, source(d))).rejects.toThrow(
        refused(/there is no leaf/),
      );
    },
  );

  test.each([0, -1, 1.5, Number.NaN, 2 ** 53])('if its size is %s', (size) => {
    expect(() => verifyInclusion(leaf, 5, size, [], root)).toThrow(refused(/there is no leaf/));
  });

  test('if a hash in it has another length', () => {
    expect(() => verifyInclusion(leaf, 0, 2, [new Uint8Array(31)], root)).toThrow(
      refused(/32 bytes/),
    );
    expect(() => verifyInclusion(leaf.subarray(1), 0, 1, [], leaf)).toThrow(refused(/32 bytes/));
  });

  test('if consistency is claimed of trees that are not', async () => {
    for (let from = 1; from < 11; from++) {
      const proof = await consistencyProof(from, 11, source(d));
      const old = MTH(d.slice(0, from));
      const other = MTH([utf8('another'), ...d.slice(1, from)]);
      const check =
        (path: Uint8Array[], a = old, b = root, m = from, n = 11) =>
        () =>
          verifyConsistency(m, n, path, a, b);
      check(proof)();
      expect(check(proof, other)).toThrow(refused(/lead|differ/));
      expect(check(proof, old, old)).toThrow(refused(/lead/));
      expect(check([...proof, root])).toThrow(refused(/too long/));
      expect(check(proof.slice(0, -1))).toThrow(refused(/too short|lead/));
      expect(check([])).toThrow(refused(/too short/));
      expect(check(proof, root, old, 11, from)).toThrow(refused(/does not begin/));
    }
    expect(() => verifyConsistency(3, 3, [], MTH(d.slice(0, 3)), root)).toThrow(refused(/differ/));
    expect(() => verifyConsistency(0, 3, [], root, root)).toThrow(refused(/differ/));
    expect(() => verifyConsistency(3, 3, [root], root, root)).toThrow(refused(/too long/));
    for (const size of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => verifyConsistency(size, 11, [], root, root)).toThrow(refused(/does not begin/));
      expect(() => verifyConsistency(1, size, [], root, root)).toThrow(refused(/does not begin/));
    }
  });
});

test('sizes beyond 32 bits have proofs that hold', async () => {
  // In a tree of equal leaves a complete subtree has the same hash wherever it stands.
  const level: Uint8Array[] = [leafHash(utf8('same'))];
  for (let n = 0; n < 53; n++) level.push(nodeHash(level[n]!, level[n]!));
  const same: HashSource = (subtrees) => subtrees.map((subtree) => level[subtree.level]!);
  const largest = Number.MAX_SAFE_INTEGER;
  for (const [index, size] of [
    [2 ** 32, 2 ** 32 + 1],
    [2 ** 31, 2 ** 33 - 5],
    [largest - 1, largest],
    [12_345_678_901_234, largest],
  ] as const) {
    verifyInclusion(
      level[0]!,
      index,
      size,
      await inclusionProof(index, size, same),
      await rootOf(size, same),
    );
    verifyConsistency(
      index,
      size,
      await consistencyProof(index, size, same),
      await rootOf(index, same),
      await rootOf(size, same),
    );
  }
});

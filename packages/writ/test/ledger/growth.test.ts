/**
 * A proof that a log has only grown: whoever kept a checkpoint can check that everything it covered
 * is still there, with the public key alone.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { consistencyProof } from '../../src/ledger/merkle.js';
import { keyOfSeed, privateKeyText, publicKeyText, signCheckpoint } from '../../src/ledger/note.js';
import { type GrowthProof, verifyGrowthProof } from '../../src/ledger/proofs.js';
import { toBase64 } from '../../src/ledger/text.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import type { Writ } from '../../src/writ.js';
import {
  deployment,
  edited,
  key,
  keys,
  log,
  sampleLedger,
  sha256,
  sourceOf,
  TestLedger,
} from './exports.js';
import { append, entryOf } from './receipts.js';

const ledger = sampleLedger();

async function growthOf(from: number, to = 600, of = ledger): Promise<GrowthProof> {
  const consistency = await consistencyProof(from, to, sourceOf(of.entries.get(log)!), sha256);
  const [before, checkpoint] = [of.checkpoint(log, from), of.checkpoint(log, to)];
  return {
    format: 'writ-growth-proof-1',
    before,
    checkpoint,
    consistency: consistency.map(toBase64),
  };
}
const coded = (code: string) => expect.objectContaining({ code });
const refused = (detail: RegExp) =>
  expect.objectContaining({ code: 'invalid_proof', detail: expect.stringMatching(detail) });

test.each([0, 1, 2, 255, 256, 257, 300, 512, 599, 600])(
  'from %i entries to 600 is shown',
  async (size) => {
    const proof = JSON.parse(JSON.stringify(await growthOf(size)));
    const shown = {
      deployment,
      log,
      epoch: 1,
      size: 600,
      signers: [`${key.name}+${key.id}`],
      before: { epoch: 1, size },
    };
    expect(verifyGrowthProof(proof, { keys })).toEqual(shown);
    expect(verifyGrowthProof(proof, { keys, sha256 })).toEqual(shown);
  },
);

test('across an accepted restore that lost nothing is shown with both epochs', async () => {
  const restored = sampleLedger();
  const { before } = await growthOf(300);
  restored.epochs.set(log, 2);
  expect(
    verifyGrowthProof({ ...(await growthOf(300, 600, restored)), before }, { keys }),
  ).toMatchObject({
    epoch: 2,
    before: { epoch: 1, size: 300 },
  });
});

describe('is refused', () => {
  const elsewhere = keyOfSeed('other.example', new Uint8Array(32).fill(3));
  const stranger = keyOfSeed(deployment, new Uint8Array(32).fill(2));
  const flipped = (hash: string) => `${hash.startsWith('A') ? 'B' : 'A'}${hash.slice(1)}`;
  const signedBy = (signer: typeof key, name: string, size: number) =>
    signCheckpoint({ deployment: name, log, epoch: 1 }, size, ledger.root(log, size), [signer]);

  test.each<[string, (proof: GrowthProof) => unknown, RegExp]>([
    [
      'of another format',
      (proof) => ({ ...proof, format: 'writ-receipt-proof-1' }),
      /format writ-growth-proof-1/,
    ],
    ['that is nothing', () => null, /format/],
    ['without the checkpoint of before', ({ before: _, ...proof }) => proof, /lacks a checkpoint/],
    ['without the one of now', ({ checkpoint: _, ...proof }) => proof, /lacks a checkpoint/],
    ['without hashes', ({ consistency: _, ...proof }) => proof, /not a list/],
    [
      'with one hash less',
      (proof) => ({ ...proof, consistency: proof.consistency.slice(0, -1) }),
      /short/,
    ],
    ['with none', (proof) => ({ ...proof, consistency: [] }), /short/],
    [
      'with one hash more',
      (proof) => ({ ...proof, consistency: [...proof.consistency, proof.consistency[0]] }),
      /long/,
    ],
    [
      'with hashes without end',
      (proof) => ({ ...proof, consistency: Array(65).fill(proof.consistency[0]) }),
      /at most 64/,
    ],
    [
      'with a hash that is none',
      (proof) => ({ ...proof, consistency: proof.consistency.with(0, 'AAAA') }),
      /32 bytes/,
    ],
    [
      'with hashes in another order',
      (proof) => ({ ...proof, consistency: proof.consistency.toReversed() }),
      /lead/,
    ],
    [
      'with its checkpoints in each other’s place',
      (p) => ({ ...p, before: p.checkpoint, checkpoint: p.before }),
      /does not begin/,
    ],
    [
      'with the checkpoint of another log',
      (proof) => ({ ...proof, before: ledger.checkpoint('_system') }),
      /not of one log/,
    ],
    [
      'with another size of before',
      (proof) => ({ ...proof, before: ledger.checkpoint(log, 301) }),
      /lead|short|long/,
    ],
    [
      'with another size of now',
      (proof) => ({ ...proof, checkpoint: ledger.checkpoint(log, 599) }),
      /lead|short|long/,
    ],
    [
      'with two deployments',
      (proof) => ({ ...proof, before: signedBy(elsewhere, elsewhere.name, 300) }),
      /not of one log/,
    ],
    [
      'signed for another deployment',
      (p) => ({ ...p, before: signedBy(elsewhere, deployment, 300) }),
      /key that is not of/,
    ],
  ])('a proof %s', async (_, change, detail) => {
    const proof = change(await growthOf(300));
    expect(() => verifyGrowthProof(proof, { keys: [...keys, publicKeyText(elsewhere)] })).toThrow(
      refused(detail),
    );
  });

  test('a proof with any one of its hashes changed', async () => {
    const proof = await growthOf(300);
    expect(proof.consistency.length).toBeGreaterThan(5);
    for (const [at, hash] of proof.consistency.entries()) {
      const bent = { ...proof, consistency: proof.consistency.with(at, flipped(hash)) };
      expect(() => verifyGrowthProof(bent, { keys }), `hash ${at}`).toThrow(refused(/lead/));
    }
  });

  test.each(['before', 'checkpoint'] as const)(
    'a %s that no known key has signed, or that was changed after',
    async (part) => {
      const proof = await growthOf(300);
      const size = part === 'before' ? 300 : 600;
      const foreign = { ...proof, [part]: signedBy(stranger, deployment, size) };
      expect(() => verifyGrowthProof(foreign, { keys })).toThrow(coded('untrusted_note'));
      const bent = { ...proof, [part]: proof[part].replace(`\n${size}\n`, `\n${size - 1}\n`) };
      expect(() => verifyGrowthProof(bent, { keys })).toThrow(coded('invalid_signature'));
    },
  );

  test('growth out of a log that was written anew and properly signed', async () => {
    const anew = new TestLedger();
    for (const [at, entry] of ledger.entries.get(log)!.entries()) {
      anew.put(log, at === 123 ? edited(entry, (receipt) => (receipt.status = 'refuse')) : entry);
    }
    const { before } = await growthOf(300);
    const grownAnew = await growthOf(300, 600, anew);
    expect(() => verifyGrowthProof(grownAnew, { keys })).not.toThrow();
    expect(() => verifyGrowthProof({ ...grownAnew, before }, { keys })).toThrow(
      refused(/root of the smaller tree/),
    );
    // Of the same size there is nothing to lead anywhere: the roots themselves have to be the same.
    const same = { ...(await growthOf(600)), checkpoint: anew.checkpoint(log) };
    expect(() => verifyGrowthProof(same, { keys })).toThrow(refused(/roots differ/));
  });

  test('growth from nothing whose root is not that of nothing', async () => {
    const before = signCheckpoint({ deployment, log, epoch: 1 }, 0, ledger.root(log, 1), [key]);
    const proof = { ...(await growthOf(0)), before };
    expect(() => verifyGrowthProof(proof, { keys })).toThrow(refused(/roots differ/));
  });
});

describe('out of the database', () => {
  const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
  const trusted = { keys: [publicKeyText(signer)] };
  let db: TestDatabase;
  let writ: Writ;
  beforeEach(async () => {
    db = await testDatabase();
    writ = await db.connect();
  });
  afterEach(() => db.drop());

  const receipts = (from: number, count: number) =>
    append(
      db,
      Array.from({ length: count }, (_, n) => entryOf('acme', 'governor:1', from + n)),
    );
  /** Signs what there is; the notes by log. */
  const sign = async () => {
    const published = await writ.ledger.checkpoint({ key: privateKeyText(signer), places: [] });
    return Object.fromEntries(published.map(({ log, note }) => [log, note])) as Record<
      'acme' | '_system',
      string
    >;
  };

  test('the logs of a tenant and of the deployment are shown to have only grown since a checkpoint that somebody kept', async () => {
    await receipts(1, 300);
    const kept = await sign();
    await receipts(301, 400);
    const now = await sign();
    const proof = JSON.parse(JSON.stringify(await writ.ledger.proveGrowth(kept.acme)));
    expect(proof).toMatchObject({ before: kept.acme, checkpoint: now.acme });
    expect(verifyGrowthProof(proof, trusted)).toMatchObject({
      log: 'acme',
      size: 700,
      before: { size: 300 },
    });
    const system = verifyGrowthProof(await writ.ledger.proveGrowth(kept._system), trusted);
    expect(system.log).toBe('_system');
    expect(system.size).toBeGreaterThan(system.before.size);
    const still = await writ.ledger.proveGrowth(now.acme);
    expect(still.consistency).toEqual([]);
    expect(verifyGrowthProof(still, trusted)).toMatchObject({ size: 700, before: { size: 700 } });
    // What came after the newest checkpoint is in no proof.
    await receipts(701, 5);
    expect(verifyGrowthProof(await writ.ledger.proveGrowth(kept.acme), trusted).size).toBe(700);
  });

  test('a database whose log is another one proves nothing, whoever has signed it since', async () => {
    await receipts(1, 20);
    const kept = await sign();
    await db.drop();
    db = await testDatabase();
    writ = await db.connect();
    await receipts(1, 40);
    await sign();
    await expect(writ.ledger.proveGrowth(kept.acme)).rejects.toMatchObject({
      code: 'ledger_replaced',
      detail: '20 receipts of acme',
    });
  });

  test('a checkpoint that is ahead of what is signed here, or of a log that is not here, is not covered yet', async () => {
    await receipts(1, 5);
    const of = (log: string, size: number) =>
      signCheckpoint({ deployment: signer.name, log, epoch: 1 }, size, ledger.root('acme', size), [
        signer,
      ]);
    await expect(writ.ledger.proveGrowth(of('acme', 5))).rejects.toMatchObject({
      code: 'no_checkpoint',
    });
    await sign();
    await receipts(6, 5);
    await expect(writ.ledger.proveGrowth(of('acme', 10))).rejects.toMatchObject({
      code: 'not_yet_signed',
      detail: '5 receipts of acme are signed, and the checkpoint has 10',
    });
    await expect(writ.ledger.proveGrowth(of('umbrella', 1))).rejects.toMatchObject({
      code: 'not_yet_signed',
    });
    await expect(writ.ledger.proveGrowth('nonsense')).rejects.toMatchObject({
      code: 'invalid_note',
    });
  });
});

/** A single proof: whoever has the public key can check it, and nothing that was bent passes. */
import { describe, expect, test } from 'vitest';
import { canonicalize } from '../../src/ledger/canonical.js';
import { inclusionProof, leafHash } from '../../src/ledger/merkle.js';
import { keyOfSeed, publicKeyText } from '../../src/ledger/note.js';
import {
  type EventProof,
  type ReceiptProof,
  verifyEventProof,
  verifyReceiptProof,
} from '../../src/ledger/proofs.js';
import { fromUtf8, toBase64, utf8 } from '../../src/ledger/text.js';
import { deployment, eventRow, key, keys, sampleLedger, sha256, sourceOf } from './exports.js';

const ledger = sampleLedger();

async function entryProof(log: string, index: number) {
  const entries = ledger.entries.get(log)!;
  const inclusion = (await inclusionProof(index, entries.length, sourceOf(entries), sha256)).map(
    toBase64,
  );
  return { entry: fromUtf8(entries[index]!)!, index, inclusion };
}

const receiptProof = async (index: number): Promise<ReceiptProof> => ({
  format: 'writ-receipt-proof-1',
  ...(await entryProof('acme', index)),
  checkpoint: ledger.checkpoint('acme'),
});

const eventProof = async (at: number, ordinal: number): Promise<EventProof> => {
  const rows = Array.from({ length: 20 }, (_, n) => utf8(canonicalize(eventRow(20 + n))));
  const inclusion = (await inclusionProof(at, 20, sourceOf(rows), sha256)).map(toBase64);
  return {
    format: 'writ-event-proof-1',
    event: fromUtf8(rows[at]!)!,
    ordinal,
    segment: { index: at, inclusion },
    seal: await entryProof('_system', 14),
    checkpoint: ledger.checkpoint('_system'),
  };
};
const refused = (detail: RegExp) =>
  expect.objectContaining({ code: 'invalid_proof', detail: expect.stringMatching(detail) });

test.each([0, 255, 256, 599])(
  'a proof of receipt %i shows the receipt and where it stands',
  async (index) => {
    const proof = JSON.parse(JSON.stringify(await receiptProof(index)));
    expect(verifyReceiptProof(proof, { keys })).toMatchObject({
      deployment,
      log: 'acme',
      epoch: 1,
      index,
      size: 600,
      signers: [`${key.name}+${key.id}`],
      receipt: { context: { note: `receipt ${index}` } },
    });
    expect(verifyReceiptProof(proof, { keys, sha256 })).toEqual(
      verifyReceiptProof(proof, { keys }),
    );
  },
);

test('a proof of an event shows the event, its row and its seal', async () => {
  const proof = JSON.parse(JSON.stringify(await eventProof(5, 2)));
  const row = eventRow(25);
  expect(verifyEventProof(proof, { keys })).toMatchObject({
    event: { type: 'dot.job.enqueued', subject: row.subjects[1] },
    row: { command: 'fn_job_enqueue_many' },
    seal: { reason: 'events_sealed', context: { segment: 2 } },
  });
});

describe('is refused', () => {
  test.each<[string, (proof: ReceiptProof) => unknown, RegExp]>([
    [
      'with another entry',
      (proof) => ({ ...proof, entry: proof.entry.replace('accept', 'refuse') }),
      /lead/,
    ],
    ['with another place', (proof) => ({ ...proof, index: 6 }), /lead/],
    ['with no place', (proof) => ({ ...proof, index: 1.5 }), /whole number/],
    ['with a place beyond the tree', (proof) => ({ ...proof, index: 600 }), /no leaf 600/],
    [
      'with a path that is too short',
      (proof) => ({ ...proof, inclusion: proof.inclusion.slice(1) }),
      /short/,
    ],
    [
      'with a path that is too long',
      (proof) => ({ ...proof, inclusion: [...proof.inclusion, proof.inclusion[0]] }),
      /long/,
    ],
    [
      'with a path without end',
      (proof) => ({ ...proof, inclusion: Array(65).fill(proof.inclusion[0]) }),
      /at most 64/,
    ],
    ['with a hash that is none', (proof) => ({ ...proof, inclusion: ['AAAA'] }), /32 bytes/],
    ['without a checkpoint', (proof) => ({ ...proof, checkpoint: undefined }), /lacks/],
    [
      'with the checkpoint of another log',
      (proof) => ({ ...proof, checkpoint: ledger.checkpoint('_system') }),
      /another log/,
    ],
    [
      'of an entry that is not canonical',
      (proof) => ({ ...proof, entry: `${proof.entry} ` }),
      /canonical/,
    ],
    ['of another format', (proof) => ({ ...proof, format: 'x' }), /format/],
    ['that is nothing', () => null, /format/],
  ])('a proof %s', (_, change, detail) => {
    expect(() => verifyReceiptProof(change(proofOf5), { keys })).toThrow(refused(detail));
  });

  test('a checkpoint of another key, or one that was changed', async () => {
    const other = keyOfSeed(deployment, new Uint8Array(32).fill(2));
    const proof = await receiptProof(5);
    expect(() => verifyReceiptProof(proof, { keys: [publicKeyText(other)] })).toThrow(
      expect.objectContaining({ code: 'untrusted_note' }),
    );
    const bent = { ...proof, checkpoint: proof.checkpoint.replace('\n600\n', '\n601\n') };
    expect(() => verifyReceiptProof(bent, { keys })).toThrow(
      expect.objectContaining({ code: 'invalid_signature' }),
    );
  });

  test.each<[string, (proof: EventProof) => unknown, RegExp]>([
    [
      'of a changed row',
      (proof) => ({ ...proof, event: proof.event.replace('"app"', '"eve"') }),
      /lead/,
    ],
    ['of an event that the row does not have', (proof) => ({ ...proof, ordinal: 4 }), /no event 4/],
    [
      'with another place in the segment',
      (proof) => ({ ...proof, segment: { ...proof.segment, index: 6 } }),
      /lead/,
    ],
    [
      'with a place beyond the segment',
      (proof) => ({ ...proof, segment: { ...proof.segment, index: 20 } }),
      /no leaf 20/,
    ],
    ['with the seal of another segment', (proof) => ({ ...proof, seal: otherSeal }), /lead/],
    ['with a receipt that is no seal', (proof) => ({ ...proof, seal: noSeal }), /seal is not one/],
    ['without a seal', (proof) => ({ ...proof, seal: null }), /lacks/],
  ])('a proof of an event %s', async (_, change, detail) => {
    const proof = change(await eventProof(5, 2));
    expect(() => verifyEventProof(proof, { keys })).toThrow(refused(detail));
  });
});

const proofOf5 = await receiptProof(5);
const otherSeal = await entryProof('_system', 13);
const noSeal = await entryProof('_system', 0);

test('leaves and nodes cannot be taken for each other', async () => {
  const entries = ledger.entries.get('acme')!;
  const proof = await receiptProof(0);
  // The pair of the first two leaf hashes, offered as if it were an entry one level up.
  const pair = new Uint8Array([...leafHash(entries[0]!), ...leafHash(entries[1]!)]);
  const entry = String.fromCharCode(...pair);
  expect(() =>
    verifyReceiptProof({ ...proof, entry, inclusion: proof.inclusion.slice(1) }, { keys }),
  ).toThrow(refused(/canonical/));
});

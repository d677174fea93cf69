/**
 * What the compiler promises about the ledger: nothing here runs, `npm run typecheck` compiles it.
 */
import {
  type EventProof,
  type Exported,
  type Ledger,
  type Outside,
  type Problem,
  type Published,
  type ReceiptProof,
  type Verdict,
  type verifyFolder,
  Writ,
} from '../../src/index.js';
import {
  describe,
  type ProvenEvent,
  verifyEventProof,
  verifyExport,
  type verifyReceiptProof,
} from '../../src/ledger/browser.js';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when both types are the same. */
function same<A, B>(_yes: Same<A, B>): void {}

declare const writ: Writ;
const outside: Outside = {
  places: ['/mnt/elsewhere/checkpoint', 'https://ada:secret@example.test/checkpoint'],
  keys: ['acme+00000000+AA'],
};

const ledger = writ.ledger;
same<typeof ledger, Ledger>(true);
const published = await ledger.checkpoint({
  key: 'PRIVATE+KEY+…',
  places: outside.places,
  trusted: outside.keys,
});
same<typeof published, Published[]>(true);
// @ts-expect-error without a key nothing is signed
ledger.checkpoint({ places: [] });
// @ts-expect-error places are a list
ledger.checkpoint({ key: '', places: '/mnt/elsewhere/checkpoint' });

const verdict = await ledger.verify({
  keys: outside.keys,
  checkpoint: 'note',
  progress: ({ log, entries, of }) => `${log} ${entries / of}`,
});
same<typeof verdict, Verdict>(true);
same<(typeof verdict.problems)[number], Problem>(true);
same<Awaited<ReturnType<typeof verifyFolder>>, Verdict>(true);
// @ts-expect-error keys are asked for, even if there are none
ledger.verify({});
// @ts-expect-error a verdict is not changed afterwards
verdict.ok = true;
describe(verdict);
verifyExport(async (path) => (path === 'export.json' ? new Uint8Array() : null), {
  keys: outside.keys,
});

same<Awaited<ReturnType<Ledger['export']>>, Exported>(true);
same<Awaited<ReturnType<Ledger['proveEvent']>>, EventProof>(true);
same<Awaited<ReturnType<Ledger['proveReceipt']>>, ReceiptProof>(true);
const proven: ProvenEvent = verifyEventProof(await ledger.proveEvent('id'), { keys: outside.keys });
same<typeof proven.event.subject, string>(true);
same<ReturnType<typeof verifyReceiptProof>['receipt']['status'], 'accept' | 'refuse' | 'error'>(
  true,
);

Writ.connect({ connectionString: '', ledger: outside });
// @ts-expect-error a place is believed by its key only
Writ.connect({ connectionString: '', ledger: { places: outside.places } });
await ledger.acceptRestore({ ...outside, reason: 'The disk was lost.', key: '' });
// @ts-expect-error a ledger key signs the acceptance
await ledger.acceptRestore({ ...outside, reason: 'The disk was lost.' });
// @ts-expect-error a loss is not accepted without a reason
await ledger.acceptRestore({ ...outside, key: '' });

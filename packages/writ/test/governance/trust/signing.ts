/** Persons with keys, documents and signatures for the tests of trust. */
import {
  documentBytes,
  documentHash,
  type SignedDocument,
} from '../../../src/governance/document.js';
import { newKey, type Principal, principal, signedBy } from '../../../src/governance/keys.js';
import type { Trust, TrustDocument, TrustPerson } from '../../../src/governance/trust/file.js';
import { type Change, judge, type SignatureRow } from '../../../src/governance/trust/judge.js';

export const deployment = '3f2a6f0e-0c3d-4b59-9d7f-0f6f4c1f9a10';
export const since = '2026-01-01T00:00:00Z';
export const now = new Date('2026-03-01T12:00:00.000Z');

const made = new Map<string, Principal>();
/** The key of a person; `ada/2` is another key of ada. */
export function keyOf(name: string): Principal {
  const known = made.get(name) ?? principal(newKey(name.replace(/\/.*/, '')));
  made.set(name, known);
  return known;
}

export const document: SignedDocument = {
  writ: 'approval 1',
  deployment,
  tenant: 'default',
  contract: '019a9b1c-1111-7222-8333-944455556666',
  round: 1,
  title: 'Raise the limit',
  description: '',
  proposed_by: ['scout', 'helper', 'alice'],
  risk: 'medium',
  policy: { version: 0, sha256: 'ab'.repeat(32), quorum: 1 },
  constraints: {},
  scope: ['checkout', 'limits'],
  steps: [
    { step_type: 'config_update', target: 'limits', parameters: { key: 'max', new_value: 200 } },
    { step_type: 'soak', target: 'SYSTEM', parameters: { duration_ms: 1 } },
    { step_type: 'capability_enable', target: 'checkout', parameters: {} },
    { step_type: 'config_update', target: 'limits', parameters: { key: 'max', new_value: 300 } },
  ],
  template: null,
  pre_state: { 'limits#max': 100, checkout: 'DISABLED' },
  not_after: '2026-03-02T12:00:00.000Z',
};

export const person = (
  name: string,
  { keys = [name], ...more }: Partial<Omit<TrustPerson, 'keys'>> & { keys?: string[] } = {},
): TrustPerson => ({
  tenants: ['default'],
  rights: ['approve'],
  keys: keys.map((key) => ({ scheme: 'ed25519', public_key: keyOf(key).publicKey, since })),
  ...more,
});

export const trustFile = (
  more: Partial<TrustDocument> = {},
): Extract<Trust, { source: 'file' }> => ({
  source: 'file',
  sha256: 'cd'.repeat(32),
  writ: 'trust 1',
  deployment,
  persons: {
    ada: person('ada'),
    bob: person('bob'),
    alice: person('alice'),
    scout: person('scout'),
  },
  quorum: { low: 1, medium: 1, high: 2, critical: 2 },
  risk_floors: [],
  ledger_keys: [],
  ...more,
});

/** The row of a signature; `ada/2` signs with another key of ada. */
export function signature(name: string, of: SignedDocument = document): SignatureRow {
  const { id, publicKey, sign } = keyOf(name);
  const hash = documentHash(documentBytes(of));
  return {
    by: id,
    scheme: 'ed25519',
    signature: sign(hash),
    public_key: publicKey,
    active: true,
    rights: ['approve'],
    tenant: null,
  };
}

export const change = (of: SignedDocument = document, more: Partial<Change> = {}): Change => ({
  contract: of.contract,
  tenant: of.tenant,
  scope: of.scope,
  steps: of.steps,
  preState: of.pre_state,
  params: null,
  ...more,
});

type Case = Partial<Omit<Parameters<typeof judge>[0], 'document' | 'signatures'>> & {
  readonly document?: SignedDocument;
  /** Who has signed. */
  readonly by?: readonly string[];
  readonly signatures?: readonly SignatureRow[];
};

/**
 * Judges the document, signed by ada unless somebody else is named, with a trust file unless
 * another trust is given.
 */
export const judged = ({ document: of = document, by = ['ada'], signatures, ...more }: Case = {}) =>
  judge({
    trust: trustFile(),
    document: documentBytes(of),
    signatures: signatures ?? by.map((name) => signature(name, of)),
    at: now,
    signedBy,
    ...more,
  });

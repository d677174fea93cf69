/**
 * The key of a principal: one secret, from which come what authenticates it to the database (which
 * knows only its hash) and what its approvals are signed with. The database sees the first when the
 * principal calls, and never the second: nobody who reads along can sign.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import { WritRefusal } from '../errors/index.js';
import { knownSecrets } from '../secrets/redactor.js';

const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const spki = Buffer.from('302a300506032b6570032100', 'hex');
const shape = /^writ_key_([A-Za-z0-9][A-Za-z0-9_.@-]{0,99})_([0-9a-f]{64})$/;

/** Somebody who can be called for: made of a key with `principal(key)`. */
export interface Principal {
  readonly id: string;
  /** What a gate is given. */
  readonly credential: string;
  /** In hexadecimal, as the database keeps them. */
  readonly authSha256: string;
  readonly publicKey: string;
  /** Signs 32 bytes, given and answered in hexadecimal. */
  sign(hash: string): string;
}

/** A new key for a principal. It is shown once; nobody can get it back. */
export function newKey(principalId: string): string {
  const key = `writ_key_${principalId}_${randomBytes(32).toString('hex')}`;
  if (!shape.test(key))
    throw new WritRefusal(
      'invalid_principal',
      `${principalId} is not a name of 1 to 100 letters, digits and _ . @ -`,
    );
  return key;
}

export function principal(key: string): Principal {
  const [, id, secret] = shape.exec(key) ?? [];
  if (!id || !secret) throw new WritRefusal('invalid_key');
  knownSecrets.add(`key of ${id}`, secret);
  const derive = (what: string) =>
    Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'hex'), '', what, 32));
  const auth = derive('writ authentication');
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8, derive('writ signature')]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(privateKey)
    .export({ format: 'der', type: 'spki' })
    .subarray(spki.length);
  return {
    id,
    credential: `${id}:${auth.toString('hex')}`,
    authSha256: createHash('sha256').update(auth).digest('hex'),
    publicKey: publicKey.toString('hex'),
    sign: (hash) => sign(null, Buffer.from(hash, 'hex'), privateKey).toString('hex'),
  };
}

/** Whether an approval was signed by the holder of a public key. All in hexadecimal. */
export function signedBy(publicKey: string, hash: string, signature: string): boolean {
  return verify(
    null,
    Buffer.from(hash, 'hex'),
    publicKeyOf(publicKey),
    Buffer.from(signature, 'hex'),
  );
}

const verifyAside = promisify(verify);

/** The same on another thread, for whoever checks many. */
export async function signedByAside(
  publicKey: string,
  hash: string,
  signature: string,
): Promise<boolean> {
  return verifyAside(
    null,
    Buffer.from(hash, 'hex'),
    publicKeyOf(publicKey),
    Buffer.from(signature, 'hex'),
  );
}

/**
 * To make a key of its bytes takes as long as to verify with it, and the same few persons approve
 * most of what a worker does.
 */
const publicKeys = new Map<string, KeyObject>();

function publicKeyOf(hex: string): KeyObject {
  let key = publicKeys.get(hex);
  if (!key) {
    key = createPublicKey({
      key: Buffer.concat([spki, Buffer.from(hex, 'hex')]),
      format: 'der',
      type: 'spki',
    });
    const [oldest] = publicKeys.keys();
    if (publicKeys.size >= 1_000 && oldest !== undefined) publicKeys.delete(oldest);
    publicKeys.set(hex, key);
  }
  return key;
}

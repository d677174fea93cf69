/**
 * The trust file: the persons whose signatures count, and how many of them a change needs. It
 * stands beside the applier and the auditor, in version control; the database cannot extend or
 * relax it. Nothing here needs Node.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { WritRefusal } from '../../errors/index.js';
import { parsePublicKey } from '../../ledger/note.js';
import { fromHex } from '../../ledger/text.js';
import { type Risk, risks } from '../document.js';

export const trustRights = ['approve', 'break_glass'] as const;
export type TrustRight = (typeof trustRights)[number];

/**
 * A key of a person, as the file has it. Times are ISO 8601 in UTC. Ended keys stay in the file.
 */
export interface TrustKey {
  readonly scheme: 'ed25519';
  /** In hexadecimal. */
  readonly public_key: string;
  readonly since: string;
  readonly until?: string;
  readonly compromised_since?: string;
}

export interface TrustPerson {
  /** Names of tenants, or `*` alone for every one. */
  readonly tenants: readonly string[];
  readonly rights: readonly TrustRight[];
  readonly keys: readonly TrustKey[];
}

export interface RiskFloor {
  /** The exact name of a target, or the beginning of one with a `*` at its end. */
  readonly target: string;
  readonly risk: Risk;
}

/** An id that the deployment had before it was renewed as a copy. */
export interface FormerDeployment {
  readonly deployment: string;
  /** When it was renewed. */
  readonly until: string;
}

/** The content of writ.trust.json. */
export interface TrustDocument {
  readonly writ: 'trust 1';
  readonly deployment: string;
  /** For verification only: what was approved for these ids was done before the copy was made. */
  readonly former_deployments?: readonly FormerDeployment[];
  readonly persons: Readonly<Record<string, TrustPerson>>;
  readonly quorum: Readonly<Record<Risk, number>>;
  readonly risk_floors: readonly RiskFloor[];
  /** Verifier keys, as `writ ledger keygen` prints them. */
  readonly ledger_keys: readonly string[];
}

/** The trust of a process: a file, or the word of the database. */
export type Trust =
  | ({
      readonly source: 'file' /** Of the file's bytes. */;
      readonly sha256: string;
    } & TrustDocument)
  | { readonly source: 'database' };

const personName = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$/;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const time = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z$/;

const wrong = (place: string, problem: string) =>
  new WritRefusal('invalid_trust_file', place === '' ? problem : `${place}: ${problem}`);

/** Reads the text of a trust file. A refusal names the field. */
export function parseTrustFile(text: string): TrustDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong('', `It is not JSON: ${(error as Error).message}`);
  }
  // JSON takes the last of two fields with one name; whoever reviews the file may have read the
  // first.
  const written = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(
    ([, colon]) => colon !== undefined,
  ).length;
  if (written !== fieldsIn(value)) throw wrong('', 'An object has two fields of one name.');
  const file = object(
    value,
    '',
    ['writ', 'deployment', 'persons', 'quorum', 'risk_floors', 'ledger_keys'],
    ['former_deployments'],
  );
  if (file.writ !== 'trust 1') throw wrong('writ', 'This version of Writ reads "trust 1".');
  if (!isText(file.deployment, uuid))
    throw wrong('deployment', 'It is the id of the deployment, a UUID in lower case.');
  list(file.former_deployments ?? [], 'former_deployments').forEach(
    (former, n) => void checkFormer(former, `former_deployments/${n}`),
  );
  const persons = object(file.persons, 'persons');
  const owners = new Map<string, string>();
  for (const [name, person] of Object.entries(persons)) {
    const at = `persons/${name}`;
    if (!personName.test(name))
      throw wrong(at, 'A person has a name of 1 to 100 letters, digits and _ . @ -');
    for (const [n, { public_key: key }] of checkPerson(person, at).keys.entries()) {
      const owner = owners.get(key);
      if (owner !== undefined)
        throw wrong(
          `${at}/keys/${n}/public_key`,
          `This key stands at ${owner} already. Each person has keys of their own.`,
        );
      owners.set(key, `${at}/keys/${n}`);
    }
  }
  const quorum = object(file.quorum, 'quorum', risks);
  let least = 1;
  for (const risk of risks) {
    if (!isWhole(quorum[risk], 1, 20))
      throw wrong(`quorum/${risk}`, 'It is a whole number of persons from 1 to 20.');
    if (Number(quorum[risk]) < least)
      throw wrong(`quorum/${risk}`, `A lower risk needs ${least} persons; this needs no fewer.`);
    least = Number(quorum[risk]);
  }
  list(file.risk_floors, 'risk_floors').forEach(
    (floor, n) => void checkFloor(floor, `risk_floors/${n}`),
  );
  list(file.ledger_keys, 'ledger_keys').forEach(
    (key, n) => void checkLedgerKey(key, `ledger_keys/${n}`),
  );
  return value as TrustDocument;
}

function checkFormer(value: unknown, at: string): void {
  const { deployment, until } = object(value, at, ['deployment', 'until']);
  if (!isText(deployment, uuid))
    throw wrong(`${at}/deployment`, 'It is a former id of the deployment, a UUID in lower case.');
  if (!isTime(until)) throw wrong(`${at}/until`, 'It is a time in UTC, like 2026-01-31T12:00:00Z.');
}

function checkPerson(value: unknown, at: string): TrustPerson {
  const { tenants, rights, keys } = object(value, at, ['tenants', 'rights', 'keys']);
  const names = list(tenants, `${at}/tenants`);
  names.forEach((tenant, n) => {
    if (!isText(tenant, /./s))
      throw wrong(`${at}/tenants/${n}`, 'It is the name of a tenant, or "*" for every tenant.');
    checkForm(tenant, `${at}/tenants/${n}`);
  });
  if (names.includes('*') && names.length > 1)
    throw wrong(`${at}/tenants`, '"*" stands for every tenant: leave the others out.');
  list(rights, `${at}/rights`).forEach((right, n) => {
    if (!(trustRights as readonly unknown[]).includes(right))
      throw wrong(`${at}/rights/${n}`, `Rights are ${trustRights.join(' and ')}.`);
  });
  list(keys, `${at}/keys`).forEach((key, n) => void checkKey(key, `${at}/keys/${n}`));
  return value as TrustPerson;
}

function checkKey(value: unknown, at: string): void {
  const key = object(value, at, ['scheme', 'public_key', 'since'], ['until', 'compromised_since']);
  if (key.scheme !== 'ed25519') throw wrong(`${at}/scheme`, 'This version of Writ knows ed25519.');
  if (!isPublicKey(key.public_key))
    throw wrong(
      `${at}/public_key`,
      'It is not an Ed25519 public key: 64 hexadecimal digits in lower case, and no weak point.',
    );
  for (const field of ['since', 'until', 'compromised_since'])
    if (key[field] !== undefined && !isTime(key[field]))
      throw wrong(`${at}/${field}`, 'It is a time in UTC, like 2026-01-31T12:00:00Z.');
  if (key.until !== undefined && Date.parse(key.until as string) < Date.parse(key.since as string))
    throw wrong(`${at}/until`, 'The key ends before it begins.');
}

function checkFloor(value: unknown, at: string): void {
  const { target, risk } = object(value, at, ['target', 'risk']);
  if (!isText(target, /^[^*]+\*?$|^\*$/))
    throw wrong(
      `${at}/target`,
      'It is the name of a target, or its beginning with one * at the end.',
    );
  checkForm(target, `${at}/target`);
  if (!(risks as readonly unknown[]).includes(risk))
    throw wrong(`${at}/risk`, `Risks are ${risks.join(', ')}.`);
}

/**
 * Names are compared byte for byte, and the database has them in this form: any other would match
 * nothing.
 */
function checkForm(name: string, at: string): void {
  if (name !== name.normalize('NFC')) throw wrong(at, 'It is not in the Unicode normal form NFC.');
}

function checkLedgerKey(value: unknown, at: string): void {
  try {
    if (typeof value === 'string' && parsePublicKey(value)) return;
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
  }
  throw wrong(at, 'It is the public key of a ledger: name+id+base64.');
}

/**
 * Whether this is an Ed25519 key that only its owner can sign with. A point of small order has
 * signatures that anyone can make.
 */
export function isPublicKey(value: unknown): value is string {
  if (!isText(value, /^[0-9a-f]{64}$/)) return false;
  try {
    return !ed25519.Point.fromBytes(fromHex(value) as Uint8Array).isSmallOrder();
  } catch {
    return false;
  }
}

const isText = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value);
const isWhole = (value: unknown, min: number, max: number) =>
  Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;

function isTime(value: unknown): boolean {
  const [, day] = (typeof value === 'string' && time.exec(value)) || [];
  const date = new Date(String(value));
  return day !== undefined && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

function object(
  value: unknown,
  at: string,
  must?: readonly string[],
  may: readonly string[] = [],
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(at, 'It is not an object.');
  if (must) {
    const place = (field: string) => (at === '' ? field : `${at}/${field}`);
    const missing = must.find((field) => !Object.hasOwn(value, field));
    if (missing !== undefined) throw wrong(place(missing), 'It is missing.');
    const unknown = Object.keys(value).find(
      (field) => !must.includes(field) && !may.includes(field),
    );
    if (unknown !== undefined)
      throw wrong(
        place(unknown),
        `Nothing reads this field; there are ${[...must, ...may].join(', ')}.`,
      );
  }
  return value as Record<string, unknown>;
}

function list(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(at, 'It is not a list.');
  return value;
}

function fieldsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, member) => sum + fieldsIn(member), own);
}

/**
 * What an approver signs. One canonical JSON text holds everything that matters for the approval;
 * the client that displays a contract builds this text from what it displays, and signs its hash.
 * The database, the appliers and auditors read the kept bytes and never build them again. Nothing
 * here needs Node.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { WritRefusal } from '../errors/index.js';
import { canonicalize, readCanonical } from '../ledger/canonical.js';
import { toHex, utf8 } from '../ledger/text.js';

export const approvalDomain = 'approval 1';
export const glassDomain = 'break glass 1';

/** From the lowest to the highest. */
export const risks = ['low', 'medium', 'high', 'critical'] as const;
export type Risk = (typeof risks)[number];

/** How long the signature of a break-glass may be used. */
export const glassMs = 15 * 60_000;

/** Numbers from `min` to `max`, or one of `in`. */
export type SignedBounds =
  | { readonly min: number; readonly max: number }
  | { readonly in: readonly unknown[] };

export interface SignedStep {
  readonly step_type: string;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What makes a contract a template. Its fields have the names that the database gives them. */
export interface SignedTemplate {
  readonly params?: Readonly<Record<string, SignedBounds>>;
  /** By slot: `scope#key` of a configuration, otherwise the target. */
  readonly pre?: Readonly<Record<string, SignedBounds>>;
  readonly activations: number;
  readonly cooldown_sec?: number;
  readonly expires_in_sec: number;
}

interface Fields {
  /**
   * The id of the database's deployment. A signature for staging is worth nothing in production.
   */
  readonly deployment: string;
  readonly tenant: string;
  readonly contract: string;
  /**
   * Counts what voids the signatures so far. A signature of an earlier round never counts again.
   */
  readonly round: number;
  readonly title: string;
  readonly description: string;
  /** The proposer, then everyone it acts for. None of them may approve. */
  readonly proposed_by: readonly string[];
  readonly risk: Risk;
  /**
   * `sha256` is the hash of the policy's text; `quorum` is how many persons it demands for this
   * risk.
   */
  readonly policy: { readonly version: number; readonly sha256: string; readonly quorum: number };
  readonly constraints: Readonly<Record<string, unknown>>;
  readonly scope: readonly string[];
  readonly steps: readonly SignedStep[];
  readonly template: SignedTemplate | null;
  /** The value of each slot before the change; null where there is none. Empty for a template. */
  readonly pre_state: Readonly<Record<string, unknown>>;
  /** No forward step begins after this time: `2026-01-31T12:00:00.000Z`. */
  readonly not_after: string;
}

export interface ApprovalDocument extends Fields {
  readonly writ: typeof approvalDomain;
}

export interface GlassDocument extends Fields {
  readonly writ: typeof glassDomain;
  readonly reason: string;
}

export type SignedDocument = ApprovalDocument | GlassDocument;

/** Returns the canonical text of a document, after it has checked every field. */
export function documentBytes(document: SignedDocument): string {
  return canonicalize(checkDocument(document));
}

/**
 * Reads a document. Throws unless the bytes are canonical and hold exactly the fields of a
 * document.
 */
export function parseDocument(bytes: string | Uint8Array): SignedDocument {
  // An encoder would replace half of a surrogate pair without a word.
  const readable = typeof bytes !== 'string' || bytes.isWellFormed();
  const value = readable
    ? readCanonical(typeof bytes === 'string' ? utf8(bytes) : bytes)
    : undefined;
  if (value === undefined) throw wrong('the document', 'is not canonical JSON (RFC 8785)');
  return checkDocument(value);
}

/**
 * Returns the SHA-256 of a document's bytes in hexadecimal. A signature of the scheme ed25519 signs
 * these 32 bytes.
 */
export function documentHash(bytes: string | Uint8Array): string {
  return toHex(sha256(typeof bytes === 'string' ? utf8(bytes) : bytes));
}

/**
 * Returns the place that a step changes, as the database names it; undefined for steps that change
 * nothing.
 */
export function slotOf({ step_type, target, parameters }: SignedStep): string | undefined {
  if (step_type === 'soak' || step_type === 'signal_record') return undefined;
  return step_type === 'config_update' ? `${target}#${String(parameters.key)}` : target;
}

const wrong = (place: string, problem: string) =>
  new WritRefusal('invalid_document', `${place} ${problem}`);

/** Throws, and names the field, unless the value is right. */
type Check = (value: unknown, place: string) => void;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text: Check = (value, place) => {
  if (typeof value !== 'string') throw wrong(place, 'is not a text');
};
const matching =
  (pattern: RegExp, what: string): Check =>
  (value, place) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw wrong(place, `is not ${what}`);
  };
const name = matching(/./s, 'a text of at least one character');
const uuid = matching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'a UUID in lower case');
const hash = matching(/^[0-9a-f]{64}$/, 'a SHA-256 in lower-case hexadecimal');
const whole =
  (least: number): Check =>
  (value, place) => {
    if (!Number.isSafeInteger(value) || (value as number) < least)
      throw wrong(place, `is not a whole number from ${least}`);
  };
const finite: Check = (value, place) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(place, 'is not a number');
};
const instant: Check = (value, place) => {
  const time = typeof value === 'string' ? new Date(value) : undefined;
  if (!time || Number.isNaN(time.getTime()) || time.toISOString() !== value)
    throw wrong(place, 'is not a time like 2026-01-31T12:00:00.000Z');
};
const anyObject: Check = (value, place) => {
  if (!isObject(value)) throw wrong(place, 'is not an object');
};
const anyList: Check = (value, place) => {
  if (!Array.isArray(value)) throw wrong(place, 'is not a list');
};
const listOf =
  (check: Check, least = 0): Check =>
  (value, place) => {
    anyList(value, place);
    const members = value as readonly unknown[];
    if (members.length < least) throw wrong(place, 'is empty');
    members.forEach((member, at) => void check(member, `${place}/${at}`));
  };
const distinct =
  (check: Check): Check =>
  (value, place) => {
    check(value, place);
    const members = value as readonly unknown[];
    if (new Set(members).size < members.length) throw wrong(place, 'names one twice');
  };
const mapOf =
  (check: Check): Check =>
  (value, place) => {
    anyObject(value, place);
    for (const [key, member] of Object.entries(value as object)) check(member, `${place}/${key}`);
  };
const oneOf =
  (values: readonly unknown[]): Check =>
  (value, place) => {
    if (!values.includes(value)) throw wrong(place, `is not one of ${values.join(', ')}`);
  };
const nullOr =
  (check: Check): Check =>
  (value, place) => {
    if (value !== null) check(value, place);
  };

/** An object with exactly these fields, besides those that may be missing. */
const fields =
  (must: Readonly<Record<string, Check>>, may: Readonly<Record<string, Check>> = {}): Check =>
  (value, place) => {
    anyObject(value, place);
    const object = value as Record<string, unknown>;
    const at = (field: string) => (place === '' ? field : `${place}/${field}`);
    const missing = Object.keys(must).find((field) => !Object.hasOwn(object, field));
    if (missing !== undefined) throw wrong(at(missing), 'is missing');
    for (const [field, member] of Object.entries(object)) {
      const check = Object.hasOwn(must, field)
        ? must[field]
        : Object.hasOwn(may, field)
          ? may[field]
          : undefined;
      if (!check) throw wrong(at(field), 'is not a field of a document');
      check(member, at(field));
    }
  };

const range = fields({ min: finite, max: finite });
const choice = fields({ in: anyList });
const bounds: Check = (value, place) =>
  (isObject(value) && Object.hasOwn(value, 'in') ? choice : range)(value, place);

const common: Readonly<Record<string, Check>> = {
  deployment: uuid,
  tenant: name,
  contract: uuid,
  round: whole(1),
  title: text,
  description: text,
  proposed_by: distinct(listOf(name, 1)),
  risk: oneOf(risks),
  policy: fields({ version: whole(0), sha256: hash, quorum: whole(1) }),
  constraints: anyObject,
  scope: distinct(listOf(name)),
  steps: listOf(fields({ step_type: name, target: name, parameters: anyObject }), 1),
  template: nullOr(
    fields(
      { activations: whole(1), expires_in_sec: whole(1) },
      { params: mapOf(bounds), pre: mapOf(bounds), cooldown_sec: whole(0) },
    ),
  ),
  pre_state: anyObject,
  not_after: instant,
};
const approval = fields({ writ: oneOf([approvalDomain]), ...common });
const glass = fields({ writ: oneOf([glassDomain]), ...common, reason: name });

function checkDocument(value: unknown): SignedDocument {
  anyObject(value, 'the document');
  const document = value as SignedDocument;
  if (document.writ === glassDomain) glass(value, '');
  else approval(value, '');
  if (document.template !== null && Object.keys(document.pre_state).length > 0)
    throw wrong('pre_state', 'is not empty, but the contract is a template');
  return document;
}

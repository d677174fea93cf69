/** The bytes of a plan, their hash, and references to them. */
import { WritRefusal } from '../../errors/index.js';
import { canonicalize, readCanonical } from '../../ledger/canonical.js';
import { nodeSha256 } from '../../ledger/sha256.js';
import type { PlanDocument, PlanRef } from './document.js';
import { validatePlan } from './validate.js';

/** Where this deployment keeps its own plans. */
const ownPlace = 'writ:plan/';

const encoder = new TextEncoder();

export const planBytes = (document: PlanDocument): Uint8Array =>
  encoder.encode(canonicalize(document));

export const planSha256 = (bytes: Uint8Array): string =>
  Buffer.from(nodeSha256(bytes)).toString('hex');

export function planRef(
  { schemaVersion, planId, planVersion }: PlanDocument,
  bytes: Uint8Array,
): PlanRef {
  return {
    uri: `${ownPlace}${planId}/${planVersion}`,
    sha256: planSha256(bytes),
    schemaVersion,
    planId,
    planVersion,
    sizeBytes: bytes.length,
  };
}

export interface VerifyPlanOptions {
  /**
   * Beginnings of uris that plans may be taken from, each up to a slash: `s3://plans/`. Only plans
   * of this deployment unless given.
   */
  readonly allowed?: readonly string[];
  /** What a reference's expiry is held against. */
  readonly now?: Date;
}

/** The plan that a reference names, if these bytes are it. */
export function verifyPlanRef(
  ref: PlanRef,
  bytes: Uint8Array,
  options: VerifyPlanOptions = {},
): PlanDocument {
  const { allowed = [ownPlace], now = new Date() } = options;
  checkUri(ref.uri, allowed);
  const mismatch = (words: string) =>
    new WritRefusal(
      'PLAN_INTEGRITY_VALIDATION_FAILED',
      `${ref.planId} ${ref.planVersion}: ${words}`,
    );
  if (ref.expiresAt !== undefined && !(Date.parse(ref.expiresAt) > now.getTime()))
    throw mismatch('the reference has expired');
  if (ref.sizeBytes !== undefined && ref.sizeBytes !== bytes.length) {
    throw mismatch(`the reference says ${ref.sizeBytes} bytes, the plan has ${bytes.length}`);
  }
  const sha256 = planSha256(bytes);
  if (ref.sha256 !== sha256)
    throw mismatch(`the reference says SHA-256 ${ref.sha256}, the plan's is ${sha256}`);
  const value = readCanonical(bytes);
  if (value === undefined) throw mismatch('its bytes are not canonical JSON');
  const document = validatePlan(value);
  // One plan has one hash: that of its steps in order, in canonical JSON.
  if (planSha256(planBytes(document)) !== sha256)
    throw mismatch('its steps are not in order; validate it and use the hash of what comes out');
  for (const field of ['schemaVersion', 'planId', 'planVersion'] as const) {
    if (ref[field] !== document[field]) throw mismatch(`the plan's ${field} is ${document[field]}`);
  }
  const own = planRef(document, bytes).uri;
  if (ref.uri.startsWith(ownPlace) && ref.uri !== own)
    throw mismatch(`the reference says ${ref.uri}, the plan's uri is ${own}`);
  return document;
}

function checkUri(uri: string, allowed: readonly string[]): void {
  if (typeof uri !== 'string')
    throw new WritRefusal('PLAN_URI_NOT_ALLOWED', 'the reference has no uri');
  const place = allowed.find((beginning) => beginning.endsWith('/') && uri.startsWith(beginning));
  // Nothing that leads out of the place again, however it is written.
  const rest = place === undefined ? [] : uri.slice(place.length).split('/');
  if (rest.length === 0 || !rest.every((part) => /^[A-Za-z0-9_+@-][A-Za-z0-9_.+@-]*$/.test(part))) {
    throw new WritRefusal(
      'PLAN_URI_NOT_ALLOWED',
      `${JSON.stringify(uri.slice(0, 200))}; allowed: ${allowed.join(', ') || 'none'}`,
    );
  }
}

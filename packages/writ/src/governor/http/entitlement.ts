/**
 * What a catalogue says of a tenant's entitlement, signed as signals are. Whether it is newer than
 * what is known is decided by who takes it.
 */
import { WritRefusal } from '../../errors/index.js';
import { text } from '../incoming.js';
import type { EntitlementNotice } from '../intake.js';
import { momentOf } from '../moment.js';
import {
  type Credentials,
  type Fields,
  isMissing,
  type Read,
  type Request,
  readSigned,
  refused,
} from './request.js';

const states = new Map<unknown, EntitlementNotice['state']>([
  ['ENTITLEMENT_ACTIVE', 'ACTIVE'],
  ['ENTITLEMENT_CANCELLED', 'CANCELLED'],
  ['CANCELLED', 'CANCELLED'],
]);

export function readEntitlement(
  request: Request,
  credentials: Credentials,
): Read<EntitlementNotice> {
  const read = readSigned(request, credentials);
  if (read.refused) return read;
  const { sent, fields } = read.ok;
  for (const field of ['entitlement_id', 'state'])
    if (isMissing(fields[field])) return refused('missing_required_field', field);
  try {
    return { ok: { webhook_id: sent.id, sent_at: sent.at, ...noticeOf(fields) } };
  } catch (error) {
    if (error instanceof WritRefusal) return refused(error.code, error.detail);
    throw error;
  }
}

const refuse = (detail: string) => new WritRefusal('invalid_entitlement', detail);

function noticeOf(fields: Fields): Omit<EntitlementNotice, 'webhook_id' | 'sent_at'> {
  const state = states.get(fields.state);
  if (!state) throw refuse(`state is one of ${[...states.keys()].join(', ')}`);
  return {
    entitlement_id: text('entitlement_id', fields.entitlement_id, refuse),
    state,
    ...(!isMissing(fields.expires_at) && { expires_at: expiryOf(fields.expires_at) }),
    ...(!isMissing(fields.tier) && { tier: tierOf(fields.tier) }),
    // Here null says something: there is no limit.
    ...(fields.quota !== undefined && { quota: quotaOf(fields.quota) }),
  };
}

function expiryOf(value: unknown): number {
  const at = typeof value === 'string' ? momentOf(value) : undefined;
  if (at !== undefined && at >= 0) return at;
  throw refuse('expires_at is a time by RFC 3339');
}

function tierOf(value: unknown): string {
  const tier = typeof value === 'string' ? value.toLowerCase() : '';
  if (/^[a-z][a-z0-9_.:-]{0,99}$/.test(tier)) return tier;
  throw refuse('tier has 1 to 100 letters, digits and _ . : - and begins with a letter');
}

function quotaOf(value: unknown): number | null {
  if (value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0))
    return value;
  throw refuse('quota is a whole number of actions in a month, or null for no limit');
}

/**
 * A signal by HTTP: signed, then parsed, then complete, then within its bounds. Pure: what a
 * request says depends on it, on the credentials and on the time, and on nothing else.
 */
import { type ErrorCode, WritRefusal } from '../../errors/index.js';
import { checkIncoming, type IncomingSignal } from '../incoming.js';
import {
  type Credentials,
  checkMoment,
  isMissing,
  type Read,
  type Request,
  readSigned,
  refused,
} from './request.js';

const required: readonly (readonly [field: string, code: ErrorCode])[] = [
  ['source', 'missing_source_field'],
  ['type', 'missing_type_field'],
  ['timestamp', 'missing_timestamp_field'],
  ['severity', 'missing_severity_field'],
];

export function readSignal(request: Request, credentials: Credentials): Read<IncomingSignal> {
  const read = readSigned(request, credentials);
  if (read.refused) return read;
  const { sent, fields } = read.ok;
  for (const [field, code] of required) if (isMissing(fields[field])) return refused(code);
  const observed = checkMoment(fields.timestamp, credentials.now);
  if (observed.refused) return observed;
  return incoming({ ...fields, signal_id: sent.id, observed_at: observed.ok });
}

/** As `checkIncoming`, with the refusal as a value. */
export function incoming(value: unknown): Read<IncomingSignal> {
  try {
    return { ok: checkIncoming(value) };
  } catch (error) {
    if (error instanceof WritRefusal) return refused(error.code, error.detail);
    throw error;
  }
}

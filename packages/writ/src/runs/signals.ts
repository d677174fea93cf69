/**
 * What a signal has to be before anybody is asked whether it is allowed. The gate looks again: not
 * everybody comes this way.
 */
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type { RunSignal } from './engine.js';

const types: readonly string[] = [
  'PAUSE',
  'RESUME',
  'CANCEL',
  'RETRY_STEP',
  'RETRY_RUN',
  'SKIP_STEP',
  'UPDATE_PARAMS',
  'EMERGENCY_STOP',
];
const maxBytes = 65_536;

const wrong = (detail: string) => new WritRefusal('SIGNAL_INVALID_PAYLOAD', detail);

/** The signal as the gate takes it; refuses one that could not be applied to any run. */
export function signalText(signal: RunSignal & { readonly signalId: string }): string {
  const { type, signalId, stepId, params, reason, newEffectKey } = signal;
  if (!isUuid(signalId)) throw wrong(`signalId ${signalId} is not a UUID`);
  if (!types.includes(type)) throw wrong(`there is no signal ${type}`);
  if ((type === 'RETRY_STEP' || type === 'SKIP_STEP') && !stepId)
    throw wrong(`${type} names a stepId`);
  if (newEffectKey !== undefined && (type !== 'RETRY_STEP' || typeof newEffectKey !== 'boolean'))
    throw wrong('newEffectKey is true or false, and belongs to RETRY_STEP');
  if (
    type === 'UPDATE_PARAMS' &&
    (typeof params !== 'object' || params === null || Array.isArray(params))
  )
    throw wrong('UPDATE_PARAMS has params, an object');
  if (type === 'EMERGENCY_STOP' && !reason?.trim())
    throw new WritRefusal('AUTHZ_REASON_REQUIRED', 'EMERGENCY_STOP needs a reason');
  const text = JSON.stringify(signal);
  refuseSecrets(text, `a signal ${type}`);
  if (Buffer.byteLength(text) > maxBytes) throw wrong(`a signal has ${maxBytes} bytes at most`);
  return text;
}

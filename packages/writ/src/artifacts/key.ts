/**
 * Where an artifact lies in its store: `tenant/day/time_run_id.kind`. Day and time are those of its
 * expiry, so that the names of a tenant, in their order, are in the order in which they fall due,
 * and a sweep goes by names alone; what is kept for ever lies behind them, under the day on which
 * it came. The run is there if it is of one, and the id is its own: no two puts share a place, and
 * so deleting one never takes the other. A key that is read is held against this form as a whole,
 * which leaves no way out of the store.
 */
import { createHash } from 'node:crypto';
import { isUuid, uuidv7 } from '../database/uuid.js';
import { WritError } from '../errors/index.js';

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const kindForm = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}';
const tenantForm = /^(?:(?:[A-Za-z0-9_-]|![0-9A-F]{2}){1,120}|!![0-9a-f]{64})$/;
const dayForm = /^\d{4}-\d\d-\d\d$/;
const keptForm = /^kept-\d{4}-\d\d-\d\d$/;
const nameForm = new RegExp(`^(?:(\\d{9})_)?(?:${uuid}_)?${uuid}\\.(${kindForm})$`);
const wholeKind = new RegExp(`^${kindForm}$`);

export interface Place {
  readonly tenant: string;
  readonly kind: string;
  readonly expiresAt: Date | undefined;
}

export function assertKind(kind: unknown): void {
  if (typeof kind === 'string' && wholeKind.test(kind)) return;
  throw new WritError(
    'invalid_artifact',
    'its kind is 1 to 64 letters, digits and . _ - beginning with a letter or digit',
  );
}

/**
 * A tenant is any text; a folder is not. What folders, keys and URIs cannot all hold is written in
 * hexadecimal behind a !, and what is too long becomes its hash.
 */
export function tenantFolder(tenant: string): string {
  if (tenant.length === 0 || tenant.length > 200 || !tenant.isWellFormed())
    throw new WritError('invalid_tenant');
  const folder = [...Buffer.from(tenant)]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(letter)
        ? letter
        : `!${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
  return folder.length <= 120 ? folder : `!!${createHash('sha256').update(tenant).digest('hex')}`;
}

export function newKey(
  tenant: string,
  kind: string,
  expiresAt: Date | undefined,
  runId: string | undefined,
): string {
  if (runId !== undefined && !isUuid(runId))
    throw new WritError('invalid_artifact', 'its run id is not a UUID');
  const [day, time] = (expiresAt ?? new Date()).toISOString().split('T') as [string, string];
  const name = [expiresAt && time.replace(/\D/g, ''), runId?.toLowerCase(), uuidv7()]
    .filter((part) => part !== undefined)
    .join('_');
  return `${tenantFolder(tenant)}/${expiresAt ? day : `kept-${day}`}/${name}.${kind}`;
}

/** What a key says; undefined if it is none of ours. */
export function parseKey(key: string): Place | undefined {
  const [tenant = '', day = '', name = '', ...rest] = key.split('/');
  const [, time, kind] = nameForm.exec(name) ?? [];
  if (rest.length > 0 || !tenantForm.test(tenant) || kind === undefined) return undefined;
  if (time === undefined)
    return keptForm.test(day) ? { tenant, kind, expiresAt: undefined } : undefined;
  const expiresAt = dayForm.test(day) ? moment(day, time) : undefined;
  return expiresAt && { tenant, kind, expiresAt };
}

function moment(day: string, time: string): Date | undefined {
  const date = new Date(
    `${day}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4, 6)}.${time.slice(6)}Z`,
  );
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Whether something in the folder of this day can have expired. */
export const mayBeDue = (day: string, now: Date): boolean =>
  dayForm.test(day) && day <= now.toISOString().slice(0, 10);

/** Whether everything in the folder of this day has expired. */
export const isOver = (day: string, now: Date): boolean =>
  dayForm.test(day) && day < now.toISOString().slice(0, 10);

export const isTenantFolder = (name: string): boolean => tenantForm.test(name);

export const hasExpired = (key: string, now: Date): boolean => {
  const expiresAt = parseKey(key)?.expiresAt;
  return expiresAt !== undefined && expiresAt <= now;
};

import { createHash, randomFillSync } from 'node:crypto';

const buffer = Buffer.alloc(16 * 256);
let offset = buffer.length;
let lastMs = 0;
let counter = 0;
/** How far the clock that ids follow is ahead of this machine's. */
let aheadMs = 0;

/** Ids follow this clock from now on. */
export function followClock(ms: number): void {
  aheadMs = ms - Date.now();
  lastMs = 0;
}

/**
 * UUIDv7 (RFC 9562, method 1): milliseconds, a 12-bit counter that keeps ids of one process in
 * order within a millisecond, and 62 random bits. Random bytes are drawn in blocks, because asking
 * for 16 at a time costs more than everything else here.
 */
export function uuidv7(): string {
  if (offset === buffer.length) {
    randomFillSync(buffer);
    offset = 0;
  }
  const now = Date.now() + aheadMs;
  // A clock that was set back by more than a minute is right now: ids go back with it.
  if (now > lastMs || now < lastMs - 60_000) {
    lastMs = now;
    counter = buffer.readUInt16BE(offset) & 0x3ff;
  } else if (++counter > 0xfff) {
    lastMs++; // borrow from the next millisecond rather than repeat
    counter = 0;
  }
  const random = buffer.toString('hex', offset + 8, offset + 16);
  offset += 16;
  const ms = lastMs.toString(16).padStart(12, '0');
  const variant = '89ab'[Number.parseInt(random[0] as string, 16) & 3];
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${variant}${random.slice(1, 4)}-${random.slice(4)}`;
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** The smallest UUIDv7 of a moment: ids compare with it as their times do. */
export function uuidFloor(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The moment that the first 48 bits of a UUIDv7 name, in milliseconds. */
export function uuidTime(uuid: string): number {
  return Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);
}

/** A UUID in the form of version 4, or 8, that follows from a text: the same text, the same id. */
export function uuidOf(text: string, version: 4 | 8 = 4): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

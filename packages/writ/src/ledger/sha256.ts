import { hash } from 'node:crypto';
import type { Sha256 } from './merkle.js';

/**
 * Node's own, several times as fast as the portable one; as a binary string it is answered in half
 * the time that a buffer takes.
 */
export const nodeSha256: Sha256 = (bytes) => Buffer.from(hash('sha256', bytes, 'binary'), 'binary');

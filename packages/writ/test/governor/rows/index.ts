/** The governor's table, row by row. */
import { anywhere } from './anywhere.js';
import { free } from './free.js';
import { halted } from './halted.js';
import { intervening } from './intervening.js';
import type { Row } from './row.js';

export { runRow } from './row.js';
export const rows: readonly Row[] = [...free, ...intervening, ...halted, ...anywhere];

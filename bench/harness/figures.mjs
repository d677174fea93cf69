// @ts-check
// Numbers: one clock for all processes, and the statistics that the harness reports.

/** Milliseconds of the monotonic clock, which every process of one machine shares. */
export const monotonicMs = () => Number(process.hrtime.bigint() / 1000n) / 1000;

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/**
 * The nearest-rank percentile.
 * @param {number[]} values
 * @param {number} percent
 */
export function percentile(values, percent) {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/**
 * Three significant digits for small figures, whole numbers for large ones.
 * @param {number | null | undefined} value
 */
export function show(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** @param {number} value */
export const rounded = (value) => Number(value.toPrecision(5));

// @ts-check
// The table for people: one block per case, one line per participant.
import { show } from './figures.mjs';

/** @typedef {import('./rows.mjs').Row} Row */

/** @param {Row[]} rows */
export function table(rows) {
  return rows.map(block).join('\n\n');
}

/** @param {Row} row */
function block(row) {
  const head = [
    '',
    row.unit,
    'min – max',
    'WAL B/job',
    'commits/job',
    'CPU µs/job',
    'RSS MB',
    'ours ÷ it',
  ];
  const order = Object.entries(row.rounds).map(([label]) => label);
  /** @type {Record<string, number>} */
  const medians = {
    ...row.peers,
    ...row.beside,
    ...(row.ours === null ? {} : { [row.label]: row.ours }),
  };
  const lines = order.map((label) => {
    const value = medians[label] ?? null;
    const [low, high] = row.spread[label] ?? [];
    const quotient =
      label !== row.label && row.ours !== null && value ? `${(row.ours / value).toFixed(2)} ×` : '';
    const cost = [row.walPerJob, row.commitsPerJob, row.cpuPerJob, row.rssMb].map((figures) =>
      show(figures[label]),
    );
    return [label, show(value), `${show(low)} – ${show(high)}`, ...cost, quotient];
  });
  return [
    `${row.case}: ${verdict(row)}`,
    ...aligned([head, ...lines]),
    ...details(row),
    ...failures(row),
  ].join('\n');
}

/** @param {Row} row */
export function verdict(row) {
  if (row.void) return `VOID (${row.void.split('\n')[0]})`;
  if (row.targets.length > 0) return row.targets.map((target) => standing(row, target)).join('; ');
  return row.ratio === null
    ? 'nobody to compare with, no target'
    : `${row.ratio.toFixed(2)} × ${row.against}, no target`;
}

/** @param {Row} row @param {import('./rows.mjs').Standing} standing */
function standing(row, { against, reached, target, met }) {
  const bound = row.better === 'higher' ? 'at least' : 'at most';
  const outcome = met ? 'met' : 'NOT MET';
  if (against === null)
    return `${show(reached)} ${row.unit}, target ${bound} ${target}: ${outcome}`;
  return `${(reached ?? Number.NaN).toFixed(2)} × ${against}, target ${bound} ${target} ×: ${outcome}`;
}

/** @param {Row} row */
function details(row) {
  return Object.entries(row.details).map(([what, byLabel]) => {
    const told = Object.entries(byLabel).flatMap(([label, value]) =>
      value === null ? [] : [`${label} ${show(value)}`],
    );
    return `  ${what}: ${told.join(', ')}`;
  });
}

/** @param {Row} row */
function failures(row) {
  return Object.entries(row.failures).map(
    ([label, reason]) => `  ${label} failed: ${reason.split('\n').slice(0, 4).join('\n    ')}`,
  );
}

/** The first column to the left, numbers to the right. @param {string[][]} lines */
function aligned(lines) {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines.map((line) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .replace(/^/, '  ')
      .trimEnd(),
  );
}

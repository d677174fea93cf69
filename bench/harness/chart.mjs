// @ts-check
// The chart: a panel per case, a bar per participant, the spread of the rounds as a thin line, and
// the target as a dashed mark. Drawn by hand as SVG; a chart library would be a dependency.
import { show } from './figures.mjs';
import { verdict } from './table.mjs';

const WIDTH = 860;
const LEFT = 180;
const SCALE = 500;
const BAR = 18;
const GAP = 8;
const HEAD = 46;

/** @param {import('./rows.mjs').Row[]} rows @param {string} title @param {string} subtitle */
export function chart(rows, title, subtitle) {
  let y = 70;
  const panels = rows.map((row) => {
    const panel = panelOf(row, y);
    y += panel.height + 24;
    return panel.svg;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="20" y="30" font-size="18" font-weight="600" fill="#1b1f24">${escaped(title)}</text>
<text x="20" y="50" fill="#57606a">${escaped(subtitle)}</text>
${panels.join('\n')}
</svg>
`;
}

/** @param {import('./rows.mjs').Row} row @param {number} top */
function panelOf(row, top) {
  /** @type {Record<string, number>} */
  const medians = {
    ...(row.ours === null ? {} : { [row.label]: row.ours }),
    ...row.beside,
    ...row.peers,
  };
  const bars = Object.entries(medians);
  const longest = Math.max(...Object.values(row.spread).map(([, high]) => high), 1e-9);
  /** @param {number} value */
  const x = (value) => LEFT + (value / longest) * SCALE;
  const height = HEAD + bars.length * (BAR + GAP);
  const better = row.better === 'higher' ? 'longer is better' : 'shorter is better';
  const parts = [
    `<text x="20" y="${top + 14}" font-weight="600" fill="#1b1f24">${escaped(row.case)}</text>`,
    `<text x="20" y="${top + 32}" fill="#57606a">${escaped(`${row.unit}, ${better}; ${verdict(row)}`)}</text>`,
  ];
  bars.forEach(([label, value], k) => {
    const y = top + HEAD + k * (BAR + GAP);
    const middle = y + BAR / 2;
    const [low, high] = row.spread[label] ?? [value, value];
    const fill =
      label === row.label || (row.beside[label] !== undefined && label.startsWith('writ'))
        ? '#1f6feb'
        : '#b6bec8';
    parts.push(
      `<text x="${LEFT - 8}" y="${y + 13}" text-anchor="end" fill="#1b1f24">${escaped(label)}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${fixed(x(value) - LEFT)}" height="${BAR}" rx="2" fill="${fill}"/>`,
      `<path d="M${fixed(x(low))} ${middle}H${fixed(x(high))}" stroke="#1b1f24" stroke-width="1.5"/>`,
      `<text x="${fixed(x(Math.max(value, high)) + 8)}" y="${y + 13}" fill="#1b1f24">${show(value)}</text>`,
    );
  });
  for (const { against, target } of row.targets) {
    const mark = against === null ? target : (medians[against] ?? Number.NaN) * target;
    if (!(mark <= longest)) continue;
    const at = fixed(x(mark));
    parts.push(
      `<path d="M${at} ${top + HEAD - 4}V${top + height - GAP + 4}" stroke="#cf222e" stroke-dasharray="4 3"/>`,
    );
  }
  return { svg: parts.join('\n'), height };
}

/** @param {number} value */
const fixed = (value) => value.toFixed(1);

/** @param {string} text */
const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

// @ts-check
// Our own build beside another one, such as that of an earlier commit: the same cases, alternating
// round by round, each on a server of its own. What it compares is processor time per job, which
// says more than the clock on a machine with other work.
//   npm run bench -- --suite queue --case drain --rounds 3 --against OTHER_CHECKOUT/dist
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, show } from './harness/figures.mjs';

const harness = fileURLToPath(new URL('harness/main.mjs', import.meta.url));

/**
 * Answers the exit code.
 * @param {string} node
 * @param {string[]} args those of the harness
 * @param {string} other the folder of the other build
 */
export function compare(node, args, other) {
  if (!existsSync(join(other, 'index.js'))) {
    console.error(
      `bench: --against takes the folder of a build; ${other || 'nothing'} has no index.js`,
    );
    return 2;
  }
  const at = args.indexOf('--rounds');
  const rounds = at >= 0 ? Number(args.splice(at, 2)[1]) : 3;
  const folder = mkdtempSync(join(tmpdir(), 'writ-against-'));
  /** @type {Map<string, { ours: number[], theirs: number[] }>} */
  const cases = new Map();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const order = /** @type {const} */ (
        round % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours']
      );
      for (const side of order) {
        const json = join(folder, `${side}-${round}.json`);
        const env = {
          ...process.env,
          ...(side === 'theirs' && { WRIT_BENCH_BUILD: resolve(other) }),
        };
        const call = [harness, ...args, '--subjects', 'writ', '--rounds', '1', '--json', json];
        const { status } = spawnSync(node, call, { stdio: ['ignore', 'ignore', 'inherit'], env });
        // Without its peers a case may be void, and the harness ends with 1; its costs count all
        // the same.
        if (!existsSync(json)) return status ?? 1;
        for (const row of JSON.parse(readFileSync(json, 'utf8'))) {
          const known = cases.get(row.case) ?? { ours: [], theirs: [] };
          known[side].push(row.cpuPerJob[row.label]);
          cases.set(row.case, known);
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log('\nCPU µs per job, medians:');
  for (const [name, { ours, theirs }] of cases) {
    const ratio = (median(ours) / median(theirs)).toFixed(3);
    const all = (/** @type {number[]} */ list) => list.map(show).join(', ');
    console.log(
      `  ${name}: ours ${show(median(ours))}, theirs ${show(median(theirs))}, ${ratio} ×`,
    );
    console.log(`    ours ${all(ours)}; theirs ${all(theirs)}`);
  }
  return 0;
}

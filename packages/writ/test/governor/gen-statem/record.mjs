// @ts-check
// Records traces.jsonl: `node test/governor/gen-statem/record.mjs [HOW-MANY]`. Needs Erlang (Debian: erlang-base). Each program is run twice, and kept if both runs agree: a machine that was busy at the wrong moment makes other traces, and no test.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const wanted = Number(process.argv[2] ?? 1_200);
const atOnce = 60;
const folder = mkdtempSync(join(tmpdir(), 'writ-erlang-'));
const erlang = (/** @type {string} */ expression) =>
  execFileSync(
    'erl',
    ['-noshell', '-noinput', '-kernel', 'logger_level', 'none', '-pa', folder, '-eval', expression],
    {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    },
  );

try {
  execFileSync('erlc', ['-o', folder, join(here, 'traces.erl')]);
  /** @type {string[]} */
  const kept = [];
  for (let seed = 1; kept.length < wanted; seed++) {
    const [first = [], second = []] = [1, 2].map(() =>
      erlang(`traces:main(["${seed}", "${atOnce}"]).`).trim().split('\n'),
    );
    kept.push(...first.filter((line, n) => line === second[n] && line !== '[]'));
    process.stdout.write(`\r${Math.min(kept.length, wanted)} of ${wanted}`);
  }
  writeFileSync(join(here, 'traces.jsonl'), `${kept.slice(0, wanted).join('\n')}\n`);
  console.log(`\nOTP ${erlang('io:format("~s", [erlang:system_info(otp_release)]), halt().')}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

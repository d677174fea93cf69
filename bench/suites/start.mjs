// @ts-check
// The start suite: what it costs to have a library in a process. Importing it, in processor time and
// files; and a worker that has nothing to do, in memory, processor time and commits.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from '../build.mjs';
import { median } from '../harness/figures.mjs';

const roleFile = fileURLToPath(new URL('../roles/start.mjs', import.meta.url));
const queueFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const importer = fileURLToPath(new URL('../measurements/import.mjs', import.meta.url));
const run = promisify(execFile);

const participants = ['writ', 'pg-boss', 'graphile-worker'].map((subject) => ({
  label: subject,
  subject,
}));

/** The file that `import 'writ'` loads. */
const entry = new URL('bundle/index.js', build).href;

/** @param {string} module @param {string[]} flags */
async function importOnce(module, ...flags) {
  const { stdout } = await run(process.execPath, [importer, module, ...flags], {
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  return JSON.parse(stdout);
}

/**
 * Processor time without that of an empty process is what the library adds. @type
 * {import('../harness/bench.mjs').Measurement}
 */
const importing = {
  participants,
  async measure(bench, { subject }) {
    const module = subject === 'writ' ? entry : import.meta.resolve(subject);
    const { files } = await importOnce(module, '--count-files');
    const times = [];
    const empty = [];
    for (let n = 0; n < bench.size({ full: 15, quick: 7 }); n++) {
      times.push((await importOnce(module)).cpuMs);
      empty.push((await importOnce('node:fs')).cpuMs);
    }
    const cpuMs = median(times);
    return { jobs: 1, cpuMs, files, added: cpuMs - median(empty) };
  },
};

/** @type {import('../harness/bench.mjs').Measurement} */
const idle = {
  participants,
  async measure(bench, { subject }) {
    const mode = 'latency';
    const template = await bench.template(
      `${subject} ${mode}`,
      null,
      (url) =>
        bench.start({ subject, roleFile: queueFile, role: 'setup', options: { url, mode } })
          .finished,
    );
    const seconds = bench.size({ full: 30, quick: 10 });
    return bench.onCopy(template, async ({ url }) => {
      const options = { url, mode, seconds };
      return bench.start({ subject, roleFile, role: 'idleWorker', options, seconds: 120 }).finished;
    });
  },
};

/** @type {import('../harness/bench.mjs').Suite} */
export const suite = {
  name: 'start',
  ours: 'writ',
  cases: [
    {
      name: 'import',
      unit: 'ms of CPU',
      better: 'lower',
      figure: 'cpuMs',
      measurement: importing,
      targets: [{ peer: 'pg-boss', ratio: 1.2 }],
      details: { files: 'files loaded', added: 'ms beyond an empty process' },
    },
    {
      name: 'idle-memory',
      unit: 'MB',
      better: 'lower',
      figure: 'residentMb',
      measurement: idle,
      targets: [{ peer: 'pg-boss', ratio: 1.15 }],
      details: { cpuMsPerSecond: 'ms of CPU a second', commits: 'commits a second' },
    },
  ],
};

// @ts-check
// The ledger under faults: writers, turners of the clockwork and publishers of checkpoints are killed or lose their connections at named points, and PostgreSQL is stopped at once
// and started again, while jobs make a record to be sealed. At the end one last turn and one last checkpoint; then every committed receipt is in its log once, nothing
// else is, every row of the record is sealed once, and every checkpoint that anybody ever saw is a beginning of what is there.
import { createReadStream, mkdirSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../../dist/ledger/note.js';
import { checkLedger, prepareLedger } from '../ledger-checker.mjs';
import { generator, planOf } from '../plan.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { chore } from './ledger/jobs.mjs';
import { openPlace } from './ledger/place.mjs';
import { settle, verified } from './ledger/verified.mjs';

/** @typedef {import('../checker.mjs').Verdict} Verdict */
/** @typedef {import('../ledger-checker.mjs').Finding} Finding */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));
const here = (/** @type {string} */ file) => new URL(`./ledger/${file}`, import.meta.url);
const script = fileURLToPath(here('process.mjs'));

/**
 * Who takes part, how many of each, and after how many passages of which points they are killed or
 * cut off.
 */
const roles = /** @type {const} */ ([
  {
    name: 'writer',
    count: 3,
    points: [
      ['counted', 12],
      ['appended', 12],
      ['commit_sent', 12],
      ['committed', 12],
    ],
    kills: 3,
  },
  {
    name: 'turner',
    count: 2,
    points: [
      ['tick_sent', 15],
      ['ticked', 15],
      ['tick_open', 8],
      ['tick_commit_sent', 8],
    ],
    kills: 2,
  },
  {
    name: 'publisher',
    count: 2,
    points: [
      ['heads_sent', 3],
      ['heads_answered', 3],
      ['record_sent', 8],
      ['recorded', 3],
      ['publish_sent', 3],
      ['published', 3],
    ],
    kills: 1,
  },
]);

/**
 * @param {number} seed @param {readonly (readonly [point: string, upTo: number])[]} points @param
 * {number} kills of each point; half as many connections are cut
 */
function faultsOf(seed, points, kills) {
  const shape = (/** @type {number} */ each) => ({
    jobs: 0,
    kills: points.map(
      ([point, upTo]) => /** @type {[string, number, number]} */ ([point, each, upTo]),
    ),
    stops: [],
    leaves: [],
    duplicates: [],
    outside: [],
  });
  const killed = planOf(seed, shape(kills)).workers;
  const cut = planOf(seed + 1, shape(Math.ceil(kills / 2))).workers.map((fault) => ({
    ...fault,
    action: /** @type {const} */ ('disconnect'),
  }));
  const random = generator(seed + 2);
  return [...killed, ...cut]
    .map((fault) => ({ fault, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ fault }) => fault);
}

/** @param {import('./queue.mjs').Run} run */
export async function run({ seed, quick, server, progress, onEnd }) {
  const url = server.url('postgres');
  const admin = new pg.Pool({ connectionString: url, max: 4 });
  admin.on('error', () => undefined); // the server is stopped under it on purpose
  const writ = await Writ.connect({ connectionString: url, max: 4, actor: 'producer' });
  await writ.migrate({ enable: true });
  await prepareLedger(admin);
  await admin.query(
    `select writ.fn_setting_set('ledger.seal.rows', '40', 'faults'), writ.fn_setting_set('queue.poison.crashes', '10000', 'faults')`,
  );
  const signer = keyOfSeed('faults.example/ledger', new Uint8Array(32).fill(seed % 256));
  const place = await openPlace();
  onEnd(() => place.close());
  const kept = join(server.folder, 'outside');
  mkdirSync(kept);
  const places = [join(kept, 'checkpoint'), place.url];
  const key = privateKeyText(signer);

  /** @type {string[]} */
  const said = [];
  /** @type {Record<string, number>} */
  const happened = {};
  const count = (/** @type {string} */ name) => {
    happened[name] = (happened[name] ?? 0) + 1;
  };
  const slotsOf = (
    /** @type {string} */ name,
    /** @type {string} */ module,
    /** @type {number} */ processes,
    /** @type {object} */ options,
    /** @type {import('../plan.mjs').Fault[]} */ faults,
    /** @type {object} */ more = {},
  ) => {
    const slots = new WorkerSlots({
      url,
      folder: server.folder,
      module: here(module).href,
      count: processes,
      options,
      faults,
      name,
      leasesOf: async () => 0, // nobody is stopped here
      onFault: ({ action, point }) => count(`${action} ${point}`),
      onFinding: (what) => void said.push(what),
      ...more,
    });
    onEnd(() => slots.kill());
    return slots;
  };
  const crew = roles.map(({ name, count: processes, points, kills }, n) =>
    slotsOf(
      name,
      `${name}.mjs`,
      processes,
      { seed, key, places },
      faultsOf(seed + 10 * n, points, kills * (quick ? 1 : 8)),
      { script },
    ),
  );
  const working = { concurrency: 5, lease: '1500ms', poll: '100ms', batch: 10, grace: '5s' };
  crew.push(
    slotsOf(
      'worker',
      'jobs.mjs',
      1,
      working,
      planOf(seed + 90, {
        jobs: 0,
        kills: [
          ['started', quick ? 2 : 12, 60],
          ['finish_sent', quick ? 1 : 12, 10],
        ],
        stops: [],
        leaves: [],
        duplicates: [],
        outside: [],
      }).workers,
    ),
  );
  for (const slots of crew) slots.start();

  const left = () => crew.reduce((sum, slots) => sum + slots.faults.length + slots.armed, 0);
  const enqueueing = enqueue(writ, () => left() > 0);
  await strike({
    left,
    server,
    crashes: quick ? 2 : 10,
    random: generator(seed + 99),
    count,
    progress,
    said,
    published: place.published,
  });
  await Promise.all(crew.map((slots) => slots.stop()));
  const jobs = await enqueueing;

  progress('the last turn and the last checkpoint');
  const rested = await settle(admin, 60_000);
  await writ.ledger.checkpoint({ key, places });
  await writ.ledger.export(join(server.folder, 'export'));
  await keepBooks(admin, server.folder);
  progress('counting');
  const client = await admin.connect();
  const newest = await readFile(join(kept, 'checkpoint'), 'utf8');
  const findings = await checkLedger(client, [...place.published, newest]);
  findings.push(
    ...(await verified(writ, join(server.folder, 'export'), {
      keys: [publicKeyText(signer)],
      checkpoint: newest,
      checkpoints: place.published,
    })),
  );
  if (said.length > 0)
    findings.push({
      verdict: 'wrong',
      what: 'the run itself found',
      times: said.length,
      rows: said.slice(0, 10),
    });
  const figures = await figuresOf(client);
  client.release();
  await writ.close();
  await admin.end();
  const sum = (/** @type {Verdict} */ verdict) =>
    findings.reduce(
      (total, finding) => total + (finding.verdict === verdict ? finding.times : 0),
      0,
    );
  return {
    operations: Number(figures.receipts) + jobs,
    faults: Object.values(happened).reduce((total, times) => total + times, 0),
    lost: sum('lost'),
    repeated: sum('repeated'),
    unreceipted: sum('unreceipted'),
    stuck: sum('stuck') + (rested ? 0 : 1),
    wrong: sum('wrong'),
    happened,
    process_lives: crew.reduce((lives, slots) => lives + slots.lives, 0),
    jobs,
    ...figures,
    checkpoints_outside: place.published.length,
    details: rested
      ? findings
      : [
          ...findings,
          { verdict: 'stuck', what: 'the ledger did not come to rest', times: 1, rows: [] },
        ],
  };
}

/**
 * Jobs in small calls, as long as there are faults to come. Answers how many were placed. @param
 * {Writ} writ @param {() => boolean} goOn
 */
async function enqueue(writ, goOn) {
  let placed = 0;
  while (goOn()) {
    try {
      const n = placed;
      placed += (
        await writ.enqueueMany(
          chore,
          Array.from({ length: 5 }, (_, i) => ({ input: { n: n + i } })),
        )
      ).length;
    } catch (error) {
      // The server is down, or has just cut this call: the next one will be taken.
      if (/** @type {{ code?: string }} */ (error).code !== 'database_unreachable') throw error;
    }
    await pause(20);
  }
  return placed;
}

/**
 * Waits for the faults of the plan, and stops the server in between, each time in another part of
 * the run.
 * @param {{ left: () => number, server: { crash(downMs: number): Promise<void> }, crashes: number,
 * random: ReturnType<typeof generator>, count: (name: string) => void,
 *   progress: (line: string) => void, said: string[], published: string[] }} run
 */
async function strike({ left, server, crashes, random, count, progress, said, published }) {
  const all = left();
  const at = Array.from({ length: crashes }, (_, n) =>
    Math.floor(all * (0.9 - (0.8 * (n + random.next())) / crashes)),
  );
  const still = standstill(300_000);
  while (left() > 0) {
    if (still(left())) {
      said.push(`the plan stands still: ${left()} of ${all} faults left`);
      break;
    }
    progress(`${all - left()} of ${all} faults, ${published.length} checkpoints outside`);
    if (left() <= (at[0] ?? -1)) {
      at.shift();
      await server.crash(random.between(50, 1000));
      count('crash server');
    }
    await pause(20);
  }
}

/**
 * Puts what the writers recorded into the database: what each transaction tried, and what it was
 * told. @param {pg.Pool} admin @param {string} folder
 */
async function keepBooks(admin, folder) {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('writer-')) continue;
    /** @type {Map<string, { receipts: unknown[][], answered: string }>} */
    const transactions = new Map();
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
      const { tx, tried, answered } = JSON.parse(line);
      transactions.set(tx, {
        receipts: tried ?? transactions.get(tx)?.receipts,
        answered: answered ?? 'unknown',
      });
    }
    const rows = [...transactions].flatMap(([tx, { receipts, answered }]) =>
      receipts.map((receipt) => [tx, ...receipt, answered]),
    );
    await admin.query(
      `insert into fault.tried (tx, receipt_id, log_id, stream, stream_seq, answered)
       select (r ->> 0)::uuid, (r ->> 1)::uuid, r ->> 2, r ->> 3, (r ->> 4)::bigint, r ->> 5 from jsonb_array_elements($1::jsonb) r`,
      [JSON.stringify(rows)],
    );
  }
}

/** What else is worth knowing about the run. @param {pg.PoolClient} client */
async function figuresOf(client) {
  const { rows } = await client.query(`
    select (select count(*)::integer from fault.tried t where exists (select from fault.written w where w.tx = t.tx)) as receipts,
      (select count(distinct tx)::integer from fault.tried) as transactions, (select count(*)::integer from fault.written) as committed,
      (select count(distinct tx)::integer from fault.tried where answered = 'unknown') as unanswered,
      (select jsonb_object_agg(log_id, size) from writ_data.ledger_log) as logs, (select count(*)::integer from writ_data.event_batch) as record_rows,
      (select count(*)::integer from writ_data.event_seal) as segments, (select count(*)::integer from writ_data.ledger_checkpoint) as checkpoints`);
  return rows[0];
}

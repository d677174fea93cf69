// @ts-check
// Governors under faults: signals come in over HTTP from senders that repeat until they are answered, while workers and listeners are killed at every named point, PostgreSQL is stopped at once and is away for a while, its
// clock is set back, connections are cut; some tenants storm, some have actions that fail, hang or are forbidden, some only watch, some have policies and entitlements that change. At the end each signal has one receipt that
// settles it, each action was attempted, receipted and ended, every event decides the same again, and the ledger verifies.
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../../dist/ledger/note.js';
import { Spool } from '../../../dist/spool/spool.js';
import { tallied } from '../checker.mjs';
import {
  checkGovernor,
  isMoving,
  keepGovernorBooks,
  prepareGovernor,
} from '../governor-checker.mjs';
import { replayed } from '../governor-replay.mjs';
import { isOutage } from '../outage.mjs';
import { paced } from '../paced.mjs';
import { generator, planOf } from '../plan.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { insistently, Outside, setClock } from './governor/outside.mjs';
import { Sender } from './governor/sender.mjs';
import { Service } from './governor/service.mjs';
import { prepareStage, subjectsOf } from './governor/stage.mjs';
import { settle, verified } from './ledger/verified.mjs';

/** @param {boolean} quick @returns {import('../plan.mjs').Shape} */
function shape(quick) {
  const count = (/** @type {number} */ full, /** @type {number} */ short) => (quick ? short : full);
  return {
    jobs: count(100_000, 1_500),
    kills: [
      ['governors_fetched', count(16, 1), count(80, 15)],
      ['governors_decided', count(16, 1), count(80, 15)],
      ['governors_written', count(16, 2), count(80, 20)],
      ['governors_sent', count(16, 2), count(80, 20)],
      ['signal_taken', count(16, 1), count(1_500, 60)],
      ['action_made', count(16, 2), count(20, 4)],
    ],
    stops: [],
    leaves: [],
    duplicates: [],
    outside: [
      ['crash', count(4, 1)],
      ['away', 1],
      ['disconnect', count(6, 1)],
      ['clock', count(2, 1)],
      ['change', count(30, 4)],
    ],
  };
}

const secret = 'what-signals-are-signed-with';
const token = 'what-senders-send';
/**
 * How far the clock of the gates is ahead at first, so that it can be set back without being behind
 * what was migrated.
 */
const aheadMs = 120_000;

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}

/** @param {import('./queue.mjs').Run} run */
export async function run({ seed, quick, server, progress, onEnd }) {
  const form = shape(quick);
  const plan = planOf(seed, form);
  const random = generator(seed + 1);
  const url = server.url('postgres');
  const admin = new pg.Pool({ connectionString: url, max: 4 });
  admin.on('error', () => undefined); // the server is stopped under it on purpose
  const writ = await Writ.connect({ connectionString: url, max: 8, actor: 'operator' });
  await writ.migrate({ enable: true });
  await prepareGovernor(admin);
  await setClock(admin, aheadMs);
  const subjects = subjectsOf(quick ? 20 : 100);
  const key = await prepareStage(writ, admin, subjects);
  const service = await Service.open(seed + 2);
  onEnd(() => service.close());
  process.env.WRIT_FAULTS_SERVICE = service.url;

  /** @type {string[]} */
  const said = [];
  const onFinding = (/** @type {string} */ what) => void said.push(what);
  /** @type {Record<string, number>} */
  const happened = {};
  const count = (/** @type {import('../plan.mjs').Fault} */ { action, point }) => {
    const name = action === 'kill' ? `kill ${point}` : action;
    happened[name] = (happened[name] ?? 0) + 1;
  };
  // Who drives is killed at each point of a turn, whether it also listens or also carries actions
  // out.
  const ofTurns = plan.workers.filter(({ point }) => point.startsWith('governors_'));
  const ofSignals = plan.workers.filter(({ point }) => point === 'signal_taken');
  const half = (/** @type {import('../plan.mjs').Fault[]} */ faults, /** @type {number} */ odd) =>
    faults.filter((_, n) => n % 2 === odd);
  const common = { url, folder: server.folder, leasesOf: async () => 0, onFault: count, onFinding };
  const listeners = await Promise.all(
    [true, false].map(async (drive, n) => {
      const port = await freePort();
      const spool = join(server.folder, `spool-${n}`);
      const faults = drive ? [...half(ofSignals, 0), ...half(ofTurns, 0)] : half(ofSignals, 1);
      const slots = new WorkerSlots({
        ...common,
        module: '',
        script: new URL('./governor/listener-process.mjs', import.meta.url).pathname,
        name: `listener ${n}`,
        count: 1,
        options: { port, spool, drive, secret, token },
        faults,
      });
      return { port, spool, slots };
    }),
  );
  const workers = new WorkerSlots({
    ...common,
    module: new URL('./governor/actions.mjs', import.meta.url).href,
    count: 2,
    options: { concurrency: 20, lease: '1500ms', poll: '200ms', batch: 20, grace: '5s' },
    faults: [
      ...half(ofTurns, 1),
      ...plan.workers.filter(({ point }) => point === 'action_made'),
    ].sort((a, b) => a.nth - b.nth),
  });
  const slots = [workers, ...listeners.map((one) => one.slots)];
  for (const one of slots) onEnd(() => one.kill());
  const outside = new Outside(
    plan.outside,
    {
      server,
      admin,
      writ,
      key,
      subjects,
      random,
      awayMs: quick ? 3_000 : 60_000,
      backMs: quick ? 2_000 : 20_000,
      onFault: count,
      onFinding,
    },
    aheadMs,
  );
  const sender = new Sender({ ports: listeners.map(({ port }) => port), secret, token, onFinding });
  for (const one of slots) one.start();
  let looking = true;
  const person = (async () => {
    for (; looking; await pause(500))
      await outside.look().catch((error) => {
        if (!isOutage(error)) onFinding(`a person could not acknowledge: ${error?.stack ?? error}`);
      });
  })();

  const next = orders(random, subjects);
  let n = 0;
  const operations = await paced({
    amount: form.jobs,
    atFirst: 0.2,
    atOnce: 64,
    drip: 4,
    what: 'signals',
    left: () => slots.reduce((sum, one) => sum + one.faults.length + one.armed, outside.left),
    open: () => sender.open,
    answered: () => sender.answered,
    place: () => {
      const { subject, value } = next();
      void sender.place(subject, `signal-${++n}`, value, () => outside.passed(sender.answered));
    },
    last: () => {
      outside.passed(Number.POSITIVE_INFINITY);
      return outside.last;
    },
    progress,
    onFinding,
  });
  service.calm = true;
  await outside.restore();
  const rested = await rest(admin, listeners, progress, 120_000);
  looking = false;
  await person;
  await Promise.all(slots.map((one) => one.stop()));

  progress('the last turn and the last checkpoint');
  const settled = await settle(admin, 120_000);
  const signer = keyOfSeed('faults.example/governor', new Uint8Array(32).fill(seed % 256));
  const kept = join(server.folder, 'outside');
  mkdirSync(kept);
  await writ.ledger.checkpoint({ key: privateKeyText(signer), places: [join(kept, 'checkpoint')] });
  await writ.ledger.export(join(server.folder, 'export'));
  progress('counting');
  const client = await admin.connect();
  await keepGovernorBooks(client, sender.books, service.calls);
  const findings = await checkGovernor(client);
  findings.push(
    ...(await verified(writ, join(server.folder, 'export'), {
      keys: [publicKeyText(signer)],
      checkpoint: await readFile(join(kept, 'checkpoint'), 'utf8'),
    })),
  );
  progress('deciding everything again');
  const { rows: all } = await client.query(
    'select governor_id::text as id from writ_data.governor order by 1',
  );
  for (const { id } of all) {
    const differs = await replayed(client, id);
    if (differs.length > 0)
      findings.push({ verdict: 'wrong', what: 'a replay does not agree', times: 1, rows: differs });
  }
  for (const { spool } of listeners) {
    const { waiting, refused, damaged } = await new Spool(spool).state();
    if (waiting + refused + damaged.length > 0)
      findings.push({
        verdict: 'stuck',
        what: 'a spool was not handed over',
        times: waiting + refused + damaged.length,
        rows: [{ waiting, refused, damaged }],
      });
  }
  if (!rested)
    findings.push({
      verdict: 'stuck',
      what: 'governors did not come to rest in time',
      times: 1,
      rows: [],
    });
  if (!settled)
    findings.push({
      verdict: 'stuck',
      what: 'the ledger did not come to rest',
      times: 1,
      rows: [],
    });
  if (said.length > 0)
    findings.push({
      verdict: 'wrong',
      what: 'the run itself found',
      times: said.length,
      rows: said.slice(0, 10),
    });
  const figures = await figuresOf(client);
  client.release();
  sender.close();
  await writ.close();
  await admin.end();
  service.close();
  return {
    operations,
    ...tallied(findings, happened),
    senders_heard: sender.heard,
    service_answered: service.answered,
    acknowledged_by_a_person: outside.acknowledged,
    lives: Object.fromEntries(slots.map((one) => [one.options.name ?? 'worker', one.lives])),
    governors_replayed: all.length,
    driving_failed: troubles(server.folder),
    ...figures,
    details: findings,
  };
}

/**
 * What those who drive were told, and how often, from the records of all lives. @param {string}
 * folder @returns {Record<string, number>}
 */
function troubles(folder) {
  /** @type {Record<string, number>} */
  const times = {};
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.log')))
    for (const [, what] of readFileSync(join(folder, name), 'utf8').matchAll(/^driving: (.*)$/gm)) {
      const words = String(what).slice(0, 120);
      times[words] = (times[words] ?? 0) + 1;
    }
  return times;
}

/**
 * Whom each signal is for, and what it says. Storms come in bursts; one in five values is over.
 * @param {ReturnType<typeof generator>} random @param {readonly
 * import('./governor/stage.mjs').Subject[]} subjects
 */
function orders(random, subjects) {
  /** @type {import('./governor/stage.mjs').Subject | undefined} */
  let storming;
  let burst = 0;
  return () => {
    const subject = burst > 0 && storming ? storming : random.pick(subjects);
    if (burst > 0) burst--;
    else if (subject.kind === 'storming' && random.next() < 0.06) {
      storming = subject;
      burst = random.between(80, 220);
    }
    const value = random.next() < 0.2 ? random.between(85, 100) : random.between(1, 55);
    return { subject, value };
  };
}

/**
 * Waits until nothing waits, or until that stands still.
 * @param {pg.Pool} admin @param {{ spool: string }[]} listeners
 * @param {(line: string) => void} progress @param {number} patienceMs
 */
async function rest(admin, listeners, progress, patienceMs) {
  for (const still = standstill(patienceMs); ; await pause(250)) {
    const { rows } = await insistently(() =>
      admin.query(`select count(*) filter (where ${isMoving})::integer as moving, coalesce(sum(in_mailbox + buffered + postponed), 0)::integer as waiting,
        (select count(*)::integer from writ_data.job_ready) + (select count(*)::integer from writ_data.job_lease) as queue from writ.governor v`),
    );
    const { moving, waiting, queue } = rows[0];
    const states = await Promise.all(listeners.map(({ spool }) => new Spool(spool).state()));
    const spooled = states.reduce((sum, one) => sum + one.waiting, 0);
    const left = moving + waiting + queue + spooled;
    if (left === 0) return true;
    if (still(left)) return false;
    progress(
      `waiting for the last: ${moving} governors move, ${waiting} signals wait, ${queue} rows of the queue, ${spooled} spooled`,
    );
  }
}

/** What else is worth knowing about the run. @param {pg.PoolClient} client */
async function figuresOf(client) {
  const { rows } = await client.query(`
    select (select count(*)::integer from m where arrival_seq is not null) as signals, (select count(*)::integer from writ_data.governor_event) as events, (select count(*)::integer from h) as receipts,
      (select jsonb_object_agg(reason, n) from (select reason, count(*) as n from h group by 1 order by 1) x) as reasons, (select jsonb_object_agg(state, n) from (select state, count(*) as n from g group by 1) x) as states_in_the_end,
      (select count(*)::integer from a) as attempts, (select count(*)::integer from fault.call) as calls, (select count(*)::integer from writ_data.governor_outage) as missed_while_away,
      (select count(*)::integer from fault.sent where tries > 1) as sent_again`);
  return rows[0];
}

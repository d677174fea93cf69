// @ts-check
// The outbox under faults: runs of several plans go through their steps while relays are killed at every named point and at any time, PostgreSQL is stopped at once and started again, connections are cut, the
// receiver of webhooks answers 500, hangs, closes in the middle and is killed, and so is nats-server. At the end each destination has been told everything, in the order of each run.
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { newWebhookSecret } from '../../../dist/outbox/webhooks.js';
import { tallied } from '../checker.mjs';
import { InTurn } from '../outside.mjs';
import { generator, planOf } from '../plan.mjs';
import { prepareRuns } from '../runs-checker.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { checkArrivals } from './outbox/checker.mjs';
import { Nats, natsMissing, Receiver } from './outbox/places.mjs';
import { plans } from './runs/plans.mjs';
import { orderOf, Starter } from './runs/starter.mjs';

/** @typedef {import('../plan.mjs').Fault} Fault */

/** @param {boolean} quick @returns {import('../plan.mjs').Shape} */
function shape(quick) {
  const count = (/** @type {number} */ full, /** @type {number} */ short) => (quick ? short : full);
  return {
    jobs: count(1_150, 115),
    kills: [
      ['relay_taken', count(12, 1), count(6, 3)],
      ['relay_sent', count(16, 2), count(6, 3)],
      ['relay_told', count(16, 2), count(6, 3)],
      ['any_time', count(16, 2), 15],
    ],
    stops: [],
    leaves: [],
    duplicates: [],
    outside: [
      ['crash', count(5, 1)],
      ['disconnect', count(8, 1)],
      ['rules', count(16, 3)],
      ['receiver', count(6, 1)],
      ['nats', natsMissing ? 0 : count(6, 1)],
    ],
  };
}

/**
 * A run's fault must not end with its event dead: nothing is refused for good, and seldom enough.
 */
const settings = {
  'outbox.turn_sec': 2,
  'outbox.delivery.attempts': 100,
  'outbox.delivery.backoff_ms': 50,
  'outbox.delivery.backoff_max_ms': 500,
  'outbox.pause_after': 10_000,
  'queue.poison.crashes': 10_000,
};

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/** @param {import('./queue.mjs').Run} run */
export async function run({ seed, quick, server, progress, onEnd }) {
  if (natsMissing)
    console.error(
      'faults: nats-server is not installed: NOTHING is tested with NATS here (Debian: apt-get install nats-server)',
    );
  const form = shape(quick);
  const plan = planOf(seed, form);
  const random = generator(seed + 1);
  const url = server.url('postgres');
  const admin = new pg.Pool({ connectionString: url, max: 4 });
  admin.on('error', () => undefined); // the server is stopped under it on purpose
  await prepareRuns(admin);
  const writ = await Writ.connect({ connectionString: url, max: 8, actor: 'starter' });
  await writ.migrate({ enable: true });
  for (const [key, value] of Object.entries(settings))
    await admin.query(`select writ.fn_setting_set($1, $2, 'faults')`, [key, String(value)]);
  for (const { plan: one } of Object.values(plans)) await writ.runs.register(one);

  const secret = newWebhookSecret();
  const receiver = await Receiver.open(server.folder, secret);
  onEnd(() => void receiver.kill());
  const nats = natsMissing ? undefined : await Nats.open(server.folder);
  onEnd(() => void nats?.kill());
  const hook = (/** @type {string} */ path) => ({
    url: `http://127.0.0.1:${receiver.port}${path}`,
    secrets: ['faults'],
  });
  await writ.destinations.put('all', {
    bus: 'webhook',
    types: ['dot.run.*'],
    config: hook('/all'),
  });
  await writ.destinations.put('ends', {
    bus: 'webhook',
    types: ['dot.run.StepCompleted', 'dot.run.RunC*'],
    config: hook('/ends'),
  });
  if (nats)
    await writ.destinations.put('stream', {
      bus: 'nats',
      types: ['dot.run.*'],
      config: { servers: nats.url, stream: 'RUNS', create: {} },
    });

  /** @type {string[]} */
  const said = [];
  const onFinding = (/** @type {string} */ what) => void said.push(what);
  /** @type {Record<string, number>} */
  const happened = {};
  const count = (/** @type {Fault} */ { action, point }) => {
    happened[`${action} ${point}`] = (happened[`${action} ${point}`] ?? 0) + 1;
  };
  const common = { url, folder: server.folder, leasesOf: async () => 0, onFault: count, onFinding };
  const workers = new WorkerSlots({
    ...common,
    module: new URL('./runs/plans.mjs', import.meta.url).href,
    count: 2,
    options: { concurrency: 8, lease: '5s', poll: '200ms', batch: 20, grace: '5s' },
    faults: [],
  });
  const relays = new WorkerSlots({
    ...common,
    module: '',
    script: new URL('./outbox/relay-process.mjs', import.meta.url).pathname,
    name: 'relay',
    count: 3,
    options: { secret, batch: 25 },
    faults: plan.workers,
  });
  onEnd(() => workers.kill());
  onEnd(() => relays.kill());
  const starter = new Starter(writ, url);
  const outside = new Outside(plan.outside, {
    server,
    admin,
    receiver,
    nats,
    random,
    onFault: count,
    onFinding,
  });
  workers.start();
  relays.start();

  const left = () => relays.faults.length + relays.armed + outside.left;
  const faults = left();
  const still = standstill(300_000);
  let placed = 0;
  let trickle = 0;
  while (left() > 0 || placed < form.jobs) {
    if (still(left() + Math.max(0, form.jobs - placed))) {
      onFinding(
        `the plan stands still: ${left()} of ${faults} faults left, ${placed} runs asked for`,
      );
      break;
    }
    const due = form.jobs * (0.1 + 0.85 * (1 - left() / faults));
    // An armed fault must not wait for work that never comes.
    if (placed >= due) trickle += 0.07;
    const target = left() === 0 ? form.jobs : due + trickle;
    while (placed < target && starter.open < 60) {
      placed++;
      starter
        .place(orderOf(random), () => outside.passed(starter.answered))
        .catch((error) =>
          onFinding(`a call failed in a way that is not an outage: ${error?.stack ?? error}`),
        );
    }
    // What follows the count of answered starts must not wait for ever for the last of them.
    if (placed >= form.jobs * 0.9 && relays.faults.length + relays.armed === 0)
      outside.passed(form.jobs);
    progress(
      `${placed} runs asked for, ${starter.answered} answered, ${faults - left()} of ${faults} faults`,
    );
    await pause(20);
  }
  await outside.last;
  await receiver.answer([]);
  for (const until = Date.now() + 60_000; starter.open > 0 && Date.now() < until; ) await pause(20);
  const rested = await rest(admin, progress, 120_000);
  await Promise.all([workers.stop(), relays.stop()]);

  progress('counting');
  const owed = await owedTo(admin);
  const { rows: places } = await admin.query(
    `select name, state, undelivered::integer, dead::integer, failures, (select count(*)::integer from writ_data.delivery l where l.destination = d.name) as calls from writ.destination d order by name`,
  );
  const ends = owed.filter(
    ({ type }) => type === 'dot.run.StepCompleted' || type.startsWith('dot.run.RunC'),
  );
  const checked = {
    all: checkArrivals('all', owed, await receiver.arrivals('/all')),
    ends: checkArrivals('ends', ends, await receiver.arrivals('/ends')),
    ...(nats && { stream: checkArrivals('stream', owed, await nats.arrivals('RUNS')) }),
  };
  const findings = Object.values(checked).flatMap(({ findings: found }) => found);
  for (const place of places) {
    if (place.dead > 0)
      findings.push({
        verdict: 'wrong',
        what: `${place.name}: dead letters, where nothing was refused for good`,
        times: place.dead,
        rows: [],
      });
    if (place.undelivered > 0)
      findings.push({
        verdict: 'stuck',
        what: `${place.name}: undelivered`,
        times: place.undelivered,
        rows: [place],
      });
    if (place.state !== 'active')
      findings.push({
        verdict: 'wrong',
        what: `${place.name} is ${place.state}`,
        times: 1,
        rows: [place],
      });
  }
  if (!rested)
    findings.push({ verdict: 'stuck', what: 'it did not come to rest', times: 1, rows: places });
  if (owed.length < (quick ? 2_000 : 20_000)) onFinding(`only ${owed.length} events`);
  if (said.length > 0)
    findings.push({
      verdict: 'wrong',
      what: 'the run itself found',
      times: said.length,
      rows: said.slice(0, 10),
    });
  await Promise.all([starter.close(), writ.close(), receiver.kill(), nats?.kill()]);
  await admin.end();
  return {
    operations: placed,
    ...tallied(findings, happened),
    events: owed.length,
    accepted_twice_with_the_same_id: Object.fromEntries(
      Object.entries(checked).map(([name, { twice }]) => [name, twice]),
    ),
    calls: Object.fromEntries(places.map(({ name, calls }) => [name, calls])),
    relay_lives: relays.lives,
    calls_thrown: starter.thrown,
    ...(natsMissing && { NOT_TESTED: 'NATS: nats-server is not installed' }),
    details: findings,
  };
}

/**
 * What happens around the relays, each after a number of answered starts. @extends {InTurn<any>}
 */
class Outside extends InTurn {
  /** @param {Fault[]} faults @param {any} stage */
  constructor(faults, stage) {
    super(faults, stage, (fault) => this.#strike(fault));
  }

  /** @param {Fault} fault */
  async #strike({ action, holdMs }) {
    const { server, admin, receiver, nats, random } = this.stage;
    if (action === 'crash') return server.crash(holdMs);
    if (action === 'disconnect')
      return this.#sure(() =>
        admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'writ%'`,
        ),
      );
    if (action === 'rules') {
      const times = () => random.between(1, 12);
      const rules = ['status', 'hang', 'break', 'reset', 'slow', 'status'].map((mode, n) => ({
        mode,
        status: mode === 'status' ? (n ? 503 : 500) : 200,
        ms: 300,
        times: times(),
      }));
      await receiver.answer(rules.slice(random.between(0, 2)));
      return pause(500);
    }
    const place = action === 'nats' ? nats : receiver;
    await place.kill();
    await pause(random.between(100, 1_500));
    await place.start();
  }

  /**
   * The pool may still hold connections that the last crash has ended. @param {() =>
   * Promise<unknown>} call
   */
  async #sure(call) {
    for (let tries = 1; ; tries++) {
      try {
        return void (await call());
      } catch (error) {
        if (tries === 5) throw error;
      }
    }
  }
}

/**
 * Waits until every run has ended and every destination has been told, or until that stands still.
 * @param {pg.Pool} admin @param {(line: string) => void} progress @param {number} patienceMs
 */
async function rest(admin, progress, patienceMs) {
  for (const still = standstill(patienceMs); ; await pause(200)) {
    const { rows } =
      await admin.query(`select (select count(*)::integer from writ_data.run where status not in ('COMPLETED', 'FAILED', 'CANCELLED')) as runs,
      (select count(*)::integer from writ_data.undelivered where dead_at is null) as undelivered, (select count(*)::integer from writ.destination where behind_since is not null) as behind`);
    const { runs, undelivered, behind } = rows[0];
    if (runs + undelivered + behind === 0) return true;
    if (still(runs + undelivered + behind)) return false;
    progress(
      `waiting for the last: ${runs} runs, ${undelivered} undelivered, ${behind} destinations behind`,
    );
  }
}

/**
 * The logs of the runs, and the ids that the record gives their events. @param {pg.Pool} admin
 * @returns {Promise<import('./outbox/checker.mjs').Owed[]>}
 */
async function owedTo(admin) {
  const { rows } = await admin.query(`
    select e.run_id as run, e.run_seq as seq, 'dot.run.' || e.event_type as type, (left(b.batch_id::text, 30) || lpad(to_hex(f.ordinal), 6, '0')) as id
    from writ_data.event_batch b cross join lateral (
      select b.types[t.i] as type, s.n, row_number() over (order by t.i, s.n) as ordinal from generate_subscripts(b.types, 1) t(i) cross join lateral generate_series(b.first[t.i], b.last[t.i]) s(n)) f
    join writ_data.run_event e on e.run_id = b.subjects[f.n] and e.run_seq = b.run_seqs[f.n] and e.batch_id = b.batch_id and f.type = 'dot.run.' || e.event_type`);
  return rows;
}

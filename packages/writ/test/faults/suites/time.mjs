// @ts-check
// Moved clocks: the database's goes forward and back, by minutes and by 40 days, over a change to or
// from summer time and the end of a month, and 20 days pass while no worker runs; then the clock of
// the worker processes is moved in the same way, where Debian's faketime is installed. Meanwhile
// workers do jobs, runs with timers, governed changes with a soak, schedules and governors.
//
// After every jump work without a due time has to be done within minutes: nothing stands still. A
// delayed job is early by no more than the clock jumped. A soak lasts as long as was approved, by a
// clock that nobody moves. What is late because the clock was set back is done once that clock
// comes to its due time; at the end the clock is past all of them, and the checkers of each layer
// count.
import { join } from 'node:path';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { tallied } from '../checker.mjs';
import { generator } from '../plan.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import {
  DatabaseClock,
  day,
  hour,
  minute,
  nextChange,
  nextMonth,
  ProcessClock,
} from './time/clock.mjs';
import { Changes, finding, Governors, ground, Jobs, Runs, until } from './time/scenes.mjs';

/**
 * For how long work without a due time may take after a jump, and how long a scene may take to come
 * to rest. What stands still stands still for ever, and the machine may be slow.
 */
const movedMs = 180_000;
const restMs = 300_000;
/** Kept for longer than the clock goes: the checkers want to see everything. */
const kept = [
  'queue.retention.finished_sec',
  'queue.retention.record_sec',
  'runs.retention_sec',
  'queue.retention.dead_letter_sec',
];

/** @typedef {Jobs | Runs | Changes | Governors} Scene */
/**
 * A jump away, and back again; `at` is where it leads over. @typedef {{ name: string, by: number |
 * ((now: number) => number), over?: number, stays?: boolean, idle?: boolean }} Trip
 */

/** @param {ReturnType<typeof generator>} random @param {boolean} quick @returns {Trip[]} */
function tripsOf(random, quick) {
  const minutes = () => random.between(1, 15) * minute;
  const some = [
    { name: 'minutes forward', by: minutes() },
    { name: 'minutes back', by: -minutes() },
    { name: '40 days forward', by: 40 * day },
    { name: '40 days back', by: -40 * day },
  ];
  const over = [
    {
      name: 'over the end of a month',
      by: (/** @type {number} */ now) => nextMonth(now) - now - minute,
      over: 5 * minute,
    },
    {
      name: 'over a change of the clocks',
      by: (/** @type {number} */ now) => nextChange(now) - now - 40 * minute,
      over: 2 * hour,
    },
  ];
  const idle = { name: 'idle for 20 days', by: 20 * day, stays: true, idle: true };
  if (quick) return [...some.slice(1), idle];
  const more = Array.from({ length: 8 }, () =>
    random.pick([...some, { name: 'seconds back', by: -random.between(2, 30) * 1_000 }]),
  );
  return [
    ...some,
    ...over,
    idle,
    ...more,
    { name: 'minutes forward to stay', by: minutes(), stays: true },
  ];
}

/** @param {import('./queue.mjs').Run} run */
export async function run({ seed, quick, server, progress, onEnd }) {
  const random = generator(seed);
  /** @type {string[]} */
  const said = [];
  const onFinding = (/** @type {string} */ what) => {
    said.push(what);
    console.error(what.slice(0, 700));
  };
  const scenes = await scenesOn(server, random, onFinding, onEnd);
  const clock = new DatabaseClock(scenes.map((scene) => scene.ground.admin));
  /** @type {Record<string, number>} */
  const happened = {};
  const count = (/** @type {string} */ name) => {
    happened[name] = (happened[name] ?? 0) + 1;
  };
  const stray = (/** @type {Error} */ error) =>
    onFinding(`thrown outside of every call: ${error?.stack ?? error}`);
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);

  let lives = 0;
  /** @param {Record<string, string>} [env] */
  const fleet = (env) => {
    lives++;
    const all = scenes.map(({ name, module, ground: { url, folder, admin } }) => {
      const slots = new WorkerSlots({
        ...{ url, folder, module, name: `worker-${lives}`, ...(env && { env }) },
        count: name === 'queue' ? 2 : 1,
        options: { concurrency: 5, lease: '1500ms', poll: '200ms', batch: 20, grace: '5s' },
        faults: name === 'queue' || name === 'runs' ? kills(random) : [],
        leasesOf: async (id) =>
          Number(
            (
              await admin.query('select count(*) as n from writ_data.job_lease where holder = $1', [
                id,
              ])
            ).rows[0].n,
          ),
        onFault: ({ action, point }) => count(`${action} ${point}`),
        onFinding,
      });
      onEnd(() => slots.kill());
      slots.start();
      return slots;
    });
    return { stop: () => Promise.all(all.map((slots) => slots.stop())) };
  };

  /** Work that is under way when the clock jumps. @param {string} when */
  const place = (when) =>
    Promise.all(
      scenes.map((scene) =>
        Promise.resolve(scene.place()).catch((error) => {
          onFinding(
            `${when}, ${scene.name}: nothing could be placed: ${error?.stack ?? error} ${error?.detail ?? ''}`,
          );
        }),
      ),
    );

  /** Work without a due time is done, whatever the clock says. @param {string} when */
  const moved = async (when) => {
    await Promise.all(
      scenes.map(async (scene) => {
        const done = await scene.probe().catch((error) => {
          onFinding(
            `${when}, ${scene.name}: nothing could be asked for: ${error?.stack ?? error} ${error?.detail ?? ''}`,
          );
        });
        if (done && !(await until(done, movedMs)))
          onFinding(`stuck: ${when}, ${scene.name}: nothing is done any more`);
      }),
    );
  };

  /** @param {Trip} trip @param {(by: number) => Promise<unknown>} jump @param {() => number} now */
  const travel = async ({ name, by, over, stays }, jump, now) => {
    const ms = typeof by === 'number' ? by : by(now());
    const leap = async (/** @type {number} */ far, /** @type {string} */ how) => {
      progress(`${name}: ${how}`);
      await jump(far);
      count(`${name}, ${how}`);
      await moved(`${name}, ${how}`);
    };
    await place(name);
    await leap(ms, 'away');
    if (over) await leap(over, 'over it');
    await place(`${name}, away`);
    if (!stays) await leap(-ms - (over ?? 0), 'and back');
  };

  let workers = fleet();
  await moved('before any jump');
  for (const trip of tripsOf(random, quick)) {
    if (trip.idle) {
      await workers.stop();
      await clock.jump(Number(trip.by));
      count(trip.name);
      workers = fleet();
      await moved(trip.name);
    } else
      await travel(
        trip,
        (by) => clock.jump(by),
        () => clock.now(),
      );
  }
  const own = ProcessClock.in(server.folder);
  if (own) {
    await workers.stop();
    workers = fleet(own.env);
    let ahead = 0;
    const jump = async (/** @type {number} */ by) => {
      ahead += by;
      own.set(ahead);
    };
    const trips = tripsOf(random, false).slice(0, 4);
    for (const trip of trips.slice(quick ? 2 : 0, quick ? 3 : 4))
      await travel({ ...trip, name: `processes: ${trip.name}` }, jump, () => Date.now() + ahead);
  } else
    console.log(
      'SKIPPED: the clock of processes was not moved. On Debian: apt-get install faketime',
    );

  progress('past everything that is due');
  await clock.jump(clock.mostMs - clock.aheadMs + day);
  const rested = await Promise.all(
    scenes.map((scene) => until(() => scene.rested().catch(() => false), restMs)),
  );
  await workers.stop();
  progress('counting');
  /** @type {import('../governance-checker.mjs').Finding[]} */
  const findings = [];
  for (const scene of scenes)
    findings.push(
      ...(await scene.check(clock)).map((one) => ({ ...one, what: `${scene.name}: ${one.what}` })),
    );
  findings.push(
    ...finding(
      'stuck',
      'a layer did not come to rest in time',
      scenes.flatMap((scene, n) => (rested[n] ? [] : [scene.name])),
    ),
    ...finding(
      'stuck',
      'work stood still after a jump',
      said.filter((what) => what.startsWith('stuck: ')),
    ),
    ...finding(
      'wrong',
      'the run itself found',
      said.filter((what) => !what.startsWith('stuck: ')),
    ),
  );
  for (const scene of scenes) await close(scene);
  process.off('uncaughtException', stray);
  process.off('unhandledRejection', stray);
  const [jobs, runs] = [/** @type {Jobs} */ (scenes[0]), /** @type {Runs} */ (scenes[1])];
  return {
    operations: jobs.producer.answered + runs.starter.answered,
    ...tallied(findings, happened),
    jobs: jobs.producer.answered,
    runs: runs.starter.answered,
    clock_of_processes: own ? 'moved' : 'skipped: faketime is not installed',
    details: findings,
  };
}

/** @type {Set<Scene>} */
const closed = new Set();
/** Once, whether the run came to its end or was broken off. @param {Scene} scene */
async function close(scene) {
  if (closed.has(scene)) return;
  closed.add(scene);
  await scene.close();
  await scene.ground.writ.close();
  await scene.ground.admin.end();
}

/**
 * A few workers die of a kill besides, so that leases run out by a clock that moves. @param
 * {ReturnType<typeof generator>} random
 */
const kills = (random) =>
  Array.from({ length: 3 }, () => ({
    point: 'started',
    nth: random.between(2, 12),
    action: /** @type {const} */ ('kill'),
    holdMs: 0,
  }));

/**
 * A database for each layer, all copies of one.
 * @param {import('./queue.mjs').Run['server']} server
 * @param {ReturnType<typeof generator>} random
 * @param {(what: string) => void} onFinding
 * @param {(end: () => void) => void} onEnd
 */
async function scenesOn(server, random, onFinding, onEnd) {
  const first = await Writ.connect({
    connectionString: server.url('postgres'),
    max: 1,
    actor: 'time',
  });
  await first.migrate({ enable: true });
  await first.close();
  const admin = new pg.Client(server.url('template1'));
  await admin.connect();
  const kinds = { queue: Jobs, runs: Runs, changes: Changes, governors: Governors };
  for (const name of Object.keys(kinds))
    await admin.query(`create database ${name} template postgres`);
  await admin.end();
  /** @type {Scene[]} */
  const scenes = [];
  for (const [name, Kind] of Object.entries(kinds)) {
    const place = await ground({
      url: server.url(name),
      folder: join(server.folder, name),
      random,
      onFinding,
    });
    for (const setting of kept)
      await place.admin.query(`select writ.fn_setting_set($1, '3153600000', 'faults')`, [setting]);
    await place.admin.query(
      `select writ.fn_setting_set('queue.poison.crashes', '10000', 'faults')`,
    );
    const scene = new Kind(place);
    await scene.prepare();
    onEnd(() => void close(scene));
    scenes.push(scene);
  }
  return scenes;
}

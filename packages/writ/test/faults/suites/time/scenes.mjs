// @ts-check
// The work of a time run, each layer in a database of its own, because each has its own checker:
// jobs, runs, governed changes, and governors with schedules. A scene places work that is under way
// when the clock jumps, and probes: work without any due time, which has to be done after each jump.
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { configure, soak, Writ } from '../../../../dist/index.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../../../dist/ledger/note.js';
import { check, prepare } from '../../checker.mjs';
import {
  checkGovernance,
  keepGovernanceBooks,
  prepareGovernance,
} from '../../governance-checker.mjs';
import {
  checkGovernor,
  isMoving,
  keepGovernorBooks,
  prepareGovernor,
} from '../../governor-checker.mjs';
import { checkRuns, prepareRuns } from '../../runs-checker.mjs';
import { OutsideWorld } from '../governance/outside.mjs';
import { Proposer } from '../governance/proposer.mjs';
import { Service } from '../governor/service.mjs';
import { prepareStage } from '../governor/stage.mjs';
import { settle, verified } from '../ledger/verified.mjs';
import { Producer, orderOf as queueOrder } from '../queue/producer.mjs';
import { keepBooks as keepQueueBooks, recordsOf } from '../queue.mjs';
import { plans, writing } from '../runs/plans.mjs';
import { orderOf as runOrder, Starter } from '../runs/starter.mjs';
import { keepBooks as keepRunBooks, recordsOf as runRecordsOf } from '../runs.mjs';
import { tick } from './jobs.mjs';

/** @typedef {ReturnType<typeof import('../../plan.mjs').generator>} Random */
/** @typedef {import('../../governance-checker.mjs').Finding} Finding */
/**
 * @typedef {{ url: string, folder: string, admin: pg.Pool, writ: Writ, random: Random, onFinding:
 * (what: string) => void }} Ground
 */
/** How long a soak of this run has to last, by a clock that nobody moves. */
const soakMs = 3_000;

/** @param {pg.Pool} admin @param {string} sql @param {unknown[]} [params] */
const number = async (admin, sql, params) =>
  Number((await admin.query(sql, params)).rows[0]?.n ?? 0);

/**
 * Where a scene takes place. @param {{ url: string, folder: string, random: Random, onFinding:
 * (what: string) => void }} given @returns {Promise<Ground>}
 */
export async function ground({ url, folder, random, onFinding }) {
  mkdirSync(folder);
  const admin = new pg.Pool({ connectionString: url, max: 3 });
  admin.on('error', () => undefined);
  const writ = await Writ.connect({ connectionString: url, max: 6, actor: 'time' });
  return { url, folder, admin, writ, random, onFinding };
}

/** Jobs with delays, deadlines, retries and leases. */
export class Jobs {
  name = 'queue';
  module = new URL('../queue/jobs.mjs', import.meta.url).href;
  #n = 0;
  /**
   * When a job was asked for, and how long it has to wait. @type {Map<number, { at: number, delay:
   * number }>}
   */
  #asked = new Map();

  /** @param {Ground} ground */
  constructor(ground) {
    this.ground = ground;
    this.producer = new Producer(ground.writ, ground.url);
  }

  prepare() {
    return prepare(this.ground.admin);
  }

  /** @param {Partial<import('../queue/producer.mjs').Order>} [others] */
  #place(others) {
    const n = this.#n++;
    const order = { ...queueOrder(this.ground.random, n), ...others };
    this.#asked.set(n, { at: Date.now(), delay: order.delay });
    void this.producer
      .place(order)
      .catch((error) => this.ground.onFinding(`job ${n}: ${error?.stack ?? error}`));
    return n;
  }

  async place() {
    for (let i = 0; i < 25; i++) this.#place();
    const wanted = [1_000, 2_500].map((delay) =>
      this.#place({ kind: 'steady', delay, cancel: false }),
    );
    await until(() => this.producer.open === 0, 20_000);
    return wanted;
  }

  async probe() {
    const now = { kind: /** @type {const} */ ('steady'), delay: 0, cancel: false, priority: 9 };
    const placed = [1, 2, 3].map(() => this.#place(now));
    return async () =>
      (await number(
        this.ground.admin,
        'select count(*) as n from fault.effect where n = any ($1)',
        [placed],
      )) >= 3;
  }

  async rested() {
    const left = `select (select count(*) from writ_data.job_ready) + (select count(*) from writ_data.job_wait)
      + (select count(*) from writ_data.job_lease) as n`;
    return this.producer.open === 0 && (await number(this.ground.admin, left)) === 0;
  }

  /** @param {import('./clock.mjs').DatabaseClock} clock @returns {Promise<Finding[]>} */
  async check(clock) {
    const { admin, folder } = this.ground;
    await keepQueueBooks(admin, this.producer.books, (await recordsOf(folder)).begun);
    await admin.query('analyze');
    const client = await admin.connect();
    const { details } = await check(client);
    const { rows } = await client.query(
      'select n, extract(epoch from min(at)) * 1000 as at from fault.effect group by n',
    );
    client.release();
    // The server's clock and that of this process are one: it is the same machine.
    const early = rows.filter(({ n, at }) => {
      const asked = this.#asked.get(n);
      return (
        asked &&
        asked.delay > 0 &&
        Number(at) - asked.at < asked.delay - clock.forward(asked.at, Number(at)) - 50
      );
    });
    // Times of a row come from the database's clock, which was set back on purpose.
    const findings = details.filter(({ what }) => what !== 'times run backwards');
    return [
      ...findings,
      ...finding('wrong', 'a job was early by more than the clock jumped', early),
    ];
  }

  close() {
    return this.producer.close();
  }
}

/** Runs with sleeps, waits, pauses and retries. */
export class Runs {
  name = 'runs';
  module = new URL('../runs/plans.mjs', import.meta.url).href;

  /** @param {Ground} ground */
  constructor(ground) {
    this.ground = ground;
    this.starter = new Starter(ground.writ, ground.url);
  }

  async prepare() {
    await prepareRuns(this.ground.admin);
    for (const { plan } of Object.values(plans)) await this.ground.writ.runs.register(plan);
  }

  /** @param {Partial<import('../runs/starter.mjs').Order>} [others] */
  #place(others) {
    const order = { ...runOrder(this.ground.random), ...others };
    /** @type {Promise<void>} */
    const started = new Promise((resume) => {
      this.starter
        .place(order, () => resume())
        .catch((error) =>
          this.ground.onFinding(
            `run of ${order.name}: ${error?.stack ?? error} ${error?.detail ?? ''}`,
          ),
        )
        .finally(() => resume());
    });
    return started;
  }

  async place() {
    await Promise.all([1, 2, 3, 4].map(() => this.#place({ way: 'request' })));
    await this.#place({ name: 'waiting', way: 'request', signal: undefined });
  }

  async probe() {
    const at = this.starter.books.length;
    const placed = this.#place({ name: 'plain', way: 'request', signal: undefined });
    const id = this.starter.books[at]?.run_id;
    await placed;
    return async () =>
      (await number(
        this.ground.admin,
        `select count(*) as n from writ_data.run where run_id = $1 and status = 'COMPLETED'`,
        [id],
      )) === 1;
  }

  async rested() {
    const open = `select (select count(*) from writ_data.job_ready) + (select count(*) from writ_data.job_wait) + (select count(*) from writ_data.job_lease)
      + (select count(*) from writ_data.run where status not in ('COMPLETED', 'FAILED', 'CANCELLED'))
      + (select count(*) from writ_data.run r where not exists (select from writ_data.run_snapshot s where s.run_id = r.run_id and s.status = r.status))
      + (select count(*) from writ_data.alert where code = 'PROJECTOR_LAG_HIGH' and cleared_at is null) as n`;
    // A jump makes the projector late for a moment; the next turn of the clockwork says that it has
    // caught up.
    return this.starter.open === 0 && (await number(this.ground.admin, open)) === 0;
  }

  async check() {
    const { admin, folder } = this.ground;
    await keepRunBooks(admin, this.starter.books, (await runRecordsOf(folder)).outside);
    await admin.query('analyze');
    const client = await admin.connect();
    const findings = await checkRuns(client, writing);
    client.release();
    return findings;
  }

  close() {
    return this.starter.close();
  }
}

/** Governed changes, one of them in its soak at each jump. */
export class Changes {
  name = 'changes';
  module = new URL('../governance/steps.mjs', import.meta.url).href;
  #n = 0;
  /** What was refused because of a moved clock, by code. @type {Record<string, number>} */
  refused = {};

  /** @param {Ground} ground */
  constructor(ground) {
    this.ground = ground;
  }

  async prepare() {
    const { admin, writ, random } = this.ground;
    await prepareGovernance(admin);
    await admin.query(
      'alter table fault.written add column real timestamptz not null default clock_timestamp()',
    );
    for (const limit of ['proposals_per_hour', 'open_contracts'])
      await admin.query(
        `select writ.fn_setting_set('governance.agent.${limit}', '100000', 'faults')`,
      );
    this.world = await OutsideWorld.open(random.between(0, 9_999));
    process.env.WRIT_FAULTS_OUTSIDE = this.world.url;
    this.proposer = new Proposer(writ, admin, this.world);
    await this.proposer.prepare();
  }

  /** @param {'soaked' | 'plain'} name */
  async #place(name) {
    const n = ++this.#n;
    const conf = `conf-${n}`;
    const steps = [
      configure(conf, 'max', n + 1),
      ...(name === 'soaked' ? [soak(`${soakMs}ms`)] : []),
      configure(conf, 'burst', n),
    ];
    const before = { [`cap-${n}`]: 'DISABLED', [`${conf}#max`]: n, [`${conf}#gone`]: 'x' };
    const after = { ...before, [`${conf}#max`]: n + 1, [`${conf}#burst`]: n };
    const order = {
      ...{ n, name, steps, before, after, afterMs: 0, resolve: undefined, twoApprove: false },
      kind: {
        ...{
          share: 0,
          ends: ['COMPLETED', ...(name === 'soaked' ? ['ROLLED_BACK'] : [])],
          steps: () => steps,
        },
        // Its capability has a probe, which always says that it is well.
        trouble: /** @type {const} */ ('probe'),
      },
      scope: [conf],
    };
    await this.proposer
      ?.place(order, () => undefined)
      .catch((error) => {
        const { code, detail, stack } = error;
        this.ground.onFinding(`change ${n} was refused: ${code} ${detail ?? ''} ${stack}`);
      });
    return n;
  }

  /** Waits until a change is in its soak. */
  async place() {
    const n = await this.#place('soaked');
    const sql =
      'select count(*) as n from fault.written where slot = $1 and value = to_jsonb($2::integer)';
    const begun = await until(
      async () => (await number(this.ground.admin, sql, [`conf-${n}#max`, n + 1])) > 0,
      180_000,
    );
    if (!begun) this.ground.onFinding(`change ${n} did not begin`);
  }

  /** A change is done, and every probe has been asked by the clock as it is now. */
  async probe() {
    const n = await this.#place('plain');
    const id = this.proposer?.books.find((entry) => entry.n === n)?.job_id;
    const open = `select (select count(*) from writ_data.governance_job where job_id = $1 and status <> 'COMPLETED')
      + (select count(*) from writ_data.probe
         where checked_at between writ.now() - interval '1 minute' and writ.now() + interval '1 minute' is not true) as n`;
    return async () => (await number(this.ground.admin, open, [id])) === 0;
  }

  async rested() {
    const open = `select (select count(*) from writ_data.job_ready) + (select count(*) from writ_data.job_lease)
      + (select count(*) from writ_data.governance_job where status in ('PENDING', 'RUNNING', 'ROLLBACK_PENDING', 'FAILED', 'AUDIT_PENDING')) as n`;
    return (await number(this.ground.admin, open)) === 0;
  }

  async check() {
    const { admin, writ, folder } = this.ground;
    const rested = await settle(admin, 60_000);
    const client = await admin.connect();
    await keepGovernanceBooks(
      client,
      this.proposer?.books ?? [],
      this.world?.puts ?? [],
      this.world?.flags ?? [],
    );
    const findings = await checkGovernance(client);
    const { rows } = await client.query(
      `select a.slot, extract(epoch from b.real - a.real) * 1000 as lasted from fault.written a
       join fault.written b on b.slot = replace(a.slot, '#max', '#burst') and b.value <> 'null'
       join fault.owed o on a.slot = format('conf-%s#max', o.n) and o.name = 'soaked' and a.value = to_jsonb(o.n + 1)
       where b.real - a.real < $1 * interval '1 millisecond'`,
      [soakMs],
    );
    client.release();
    return [
      ...findings,
      ...finding('wrong', 'a soak was shorter than what was approved', rows),
      ...finding('stuck', 'the ledger of changes did not come to rest', rested ? [] : [{}]),
      ...(await verify(writ, folder)),
    ];
  }

  close() {
    this.world?.close();
  }
}

/**
 * Governors with actions, and schedules: one that follows the wall clock, one by the month, one by
 * the minute.
 */
export class Governors {
  name = 'governors';
  module = new URL('./jobs.mjs', import.meta.url).href;
  #n = 0;
  subjects = ['plain-1', 'plain-2', 'failing-3', 'shadow-4'].map((tenant) => ({
    ...{ tenant, sku: 'default', kind: String(tenant.split('-')[0]) },
  }));
  /** @type {object[]} */
  #books = [];

  /** @param {Ground} ground */
  constructor(ground) {
    this.ground = ground;
  }

  async prepare() {
    const { admin, writ, random } = this.ground;
    await prepareGovernor(admin);
    await admin.query(`create table fault.tick (schedule text not null, job_id uuid not null)`);
    this.service = await Service.open(random.between(0, 9_999));
    process.env.WRIT_FAULTS_SERVICE = this.service.url;
    this.key = await prepareStage(writ, admin, this.subjects);
    const timeZone = 'Europe/Berlin';
    const catchUp = /** @type {const} */ ('all');
    await writ.schedules.put('wall', tick, {
      cron: '30 2 * * *',
      timeZone,
      catchUp,
      input: { schedule: 'wall' },
    });
    await writ.schedules.put('month', tick, {
      cron: '0 0 1 * *',
      catchUp,
      input: { schedule: 'month' },
    });
    await writ.schedules.put('minute', tick, { cron: '* * * * *', input: { schedule: 'minute' } });
  }

  /** Sends a signal until it is answered. @param {string} tenant @param {number} value */
  async #signal(tenant, value) {
    const id = `time-${this.#n++}`;
    const governor = await this.ground.writ.governor({ tenant });
    for (let tries = 1; ; tries++) {
      try {
        const answer = await governor.signal({ type: 'load', value, id });
        const receipt_id = answer.status === 'decided' ? answer.receipt.receipt_id : null;
        this.#books.push({
          id,
          tenant,
          sku: 'default',
          status: 200,
          receipt_id,
          arrival_seq: answer.arrival_seq,
          tries,
        });
        return;
      } catch (error) {
        const { code, detail } = /** @type {Error & { code?: string, detail?: string }} */ (error);
        if (tries === 20) throw new Error(`signal ${id} was refused: ${code} ${detail ?? error}`);
        await pause(100);
      }
    }
  }

  async place() {
    const { random } = this.ground;
    for (let i = 0; i < 12; i++)
      await this.#signal(
        random.pick(this.subjects).tenant,
        random.next() < 0.3 ? random.between(85, 100) : random.between(1, 55),
      );
  }

  /** A governor that nobody has heard of, which decides its first signal. */
  async probe() {
    const tenant = `bare-${this.#n}`;
    await this.ground.writ.governors.entitlements.put(
      { tier: 'enterprise' },
      { tenant, as: String(this.key) },
    );
    await this.#signal(tenant, 7);
    return async () =>
      (await number(
        this.ground.admin,
        'select count(*) as n from writ.governor where tenant_id = $1 and in_mailbox + buffered + postponed = 0',
        [tenant],
      )) === 1;
  }

  async rested() {
    const { admin, writ } = this.ground;
    // What was given up is seen to by a person.
    const { rows } = await admin.query(
      `select tenant_id as tenant, c as cause from writ.governor cross join lateral jsonb_array_elements_text(causes) c
       where c in ('rollback_failed', 'crash', 'nondeterminism') or c = 'action_timeout' and causes ? 'rollback_failed' and in_flight = 'null'`,
    );
    for (const { tenant, cause } of rows)
      await (await writ.governor({ tenant }))
        .acknowledge(cause, { as: String(this.key), reason: 'it was looked at, and is over' })
        .catch((error) => {
          if (error.code !== 'cause_not_found') throw error;
        });
    const moving = `select (select count(*) from writ.governor v where ${isMoving})
      + (select count(*) from writ_data.job_ready) + (select count(*) from writ_data.job_lease)
      + (select count(*) from writ_data.schedule where paused_at is null and next_tick <= writ.now()) as n`;
    return (await number(admin, moving)) === 0;
  }

  async check() {
    const { admin, writ, folder } = this.ground;
    const rested = await settle(admin, 60_000);
    const client = await admin.connect();
    await keepGovernorBooks(client, this.#books, this.service?.calls ?? []);
    const findings = await checkGovernor(client);
    for (const [verdict, what, sql] of tickChecks)
      findings.push(...finding(verdict, what, (await client.query(sql)).rows));
    client.release();
    return [
      ...findings,
      ...finding('stuck', 'the ledger of governors did not come to rest', rested ? [] : [{}]),
      ...(await verify(writ, folder)),
    ];
  }

  close() {
    this.service?.close();
  }
}

const days = `select schedule, case schedule when 'wall' then (tick at time zone 'Europe/Berlin')::date
  else date_trunc('month', tick at time zone 'UTC')::date end as day from writ_data.schedule_tick where schedule <> 'minute'`;

/**
 * One row per violation: both schedules with a day catch up with all that they missed. @type
 * {[import('../../checker.mjs').Verdict, string, string][]}
 */
export const tickChecks = [
  [
    'repeated',
    'a schedule fired twice for one day',
    `select schedule, day from (${days}) d group by 1, 2 having count(*) > 1`,
  ],
  [
    'lost',
    'a schedule passed over a day',
    `select s.schedule, g.day::date from (select schedule, min(day) as first, max(day) as last from (${days}) d group by 1) s
     cross join lateral generate_series(s.first, s.last, case s.schedule when 'wall' then interval '1 day' else interval '1 month' end) g(day)
     where not exists (select from (${days}) d where d.schedule = s.schedule and d.day = g.day::date)`,
  ],
  [
    'wrong',
    'a tick of the wall is not at half past two, nor at three on the day without it',
    `select tick from writ_data.schedule_tick where schedule = 'wall' and (tick at time zone 'Europe/Berlin')::time <> '02:30'
     and not ((tick at time zone 'Europe/Berlin')::time = '03:00' and (tick - interval '1 minute') at time zone 'Europe/Berlin' < date_trunc('day', tick at time zone 'Europe/Berlin') + interval '2 hours')`,
  ],
  [
    'wrong',
    'a tick fired before its time',
    `select schedule, tick, fired_at from writ_data.schedule_tick where fired_at < tick`,
  ],
  [
    'lost',
    'a tick fired and nothing was done',
    `select t.schedule, t.tick from writ_data.schedule_tick t where not exists (select from fault.tick x where x.job_id = t.job_id)
     and not exists (select from writ_data.job_ready r where t.job_id = any (r.job_ids))`, // it fired as the workers stopped
  ],
  [
    'repeated',
    'a tick was done twice',
    'select job_id, count(*) from fault.tick group by 1 having count(*) > 1',
  ],
];

/**
 * @param {import('../../checker.mjs').Verdict} verdict @param {string} what @param {unknown[]} rows
 * @returns {Finding[]}
 */
export const finding = (verdict, what, rows) =>
  rows.length > 0 ? [{ verdict, what, times: rows.length, rows: rows.slice(0, 5) }] : [];

/**
 * The product's own verification against a checkpoint that is kept elsewhere. @param {Writ} writ
 * @param {string} folder
 */
async function verify(writ, folder) {
  const signer = keyOfSeed('faults.example/time', new Uint8Array(32).fill(7));
  const place = join(folder, 'checkpoint');
  await writ.ledger.checkpoint({ key: privateKeyText(signer), places: [place] });
  await writ.ledger.export(join(folder, 'export'));
  const checkpoint = await readFile(place, 'utf8');
  return verified(writ, join(folder, 'export'), { keys: [publicKeyText(signer)], checkpoint });
}

/**
 * Whether it came to that in time, by the clock of this process. @param {() => boolean |
 * Promise<boolean>} holds @param {number} limitMs
 */
export async function until(holds, limitMs) {
  for (const giveUpAt = Date.now() + limitMs; Date.now() < giveUpAt; await pause(100))
    if (await holds()) return true;
  return false;
}

// @ts-check
// The roles of the governor suite. Whoever sends signals also drives the governors, in one process; there is one governor per tenant.

import pg from 'pg';
import { built } from '../build.mjs';
import { monotonicMs, percentile, sleep } from '../harness/figures.mjs';

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */

const nameOf = (/** @type {number} */ n) => ({ tenant: `tenant-${n}`, sku: 'default' });

/**
 * @param {string} url @param {(query: (sql: string, params?: unknown[]) => Promise<any[]>) =>
 * Promise<any>} body
 */
async function asked(url, body) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await body(async (sql, params) => (await client.query(sql, params)).rows);
  } finally {
    await client.end();
  }
}

/**
 * Whoever acts writes one row, and says so when it is committed. @param {string} url @param {(key:
 * string) => void} [done]
 */
async function relieving(url, done) {
  const { defineAction } = await built();
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  const act = async (
    /** @type {{ tenant: string, idempotencyKey: string }} */ { tenant, idempotencyKey },
  ) => {
    await pool.query('insert into bench_effect values ($1, $2)', [idempotencyKey, tenant]);
    done?.(tenant);
    return { baseline: 'restored' };
  };
  return { action: defineAction('relieve', { run: act, undo: act }), close: () => pool.end() };
}

/**
 * A tenant may send as much as it likes, and actions and questions may take their time: on a busy
 * machine one that is given up, or a governor that waits half a minute to ask again, would be
 * measured instead.
 */
const settings = {
  storm_limit: 1_000_000,
  receipt_slo_ms: 60_000,
  action_ms: 30_000,
  entitlement_ms: 10_000,
  policy_ms: 10_000,
  ping_ms: 10_000,
};

/**
 * Makes governors and waits until each is stable. @param {Subject} _ @param {{ url: string,
 * tenants: number, acting: boolean }} options
 */
export async function govern(_, { url, tenants, acting }) {
  const { Writ, action: actions, definePolicy, handler = actions.handler } = await built();
  const writ = await Writ.connect({ connectionString: url, max: 16 });
  await asked(url, async (query) => {
    await query('create table bench_effect (key text, tenant text)');
    for (const [key, value] of Object.entries(settings))
      await query(`select writ.fn_setting_set($1, $2, 'bench')`, [
        `governor.${key}`,
        String(value),
      ]);
    await query(
      `insert into writ_data.entitlement (tenant_id, entitlement_id, status, tier, put_by, put_at) select 'tenant-' || n, 'bench', 'ACTIVE', 'enterprise', 'bench', now() from generate_series(0, $1::integer - 1) n`,
      [tenants],
    );
  });
  const key = await writ.principals.add({
    id: 'ops',
    kind: 'person',
    rights: ['operate'],
  });
  await writ.principals.add({ id: 'acting', kind: 'service' });
  await asked(url, (query) =>
    query(
      `update writ_data.principal set permissions = '{pool:write}' where principal_id = 'acting'`,
    ),
  );
  const { action, close } = await relieving(url);
  const worker = await writ.work([], { governor: { actions: [action] } });
  const policy = definePolicy('load', {
    when: { load: { above: 80, cooldown: 0 } },
    then: handler(action, { target: 'pool' }),
    requires: 'pool:write',
    as: 'acting',
  });
  for (let n = 0; n < tenants; n += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, tenants - n) }, async (_one, at) => {
        const governor = await writ.governor(nameOf(n + at));
        if (acting) await governor.publish(policy, { as: key });
      }),
    );
  await asked(url, async (query) => {
    while (
      (await query(`select from writ.governor where state <> 'stable' or in_mailbox > 0 limit 1`))
        .length > 0
    )
      await sleep(100);
  });
  await worker.stop();
  await close();
  await writ.close();
}

const signalOf = (/** @type {number} */ n) => ({
  signal_id: `signal-${n}`,
  source: 'monitoring',
  type: 'load',
  severity: 'LOW',
  value: n % 50,
  observed_at: Date.now(),
});

/** @param {string} url */
async function driving(url) {
  const { Writ } = await built();
  const writ = await Writ.connect({ connectionString: url, max: 16 });
  /** @type {unknown[]} */
  const failed = [];
  const driver = await writ.drive({
    onError: (/** @type {unknown} */ error) => failed.push(error),
  });
  const end = async () => {
    await driver.stop();
    await writ.close();
    if (failed.length > 0) throw failed[0];
  };
  return { writ, end };
}

/** Until each of them is settled. @param {string} url @param {number} signals */
const untilSettled = (url, signals) =>
  asked(url, async (query) => {
    while (
      (await query('select count(*)::int as n from writ_data.governor_settled'))[0].n < signals
    )
      await sleep(20);
  });

const WARM_UP = 1_000;

/**
 * As fast as they are answered, so many at once. @param {Subject} _ @param {{ url: string, tenants:
 * number, signals: number, atOnce: number }} options
 */
export async function signals(_, { url, tenants, signals: amount, atOnce }) {
  const { writ, end } = await driving(url);
  /** @type {number[]} */
  const took = [];
  let late = 0;
  const send = async (/** @type {number} */ from, /** @type {number} */ to) => {
    let next = from;
    const loop = async () => {
      while (next < to) {
        const n = next++;
        const began = monotonicMs();
        const { status } = await writ.governors.take(nameOf(n % tenants), signalOf(n));
        if (status !== 'decided') late++;
        took.push(monotonicMs() - began);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, loop));
    await untilSettled(url, to);
  };
  await send(0, WARM_UP);
  took.length = 0;
  late = 0;
  const began = monotonicMs();
  await send(WARM_UP, WARM_UP + amount);
  const ms = monotonicMs() - began;
  await end();
  return {
    rate: (amount / ms) * 1_000,
    p50: percentile(took, 50),
    p99: percentile(took, 99),
    late,
    jobs: WARM_UP + amount,
  };
}

const TICK_MS = 5;

/**
 * So many a second, whatever has become of those before: from when each should have been sent until
 * its receipt is committed and known. @param {Subject} _ @param {{ url: string, tenants: number,
 * signals: number, perSecond: number }} options
 */
export async function decisions(_, { url, tenants, signals: amount, perSecond }) {
  const { writ, end } = await driving(url);
  const all = WARM_UP + amount;
  /** @type {number[]} */
  const took = [];
  let late = 0;
  /** @type {Set<Promise<void>>} */
  const open = new Set();
  const began = monotonicMs();
  const one = async (/** @type {number} */ n) => {
    const due = began + (n / perSecond) * 1_000;
    const { status } = await writ.governors.take(nameOf(n % tenants), signalOf(n));
    if (n < WARM_UP) return;
    if (status !== 'decided') late++;
    took.push(monotonicMs() - due);
  };
  for (let n = 0; n < all; await sleep(TICK_MS))
    for (const due = ((monotonicMs() - began) / 1_000) * perSecond; n < Math.min(due, all); n++) {
      const sending = one(n).finally(() => open.delete(sending));
      open.add(sending);
    }
  await Promise.all(open);
  await untilSettled(url, all);
  await end();
  return { p50: percentile(took, 50), p99: percentile(took, 99), late, jobs: all };
}

/**
 * One event as its hash has it: what stands in the mailbox is put back. @param {Record<string,
 * any>} row
 */
function eventOf({ event_seq, at, mail_seq, mail_at, arrival_seq, content, added }) {
  const rest = added ?? { from: 'mailbox', decide: 1 };
  const whole =
    arrival_seq === null
      ? content
      : { ...content, kind: 'signal', arrival_seq: Number(arrival_seq) };
  return {
    event_seq: Number(event_seq),
    at: Number(at),
    ...(mail_seq !== null && { mail_seq: Number(mail_seq) }),
    ...(mail_seq !== null && rest.from === 'mailbox' && { arrived_at: Number(mail_at) }),
    ...rest,
    content: rest.content ?? whole,
  };
}

/**
 * Decides again what signals have led to: events a second, without reading them. @param {Subject}
 * subject @param {{ url: string, tenants: number, signals: number, atOnce: number }} options
 */
export async function decideAgain(subject, options) {
  const { jobs } = await signals(subject, options);
  const { redecide } = await built('governor/redecision.js');
  const { canonicalize } = await built('ledger/canonical.js');
  const logs = await asked(options.url, async (query) => {
    /** @type {Map<string, { who: object, events: string[], receipts: string[] }>} */
    const all = new Map();
    for (const { governor_id, tenant_id: tenant, sku_id: sku } of await query(
      'select governor_id, tenant_id, sku_id from writ_data.governor',
    ))
      all.set(`${tenant}`, { who: { governor_id, tenant, sku }, events: [], receipts: [] });
    const events =
      await query(`select g.tenant_id, e.event_seq, (extract(epoch from e.at) * 1000)::bigint as at, e.mail_seq, e.added::jsonb as added, (extract(epoch from m.at) * 1000)::bigint as mail_at, m.arrival_seq, m.content
      from writ_data.governor_event e join writ_data.governor g using (governor_id) left join writ_data.governor_mail m on m.governor_id = e.governor_id and m.mail_seq = e.mail_seq order by e.governor_id, e.event_seq`);
    for (const row of events) all.get(row.tenant_id)?.events.push(canonicalize(eventOf(row)));
    for (const { log_id, entry } of await query(
      `select log_id, entry from writ_data.receipt where stream = 'governor:default' order by log_id, stream_seq`,
    ))
      all.get(log_id)?.receipts.push(entry);
    return [...all.values()];
  });
  let events = 0;
  const began = monotonicMs();
  for (const { who, events: lines, receipts } of logs) {
    const { ok, differences } = redecide(who, lines, receipts);
    if (!ok) throw new Error(`a replay does not agree: ${JSON.stringify(differences[0])}`);
    events += lines.length;
  }
  return { rate: (events / (monotonicMs() - began)) * 1_000, jobs };
}

/**
 * What a process that drives costs while nothing happens: its memory, and the transactions of the
 * whole database in a second. @param {Subject} _ @param {{ url: string, seconds: number }} options
 */
export async function rest(_, { url, seconds }) {
  const { end } = await driving(url);
  // A governor that was made a moment ago is looked at once more, when the time that it had to
  // begin would be over.
  await asked(url, async (query) => {
    const soon = `select from writ_data.governor_due where due_at < now() + $1 * interval '1 second' limit 1`;
    while ((await query(soon, [seconds + 12])).length > 0) await sleep(200);
  });
  await sleep(11_000); // a connection that rests tells after ten seconds what it has done before
  const commits = () =>
    asked(url, async (query) => {
      // PostgreSQL 15 has it, older ones do not
      await query('select pg_stat_force_next_flush()').catch(() => undefined);
      return Number(
        (
          await query('select xact_commit from pg_stat_database where datname = current_database()')
        )[0].xact_commit,
      );
    });
  const before = await commits();
  await sleep(seconds * 1_000);
  const after = await commits();
  const rss = process.memoryUsage().rss / 1_048_576;
  await end();
  return { rss, commits: (after - before) / seconds, jobs: 1 };
}

/**
 * One after the other: from the signal that is over until what the action does is committed. @param
 * {Subject} _ @param {{ url: string, actions: number }} options
 */
export async function actions(_, { url, actions: amount }) {
  const { Writ } = await built();
  const writ = await Writ.connect({ connectionString: url, max: 16 });
  /** @type {(tenant: string) => void} */
  let heard = () => undefined;
  const { action, close } = await relieving(url, (tenant) => heard(tenant));
  const worker = await writ.work([], { governor: { actions: [action] } });
  /** @type {number[]} */
  const took = [];
  for (let n = 0; n < amount; n++) {
    const governor = nameOf(n);
    const done = new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`nothing was done for ${governor.tenant} within 10 s`)),
        10_000,
      );
      heard = (tenant) => {
        if (tenant !== governor.tenant) return;
        clearTimeout(late);
        resolve(undefined);
      };
    });
    const began = monotonicMs();
    await Promise.all([
      done.then(() => took.push(monotonicMs() - began)),
      writ.governors.take(governor, { ...signalOf(n), value: 95 }),
    ]);
  }
  await worker.stop();
  await close();
  await writ.close();
  // The first ones open connections and have Node compile what it runs.
  const warm = took.slice(Math.min(20, amount / 2));
  return { p50: percentile(warm, 50), p99: percentile(warm, 99), jobs: amount };
}

/**
 * Whether each signal was settled once, by a receipt. @param {Subject} _ @param {{ url: string,
 * signals: number }} options
 */
export async function verifySignals(_, { url, signals: amount }) {
  const jobs = WARM_UP + amount;
  const [found] = await asked(url, (query) =>
    query(`select (select count(*)::int from writ_data.governor_settled s join writ_data.receipt r on r.receipt_id = s.receipt_id) as settled,
      (select count(*)::int from writ_data.receipt where entry::jsonb ->> 'reason' = 'signal_received') as receipts, (select count(*)::int from writ_data.governor_mail where arrival_seq is not null) as signals`),
  );
  const complete = found.settled === jobs && found.receipts === jobs && found.signals === jobs;
  return {
    missing: complete
      ? null
      : `${found.settled} signals are settled, with ${found.receipts} receipts, of ${found.signals}, instead of ${jobs}`,
  };
}

// @ts-check
// Who is attacked and by whom: the tenant `mallory`, which belongs to the attackers, the tenant
// `calm`, in which nothing may change, and the attackers' logins.

import { principal } from '../../dist/governance/keys.js';
import { configure, defineJob, definePlan, enable, soak } from '../../dist/index.js';
import { canonicalize } from '../../dist/ledger/canonical.js';
import { generator } from '../faults/plan.mjs';
import { Attacker } from './attacker.mjs';
import { templateOn } from './grammar.mjs';

/** @typedef {import('../../dist/index.js').Writ} Writ */
/** @typedef {import('pg').Pool} Pool */

export const mallory = 'mallory';
export const calm = 'calm';
const password = 'hostile';
const work = /** @type {any} */ (
  defineJob('m.work', { retry: { attempts: 2, base: '100ms', cap: '1s' } })
);
const plan = definePlan('m-plan', { version: '1.0.0' }, (/** @type {any} */ p) => {
  const first = p.step('first', work);
  p.waitFor('word', { after: first });
});
const still = /** @type {any} */ (defineJob('calm.work', {}));
const stillPlan = definePlan('calm-plan', { version: '1.0.0' }, (/** @type {any} */ p) => {
  p.waitFor('word');
});

/**
 * Principals of a tenant. Answers their keys by name. @param {Writ} writ @param {string} tenant
 * @param {string} [prefix]
 */
export async function people(writ, tenant, prefix = tenant) {
  const add = (
    /** @type {string} */ name,
    /** @type {'person' | 'service' | 'agent'} */ kind,
    more = {},
  ) => writ.principals.add({ id: `${prefix}-${name}`, kind, tenant, ...more });
  return {
    ops: await add('ops', 'person', { rights: ['propose', 'approve', 'activate', 'operate'] }),
    root: await add('root', 'person', { rights: ['administer'] }),
    ada: await add('ada', 'person'),
    bob: await add('bob', 'person'),
    service: await add('service', 'service', { permissions: ['pool:write'] }),
    agent: await add('agent', 'agent', { onBehalfOf: `${prefix}-ops` }),
  };
}

/**
 * What `calm` has: something of everything, all of it at rest. @param {Writ} writ @param
 * {Record<string, string>} keys @param {Pool} admin
 */
export async function prepareCalm(writ, keys, admin) {
  const as = { as: String(keys.ops), tenant: calm };
  await writ.runs.register(stillPlan);
  await writ.enqueue(still, undefined, { tenant: calm, delay: '30d' });
  await writ.schedules.put('calm-schedule', still, { cron: '0 0 1 1 *', tenant: calm });
  await writ.runs.start(/** @type {any} */ (stillPlan), undefined, { tenant: calm });
  await writ.capabilities.put(
    [
      { capability_name: 'calm-cap', domain: 'c' },
      { scope: 'calm-conf', owner_capability: 'calm-cap', values: { max: 1 } },
    ],
    as,
  );
  await writ.contracts.propose(
    { title: 'calm', scope: ['calm-conf'], steps: [configure('calm-conf', 'max', 2)], risk: 'low' },
    as,
  );
  await writ.governors.entitlements.put({ tier: 'free' }, { tenant: calm, as: String(keys.ops) });
  await admin.query(`select writ.fn_freeze_put($1, '{"reason": "calm is calm"}', $2)`, [
    principal(String(keys.ops)).credential,
    calm,
  ]);
}

/** What `mallory` has, and keeps getting: something for every gate. */
export class Estate {
  n = 0;
  /**
   * Approvals count when an applier has verified them. @type {ReturnType<Writ['work']> | undefined}
   */
  verifier;

  /** @param {Writ} writ @param {Pool} admin @param {Record<string, string>} keys */
  constructor(writ, admin, keys) {
    this.writ = writ;
    this.admin = admin;
    this.keys = keys;
    this.people = Object.fromEntries(
      Object.entries(keys).map(([name, key]) => [name, principal(key)]),
    );
    this.as = { as: String(keys.ops), tenant: mallory };
  }

  async prepare() {
    const { writ, as } = this;
    await writ.runs.register(plan);
    await writ.enqueue(/** @type {any} */ (defineJob('m.follow', {})), undefined, {
      tenant: mallory,
      delay: '1h',
    });
    await writ.capabilities.put(
      [
        { capability_name: 'm-cap', domain: 'm' },
        { capability_name: 'm-busy', domain: 'm' },
        { scope: 'm-conf', owner_capability: 'm-cap', values: { max: 1, most: 5 } },
      ],
      as,
    );
    await writ.governors.entitlements.put({ tier: 'enterprise' }, { tenant: mallory, as: as.as });
    await writ.governor({ tenant: mallory, sku: 'default' });
    await this.#gate('fn_probe_put($1, $2, $3)', [
      this.people.ops?.credential,
      JSON.stringify({
        name: 'm-asked',
        capability: 'm-busy',
        type: 'http',
        config: { url: 'https://example.com/' },
        every_ms: 3_600_000,
      }),
      mallory,
    ]);
    // A month that is over, for the signer to archive.
    await this.admin.query(`select writ_data.make_receipt_partition('2025-01-01')`);
    await this.#template();
    await this.more();
  }

  /** A template that is approved under the policy of now, for a target that nothing else holds. */
  async #template() {
    const target = `m-most-${this.n}`;
    await this.writ.capabilities.put(
      [{ scope: target, owner_capability: 'm-cap', values: { most: 5 } }],
      this.as,
    );
    const about = JSON.stringify({ title: `template ${this.n}`, risk_level: 'low' });
    const given = [this.people.ops?.credential, canonicalize(templateOn(target)), about, mallory];
    const { contract_id } = await this.#gate('fn_contract_propose($1, $2, $3, $4)', given);
    await this.#approve(this.writ.contracts.handle(contract_id));
  }

  /** @param {import('../../dist/index.js').Contract} contract */
  async #approve(contract) {
    this.verifier ??= this.writ.work([], {
      governance: 'verify',
      trust: 'database',
      poll: '200ms',
    });
    await this.verifier;
    const { hash } = await contract.preview({ as: String(this.keys.ada) });
    await contract.approve({ as: String(this.keys.ada), hash });
  }

  /** Another round of everything that attackers use up. */
  async more() {
    const { writ, as } = this;
    const n = ++this.n;
    await Promise.all([
      ...Array.from({ length: 4 }, () => writ.enqueue(work, { n }, { tenant: mallory })),
      writ.enqueue(work, { n }, { tenant: mallory, delay: '1h' }),
      // Their first steps are jobs of the same kind.
      ...Array.from({ length: 4 }, () =>
        writ.runs.start(/** @type {any} */ (plan), undefined, { tenant: mallory }),
      ),
    ]);
    await this.admin.query(
      `select writ_data.raise_alert('M_ALERT', 'P2', $1, 'm/' || $2, '{}', 'estate', writ.now())`,
      [mallory, n],
    );
    const cap = `m-cap-of-${n}`;
    const conf = `m-conf-of-${n}`;
    await writ.capabilities.put(
      [
        { capability_name: cap, domain: 'm' },
        { scope: conf, owner_capability: cap, values: { max: n } },
      ],
      as,
    );
    const steps = [
      ...(n % 6 === 1 ? [soak('1s')] : []),
      configure(conf, 'max', n + 1),
      enable(cap),
    ];
    const contract = await writ.contracts.propose(
      { title: `m ${n}`, scope: [cap, conf], steps, risk: 'low' },
      as,
    );
    const signal = { kind: 'signal', source: 'custom', type: 'load', severity: 'MEDIUM' };
    const about = { signal_id: `estate-${n}`, value: n, observed_at: Date.now() };
    await this.#gate(`fn_signals_take($1, 'estate')`, [
      JSON.stringify([
        { t: mallory, s: 'default', id: about.signal_id, c: { ...signal, ...about } },
      ]),
    ]);
    if (n % 4 === 0) await this.#template();
    if (n % 3 === 0) return;
    await this.#approve(contract);
    if (n % 3 === 1) await contract.activate({ as: String(this.keys.service) });
  }

  /**
   * Leaves jobs that only Writ makes, for gates of appliers: nobody verifies them first. They are
   * made up, so it is for a database whose work nobody counts.
   */
  async leave() {
    await (await this.verifier)?.stop();
    this.verifier = undefined;
    const { admin, writ } = this;
    await writ.governor({ tenant: mallory, sku: 'acting' });
    await admin.query(
      `with c as (
        select jsonb_build_object('contract', contract_id) as input from writ_data.contract
        where tenant_id = $1 order by contract_id desc limit 4
      ), g as (
        select jsonb_build_object('job', job_id) as input from writ_data.governance_job
        where tenant_id = $1 order by job_id desc limit 4
      ), a as (
        select jsonb_build_object('governor_id', governor_id, 'action_id', 'a-1', 'attempt', n) as input
        from writ_data.governor cross join generate_series(1, 4) n
        where tenant_id = $1 and sku_id = 'acting'
      ), x as (
        select 'governance.verify' as kind, input from c
        union all select 'governance.audit', input from g
        union all select 'governance.ended', input from g
        union all select 'governor.webhook', input from a
      )
      select writ_data.enqueue_alike(kind, array_agg(writ_data.uuidv7()), json_agg(input),
        'estate', $1)
      from x group by kind`,
      [mallory],
    );
    // A governor that waits for all of these actions, and for a person.
    await admin.query(
      `update writ_data.governor g
       set data = g.data || jsonb_build_object('causes', array['outage'], 'in_flight',
         jsonb_build_object('action_id', 'a-1', 'earlier', (
           select jsonb_agg(j.job_id) from writ_data.job j
           where j.tenant_id = $1 and j.job_kind = 'governor.webhook')))
       where g.tenant_id = $1 and g.sku_id = 'acting'`,
      [mallory],
    );
  }

  /** @param {string} call @param {unknown[]} values @returns {Promise<any>} */
  async #gate(call, values) {
    const { rows } = await this.admin.query(`select writ.${call} as answer`, values);
    if (rows[0].answer?.refused) throw new Error(`${call}: ${JSON.stringify(rows[0].answer)}`);
    return rows[0].answer;
  }
}

/**
 * The attackers: for each role a login with that role and nothing else, bound to the tenant; one
 * bound to a principal; one without a role; and logins of all tenants with the roles of `unbound`.
 * @param {{ admin: Pool, url: string, gates: import('./catalogue.mjs').Gate[], views: { name:
 * string, callers: string[] }[], people: Record<string,
 * import('../../dist/governance/keys.js').Principal>, seed: number, suffix?: string, unbound?:
 * readonly string[] }} given
 */
export async function attackers({
  admin,
  url,
  gates,
  views,
  people: known,
  seed,
  suffix = '',
  unbound = [],
}) {
  const roles = [...new Set(gates.flatMap(({ callers }) => callers))].sort();
  const { rows } = await admin.query(`select to_regclass('writ_data.login') is not null as yes`);
  const binds = rows[0].yes === true;
  /** @type {Attacker[]} */
  const all = [];
  /**
   * @param {string} name @param {string | undefined} role @param {{ tenant?: string, principal?:
   * string }} [bound]
   */
  const add = async (name, role, bound) => {
    const login = `hostile_${name}${suffix}`;
    await admin.query(`create role ${login} login password '${password}'`);
    if (role) await admin.query(`grant ${role} to ${login}`);
    if (binds && bound && role) {
      const definition = { principal_id: bound.principal, tenant_id: bound.tenant, roles: [role] };
      const put = await admin.query('select writ.fn_login_put($1, $2, $3) as answer', [
        login,
        JSON.stringify(definition),
        'hostile',
      ]);
      if (put.rows[0].answer?.refused) throw new Error(JSON.stringify(put.rows[0].answer));
    }
    const address = new URL(url);
    address.username = login;
    address.password = password;
    all.push(
      new Attacker({
        url: address.toString(),
        login,
        role: role ?? 'nobody',
        tenant: mallory,
        seed: seed + all.length,
        gates: gates.filter(({ callers }) => role && callers.includes(role)),
        views: views
          .filter(({ callers }) => role && callers.includes(role))
          .map((view) => view.name),
        people: known,
        names: role === 'writ_server',
        bound: bound !== undefined || role === undefined,
        spare: `hostile_nobody${suffix}`,
      }),
    );
  };
  for (const role of roles) await add(role.replace('writ_', ''), role, { tenant: mallory });
  for (const role of unbound.filter((one) => roles.includes(one)))
    await add(`${role.replace('writ_', '')}_all`, role);
  if (binds) await add('agent', 'writ_principal', { tenant: mallory, principal: 'm-agent' });
  await add('nobody', undefined);
  return all;
}

/**
 * Roles that a login of all tenants may have while others work: what it holds itself is its own.
 */
const beside = [
  ...[
    'writ_principal',
    'writ_producer',
    'writ_worker',
    'writ_applier',
    'writ_engine',
    'writ_signer',
    'writ_auditor',
  ],
  'dot_executor',
];

/** Roles whose holders may steer all tenants: they come when honest work is done. */
export const steering = ['writ_server', 'writ_admin', 'workflow_admin'];

/**
 * The roles that logins of all tenants have in a run, at least three of them. @param {number} seed
 * @returns {string[]}
 */
export function unboundOf(seed) {
  const random = generator(seed + 7919);
  const ranked = beside
    .map((role) => ({ role, by: random.next() }))
    .sort((one, other) => one.by - other.by);
  return ranked.slice(0, random.between(3, 5)).map(({ role }) => role);
}

/**
 * Takes the attackers' logins away again: roles belong to the server. @param {Pool} admin @param
 * {Attacker[]} all
 */
export async function dismiss(admin, all) {
  for (const { login } of all) {
    await admin.query(`drop owned by ${login}`);
    await admin.query(`drop role ${login}`);
  }
}

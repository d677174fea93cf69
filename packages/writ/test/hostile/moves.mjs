// @ts-check
// Sequences of calls, and raw SQL: what a login can try without any gate.

import { documentHash } from '../../dist/governance/document.js';
import { decide, decideVersion } from '../../dist/governor/decide.js';
import { takenFrom } from '../../dist/governor/stored.js';
import { rowsOf, turn } from '../../dist/governor/turn.js';
import { canonicalize } from '../../dist/ledger/canonical.js';
import { foreignRun, noTurn, planText, policyVersion, receiptFor } from './grammar.mjs';
import { channels, lockNames, reserved, uuid7 } from './values.mjs';

/** @typedef {import('./attacker.mjs').Attacker} Attacker */

const huge = 9e18;

/** A plan whose timer never comes. @param {Attacker} a */
async function registerStartWait(a) {
  const { createHash } = await import('node:crypto');
  const id = `m-late-${a.random.between(1, 1e9)}`;
  const timer = a.random.pick([huge, 1e17, -huge, 0, 1e300, '9e18', null]);
  const document = JSON.stringify({
    planId: id,
    planVersion: '1.0.0',
    schemaVersion: '1',
    steps: [
      {
        after: [],
        id: 'late',
        ms: timer,
        duration_ms: timer,
        type: a.random.pick(['timer', 'wait']),
        timeoutMs: timer,
        timeout_ms: timer,
      },
    ],
  });
  const sha256 = createHash('sha256').update(document).digest('hex');
  await a.act('fn_plan_register', { p_document: document, p_sha256: sha256 });
  const run = {
    run_id: uuid7(a.random),
    plan_id: id,
    plan_version: '1.0.0',
    sha256,
    input: {},
    tenant: a.tenant,
  };
  await a.act('fn_run_start_many', { p_runs: [run] });
}

/**
 * Claims everything it can name, reserved kinds first; commits, and is never heard of again. @param
 * {Attacker} a
 */
async function claimCommitSilence(a) {
  const kinds =
    a.random.next() < 0.5
      ? ['governance.change', 'governance.ended', 'governance.soak', 'governance.audit', 'm.work']
      : [a.random.pick(reserved), 'm.work'];
  const claimed = await a.act('fn_job_claim_many', {
    p_kinds: kinds,
    p_limit: 3,
    p_start: 1,
    p_lease_ttl_seconds: 1,
  });
  const lease = claimed?.lease_token ? a.known.leases.at(-1) : undefined;
  for (const { id } of lease?.jobs ?? []) {
    await a.act('fn_job_commit', { p_job_id: id, p_lease_token: lease?.token });
    if (a.random.next() < 0.3)
      await a.act('fn_job_succeed', { p_job_id: id, p_lease_token: lease?.token });
  }
}

/** Ends a step inside one transaction, as a handler that commits does. @param {Attacker} a */
async function commitStep(a) {
  await a.act('fn_job_claim_many', {
    p_kinds: ['m.work'],
    p_limit: 1,
    p_start: 1,
    p_lease_ttl_seconds: 10,
  });
  const lease = a.known.leases.at(-1);
  const given = { p_job_id: lease?.jobs[0]?.id, p_lease_token: lease?.token };
  await a.send('begin', 'begin');
  await a.act('fn_job_commit', given);
  await a.act('fn_run_step_commit', { ...given, p_result: { done: true } });
  await a.send('end', a.random.pick(['commit', 'rollback']));
}

/** Rewrites kinds of others, and names them in a claim. @param {Attacker} a */
async function rewriteKind(a) {
  // A worker of all tenants may change attempts and limits of a kind: that is not tried on honest
  // ones.
  const kind = a.random.pick([
    ...['governance.change', 'governance.ended', 'governor.action', 'writ.timer'],
    ...(a.bound ? ['honest.effect', 'honest.step', 'calm.work'] : []),
  ]);
  const definition = a.random.pick([
    {},
    { executor: 'DOT' },
    { limit_concurrency: 1 },
    { max_attempts: 1, timeout_s: 0.001 },
    { limit_rate: 1e-9 },
    { event_domain: 'x' },
  ]);
  await a.act('fn_job_kind_register', { p_kind: kind, p_definition: definition });
}

/**
 * Proposes a step with parameters that once switched a check off, has it approved honestly or with
 * nothing, and activates it. @param {Attacker} a
 */
async function craftedProposal(a) {
  const crafted = a.random.pick([
    { undo_of: 1 },
    { undo: true },
    { approved: true },
    { new_value: null },
    { tenant: 'alpha' },
  ]);
  const target = a.random.pick(['m-conf', 'alpha-conf-1', 'calm-conf', 'SYSTEM', 'm-cap']);
  const type = a.random.pick([
    'config_update',
    'own_type',
    'capability_enable',
    'signal_record',
    'soak',
    'governance.change',
  ]);
  const content = JSON.stringify({
    scope: [target],
    steps: [{ parameters: { key: 'max', new_value: 7, ...crafted }, step_type: type, target }],
  });
  const proposed = await a.act('fn_contract_propose', {
    p_content: content,
    p_about: { title: 'crafted', risk_level: 'low' },
  });
  const id = proposed?.contract_id;
  if (!id) return;
  const preview = await a.act('fn_contract_preview', { p_contract_id: id });
  const document = preview?.document?.not_after ? canonicalize(preview.document) : undefined;
  const replayed = a.known.foreign('signature') ?? a.known.own('signature');
  const signature = a.random.pick([
    '',
    '00'.repeat(64),
    replayed?.signature,
    document ? a.people.ada?.sign(documentHash(document)) : '',
  ]);
  await a.act('fn_contract_review', {
    p_key: a.names ? 'm-ada' : a.people.ada?.credential,
    p_contract_id: id,
    p_action: 'APPROVE',
    p_document: document,
    p_signature: signature,
  });
  await a.act('fn_contracts_activate', {
    p_items: [{ contract: id, job: uuid7(a.random) }],
  });
}

/**
 * Takes the governors of its tenant and decides about them, as a driver does: an honest turn, for
 * the call that follows. @param {Attacker} a
 */
async function decideTurn(a) {
  a.turn = undefined;
  const governors = new Map(
    // Not one whose policy another driver has to load, nor one that is made up.
    (a.known.mine.governor ?? [])
      .filter(({ sku, policy, hash }) => {
        return sku === 'default' && (!policy || hash === policyVersion(policy).hash);
      })
      .map((one) => [one.id, one]),
  );
  if (governors.size === 0) return;
  const rows = await a.act('fn_governors_take', {
    p_ids: [...governors.keys()],
    p_mails: 10,
    p_after: '-infinity',
  });
  if (!Array.isArray(rows)) return;
  const { governors: taken, now, machine } = takenFrom(rows);
  const options = { decide, decideVersion, processId: 'm', now, machine, twice: false };
  const bounds = { limit: 20, mails: 10, crashLimit: 10 };
  const turned = taken.map((/** @type {any} */ one) => {
    const version = one.data.policy?.version;
    const published = version === undefined ? null : policyVersion(version);
    return turn(one, published, undefined, undefined, { ...options, ...bounds });
  });
  a.turn = rowsOf(turned, []);
  if (a.turn.governors.length > 0) a.note('fn_governors_apply', 'decided');
}

/**
 * Writes an honest turn with something planted in it, in the transaction that has taken the
 * governors or after it. @param {Attacker} a
 */
async function takeApplyJunk(a) {
  const apart = a.random.next() < 0.5;
  if (!apart) await a.send('begin', 'begin');
  await decideTurn(a);
  const honest = a.turn ?? noTurn;
  a.turn = undefined;
  const stream = a.known.foreign('stream') ?? {};
  const victim = a.known.foreign('governor');
  const effects = [
    { type: 'cancel', job: a.known.foreign('job') },
    { type: 'fence', job: a.known.foreign('job'), job_id: a.known.foreign('job') },
    { type: 'quota', t: 'alpha', n: 1_000_000 },
    { type: 'alert', t: 'alpha', code: 'X', severity: 'P1', subject: 'x' },
    { type: 'enqueue', kind: 'governance.change', t: 'alpha' },
  ];
  const receipt = canonicalize(
    receiptFor(a, { ...stream, next: (stream.next ?? 1) + a.random.between(0, 2) }),
  );
  const plant = a.random.pick([
    () => ({ receipts: [...honest.receipts, { e: 1, r: receipt }] }),
    () => ({ receipts: [{ e: 1, r: receipt }] }),
    () => ({ effects: [{ e: 1, ...a.random.pick(effects) }] }),
    () => ({ effects: [...honest.effects, { e: 1, ...a.random.pick(effects) }] }),
    () => ({ governors: [{ id: victim?.id, rev: victim?.rev, data: {}, waiting: {} }] }),
    () => ({
      governors: honest.governors.map((/** @type {any} */ one) => ({ ...one, id: victim?.id })),
    }),
    () => ({ wakes: [{ id: victim?.id, at: a.random.pick([huge, -huge, Date.now()]) }] }),
  ]);
  await a.act('fn_governors_apply', { p_turn: { ...honest, ...plant() } });
  if (!apart) await a.send('end', a.random.pick(['commit', 'rollback']));
}

/** Takes the projector's turn and hands in junk. @param {Attacker} a */
async function projectJunk(a) {
  await a.act('fn_run_changes', {});
  const run = a.known.foreign('run');
  const status = a.random.pick(['COMPLETED', 'FAILED', 'RUNNING', 'x']);
  const of = (/** @type {unknown} */ lastEventSeq) => ({
    runId: run,
    tenantId: a.random.pick(['alpha', 'beta']),
    status,
    lastEventSeq,
    steps: [],
  });
  const junk = a.random.pick([
    [of(2147483647)],
    [of(1)],
    [of(-1), of('NaN'), of(null), of(1e300)],
    [{ runId: 'x' }],
    [null, 7, []],
    Array.from({ length: 500 }, () => of(5)),
  ]);
  await a.act('fn_run_project', {
    p_turn: a.random.pick([
      a.known.answers.get('fn_run_changes')?.turn,
      'ffffffff-ffff-7fff-bfff-ffffffffffff',
    ]),
    p_snapshots: junk,
  });
}

/**
 * Takes a relay's turn, says that everything was delivered, and moves the position past everything.
 * @param {Attacker} a
 */
async function relayJunk(a) {
  await a.act('fn_outbox_take', { p_buses: ['webhook', 'nats'] });
  const outcome = a.random.pick(['ok', 'failed', 'held', 'later']);
  await a.act('fn_outbox_done', {
    p_destination: a.random.pick([
      a.known.foreign('destination'),
      a.known.foreign('destination'),
      'm-place',
    ]),
    p_turn: a.random.pick([
      a.known.answers.get('fn_outbox_take')?.turn,
      'ffffffff-ffff-7fff-bfff-ffffffffffff',
      null,
    ]),
    p_moves: true,
    p_outcomes:
      a.random.next() < 0.5
        ? []
        : [[a.known.foreign('event'), a.known.foreign('run'), 1, outcome, 1, 200, 'no', false]],
    p_trouble: a.random.pick([null, 'gone']),
  });
}

/**
 * Fires another tenant's schedule, moves it into the far future, redefines it or takes it away.
 * @param {Attacker} a
 */
async function scheduleJunk(a) {
  const row = a.known.foreign('schedule_row') ?? {};
  const over = { p_schedule: row.schedule, p_tenant_id: row.tenant };
  const late = a.random.pick([
    '2999-01-01T00:00:00Z',
    '9999-12-31T23:59:00Z',
    new Date(Math.ceil(Date.now() / 6e4) * 6e4).toISOString(),
  ]);
  await a.act('fn_schedule_fire', {
    p_due: [{ ...row, ticks: a.random.pick([[], [row.next_tick]]), move_to: late }],
  });
  const gate = a.random.pick([
    'fn_schedule_put',
    'fn_schedule_pause',
    'fn_schedule_remove',
    'fn_schedule_run_now',
  ]);
  await a.act(gate, { ...over, p_next_tick: late });
}

/**
 * Says that everything of another's destination is to be told again, elsewhere, or not at all.
 * @param {Attacker} a
 */
async function destinationJunk(a) {
  const name = a.known.foreign('destination');
  const tenant = a.random.pick(['alpha', 'beta', null, a.tenant]);
  await a.act('fn_destination_put', {
    p_name: name,
    p_tenant_id: tenant,
    p_since: a.random.pick([null, '2000-01-01T00:00:00Z']),
  });
  await a.act('fn_destination_set', {
    p_name: name,
    p_destination: name,
    p_state: a.random.pick(['paused', 'removed']),
  });
  await a.act('fn_outbox_replay', {
    p_name: name,
    p_destination: name,
    p_since: '2000-01-01T00:00:00Z',
  });
}

/** Says that health is well, from the future. @param {Attacker} a */
async function healthLies(a) {
  const at = a.random.pick(['2999-01-01T00:00:00Z', 'infinity']);
  const tenant = a.random.pick(['alpha', 'beta', a.tenant]);
  await a.act('fn_probes_report', {
    p_reports: [
      { tenant, name: a.known.foreign('probe') ?? 'x', status: 'HEALTHY', detail: 'fine', at },
    ],
  });
  await a.act('fn_probe_report', {
    p_report: { name: 'm-probe', status: 'HEALTHY', at },
    p_tenant_id: tenant,
  });
  await a.act('fn_governance_audits', {
    p_items: [
      {
        job: a.known.foreign('governance_job'),
        evidence: { probe: { status: 'HEALTHY', at } },
        read: {},
      },
    ],
  });
  await a.act('fn_governance_ended', { p_job_id: a.known.foreign('governance_job') });
}

/** Makes a driver give up on a good signal, and tells it nonsense. @param {Attacker} a */
async function crashGovernor(a) {
  const { id, rev } = a.known.foreign('governor') ?? {};
  for (let n = 0; n < 13; n++)
    await a.act('fn_governor_crashed', { p_governor_id: id, p_rev: rev, p_error: 'x' });
  const failures = [
    { cause: 'ledger', failure_type: 'timeout', message: 'it took too long' },
    { cause: 'ledger', failure_type: 'timeout', message: { deep: [] } },
    { cause: 'ledger', failure_type: 'receipt_slow', message: 'x'.repeat(1001) },
    { cause: 'policy', failure_type: 'policy_load_failed', message: 'x' },
    [],
  ];
  await a.act('fn_governor_tell', { p_governors: [id], p_failure: a.random.pick(failures) });
}

/**
 * Names a wrong tenant in its session, and calls what takes rows one by one: an error that the
 * setting of a caller causes counts against no row. @param {Attacker} a
 */
export async function wrongTenant(a) {
  // A login of all tenants narrows itself to that tenant, and may.
  if (!a.bound) return;
  const row = a.known.foreign('schedule_row') ?? {};
  const late = new Date(Math.ceil(Date.now() / 6e4) * 6e4 + 400 * 864e5).toISOString();
  const over = /** @type {Record<string, Record<string, unknown>>} */ ({
    fn_schedule_fire: { p_due: [{ ...row, ticks: [], move_to: late }] },
    fn_run_start_many: { p_runs: [foreignRun(a)] },
  });
  await a.send('raw', `set writ.tenant = '${a.random.pick(['alpha', 'calm', 'x'])}'`);
  for (const { name } of a.gates)
    if (/_(fire|tick|many)$/.test(name)) await a.act(name, over[name] ?? {});
  await a.send('raw', 'reset writ.tenant');
}

/** Holds what others wait for. @param {Attacker} a */
async function heartbeatIdle(a) {
  await a.act('fn_queue_heartbeat', {
    p_idle_seconds: a.random.pick(['1e9', 'Infinity', 'NaN', '-1']),
    p_cadence_seconds: a.random.pick(['2147483647', '0', '-5']),
  });
}

/** Statements that need no gate. @param {Attacker} a @returns {string} */
function rawStatement(a) {
  const { random } = a;
  const tables = [
    'job',
    'receipt',
    'contract_review',
    'capability',
    'dot_config',
    'principal',
    'ledger_leaf',
    'login',
    'run_snapshot',
    'turn',
  ];
  const table = random.pick(tables);
  const name = random.pick([
    ...lockNames,
    'writ.fn_job_tick',
    'writ.fn_job_cleanup_sweep',
    'writ.fn_consumer_dispatch_many',
    'writ.relay_idle',
    'governance_policy/alpha',
    'writ.limit honest.effect ',
  ]);
  const channel = random.pick([...channels, 'queue_wake_dot', 'queue_wake_governance']);
  const payload = random.pick([
    a.known.foreign('job'),
    a.known.foreign('run'),
    '',
    'x'.repeat(7000),
    '[]',
    '["alpha","alpha-cap-1"]',
    'null',
    '\u0001',
  ]);
  return random.pick([
    `select pg_try_advisory_lock(hashtextextended('${name}', 0))`,
    `select pg_try_advisory_lock(hashtext('${name}'))`,
    `select pg_notify('${channel}', '${payload ?? ''}')`,
    `select pg_notify('${channel}', '${payload ?? ''}')`,
    `set writ.tenant = '${random.pick(['alpha', 'beta', '', '*', 'mallory'])}'`,
    'reset writ.tenant',
    `set writ.clock = '2999-01-01'`,
    `set writ.now = '2999-01-01'`,
    `select * from writ_data.${table} limit 1`,
    `delete from writ_data.${table}`,
    `insert into writ_data.${table} default values`,
    `truncate writ_data.${table}`,
    `lock table writ_data.${table} in access exclusive mode nowait`,
    `create temp table if not exists job (job_id uuid)`,
    `create or replace function pg_temp.now() returns timestamptz language sql as 'select ''2999-01-01''::timestamptz'`,
    `create or replace function pg_temp.refusal(text, text) returns jsonb language sql as 'select ''{}''::jsonb'`,
    `set search_path = pg_temp, writ, writ_data`,
    `set search_path = public`,
    `set role writ_owner`,
    `set role postgres`,
    `set session authorization postgres`,
    `set role ${random.pick(['workflow_admin', 'writ_admin', 'writ_applier', 'writ_engine', 'dot_executor'])}`,
    `set session_replication_role = replica`,
    `create schema mallory`,
    `create function public.sneak() returns int language sql as 'select 1'`,
    `alter function writ.fn_job_tick(text) owner to current_user`,
    `grant workflow_admin to current_user`,
    `select writ_data.append_receipts(array['{}'], now())`,
    `select writ_data.record('x', 'alice', now(), '{}', '{}', '{}', '{}')`,
    `select pg_read_file('/etc/passwd')`,
    `copy (select 1) to program 'true'`,
    `select lo_import('/etc/passwd')`,
    `set enable_seqscan = off`,
    `set plan_cache_mode = force_custom_plan`,
    `set default_transaction_read_only = on`,
    'reset all',
    'discard plans',
  ]);
}

/** @param {Attacker} a */
async function raw(a) {
  await a.send('raw', rawStatement(a));
}

/** Reads a view. @param {Attacker} a */
async function look(a) {
  const { views } = a.options;
  if (views.length > 0) await a.look(a.random.pick(views));
}

/**
 * All moves, and the gate without which each is pointless. @type {[gate: string | null, move: (a:
 * Attacker) => Promise<void>][]}
 */
export const moves = [
  ['fn_plan_register', registerStartWait],
  ['fn_job_claim_many', claimCommitSilence],
  ['fn_run_step_commit', commitStep],
  ['fn_job_kind_register', rewriteKind],
  ['fn_contract_propose', craftedProposal],
  ['fn_governors_apply', takeApplyJunk],
  ['fn_run_project', projectJunk],
  ['fn_outbox_done', relayJunk],
  ['fn_schedule_fire', scheduleJunk],
  ['fn_schedule_put', scheduleJunk],
  ['fn_destination_put', destinationJunk],
  ['fn_probes_report', healthLies],
  ['fn_governance_ended', healthLies],
  ['fn_governor_crashed', crashGovernor],
  ['fn_queue_heartbeat', heartbeatIdle],
  ['fn_schedule_fire', wrongTenant],
  ['fn_job_tick', wrongTenant],
  [null, raw],
  [null, look],
];

/**
 * Claims what the next call is about. @param {string} kind @returns {(a: Attacker) =>
 * Promise<unknown>}
 */
const leased = (kind) => (a) =>
  a.act('fn_job_claim_many', {
    p_kinds: [kind],
    p_limit: 1,
    p_start: 1,
    p_lease_ttl_seconds: 10,
  });

/**
 * What gates need that their callers can bring about themselves. @type {Record<string, (a:
 * Attacker) => Promise<unknown>>}
 */
const first = {
  fn_change_begin: leased('governance.soak'),
  fn_changes_apply: leased('governance.change'),
  fn_governance_audits: leased('governance.audit'),
  fn_governance_ended: leased('governance.ended'),
  fn_signatures_verified: leased('governance.verify'),
  fn_governor_commit: leased('governor.webhook'),
  async fn_governor_report(a) {
    await leased('governor.webhook')(a);
    await a.act('fn_governor_commit');
  },
  async fn_governors_apply(a) {
    await a.send('begin', 'begin');
    await decideTurn(a);
  },
  fn_run_steps_succeed: leased('m.work'),
  async fn_run_append(a) {
    await a.act('fn_plan_register', { p_document: planText });
    await a.act('fn_run_start_many', { p_runs: [foreignRun(a)] });
  },
  fn_outbox_done: (a) => a.act('fn_outbox_take'),
  fn_run_project: (a) => a.act('fn_run_changes'),
  async fn_run_step_commit(a) {
    await leased('m.work')(a);
    await a.act('fn_job_commit');
  },
};

/**
 * Does what a gate needs first: without it most calls would end at its first check. @param
 * {Attacker} a @param {import('./catalogue.mjs').Gate} gate
 */
async function ready(a, gate) {
  const needsLease = gate.args.some(({ name, optional }) => name === 'p_lease_token' && !optional);
  await (first[gate.name] ?? (needsLease ? leased('m.work') : undefined))?.(a);
}

/**
 * Calls a gate, after what it needs. What `ready` has begun ends with the call: a turn with words
 * of its own is no finding, so it does not stay. @param {Attacker} a @param
 * {import('./catalogue.mjs').Gate} gate @param {number} [hostility]
 */
export async function attempt(a, gate, hostility = a.random.next()) {
  await ready(a, gate);
  await a.call(gate, hostility);
  if (gate.name !== 'fn_governors_apply') return;
  a.turn = undefined;
  await a.send('end', hostility < 0.4 ? a.random.pick(['commit', 'rollback']) : 'rollback');
}

/** One of the moves that fit an attacker. @param {Attacker} a */
export async function move(a) {
  const fitting = moves.filter(
    ([gate]) => gate === null || a.gates.some(({ name }) => name === gate),
  );
  await a.random.pick(fitting)[1](a);
}

/** One turn of an attacker: a gate, or now and then a move. @param {Attacker} a */
export async function attack(a) {
  if (a.gates.length === 0 || a.random.next() < 0.12) {
    await move(a);
    // What a session has set must not decide what its later calls test.
    if (a.random.next() < 0.2) await a.send('raw', 'reset all');
    return;
  }
  const gate = a.random.pick(a.gates);
  if (a.random.next() < 0.15) await attempt(a, gate);
  else await a.call(gate);
}

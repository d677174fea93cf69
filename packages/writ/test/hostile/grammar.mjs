// @ts-check
// Plausible arguments: by the name of an argument, and for gates that take JSON by gate. They pass
// the first check of each gate, so that what is mutated afterwards reaches the second one.

import { documentHash } from '../../dist/governance/document.js';
import { policyHash } from '../../dist/governor/policy.js';
import { action, definePlan, definePolicy } from '../../dist/index.js';
import { canonicalize } from '../../dist/ledger/canonical.js';
import { randomUuid, uuid7 } from './values.mjs';

/** @typedef {import('./spy.mjs').Known} Known */
/** What an attacker is: its name, its tenant, and the keys that it has. */
/**
 * @typedef {{ login: string, tenant: string, people: Record<string,
 * import('../../dist/governance/keys.js').Principal>, names: boolean, spare: string, turn?:
 * unknown, known: Known, random: ReturnType<import('../faults/plan.mjs').generator> }} Attacker
 */
/** @typedef {Record<string, any>} Arguments */

/** The form of a signature. */
const unsigned = `${'A'.repeat(86)}==`;
const emptyRoot = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
export const prefix = 'm';
const kind = `${prefix}.work`;
const cap = `${prefix}-cap`;
const scope = `${prefix}-conf`;
const sku = 'default';

const plan = definePlan(`${prefix}-plan`, { version: '1.0.0' }, (/** @type {any} */ p) => {
  const first = p.step('first', { kind, definition: {} });
  p.waitFor('word', { after: first });
});
export const planText = new TextDecoder().decode(plan.canonical);
const policy = definePolicy(`${prefix}-load`, {
  when: { load: { above: 80, clearBelow: 60, cooldown: '1s' } },
  then: action.handler(
    { type: `${prefix}.relieve`, inverse: `${prefix}.strain` },
    { target: 'pool', baselineWithin: '1s', notRestored: 'keep' },
  ),
  requires: 'pool:write',
  as: `${prefix}-service`,
});

/** @param {Attacker} a @param {number} [value] */
const content = (a, value = a.random.between(1, 1000)) =>
  canonicalize({
    scope: [cap, scope],
    steps: [
      { step_type: 'config_update', target: scope, parameters: { key: 'max', new_value: value } },
      { step_type: 'capability_enable', target: cap, parameters: { target_lifecycle: 'PREVIEW' } },
    ],
  });
/** A template for one target. @param {string} target */
export const templateOn = (target) => ({
  scope: [target],
  steps: [
    {
      step_type: 'config_update',
      target,
      parameters: { key: 'most', new_value: { $param: 'most' } },
    },
  ],
  template: {
    params: { most: { min: 1, max: 500 } },
    pre: { [`${target}#most`]: { min: 0, max: 1000 } },
    activations: 10000,
    expires_in_sec: 86400,
  },
});

/**
 * A credential: of a principal of its own, or, for a server, its name. @param {Attacker} a @param
 * {string} who
 */
const keyOf = (a, who) => (a.names ? `${prefix}-${who}` : a.people[who]?.credential);

const minute = (/** @type {number} */ offset) =>
  new Date(Math.floor(Date.now() / 60_000 + offset) * 60_000).toISOString();

/** Arguments by their names, for every gate. @type {Record<string, (a: Attacker) => any>} */
export const byName = {
  p_actor: (a) => a.login,
  p_tenant_id: (a) => a.tenant,
  p_tenant: (a) => a.tenant,
  p_tenants: (a) => [a.tenant],
  p_key: (a) => keyOf(a, 'ops'),
  p_principal: () => `${prefix}-ops`,
  p_sku: () => sku,
  p_reason: () => 'for a reason that is long enough',
  p_triage: () => 'for a reason that is long enough',
  p_kind: () => kind,
  p_kinds: () => [kind],
  p_job_kind: () => kind,
  p_executor: () => 'external_worker',
  p_executor_id: (a) => `${prefix}-${a.login}`,
  p_executor_kind: () => 'external_worker',
  p_lease_holder: (a) => `${prefix}-${a.login}`,
  p_lease_name: () => null,
  p_holder: (a) => `${prefix}-${a.login}`,
  p_relay: (a) => `${prefix}-${a.login}`,
  p_projector: (a) => `${prefix}-${a.login}`,
  p_host: (a) => `${prefix}-${a.login}`,
  p_lease_ttl_seconds: (a) => a.random.pick([1, 3, 10]),
  p_limit: (a) => a.random.between(1, 5),
  p_start: (a) => a.random.pick([0, 1, 1, 2]),
  p_job_id: (a) => a.known.held?.jobs[0]?.id ?? a.known.own('job'),
  p_lease_token: (a) => a.known.held?.token,
  p_lease_tokens: (a) => [a.known.held?.token].filter(Boolean),
  p_positions: () => [1],
  p_upto: () => 1,
  p_start_upto: () => 1,
  p_run_id: (a) => a.known.own('live_run') ?? a.known.own('run'),
  p_runs: (a) => [a.known.own('governed_run') ?? a.known.own('run')].filter(Boolean),
  p_jobs: (a) => [a.known.own('governance_job')].filter(Boolean),
  p_contract_id: (a) => a.known.own('eligible') ?? a.known.own('contract'),
  p_contract_ids: (a) => [a.known.own('contract')].filter(Boolean),
  p_governor_id: (a) => a.known.own('governor')?.id,
  p_governors: (a) => [a.known.own('governor')?.id].filter(Boolean),
  p_alert_id: (a) => a.known.own('alert'),
  p_receipt_id: (a) => a.known.own('receipt'),
  p_event_id: (a) => a.known.own('event'),
  p_position: (a) => {
    const { id, xid } = a.known.own('batch') ?? {};
    return id === undefined ? 'beginning' : `${xid}/${id}`;
  },
  p_xid: (a) => a.known.own('batch')?.xid,
  p_schedule: () => `${prefix}-schedule`,
  p_consumer: () => `${prefix}-consumer`,
  p_event_type: () => 'dot.job.succeeded',
  p_event_domain: () => 'dot',
  p_name: () => `${prefix}-place`,
  p_destination: () => `${prefix}-place`,
  p_log: (a) => a.tenant,
  p_stream: (a) => a.random.pick([null, 'governor:default']),
  p_before: (a) => a.random.between(1, 100),
  p_size: () => null,
  p_epoch: () => null,
  p_segment: () => 1,
  p_run_seq: () => 1,
  p_version: () => null,
  p_after: () => '0',
  p_signal_id: (a) => randomUuid(a.random),
  p_from: () => new Date(Date.now() - 5_000).toISOString(),
  p_to: () => new Date().toISOString(),
  p_traces: () => null,
  p_domain_scope: () => ['dot'],
  p_cadence_seconds: () => 10,
  p_idle_seconds: () => 0.5,
  p_details: () => ({}),
  p_types: () => ['dot.run.*'],
  p_error_code: () => 'oops',
  p_error_message: () => 'It did not work.',
  p_priority: () => 0,
  p_read: () => ({}),
  p_once: (a) => `once-${a.random.between(1, 3)}`,
  p_digest: () => emptyRoot,
  p_answer: () => ({ done: true }),
};

/** A run to start. @param {Attacker} a */
const planned = (a) => ({
  run_id: uuid7(a.random),
  plan_id: `${prefix}-plan`,
  plan_version: '1.0.0',
  sha256: plan.sha256,
  input: { n: 1 },
  tenant: a.tenant,
});

/** A run of another engine: whoever starts it appends to its log. @param {Attacker} a */
export function foreignRun(a) {
  const run = planned(a);
  a.known.asked.add(run.run_id);
  return { ...run, engine: 'external' };
}

/** A turn in which a driver has decided nothing. */
export const noTurn = { governors: [], events: [], receipts: [], effects: [], wakes: [] };
/** The policy of `mallory`, as a driver has loaded it. @param {number} version */
export const policyVersion = (version) => ({
  version,
  hash: policyHash(policy),
  shadow: false,
  document: policy,
});

/**
 * The newest lease on a job of such a kind, as arguments. @param {Attacker} a @param {string} kind
 */
function leaseOf(a, kind) {
  const { job, token } = a.known.heldOf(kind) ?? {};
  return { p_job_id: job ?? a.known.own('job'), p_lease_token: token };
}

/** A governor that is asked to do something, and what it would be told. @param {Attacker} a */
const governor = (a) => a.known.own('governor');

/**
 * Arguments of single gates, over those by name. @type {Record<string, (a: Attacker) => Arguments>}
 */
export const byGate = {
  fn_admission_put: () => ({
    p_policy: 'QUEUE',
    p_max_running: 1000,
    p_max_pending: 1000,
    p_delay_ms: null,
  }),
  fn_api_key_put: (a) => ({
    p_key: a.names ? `${prefix}-root` : null,
    p_put: {
      key_id: uuid7(a.random).replaceAll('-', '').slice(-16),
      principal_id: `${prefix}-ops`,
      secret_sha256: emptyRoot,
      expires_at: minute(60),
    },
  }),
  fn_caller_admit: () => ({ p_caller: { principal: `${prefix}-ops` }, p_right: 'operate' }),
  fn_audit_resolve: (a) => ({
    p_job_id: a.known.own('governance_job'),
    p_verdict: a.random.pick(['PASS', 'FAIL']),
  }),
  fn_capability_put: (a) => ({
    p_items: [
      { capability_name: `${prefix}-cap-${a.random.between(1, 50)}`, domain: 'm' },
      {
        scope: `${prefix}-conf-${a.random.between(1, 50)}`,
        owner_capability: cap,
        values: { x: 1 },
      },
    ],
  }),
  fn_change_begin: () => ({ p_evidence: {}, p_found: {} }),
  fn_changes_apply: (a) => {
    const lease = a.known.held;
    return {
      p_items: lease
        ? lease.jobs.map(({ id }) => ({ job: id, token: lease.token, evidence: {}, read: {} }))
        : [],
    };
  },
  fn_consumer_register: () => ({
    p_job_kind: `${prefix}.follow`,
    p_options: { subject_kind: kind },
  }),
  fn_contract_read_done: (a) => ({
    p_job_id: a.known.held?.jobs[0]?.id ?? uuid7(a.random),
    p_lease_token: a.known.held?.token,
    p_values: [{ slot: 'flag:a', value: a.random.between(1, 100) }],
  }),
  fn_contract_read_request: (a) => ({ p_contract_id: a.known.own('eligible') }),
  fn_contract_propose: (a) => ({
    p_key: keyOf(a, a.random.pick(['agent', 'ops'])),
    p_content: a.random.next() < 0.1 ? canonicalize(templateOn(scope)) : content(a),
    p_about: { title: `${prefix} wants more`, risk_level: 'low', contract_id: uuid7(a.random) },
  }),
  fn_contract_review: (a) => {
    const id = a.known.own('eligible');
    const document = a.known.documents.get(id);
    const who = a.random.pick(['ada', 'bob']);
    if (!document || a.random.next() < 0.3)
      return {
        p_contract_id: id,
        p_action: a.random.pick([
          'REJECT',
          'REVOKE',
          'REQUEST_CLARIFICATION',
          'CLARIFY',
          'ESCALATE',
          'SUBMIT',
        ]),
        p_key: keyOf(a, who),
      };
    const signature = a.people[who]?.sign(documentHash(document));
    return {
      p_key: keyOf(a, who),
      p_contract_id: id,
      p_action: 'APPROVE',
      p_document: document,
      p_signature: signature,
    };
  },
  fn_contracts_activate: (a) => ({
    p_items: [{ contract: a.known.own('approved'), job: uuid7(a.random) }],
  }),
  fn_destination_put: () => ({
    p_bus: 'webhook',
    p_config: { url: 'https://example.com/hook' },
    p_since: null,
  }),
  fn_destination_set: (a) => ({
    p_state: a.random.pick(['active', 'active', 'active', 'paused']),
    p_note: 'a note',
  }),
  fn_entitlement_put: () => ({ p_entitlement: { tier: 'enterprise', status: 'ACTIVE' } }),
  fn_flags: (a) => ({ p_ask: { [a.tenant]: { targets: [cap, scope] } } }),
  fn_freeze_put: (a) => {
    const id = a.known.own('freeze');
    return {
      p_freeze: id
        ? { freeze_id: id }
        : { reason: 'a quiet week for everybody', begins_at: minute(6000), ends_at: minute(6005) },
    };
  },
  fn_governance_audits: (a) => {
    const { job, token } = a.known.heldOf('governance.audit') ?? {};
    return {
      p_items: [{ job: job ?? a.known.own('governance_job'), token, read: {}, touched: {} }],
    };
  },
  fn_governance_ended: (a) => leaseOf(a, 'governance.ended'),
  fn_signatures_read: (a) => ({ p_contracts: [a.known.own('eligible')] }),
  fn_signatures_verified: (a) => ({
    p_items: [a.known.heldOf('governance.verify') ?? { job: uuid7(a.random) }].map((held) => ({
      ...held,
      trust: 'database',
      quorum: 1,
      verdicts: [{ review_no: a.random.between(1, 3), verdict: a.random.pick(['valid', 'wrong']) }],
    })),
  }),
  fn_governance_cancel: (a) => ({ p_job_id: a.known.own('pending_governance_job') }),
  fn_governance_policy_publish: () => ({
    p_document: { approvals: { low: 1, medium: 1, high: 2, critical: 2 } },
  }),
  fn_governor_ack: (a) => {
    const caused = a.known.own('caused');
    return { p_cause: caused?.cause ?? 'outage', p_sku: caused?.sku ?? sku };
  },
  fn_governor_act: (a) => ({
    p_id: uuid7(a.random),
    p_action_type: `${prefix}.relieve`,
    p_parameters: {},
  }),
  fn_governor_crashed: (a) => ({ p_rev: governor(a)?.rev, p_error: 'it broke' }),
  fn_governor_outage: (a) => ({
    p_entries: [
      {
        seq: a.random.between(1, 1e9),
        tenant: a.tenant,
        sku,
        signal_id: `s-${a.random.between(1, 1e9)}`,
        at: minute(0),
      },
    ],
  }),
  fn_governor_policy: () => ({ p_version: 1 }),
  fn_governor_policy_publish: () => ({
    p_policy_id: policy.policy_id,
    p_document: policy,
    p_hash: policyHash(policy),
    p_shadow: false,
  }),
  fn_governor_commit: (a) => leaseOf(a, 'governor.'),
  fn_governor_report: (a) => ({
    ...leaseOf(a, 'governor.'),
    p_report: { kind: 'result', ok: true, response_code: 200, result: { replicas: 3 } },
    p_governance_job: null,
  }),
  fn_governor_tell: (a) => ({
    p_failure: { cause: 'ledger', failure_type: 'timeout', message: `${a.login} waited` },
  }),
  fn_governors_apply: (a) => ({
    p_turn: a.turn ?? { ...noTurn, wakes: [{ id: governor(a)?.id, at: Date.now() }] },
  }),
  fn_governors_take: () => ({ p_limit: 5, p_mails: 10, p_ids: null, p_after: '-infinity' }),
  fn_incident_put: (a) => {
    const id = a.known.own('incident');
    return {
      p_incident:
        id && a.random.next() < 0.5
          ? { incident_id: id, resolution: 'somebody has put it right' }
          : { capability: `${prefix}-busy`, severity: 'P2', summary: 'it is slow' },
    };
  },
  fn_job_abort_many: (a) => ({
    p_abort_kinds: [a.random.pick(['transient', 'permanent', 'released'])],
    p_codes: ['oops'],
    p_messages: ['It did not work.'],
  }),
  fn_job_cancel: (a) => ({ p_job_id: a.known.own('waiting') ?? a.known.own('job') }),
  fn_job_claim: (a) => ({ p_lease_name: `${prefix}-${a.login}` }),
  fn_job_claim_many: (a) => ({
    p_kinds: a.random.pick([
      [kind],
      [kind],
      ['governance.change'],
      ['governance.soak'],
      ['governance.audit'],
      ['governance.ended'],
      ['honest.effect', 'honest.step'],
      [kind, 'governance.change', 'governance.soak', 'governance.ended', `${prefix}.relieve`],
    ]),
    p_lease_token: null,
    p_after: null,
  }),
  fn_job_commit_status: () => ({ p_xid: null }),
  fn_job_dead_letter_replay: (a) => ({ p_job_id: a.known.own('dead') }),
  fn_job_enqueue: (a) => ({
    p_idempotency_key: randomUuid(a.random),
    p_source_ref: null,
    p_target_ref: null,
    p_payload_ref: null,
    p_safe_payload: {},
    p_process_after: null,
    p_deadline_at: null,
    p_correlation_id: null,
    p_causation_event_id: null,
    p_input: { n: 1 },
    p_max_attempts: 2,
    p_parent_job_id: null,
    p_workflow_id: null,
  }),
  fn_job_enqueue_alike: (a) => ({
    p_ids: [uuid7(a.random), uuid7(a.random)],
    p_inputs: [{ n: 1 }, { n: 2 }],
    p_traces: null,
  }),
  fn_job_enqueue_many: (a) => ({
    p_jobs: [
      { id: uuid7(a.random), kind, input: { n: 3 }, max_attempts: 1 },
      { id: uuid7(a.random), kind, input: { n: 4 }, delay_ms: 60_000 },
    ],
  }),
  fn_job_events: (a) => ({ p_job_id: a.known.own('job') }),
  // A kind that nobody else needs: one that is paused gives the others no more leases.
  fn_job_kind_pause: () => ({ p_kind: `${prefix}.follow` }),
  fn_job_kind_register: () => ({
    p_definition: { max_attempts: 2, backoff_base_s: 0.1, backoff_cap_s: 1 },
  }),
  fn_job_payload: (a) => ({ p_job_id: a.known.own('job') }),
  fn_job_progress: () => ({ p_status_signal_only: 'halfway' }),
  fn_job_subscription_put: () => ({ p_priority_floor: 0, p_executor_id: 'm-limited' }),
  fn_job_subscription_remove: () => ({ p_executor_id: 'm-limited' }),
  fn_job_succeed: () => ({ p_result_ref: 'ref' }),
  fn_job_succeed_many: () => ({ p_results: ['{"done": true}'], p_result_refs: null }),
  fn_ledger_accept_restore: (a) => ({
    ...{ p_known_checkpoint: null, p_known_epoch: null, p_known_size: null },
    ...{
      p_size: 0,
      p_root: emptyRoot,
      p_signature: unsigned,
      p_epoch: (a.known.own('ledger')?.epoch ?? 1) + 1,
    },
  }),
  fn_ledger_archived: (a) => ({
    ...{ p_month: '2025-01-01', p_place: '/archive', p_signature: unsigned },
    p_size: a.known.own('ledger')?.signed,
  }),
  fn_ledger_checkpoint_record: (a) => {
    const { log, epoch, size, root, key } = a.known.own('ledger') ?? {};
    const [name = '', id = ''] = (key ?? '').split('+');
    const signature = Buffer.concat([Buffer.from(id, 'hex'), Buffer.alloc(64)]).toString('base64');
    const note = `${name}/_system/${epoch}\n${size}\n${Buffer.from(root ?? '', 'hex').toString('base64')}\n\n— ${name} ${signature}\n`;
    return { p_checkpoints: [{ log, epoch, size, root, note }] };
  },
  fn_ledger_key_add: () => ({
    p_key: 'm.example+0123abcd+AAAA',
    p_replaces: null,
    p_signature_new: 'AAAA',
    p_signature_old: null,
  }),
  fn_login_put: (a) => ({
    p_login: a.random.pick([a.login, a.spare]),
    p_definition: {
      tenant_id: a.random.pick([a.tenant, a.tenant, 'alpha', null]),
      roles: ['writ_producer'],
    },
  }),
  fn_login_remove: (a) => ({ p_login: a.random.pick([a.spare, a.spare, a.login]) }),
  fn_mot_graph_emit: (a) => ({
    p_workflow: { kind: 'm-workflow', generator: 'mallory', id: uuid7(a.random) },
    p_jobs: [{ kind, input: { n: 5 } }],
  }),
  fn_outbox_done: (a) => {
    const taken = a.known.answers.get('fn_outbox_take') ?? {};
    return {
      p_destination: taken.destination ?? taken.name ?? `${prefix}-place`,
      p_turn: taken.turn ?? uuid7(a.random),
      p_moves: true,
      p_outcomes: [],
      p_trouble: null,
      p_reason: null,
    };
  },
  fn_outbox_read: () => ({ p_position: null, p_types: ['*'] }),
  fn_outbox_replay: () => ({ p_events: null, p_since: minute(-5) }),
  fn_outbox_take: () => ({ p_buses: ['webhook'] }),
  fn_permissions: () => ({ p_principals: [`${prefix}-service`] }),
  fn_plan_register: () => ({ p_document: planText, p_sha256: plan.sha256 }),
  fn_principal_put: (a) => ({
    p_principal: {
      principal_id: `${prefix}-new-${a.random.between(1, 99)}`,
      kind: 'service',
      tenant: a.tenant,
      auth_sha256: 'ab'.repeat(32),
      public_key: 'cd'.repeat(32),
    },
  }),
  fn_probe_put: () => ({
    p_probe: {
      name: `${prefix}-probe`,
      capability: cap,
      type: 'reported',
      config: {},
      every_ms: 60_000,
    },
  }),
  fn_probe_report: () => ({
    p_report: { name: `${prefix}-probe`, status: 'HEALTHY', detail: 'fine' },
  }),
  fn_probes_report: (a) => ({
    p_reports: [{ tenant: a.tenant, name: `${prefix}-asked`, status: 'HEALTHY', detail: 'fine' }],
  }),
  fn_probes_take: () => ({ p_capabilities: null }),
  fn_requests_rejected: () => ({ p_codes: { invalid_signature: 3 } }),
  fn_rollback_retry: (a) => ({ p_job_id: a.known.own('governance_job') }),
  fn_run_append: (a) => {
    const run = a.known.started.at(-1) ?? a.known.own('foreign_run');
    const begins = { eventType: 'RunStarted', stepId: 'RUN', eventData: {} };
    if (!a.known.begun.has(run)) {
      a.known.begun.add(run);
      return { p_run_id: run, p_event: begins };
    }
    return {
      p_run_id: run,
      p_event: a.random.pick([
        { eventType: 'StepStarted', stepId: 'first', logicalAttemptId: '1', eventData: {} },
        begins,
        { eventType: 'RunCompleted', stepId: 'RUN', eventData: {} },
      ]),
    };
  },
  fn_run_changes: () => ({ p_limit: 10 }),
  fn_run_deliver: (a) => ({
    p_event: 'word',
    p_payload: { said: 1 },
    p_delivery_id: randomUuid(a.random),
  }),
  fn_run_project: (a) => ({
    p_turn: a.known.answers.get('fn_run_changes')?.turn ?? uuid7(a.random),
    p_snapshots: [],
  }),
  fn_run_read_many: (a) => ({ p_runs: [a.known.own('run')].filter(Boolean) }),
  fn_run_signal: (a) => ({
    p_signal: {
      signalId: randomUuid(a.random),
      type: a.random.pick(['PAUSE', 'RESUME', 'CANCEL', 'EMERGENCY_STOP']),
      reason: 'because',
    },
    p_denied: null,
  }),
  fn_run_start_many: (a) => ({
    p_runs: [a.random.next() < 0.3 ? foreignRun(a) : planned(a)],
  }),
  fn_run_step_commit: () => ({ p_result: { done: true }, p_artifacts: null }),
  fn_run_steps_succeed: (a) => {
    const step = a.known.heldStep();
    return {
      p_tokens: [step?.token ?? randomUuid(a.random)],
      p_positions: [step?.position ?? 1],
      p_jobs: [step?.job ?? a.known.own('job')],
      p_runs: [step?.run ?? a.known.own('live_run')],
      p_results: ['{"done": true}'],
      p_take: [a.random.next() < 0.5],
      p_kinds: [kind],
      p_token: randomUuid(a.random),
      p_lease_ttl_seconds: 1,
      p_holder: `${prefix}-${a.login}`,
    };
  },
  fn_run_values: () => ({ p_refs: ['input'] }),
  fn_schedule_due: () => ({ p_after_tick: '-infinity', p_after_tenant: '', p_after_schedule: '' }),
  fn_schedule_fire: (a) => {
    const due = a.known.own('due_schedule');
    return { p_due: due ? [{ ...due, ticks: [due.next_tick], move_to: minute(1) }] : [] };
  },
  fn_schedule_put: () => ({
    p_definition: {
      cron: '* * * * *',
      time_zone: 'UTC',
      catch_up: 'last',
      kind,
      job: { input: { n: 6 } },
    },
    p_next_tick: minute(1),
  }),
  fn_setting_set: () => ({ p_key: 'queue.partition.days_ahead', p_value: 14 }),
  fn_signal_record: () => ({
    p_signal: { signal_type: 'M', scope: cap, decision: 'CLEAN', reason: 'it is fine' },
  }),
  fn_signals_settled: (a) => ({ p_items: [{ g: governor(a)?.id, n: 1 }] }),
  fn_signals_take: (a) => {
    const id = randomUuid(a.random);
    const signal = {
      kind: 'signal',
      signal_id: id,
      source: 'custom',
      type: 'load',
      severity: 'MEDIUM',
      value: a.random.between(1, 100),
      observed_at: Date.now(),
    };
    return { p_items: [{ t: a.tenant, s: sku, id, c: signal }] };
  },
  fn_template_activate: (a) => {
    const most = a.random.between(1, 400);
    const of = a.known.own('template') ?? {};
    const { scope: within, steps } = templateOn(of.scope?.[0] ?? scope);
    return {
      p_template_id: of.id,
      p_params: { most },
      p_content: canonicalize({
        scope: within,
        steps: [{ ...steps[0], parameters: { key: 'most', new_value: most } }],
      }),
      p_id: uuid7(a.random),
    };
  },
  fn_tenant_weight_set: () => ({ p_weight: 1 }),
};

/**
 * A receipt that nobody may write: an approval in another tenant's log, with the next number of a
 * stream. @param {Attacker} a @param {any} stream
 */
export function receiptFor(a, stream) {
  return {
    receipt_id: uuid7(a.random),
    timestamp: new Date().toISOString(),
    sku_id: 'governance',
    tenant_id: stream.log ?? 'alpha',
    status: 'accept',
    reason: 'contract_reviewed',
    context: {
      stream: stream.stream ?? 'ledger',
      stream_seq: stream.next ?? 1,
      action: 'APPROVE',
      by: 'alpha-ada',
    },
  };
}

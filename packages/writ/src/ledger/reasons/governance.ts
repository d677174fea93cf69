/**
 * What governance writes: of contracts in the stream of each, of its jobs in theirs, and of what
 * was denied.
 */
import Type from '../typebox.js';
import { hash, integer, oneOf, prose, text, uuid } from './fields.js';
import { governanceFact } from './reason.js';

const contract = uuid('The contract.');
const job = uuid('The governance job.');
const by = prose('Who: a principal, or a worker.');
const why = Type.Optional(prose('Why, in words.'));
const evidence = text('What the probes said before the effect, as JSON text.', 20_000);
const trust = Type.String({
  title: 'trust',
  pattern: '^(database|[0-9a-f]{64})$',
  description:
    'What the worker has judged the signatures with: the SHA-256 of its trust file, or `database`.',
});
const slot = Type.Optional(text('The place that was changed.', 500));
const id = '019a8a52-6c00-7000-8000-000000000000';
const sha = '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328';
const state = (description: string) =>
  Type.String({ title: 'status', pattern: '^[A-Z_]{1,30}$', description });

export const governanceFacts = {
  contract_moved: governanceFact(`contract:${id}`, {
    when: 'A contract was proposed, or has another status.',
    statuses: ['accept', 'refuse'],
    context: {
      contract_id: contract,
      from: Type.Optional(state('The status before. One that is new has none.')),
      to: state('The status now.'),
      why,
      by,
      scope_hash: hash('Of its scope and steps, as they are approved.'),
    },
    example: {
      contract_id: id,
      from: 'ELIGIBLE',
      to: 'APPROVED',
      why: 'approved by ada',
      by: 'ada',
      scope_hash: sha,
    },
  }),
  contract_reviewed: governanceFact(`contract:${id}`, {
    when: 'Somebody has approved a contract, or said something else about it.',
    statuses: ['accept', 'refuse'],
    context: {
      contract_id: contract,
      action: text('What was said.'),
      by,
      why,
      approval_hash: Type.Optional(
        hash('Of the document that was signed. A revocation names the one that it takes back.'),
      ),
      round: Type.Optional(integer('The round of the approval.', 1)),
      scheme: Type.Optional(text('How it was signed.')),
      signature: Type.Optional(
        Type.String({
          title: 'Ed25519 signature in hex',
          pattern: '^[0-9a-f]{128}$',
          description: 'Over the 32 bytes of the hash.',
        }),
      ),
      public_key: Type.Optional(hash('The key that it was signed with.')),
    },
    example: {
      contract_id: id,
      action: 'APPROVE',
      by: 'ada',
      approval_hash: sha,
      round: 1,
      scheme: 'ed25519',
      signature: `${sha}${sha}`,
      public_key: sha,
    },
  }),
  signature_refused: governanceFact(`contract:${id}`, {
    when: 'An applier has found that a signature of a contract is not what it claims to be, so it counts for nothing.',
    statuses: ['refuse'],
    context: {
      contract_id: contract,
      by: prose('Who sent it.'),
      approval_hash: hash('Of the document that it claims to sign.'),
      signature: Type.String({
        title: 'signature in hex',
        pattern: '^[0-9a-f]{128}$',
        description: 'The signature.',
      }),
      public_key: hash('The key of the sender, as the database has it.'),
      trust,
      login: text('The login of the applier.'),
      why: Type.Optional(text('What the applier has found.')),
    },
    example: {
      contract_id: id,
      by: 'ada',
      approval_hash: sha,
      signature: `${sha}${sha}`,
      public_key: sha,
      trust: 'database',
      login: 'applier',
    },
  }),
  governance_job_moved: governanceFact(`governance_job:${id}`, {
    when: 'A governance job was made, or has another status.',
    statuses: ['accept', 'refuse'],
    context: {
      job_id: job,
      contract_id: contract,
      from: Type.Optional(state('The status before. One that is new has none.')),
      to: state('The status now.'),
      event: text('What moved it.'),
      why,
      by,
      scope_hash: Type.Optional(hash('Of what was approved.')),
      state_before: Type.Optional(hash('Of the state of its targets before its first step.')),
      run_id: Type.Optional(uuid('The run that executes it.')),
      of_job_id: Type.Optional(uuid('The job that it undoes.')),
    },
    example: {
      job_id: id,
      contract_id: id,
      from: 'RUNNING',
      to: 'AUDIT_PENDING',
      event: 'run_completed',
      by: 'worker-1',
    },
  }),
  change_applied: governanceFact(`governance_job:${id}`, {
    when: 'A step of a governance job has changed its target.',
    statuses: ['accept'],
    context: {
      job_id: job,
      contract_id: contract,
      step: integer('Which step.', 1),
      step_type: text('Of which type.'),
      target: text('On what.'),
      slot,
      by,
      before_sha256: Type.Optional(hash('Of what was found.')),
      after_sha256: Type.Optional(hash('Of what was written.')),
      evidence,
      trust: Type.Optional(trust),
      run_id: uuid('The run.'),
    },
    example: {
      job_id: id,
      contract_id: id,
      step: 1,
      step_type: 'config_update',
      target: 'system.rate_limit',
      slot: 'system.rate_limit#max',
      by: 'worker-1',
      before_sha256: sha,
      after_sha256: sha,
      evidence: '{}',
      trust: sha,
      run_id: id,
    },
  }),
  change_reverted: governanceFact(`governance_job:${id}`, {
    when: 'A step of a rollback has restored what was found.',
    statuses: ['accept'],
    context: {
      job_id: job,
      contract_id: contract,
      step: integer('Which step of the rollback.', 1),
      of_step: integer('Which step it undoes.', 1),
      step_type: text('Of which type.'),
      target: text('On what.'),
      slot,
      by,
      after_sha256: hash('Of what stands there now.'),
      evidence,
      health: Type.Optional(prose('What health had against it; rollbacks only write it down.')),
      trust: Type.Optional(trust),
      run_id: uuid('The run.'),
    },
    example: {
      job_id: id,
      contract_id: id,
      step: 1,
      of_step: 2,
      step_type: 'config_update',
      target: 'system.rate_limit',
      slot: 'system.rate_limit#max',
      by: 'worker-1',
      after_sha256: sha,
      evidence: '{}',
      trust: sha,
      run_id: id,
    },
  }),
  rollback_conflict: governanceFact(`governance_job:${id}`, {
    when: 'A step of a rollback has not restored its target, because another hand had changed it.',
    statuses: ['refuse'],
    context: {
      job_id: job,
      contract_id: contract,
      step: integer('Which step of the rollback.', 1),
      of_step: integer('Which step it would have undone.', 1),
      step_type: text('Of which type.'),
      target: text('On what.'),
      slot,
      why,
      by,
      after_sha256: hash('Of what stands there, untouched.'),
      evidence,
      health: Type.Optional(prose('What health had against it; rollbacks only write it down.')),
      trust: Type.Optional(trust),
      run_id: uuid('The run.'),
    },
    example: {
      job_id: id,
      contract_id: id,
      step: 1,
      of_step: 2,
      step_type: 'config_update',
      target: 'system.rate_limit',
      slot: 'system.rate_limit#max',
      why: 'system.rate_limit#max was changed by another hand.',
      by: 'worker-1',
      after_sha256: sha,
      evidence: '{}',
      trust: sha,
      run_id: id,
    },
  }),
  audit_verdict: governanceFact(`governance_job:${id}`, {
    when: 'A governance job was audited.',
    statuses: ['accept', 'refuse', 'error'],
    context: {
      job_id: job,
      contract_id: contract,
      audit_id: uuid('The audit.'),
      verdict: oneOf(['PASS', 'FAIL', 'INCONCLUSIVE'], 'The verdict.'),
      why,
      checks: text('Each check, its result and its detail, as JSON text.', 20_000),
      by,
      run_log_sha256: hash(
        'Of the log of the run: number, type, step, attempt and data of each event, a line each.',
      ),
    },
    example: {
      job_id: id,
      contract_id: id,
      audit_id: id,
      verdict: 'PASS',
      why: 'all checks passed',
      checks: '[{"check": "A-001", "detail": "every target is in scope", "result": "PASS"}]',
      by: 'worker-1',
      run_log_sha256: sha,
    },
  }),
  access_denied: governanceFact('access', {
    when: 'A principal asked for something that it has no right to.',
    statuses: ['refuse'],
    context: {
      principal: prose('Who asked.'),
      kind: oneOf(['person', 'service', 'agent'], 'What it is.'),
      right: text('What it would have needed.'),
      code: text('Why it was refused. denials_counted: see count.'),
      tenant: Type.Optional(
        prose('The tenant that was asked for, where the receipt is in the log of another.'),
      ),
      count: Type.Optional(
        integer(
          'How many denials of one minute this receipt counts, which have none of their own.',
          1,
        ),
      ),
    },
    example: {
      principal: 'deploy-agent',
      kind: 'agent',
      right: 'approve',
      code: 'agents_only_propose',
    },
  }),
  control_changed: governanceFact('controls', {
    when: 'Something that governs checks was changed, for a tenant or, in _system, for the deployment.',
    statuses: ['accept'],
    context: {
      control: text(
        'What kind of thing: a setting, a principal, a login, a freeze, a probe and so on.',
      ),
      name: prose('Which one.'),
      was: Type.Optional(text('As it was before, as JSON text; absent when there was none.', 8192)),
      now: Type.Optional(
        text('As it is now, as JSON text; absent when there is none any more.', 8192),
      ),
      by: prose('Who: a principal, or the actor that an administrator named.'),
    },
    example: {
      control: 'setting',
      name: 'governor.storm_limit',
      was: '100',
      now: '200',
      by: 'ops',
    },
  }),
};

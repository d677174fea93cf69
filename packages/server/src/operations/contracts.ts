/**
 * Contracts: proposed, previewed, reviewed and activated. An approval carries the person's own
 *            signature.
 */
import Type from 'typebox';
import { act, read } from '../operation.js';
import {
  byId,
  component,
  integer,
  json,
  list,
  nullable,
  object,
  oneOf,
  optional,
  pageOf,
  paging,
  reason,
  text,
  time,
  uuid,
} from '../schema.js';

const listedFields = {
  contract_id: text(),
  tenant_id: text(),
  version: integer(),
  status: text(),
  status_reason: nullable(Type.String()),
  risk_level: text(),
  title: text(10_000),
  affected_capabilities: list(text()),
  created_by: text(),
  on_behalf_of: nullable(text()),
  approved_by: list(text()),
  template_id: nullable(text()),
  job_id: nullable(text()),
  created_at: time(),
  expires_at: time(),
};
const listed = component('ListedContract', listedFields);
const contract = component('Contract', {
  ...listedFields,
  description: Type.String(),
  content: Type.String(),
  scope_hash: text(),
  steps: list(json()),
  policy_version: integer(),
  updated_at: time(),
  transition_history: list(json()),
});

const proposed = component('ProposedContract', {
  contract_id: text(),
  status: text(),
  status_reason: optional(Type.String()),
});

const preview = component('ContractPreview', {
  contract_id: text(),
  status: text(),
  document: json(),
  title: text(10_000),
  risk_level: text(),
  created_by: text(),
  affected_capabilities: list(text()),
  steps: list(json()),
  hash: Type.String(),
  policy_version: integer(),
  approvals_needed: integer(),
  approved_by: list(text()),
  unverified: list(text()),
  outside: list(
    component('OutsideRead', {
      slot: text(10_000),
      step_type: text(),
      read_at: nullable(time()),
      code: nullable(text()),
      detail: nullable(text(1_000)),
      job_id: nullable(text()),
      requested_at: nullable(time()),
      due_at: nullable(time()),
      open: Type.Boolean(),
      applier: Type.Boolean(),
    }),
  ),
});

const reviewed = component('ReviewedContract', {
  contract_id: text(),
  status: text(),
  status_reason: optional(Type.String()),
  approved_by: list(text()),
  approvals_needed: integer(),
  unverified: optional(text()),
});

const proposal = object({
  title: text(500),
  description: optional(Type.String({ maxLength: 20_000 })),
  risk: optional(oneOf(['low', 'medium', 'high', 'critical'])),
  scope: Type.Array(text(), { minItems: 1, maxItems: 100 }),
  steps: Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1, maxItems: 100 }),
  source: optional(oneOf(['crm_feedback', 'support_ticket', 'ops_alert', 'manual'])),
  issueId: optional(text()),
  confidence: optional(Type.Number({ minimum: 0, maximum: 1 })),
  windowHours: optional(integer(1, 168)),
  parent: optional(uuid()),
});

const decisions = [
  ['reject', 'approve', 'Rejects a contract.'],
  ['requestClarification', 'approve', 'Stops the clock of the review until somebody clarifies.'],
  ['clarify', 'propose', 'Answers a question, and lets the clock of the review go on.'],
] as const;

const missing = ['contract_not_found'] as const;

export const contracts = [
  read({
    id: 'contracts.list',
    path: '/contracts',
    summary: 'Lists contracts, the newest first.',
    right: 'view',
    input: {
      query: object({
        ...paging,
        status: optional(text(30)),
        open: optional(Type.Boolean()),
        proposer: optional(text(100)),
        template: optional(text(36)),
      }),
    },
    output: pageOf(listed),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.contracts.list(query as object),
  }),
  read({
    id: 'contracts.templates',
    path: '/contract-templates',
    summary: 'Lists templates, the newest first.',
    right: 'view',
    input: { query: object(paging) },
    output: pageOf(listed),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.contracts.templates(query),
  }),
  read({
    id: 'contracts.get',
    path: '/contracts/:id',
    summary: 'Shows a contract.',
    right: 'view',
    input: { params: byId },
    output: contract,
    refuses: missing,
    run: (writ, { params: { id } }) => writ.contracts.get(id),
  }),
  read({
    id: 'contracts.history',
    path: '/contracts/:id/history',
    summary: 'Shows every move of a contract, and what was said about it.',
    right: 'view',
    input: { params: byId },
    output: component('ContractHistory', { moves: list(json()), reviews: list(json()) }),
    refuses: missing,
    run: (writ, { params: { id } }) => writ.contracts.history(id),
  }),
  read({
    id: 'contracts.preview',
    path: '/contracts/:id/preview',
    summary: 'Shows what a contract would change, and the document that an approval signs.',
    right: 'view',
    input: { params: byId },
    output: preview,
    refuses: missing,
    run: (writ, { params: { id } }) => writ.contracts.preview(id, { timeoutMs: 0 }),
  }),
  act({
    id: 'contracts.read',
    path: '/contracts/:id/read',
    summary:
      'Asks appliers to read the values outside the database again. Answers the preview, which ' +
      'says which reads are open.',
    right: 'view',
    status: 202,
    input: { params: byId },
    output: preview,
    refuses: ['contract_not_found', 'contract_terminal'],
    run: (writ, { params: { id } }) => writ.contracts.read(id, { timeoutMs: 0 }),
  }),
  act({
    id: 'contracts.propose',
    path: '/contracts',
    summary: 'Proposes a change.',
    right: 'propose',
    status: 201,
    input: { body: proposal },
    output: proposed,
    refuses: ['invalid_contract', 'contract_exists', 'proposals_limited'],
    run: async (writ, { body }) => {
      const { id, status, status_reason } = await writ.contracts.propose(body as never);
      return { contract_id: id, status, ...(status_reason !== undefined && { status_reason }) };
    },
  }),
  act({
    id: 'contracts.approve',
    path: '/contracts/:id/approve',
    summary: 'Approves exactly the document that the caller has signed.',
    right: 'approve',
    input: {
      params: byId,
      body: object({
        document: Type.String({ minLength: 2, maxLength: 1_000_000 }),
        signature: Type.String({ minLength: 1, maxLength: 10_000 }),
        scheme: Type.Literal('ed25519'),
      }),
    },
    output: reviewed,
    refuses: ['contract_not_found', 'approval_void', 'own_contract', 'signature_refused'],
    run: (writ, { params: { id }, body }) => writ.contracts.approve(id, { signed: body }),
  }),
  ...decisions.map(([verb, right, summary]) =>
    act({
      id: `contracts.${verb}`,
      path: `/contracts/:id/${verb === 'requestClarification' ? 'request-clarification' : verb}`,
      summary,
      right,
      input: { params: byId, body: object({ reason: reason() }) },
      output: reviewed,
      refuses: missing,
      run: (writ, { params: { id }, body }) => writ.contracts[verb](id, body),
    }),
  ),
  act({
    id: 'contracts.revoke',
    path: '/contracts/:id/revoke',
    summary: 'Takes the caller’s approval back. All signatures so far are void then.',
    right: 'approve',
    input: { params: byId, body: object({ reason: optional(reason()) }) },
    output: reviewed,
    refuses: missing,
    run: (writ, { params: { id }, body }) => writ.contracts.revoke(id, body as object),
  }),
  act({
    id: 'contracts.escalate',
    path: '/contracts/:id/escalate',
    summary: 'Asks for one more approval than the policy does.',
    right: 'approve',
    input: { params: byId, body: object({ reason: optional(reason()) }) },
    output: reviewed,
    refuses: missing,
    run: (writ, { params: { id }, body }) => writ.contracts.escalate(id, body as object),
  }),
  act({
    id: 'contracts.revise',
    path: '/contracts/:id/revise',
    summary: 'Proposes a contract that takes the place of this one.',
    right: 'propose',
    status: 201,
    input: { params: byId, body: proposal },
    output: proposed,
    refuses: ['contract_not_found', 'invalid_contract', 'proposals_limited'],
    run: async (writ, { params: { id: parent }, body }) => {
      const { id, status, status_reason } = await writ.contracts.revise(parent, body as never);
      return { contract_id: id, status, ...(status_reason !== undefined && { status_reason }) };
    },
  }),
  act({
    id: 'contracts.submit',
    path: '/contracts/:id/submit',
    summary: 'Validates and qualifies a draft.',
    right: 'propose',
    input: { params: byId },
    output: reviewed,
    refuses: missing,
    run: (writ, { params: { id } }) => writ.contracts.submit(id),
  }),
  act({
    id: 'contracts.activate',
    path: '/contracts/:id/activate',
    summary: 'Has an approved contract done. Answers its governance job.',
    right: 'activate',
    status: 202,
    input: { params: byId },
    output: component('ActivatedContract', { contract_id: text(), job_id: text() }),
    refuses: missing,
    run: async (writ, { params: { id } }) => {
      await writ.contracts.get(id); // Activations travel together, of all tenants of a principal.
      return writ.contracts.activate(id);
    },
  }),
];

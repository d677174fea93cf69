/** Governors of a tenant, each by its SKU: signals, policies, entitlements, actions, receipts. */
import Type from 'typebox';
import { act, read } from '../operation.js';
import {
  component,
  integer,
  json,
  list,
  moment,
  nullable,
  object,
  oneOf,
  optional,
  pageOf,
  paging,
  reason,
  text,
  time,
  timeOf,
} from '../schema.js';

const bySku = object({ sku: text(100) });

const governorFields = {
  governor_id: text(),
  tenant_id: text(),
  sku_id: text(),
  state: text(),
  state_since: nullable(time()),
  policy_version: nullable(integer()),
  shadow: nullable(Type.Boolean()),
  in_mailbox: integer(),
  events: integer(),
  receipts: integer(),
  created_at: time(),
};
const governor = component('Governor', governorFields);
const details = component('GovernorDetails', {
  ...governorFields,
  policy: nullable(json()),
  entitlement: nullable(json()),
  why: list(json()),
  awaits: list(json()),
});

const event = component('GovernorEvent', {
  event_seq: integer(),
  at: time(),
  kind: text(),
  from_state: nullable(text()),
  state: text(),
});

const version = component('GovernorPolicyVersion', {
  version: integer(),
  policy_id: text(500),
  shadow: Type.Boolean(),
  hash: text(),
  document: nullable(json()),
  published_by: text(),
  published_at: time(),
});

const entitlement = component('Entitlement', {
  tenant_id: text(),
  entitlement_id: text(500),
  status: text(),
  tier: oneOf(['free', 'starter', 'professional', 'enterprise']),
  quota_limit: nullable(integer()),
  quota_used: integer(),
  expires_at: nullable(time()),
  put_by: text(),
  put_at: time(),
});

const policy = () => Type.Record(Type.String({ maxLength: 100 }), Type.Unknown());
const published = component('PublishedGovernorPolicy', { version: integer() });
const missing = ['governor_not_found'] as const;

export const governors = [
  read({
    id: 'governors.list',
    path: '/governors',
    summary: 'Lists governors.',
    right: 'view',
    input: { query: object({ ...paging, state: optional(text(50)) }) },
    output: pageOf(governor),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.governors.list(query as object),
  }),
  read({
    id: 'governors.get',
    path: '/governors/:sku',
    summary: 'Shows a governor, what keeps it from acting, and what it waits for.',
    right: 'view',
    input: { params: bySku },
    output: details,
    refuses: missing,
    run: (writ, { params: { sku } }) => writ.governors.get(sku),
  }),
  read({
    id: 'governors.events',
    path: '/governors/:sku/events',
    summary: 'Lists what a governor decided about.',
    right: 'view',
    input: { params: bySku, query: object(paging) },
    output: pageOf(event),
    refuses: [...missing, 'invalid_cursor'],
    run: (writ, { params: { sku }, query }) => writ.governors.events(sku, query),
  }),
  read({
    id: 'governors.actions',
    path: '/governors/:sku/actions',
    summary: 'Lists what a governor asked for and what came of it.',
    right: 'view',
    input: { params: bySku, query: object(paging) },
    output: pageOf(event),
    refuses: [...missing, 'invalid_cursor'],
    run: (writ, { params: { sku }, query }) => writ.governors.actions(sku, query),
  }),
  read({
    id: 'governors.receipts',
    path: '/governors/:sku/receipts',
    summary: 'Lists the receipts of a governor.',
    right: 'audit',
    input: { params: bySku, query: object(paging) },
    output: pageOf(json()),
    refuses: [...missing, 'invalid_cursor'],
    run: (writ, { params: { sku }, query }) => writ.governors.receipts(sku, query),
  }),
  act({
    id: 'governors.signal',
    path: '/governors/:sku/signals',
    summary: 'Sends a signal. It exists when this answers.',
    right: 'produce',
    status: 202,
    input: {
      params: bySku,
      body: object({
        type: text(100),
        value: optional(Type.Number()),
        source: optional(text(100)),
        severity: optional(text(50)),
        id: optional(text()),
        threshold: optional(Type.Number()),
        observedAt: optional(moment()),
        correlationId: optional(text(2_000)),
        instance: optional(text()),
        metadata: optional(Type.Record(Type.String({ maxLength: 200 }), Type.Unknown())),
      }),
    },
    output: Type.Record(Type.String(), json()),
    refuses: ['invalid_signal', 'governor_not_found'],
    run: (writ, { params: { sku }, body }) => writ.governors.signal(sku, body as never),
  }),
  act({
    id: 'governors.act',
    path: '/governors/:sku/actions',
    summary: 'Asks a governor for an action, within its policy.',
    right: 'operate',
    status: 202,
    input: {
      params: bySku,
      body: object({
        type: text(),
        parameters: optional(Type.Record(Type.String({ maxLength: 200 }), Type.Unknown())),
        id: optional(text()),
      }),
    },
    output: component('AskedAction', { action_id: text() }),
    refuses: [...missing, 'action_not_allowed'],
    run: (writ, { params: { sku }, body }) => writ.governors.act(sku, body as never),
  }),
  act({
    id: 'governors.acknowledge',
    path: '/governors/:sku/acknowledge',
    summary: 'Says that a cause that waits for a person is dealt with.',
    right: 'operate',
    input: { params: bySku, body: object({ cause: text(100), reason: reason() }) },
    output: component('Acknowledged', { cause: text(100) }),
    refuses: [...missing, 'cause_not_found'],
    run: async (writ, { params: { sku }, body }) => {
      await writ.governors.acknowledge(sku, body);
      return { cause: body.cause };
    },
  }),
  read({
    id: 'governorPolicies.list',
    path: '/governors/:sku/policies',
    summary: 'Lists the versions of a governor’s policy, the newest first.',
    right: 'view',
    input: { params: bySku, query: object(paging) },
    output: pageOf(version),
    refuses: [...missing, 'invalid_cursor'],
    run: (writ, { params: { sku }, query }) => writ.governors.policies.list(sku, query),
  }),
  read({
    id: 'governorPolicies.get',
    path: '/governors/:sku/policies/:version',
    summary: 'Shows a version of a governor’s policy.',
    right: 'view',
    input: {
      params: object({ sku: text(100), version: Type.String({ pattern: '^[1-9]\\d{0,8}$' }) }),
    },
    output: version,
    refuses: [...missing, 'policy_not_found'],
    run: (writ, { params }) =>
      writ.governors.policies.get(params.sku, { version: Number(params.version) }),
  }),
  act({
    id: 'governorPolicies.preview',
    path: '/governors/:sku/policy-preview',
    summary: 'Shows what publishing a policy would change. Changes nothing.',
    right: 'view',
    input: {
      params: bySku,
      body: object({ policy: policy(), shadow: optional(Type.Boolean()) }),
    },
    output: component('GovernorPolicyPreview', {
      before: nullable(json()),
      document: json(),
      hash: text(),
      changes: list(json()),
      same: Type.Boolean(),
    }),
    refuses: ['invalid_policy'],
    run: (writ, { params: { sku }, body: { policy: given, ...options } }) =>
      writ.governors.policies.preview(sku, given, options as object),
  }),
  act({
    id: 'governorPolicies.publish',
    path: '/governors/:sku/policies',
    summary: 'Publishes the next version of a governor’s policy.',
    right: 'operate',
    status: 201,
    version: 'optional',
    input: {
      params: bySku,
      body: object({ policy: policy(), shadow: optional(Type.Boolean()) }),
    },
    output: published,
    refuses: ['invalid_policy', 'policy_moved'],
    run: (writ, { params: { sku }, version: known, body: { policy: given, ...options } }) =>
      writ.governors.policies.publish(sku, given, {
        ...(options as object),
        ...(known !== undefined && { version: known }),
      }),
  }),
  act({
    id: 'governorPolicies.withdraw',
    method: 'DELETE',
    path: '/governors/:sku/policies',
    summary: 'Withdraws a governor’s policy. It decides about nothing any more.',
    right: 'operate',
    version: 'optional',
    input: { params: bySku },
    output: published,
    refuses: [...missing, 'policy_moved'],
    run: (writ, { params: { sku }, version: known }) =>
      writ.governors.policies.withdraw(sku, known === undefined ? {} : { version: known }),
  }),
  read({
    id: 'entitlement.get',
    path: '/entitlement',
    summary: 'Shows what the tenant may have done by governors.',
    right: 'view',
    output: entitlement,
    refuses: ['entitlement_not_found'],
    run: (writ) => writ.governors.entitlements.get(),
  }),
  act({
    id: 'entitlement.put',
    method: 'PUT',
    path: '/entitlement',
    summary: 'Changes what the tenant may have done by governors.',
    right: 'operate',
    wide: true,
    input: {
      body: object({
        entitlementId: optional(text()),
        status: optional(text(50)),
        tier: optional(oneOf(['free', 'starter', 'professional', 'enterprise'])),
        quota: optional(nullable(integer(0, 2_147_483_647))),
        expiresAt: optional(nullable(moment())),
      }),
    },
    output: entitlement,
    refuses: ['invalid_entitlement'],
    run: (writ, { body: { expiresAt, ...body } }) =>
      writ.governors.entitlements.put({
        ...(body as object),
        ...(expiresAt === null ? { expiresAt } : timeOf('expiresAt', expiresAt)),
      }),
  }),
];

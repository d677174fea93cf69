/** The service itself: who calls, how the system is, what errors mean, API keys. */
import Type from 'typebox';
import { isErrorCode, registry, rights, WritRefusal } from 'writ';
import { act, read } from '../operation.js';
import {
  component,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  pageOf,
  paging,
  text,
  time,
} from '../schema.js';

const health = component('Health', {
  system: text(),
  domains: Type.Record(Type.String(), Type.String()),
  capabilities: list(
    object({
      capability_name: text(),
      domain: text(),
      status: text(),
      why: nullable(Type.String()),
      monitored: Type.Boolean(),
    }),
  ),
});

const caller = component('Caller', {
  principal: text(),
  kind: oneOf(['person', 'service', 'agent']),
  tenant: text(),
  rights: list(oneOf(rights)),
});

const errorEntry = component('ErrorEntry', {
  code: text(),
  message: text(2_000),
  remedy: text(2_000),
  status: integer(400, 599),
  retryable: Type.Boolean(),
});

const apiKey = component('ApiKey', {
  keyId: text(),
  principal: text(),
  tenant: nullable(text()),
  rights: nullable(list(oneOf(rights))),
  label: Type.String(),
  expiresAt: time(),
  addedBy: text(),
  addedAt: time(),
  lastUsedAt: nullable(time()),
  revokedAt: nullable(time()),
});

const byKeyId = object({ id: Type.String({ pattern: '^[0-9a-f]{16}$' }) });

export const service = [
  read({
    id: 'caller.get',
    path: '/caller',
    summary: 'Says who the caller is, and what it may do.',
    right: null,
    output: caller,
    run: (_, given) => given.caller,
  }),
  read({
    id: 'errors.get',
    path: '/errors/:code',
    summary: 'Explains an error code.',
    right: null,
    input: { params: object({ code: text(100) }) },
    output: errorEntry,
    refuses: ['route_not_found'],
    run: (_, { params: { code } }) => {
      if (!isErrorCode(code)) throw new WritRefusal('route_not_found', code);
      return { code, ...registry[code] };
    },
  }),
  read({
    id: 'health.get',
    path: '/health',
    summary: 'Shows the health of capabilities, domains and the system.',
    right: 'view',
    output: health,
    run: (writ, { caller: { tenant } }) =>
      writ.health.get({ ...(tenant !== undefined && { tenant }) }),
  }),
  read({
    id: 'apiKeys.list',
    path: '/api-keys',
    summary: 'Lists API keys, the newest first.',
    right: 'administer',
    wide: true,
    input: { query: object({ ...paging, principal: optional(text(100)) }) },
    output: pageOf(apiKey),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.apiKeys.list(query),
  }),
  act({
    id: 'apiKeys.make',
    path: '/api-keys',
    summary: 'Makes an API key. The answer shows it once.',
    right: 'administer',
    status: 201,
    input: {
      body: object({
        principal: text(100),
        tenant: optional(text()),
        rights: optional(list(oneOf(rights))),
        label: optional(text()),
        expiresInDays: optional(integer(1, 3_660)),
      }),
    },
    output: component('MadeApiKey', { keyId: text(), key: text(), expiresAt: time() }),
    refuses: ['invalid_api_key', 'principal_not_found', 'api_key_exists', 'TENANT_ACCESS_DENIED'],
    run: (writ, { body: { expiresInDays, ...body } }) =>
      writ.apiKeys.make({
        ...body,
        ...(expiresInDays !== undefined && { expiresIn: `${expiresInDays}d` as const }),
      }),
  }),
  act({
    id: 'apiKeys.revoke',
    method: 'DELETE',
    path: '/api-keys/:id',
    summary: 'Revokes an API key.',
    right: 'administer',
    input: { params: byKeyId },
    output: component('RevokedApiKey', { keyId: text() }),
    refuses: ['api_key_not_found', 'TENANT_ACCESS_DENIED'],
    run: async (writ, { params: { id } }) => {
      await writ.apiKeys.revoke(id);
      return { keyId: id };
    },
  }),
];

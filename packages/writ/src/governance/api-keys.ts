/**
 * `writ.apiKeys`: keys by which the API server knows principals. They authenticate, and sign
 * nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { databaseTime } from '../database/clock.js';
import { gate } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';
import { type Duration, milliseconds } from '../queue/duration.js';
import { knownSecrets } from '../secrets/redactor.js';
import { type ActingHost, actAs, type In } from './actor.js';
import type { Right } from './rights.js';

const shape = /^writ_([0-9a-f]{16})_([0-9a-f]{64})$/;

export interface NewApiKey {
  readonly principal: string;
  /** In this tenant only; in each one of its principal unless given. */
  readonly tenant?: string | undefined;
  /** Some rights of its principal; all of them unless given. */
  readonly rights?: readonly Right[] | undefined;
  /** For people: where the key is used. */
  readonly label?: string | undefined;
  /** Ninety days unless given. */
  readonly expiresIn?: Duration | undefined;
}

export interface MadeApiKey {
  readonly keyId: string;
  /** The whole key. It is shown once. */
  readonly key: string;
  readonly expiresAt: string;
}

export interface KnownApiKey {
  readonly keyId: string;
  readonly principal: string;
  readonly tenant: string | null;
  readonly rights: readonly Right[] | null;
  readonly label: string;
  readonly expiresAt: string;
  readonly addedBy: string;
  readonly addedAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

/** Who a request comes from, by its key or by a token that the server has checked. */
export type Requester = { readonly apiKey: string } | { readonly principal: string };

/** A request that was admitted. */
export interface Admitted {
  readonly principal: string;
  readonly kind: 'person' | 'service' | 'agent';
  readonly tenant: string;
  readonly rights: readonly Right[];
}

export class ApiKeys {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /** Makes a key. A repetition with `once` makes none, and is refused: no key is shown twice. */
  async make(
    { principal, tenant, rights, label, expiresIn = '90d' }: NewApiKey,
    options: In = {},
  ): Promise<MadeApiKey> {
    const keyId = randomBytes(8).toString('hex');
    const secret = randomBytes(32).toString('hex');
    const now = await databaseTime(this.#host.db);
    const expiresAt = new Date(now.getTime() + milliseconds(expiresIn)).toISOString();
    knownSecrets.add(`API key ${keyId}`, secret);
    const made = await this.#put(
      {
        key_id: keyId,
        principal_id: principal,
        tenant,
        rights,
        label,
        expires_at: expiresAt,
        secret_sha256: hashOf(secret),
      },
      options,
      [principal, tenant, rights, label],
    );
    if (made.key_id !== keyId) throw new WritRefusal('api_key_exists', made.key_id);
    return { keyId, key: `writ_${keyId}_${secret}`, expiresAt };
  }

  async revoke(keyId: string, options: In = {}): Promise<void> {
    await this.#put({ key_id: keyId, revoked: true }, options, keyId);
  }

  /** The newest first. */
  list(
    filter: PageOptions & {
      readonly principal?: string | undefined;
      readonly tenant?: string | undefined;
    } = {},
  ): Promise<Page<KnownApiKey>> {
    return readPage<KnownApiKey>(
      this.#host.db,
      {
        columns: `k.key_id as "keyId", k.principal_id as principal, k.tenant_id as tenant, k.rights,
          k.label, k.expires_at as "expiresAt", k.added_by as "addedBy", k.added_at as "addedAt",
          k.last_used_at as "lastUsedAt", k.revoked_at as "revokedAt"`,
        from: 'writ.api_key k',
        where: [
          ['k.principal_id = ?', filter.principal],
          ['k.tenant_id = ?', filter.tenant ?? this.#host.tenant],
        ],
        key: [
          ['k.added_at', 'timestamptz'],
          ['k.key_id', 'text'],
        ],
      },
      filter,
    );
  }

  /**
   * Finds the principal of a request, checks one right, and answers the tenant that it is about.
   * For logins with writ_server.
   */
  async admit(
    requester: Requester,
    {
      right,
      tenant,
      allTenants = false,
    }: {
      readonly right?: Right | undefined;
      readonly tenant?: string | undefined;
      /** The request is about all tenants: refused to a key or principal of one. */
      readonly allTenants?: boolean | undefined;
    } = {},
  ): Promise<Admitted> {
    const answer = await gate<{
      principal_id: string;
      kind: Admitted['kind'];
      tenant_id: string;
      rights: Right[];
    }>(this.#host.db, 'fn_caller_admit($1::text::jsonb, $2, $3, $4)', [
      JSON.stringify(callerOf(requester)),
      right ?? null,
      tenant ?? null,
      String(allTenants),
    ]);
    return {
      principal: answer.principal_id,
      kind: answer.kind,
      tenant: answer.tenant_id,
      rights: answer.rights,
    };
  }

  #put(put: object, options: In, means: unknown): Promise<{ key_id: string }> {
    const params = [JSON.stringify(put), options.actor ?? this.#host.actor];
    return actAs(this.#host, 'fn_api_key_put($1, $2::text::jsonb, $3)', params, options, means);
  }
}

function callerOf(requester: Requester): object {
  if ('principal' in requester) return { principal: requester.principal };
  const [, keyId, secret] = shape.exec(requester.apiKey) ?? [];
  if (!keyId || !secret) throw new WritRefusal('not_authenticated');
  return { api_key: keyId, secret_sha256: hashOf(secret) };
}

/** 256 random bits need no slow hash. */
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/**
 * What every store of artifacts does alike: names, retention, bounds, and checks of references.
 * Where the bytes lie is its medium's concern.
 */
import type { Readable } from 'node:stream';
import { WritError } from '../errors/index.js';
import type {
  ArtifactContent,
  ArtifactRef,
  ArtifactStore,
  PutOptions,
  ReadOptions,
} from '../queue/artifacts.js';
import { type Duration, milliseconds } from '../queue/duration.js';
import { Counted, checked } from './content.js';
import { assertKind, newKey, parseKey, tenantFolder } from './key.js';

export interface StoreOptions {
  /**
   * How long each kind is kept: `{ 'log-bundle': '30d', '*': '365d' }`. A kind that is not named,
   * without `*`, is kept for ever.
   */
  readonly retention?: Readonly<Record<string, Duration>>;
  /** The largest artifact; 1 GiB unless given. */
  readonly maxBytes?: number;
}

/** Where bytes lie, by key. */
export interface Medium {
  /** What the URIs of this store begin with. */
  readonly base: string;
  /**
   * All of it becomes visible under the key, durably, or nothing. Errors of `chunks` pass through
   * as they are.
   */
  write(
    key: string,
    chunks: AsyncIterable<Buffer>,
    options: { contentType?: string | undefined; signal?: AbortSignal | undefined },
  ): Promise<void>;
  /** The bytes, if there are as many as expected. */
  read(key: string, sizeBytes: number, signal: AbortSignal | undefined): Promise<Readable>;
  has(key: string): Promise<boolean>;
  remove(key: string): Promise<void>;
  sweep(now: Date): Promise<number>;
  faultOf(error: unknown): unknown;
}

const lastDay = Date.UTC(9999, 11, 31);

export class Artifacts implements ArtifactStore {
  readonly #medium: Medium;
  readonly #retention: ReadonlyMap<string, number>;
  readonly #maxBytes: number;

  constructor(medium: Medium, { retention = {}, maxBytes = 2 ** 30 }: StoreOptions) {
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1)
      throw new WritError('invalid_argument', 'maxBytes is a whole number above 0');
    for (const kind of Object.keys(retention)) if (kind !== '*') assertKind(kind);
    this.#medium = medium;
    this.#retention = new Map(
      Object.entries(retention).map(([kind, duration]) => [kind, milliseconds(duration)]),
    );
    this.#maxBytes = maxBytes;
  }

  async put(content: ArtifactContent, options: PutOptions): Promise<ArtifactRef> {
    const { kind, tenant = 'default', runId, contentType, signal } = options;
    assertKind(kind);
    const expiresAt = this.#expiry(options);
    const key = newKey(tenant, kind, expiresAt, runId);
    const counted = new Counted(content, this.#maxBytes, signal);
    await this.#medium.write(key, counted, { contentType, signal });
    return {
      uri: this.#medium.base + key,
      kind,
      sha256: counted.sha256(),
      sizeBytes: counted.sizeBytes,
      ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
    };
  }

  async get(ref: ArtifactRef, options: ReadOptions = {}): Promise<Readable> {
    const { key, expiresAt } = this.#find(ref, options);
    const { uri, sha256, sizeBytes } = ref;
    if (sha256 === undefined || !/^[0-9a-f]{64}$/.test(sha256))
      throw invalid('it has no SHA-256 to hold the content against');
    if (!Number.isSafeInteger(sizeBytes) || (sizeBytes as number) < 0)
      throw invalid('it has no size to hold the content against');
    const expected = { sha256, sizeBytes: sizeBytes as number };
    if (expected.sizeBytes > this.#maxBytes)
      throw new WritError('artifact_too_large', `${expected.sizeBytes} bytes`);
    if (expiresAt && expiresAt.getTime() <= Date.now())
      throw new WritError('artifact_expired', `${uri}, at ${expiresAt.toISOString()}`);
    const body = await this.#medium.read(key, expected.sizeBytes, options.signal);
    return checked(body, uri, expected, (error) => this.#medium.faultOf(error));
  }

  async exists(ref: ArtifactRef, options: ReadOptions = {}): Promise<boolean> {
    return this.#medium.has(this.#find(ref, options).key);
  }

  async delete(ref: ArtifactRef, options: ReadOptions = {}): Promise<void> {
    await this.#medium.remove(this.#find(ref, options).key);
  }

  async sweep({
    now = new Date(),
  }: {
    readonly now?: Date | undefined;
  } = {}): Promise<{ readonly deleted: number }> {
    return { deleted: await this.#medium.sweep(now) };
  }

  #expiry({ kind, expiresAt }: PutOptions): Date | undefined {
    const now = Date.now();
    if (expiresAt !== undefined) {
      const at = expiresAt.getTime();
      if (!(at > now && at < lastDay))
        throw new WritError('invalid_artifact', 'expiresAt is not a moment to come');
      return expiresAt;
    }
    const kept = this.#retention.get(kind) ?? this.#retention.get('*');
    return kept === undefined ? undefined : new Date(Math.min(now + kept, lastDay));
  }

  #find(ref: ArtifactRef, { tenant }: ReadOptions): { key: string; expiresAt: Date | undefined } {
    const { base } = this.#medium;
    if (typeof ref?.uri !== 'string' || !ref.uri.startsWith(base))
      throw invalid(`its uri does not begin with ${base}`);
    const key = ref.uri.slice(base.length);
    const place = parseKey(key);
    if (!place) throw invalid('its uri is none that a store makes');
    if (place.kind !== ref.kind) throw invalid('its kind is not that of its uri');
    if (tenant !== undefined && place.tenant !== tenantFolder(tenant))
      throw new WritError('artifact_of_another_tenant', ref.uri);
    return { key, expiresAt: place.expiresAt };
  }
}

const invalid = (detail: string) => new WritError('artifact_reference_invalid', detail);

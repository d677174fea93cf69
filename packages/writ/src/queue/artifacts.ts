/**
 * Artifacts as the queue knows them: what a handler made that is too large for a row is kept in a
 * store, and the database holds a reference. The stores themselves are in src/artifacts/.
 */
import type { Readable } from 'node:stream';
import { WritError } from '../errors/index.js';

/** A pointer to what a step made. The database holds pointers only, never what they point to. */
export interface ArtifactRef {
  readonly uri: string;
  readonly kind: string;
  readonly sha256?: string;
  readonly sizeBytes?: number;
  readonly expiresAt?: string;
}

/** What can be stored: bytes, a text, or a stream of either. */
export type ArtifactContent = Uint8Array | string | AsyncIterable<Uint8Array | string>;

export interface HandlerPutOptions {
  /**
   * What it is, such as `log-bundle`: letters, digits and . _ - beginning with a letter or digit.
   * Retention goes by it.
   */
  readonly kind: string;
  /** For those who fetch it from S3 by other means; a folder keeps none. */
  readonly contentType?: string | undefined;
  /** When it may go; what the store's retention says unless given. */
  readonly expiresAt?: Date | undefined;
}

export interface PutOptions extends HandlerPutOptions {
  /** Whose it is; `default` unless given. */
  readonly tenant?: string | undefined;
  /** The run that it is of, for those who look for it in the store. */
  readonly runId?: string | undefined;
  /** Stops it between two chunks; nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions {
  /** Whose it has to be; anybody's unless given. */
  readonly tenant?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ArtifactStore {
  /** Resolves when the content is durable, and not before. */
  put(content: ArtifactContent, options: PutOptions): Promise<ArtifactRef>;
  /**
   * A stream that ends only if what it gave has the size and the SHA-256 of the reference;
   * otherwise it fails.
   */
  get(ref: ArtifactRef, options?: ReadOptions): Promise<Readable>;
  exists(ref: ArtifactRef, options?: ReadOptions): Promise<boolean>;
  /** Deleting what is not there does nothing. */
  delete(ref: ArtifactRef, options?: ReadOptions): Promise<void>;
  /** Deletes what has expired, of all tenants. */
  sweep(options?: { readonly now?: Date | undefined }): Promise<{ readonly deleted: number }>;
}

/** They are all in one event. */
const mostRefs = 100;

/**
 * The store in the hands of one handler: for its tenant and its run, and for as long as it may run.
 */
export class JobArtifacts {
  /** What was put so far, for the event of the step. */
  readonly refs: ArtifactRef[] = [];
  readonly #store: ArtifactStore | undefined;
  readonly #scope: {
    readonly tenant: string;
    readonly runId: string | undefined;
    readonly signal: AbortSignal;
  };

  constructor(
    store: ArtifactStore | undefined,
    tenant: string,
    runId: string | undefined,
    signal: AbortSignal,
  ) {
    this.#store = store;
    this.#scope = { tenant, runId, signal };
  }

  /** In a step of a run, the reference is also part of the event of its end. */
  async put(content: ArtifactContent, options: HandlerPutOptions): Promise<ArtifactRef> {
    if (this.#scope.runId && this.refs.length >= mostRefs) {
      throw new WritError(
        'invalid_artifact',
        `a step has ${mostRefs} artifacts at most; put a list of them as one`,
      );
    }
    const ref = await this.#given.put(content, { ...options, ...this.#scope });
    this.refs.push(ref);
    return ref;
  }

  /** Refuses what belongs to another tenant. */
  async get(ref: ArtifactRef): Promise<Readable> {
    return this.#given.get(ref, this.#scope);
  }

  get #given(): ArtifactStore {
    if (!this.#store) throw new WritError('artifacts_not_configured');
    return this.#store;
  }
}

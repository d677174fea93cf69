/**
 * Artifacts in a bucket of S3, or of storage that speaks as S3 does. What fits into one part is one
 * request; what does not is uploaded in parts, two of them in memory at most, and appears when the
 * last is there. A crash in between leaves parts without an object, which a lifecycle rule of the
 * bucket removes (docs/artifacts.md). A sweep lists what is due, and a few keys beyond, of each
 * tenant.
 */
import { WritError } from '../errors/index.js';
import type { ArtifactStore } from '../queue/artifacts.js';
import { damaged } from './content.js';
import { hasExpired, parseKey } from './key.js';
import { connectS3, type S3ClientOptions, type Send } from './s3-client.js';
import { Artifacts, type Medium, type StoreOptions } from './store.js';

export interface S3ArtifactsOptions extends StoreOptions {
  readonly bucket: string;
  /** What keys begin with, such as `writ/artifacts`; nothing unless given. */
  readonly prefix?: string;
  /**
   * Options of the client: region, endpoint, credentials. What is left out is found in the
   * environment, as Amazon's tools do.
   */
  readonly client?: S3ClientOptions;
}

export function s3Artifacts(options: S3ArtifactsOptions): ArtifactStore {
  const { bucket, prefix = '', client = {}, maxBytes = 2 ** 30 } = options;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new WritError('invalid_argument', `${bucket} is not a name of a bucket`);
  if (!/^(?:[\w!*'()-][\w.!*'()-]*(?:\/(?!$)|\/?$))*$/.test(prefix))
    throw new WritError('invalid_argument', `${prefix} is not a prefix`);
  const before = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  return new Artifacts(
    new Bucket(bucket, before, client, Math.max(partBytes, Math.ceil(maxBytes / mostParts))),
    options,
  );
}

/** The smallest that S3 takes, so that a worker with many uploads stays small. */
const partBytes = 5 * 2 ** 20;
const mostParts = 10_000;
/** Keys asked for while everything is due, and to see whether anything is. */
const page = 1_000;
const glance = 10;

class Bucket implements Medium {
  readonly base: string;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #options: S3ClientOptions;
  readonly #partBytes: number;
  #connected: Promise<Send> | undefined;

  constructor(bucket: string, prefix: string, options: S3ClientOptions, bytes: number) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#options = options;
    this.#partBytes = bytes;
    this.base = `s3://${bucket}/${prefix}`;
  }

  async write(
    key: string,
    chunks: AsyncIterable<Buffer>,
    { contentType, signal }: { contentType?: string | undefined; signal?: AbortSignal | undefined },
  ): Promise<void> {
    const place = { ...this.#place(key), ...(contentType && { ContentType: contentType }) };
    const parts = cut(chunks, this.#partBytes);
    try {
      const first = (await parts.next()).value ?? Buffer.alloc(0);
      const second = (await parts.next()).value;
      if (second) await this.#upload(place, [first, second], parts, signal);
      else
        await this.#send(
          'PutObject',
          { ...place, Body: first, ContentLength: first.length },
          signal,
        );
    } finally {
      await parts.return(undefined); // tells a stream that was not read to its end
    }
  }

  async #upload(
    place: Located,
    begun: Buffer[],
    rest: AsyncIterable<Buffer>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { UploadId } = await this.#send('CreateMultipartUpload', place, signal);
    if (!UploadId)
      throw new WritError('artifact_store_unavailable', 'it began an upload without an id');
    const { Bucket, Key } = place;
    const Parts: { ETag: string; PartNumber: number }[] = [];
    const send = async (Body: Buffer) => {
      const PartNumber = Parts.length + 1;
      const { ETag } = await this.#send(
        'UploadPart',
        { Bucket, Key, UploadId, PartNumber, Body, ContentLength: Body.length },
        signal,
      );
      if (!ETag)
        throw new WritError(
          'artifact_store_unavailable',
          `it took part ${PartNumber} without a tag`,
        );
      Parts.push({ ETag, PartNumber });
    };
    try {
      for (let part = begun.shift(); part; part = begun.shift()) await send(part);
      for await (const part of rest) await send(part);
      await this.#send(
        'CompleteMultipartUpload',
        { Bucket, Key, UploadId, MultipartUpload: { Parts } },
        signal,
      );
    } catch (error) {
      // The first error is the one to report; parts that stay are the lifecycle rule's.
      await this.#send('AbortMultipartUpload', { Bucket, Key, UploadId }).catch(() => undefined);
      throw error;
    }
  }

  async read(key: string, sizeBytes: number, signal: AbortSignal | undefined) {
    const { Body, ContentLength } = await this.#send('GetObject', this.#place(key), signal).catch(
      (error) => {
        throw isMissing(error)
          ? new WritError('artifact_not_found', this.base + key, { cause: error })
          : error;
      },
    );
    if (!Body)
      throw new WritError(
        'artifact_store_unavailable',
        `it answered without the content of ${key}`,
      );
    if (ContentLength === sizeBytes) return Body;
    Body.once('error', () => undefined).destroy();
    throw damaged(
      this.base + key,
      `it has ${ContentLength ?? 'an unknown number of'} bytes, and had ${sizeBytes}`,
    );
  }

  async has(key: string): Promise<boolean> {
    try {
      await this.#send('HeadObject', this.#place(key));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    await this.#send('DeleteObject', this.#place(key));
  }

  /**
   * Keys come in the order of their names, and so those of a tenant in the order in which they fall
   * due: at the first that is not, on to the next tenant.
   */
  async sweep(now: Date): Promise<number> {
    let deleted = 0;
    let StartAfter = this.#prefix;
    let MaxKeys = glance;
    for (;;) {
      const { Contents = [], IsTruncated } = await this.#send('ListObjectsV2', {
        Bucket: this.#bucket,
        ...(this.#prefix && { Prefix: this.#prefix }),
        ...(StartAfter && { StartAfter }),
        MaxKeys,
      });
      const keys = Contents.map(({ Key = '' }) => Key);
      const isDue = (key: string) => hasExpired(key.slice(this.#prefix.length), now);
      const later = keys.find((key) => !isDue(key) && parseKey(key.slice(this.#prefix.length)));
      const due = (later ? keys.slice(0, keys.indexOf(later)) : keys).filter(isDue);
      deleted += await this.#removeAll(due);
      if (!later && (!IsTruncated || keys.length === 0)) return deleted;
      StartAfter = later
        ? `${this.#prefix}${parseKey(later.slice(this.#prefix.length))?.tenant}/~`
        : (keys.at(-1) as string);
      MaxKeys = later ? glance : page;
    }
  }

  async #removeAll(keys: readonly string[]): Promise<number> {
    if (keys.length === 0) return 0;
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const { Errors = [] } = await this.#send('DeleteObjects', { Bucket: this.#bucket, Delete });
    const [failed] = Errors;
    if (failed)
      throw new WritError(
        'artifact_store_refused',
        `${Errors.length} not deleted; ${failed.Key}: ${failed.Code} ${failed.Message}`,
      );
    return keys.length;
  }

  #place = (key: string): Located => ({ Bucket: this.#bucket, Key: this.#prefix + key });

  #send: Send = async (call, input, signal) => {
    this.#connected ??= connectS3(this.#options);
    const send = await this.#connected;
    try {
      return await send(call, input, signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw this.faultOf(error);
    }
  };

  /**
   * What the client throws: an answer with a status, or no answer. Anything else is a fault of a
   * program, and stays itself. The client's own error holds the request with its signature and
   * token, which belong into no log: what is passed on is its name and words.
   */
  faultOf(error: unknown): unknown {
    if (!(error instanceof Error) || error instanceof WritError) return error;
    const { name, message, stack, $metadata, code } = error as Error & {
      $metadata?: { httpStatusCode?: number };
      code?: string;
    };
    const status = $metadata?.httpStatusCode;
    const answered =
      status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
    const refused = answered || name === 'CredentialsProviderError';
    const unanswered =
      status !== undefined ||
      name === 'TimeoutError' ||
      /^(?:E[A-Z]{3,}|ERR_STREAM_PREMATURE_CLOSE)$/.test(code ?? '');
    if (!refused && !unanswered) return error;
    const cause = Object.assign(new Error(message), { name, stack });
    return new WritError(
      refused ? 'artifact_store_refused' : 'artifact_store_unavailable',
      `${name}: ${message}`,
      { cause },
    );
  }
}

interface Located {
  Bucket: string;
  Key: string;
  ContentType?: string | undefined;
}

const isMissing = (error: unknown): boolean =>
  error instanceof WritError &&
  error.cause instanceof Error &&
  ['NoSuchKey', 'NotFound'].includes(error.cause.name);

/** The same bytes in pieces of one size, and the rest: some storage takes no others. */
async function* cut(
  chunks: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<Buffer, undefined> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (let chunk of chunks) {
    while (bytes + chunk.length >= size) {
      yield Buffer.concat([...held, chunk.subarray(0, size - bytes)]);
      chunk = chunk.subarray(size - bytes);
      held = [];
      bytes = 0;
    }
    held.push(chunk);
    bytes += chunk.length;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

/** Content on its way in, counted and hashed, and on its way out, held against its reference. */
import { createHash } from 'node:crypto';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WritError } from '../errors/index.js';
import type { ArtifactContent } from '../queue/artifacts.js';

/** Content that is read once, chunk by chunk. Its size and hash stand when it has ended. */
export class Counted implements AsyncIterable<Buffer> {
  sizeBytes = 0;
  readonly #hash = createHash('sha256');
  readonly #content: ArtifactContent;
  readonly #maxBytes: number;
  readonly #signal: AbortSignal | undefined;

  constructor(content: ArtifactContent, maxBytes: number, signal: AbortSignal | undefined) {
    const whole = typeof content === 'string' || content instanceof Uint8Array;
    if (
      !whole &&
      typeof (content as AsyncIterable<unknown> | undefined)?.[Symbol.asyncIterator] !== 'function'
    ) {
      throw new WritError(
        'invalid_artifact',
        'its content is neither bytes nor a text nor a stream of them',
      );
    }
    this.#content = content;
    this.#maxBytes = maxBytes;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const content = this.#content;
    for await (const chunk of typeof content === 'string' || content instanceof Uint8Array
      ? [content]
      : content) {
      this.#signal?.throwIfAborted();
      const bytes = asBuffer(chunk);
      this.sizeBytes += bytes.length;
      if (this.sizeBytes > this.#maxBytes)
        throw new WritError('artifact_too_large', `more than ${this.#maxBytes} bytes`);
      this.#hash.update(bytes);
      if (bytes.length > 0) yield bytes;
    }
  }

  /** To be asked once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }
}

function asBuffer(chunk: Uint8Array | string): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk);
  if (chunk instanceof Uint8Array)
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  throw new WritError(
    'invalid_artifact',
    'its stream gives something that is neither bytes nor a text',
  );
}

/** Ends only when everything that the reference promises has passed, and nothing else. */
class Checked extends Transform {
  #sizeBytes = 0;
  readonly #hash = createHash('sha256');
  readonly #uri: string;
  readonly #expected: { readonly sha256: string; readonly sizeBytes: number };

  constructor(uri: string, expected: { readonly sha256: string; readonly sizeBytes: number }) {
    super();
    this.#uri = uri;
    this.#expected = expected;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > this.#expected.sizeBytes) done(damaged(this.#uri, 'it is longer'));
    else {
      this.#hash.update(chunk);
      done(null, chunk);
    }
  }

  override _flush(done: TransformCallback): void {
    if (this.#sizeBytes < this.#expected.sizeBytes) done(damaged(this.#uri, 'it is shorter'));
    else if (this.#hash.digest('hex') !== this.#expected.sha256)
      done(damaged(this.#uri, 'its SHA-256 differs'));
    else done();
  }
}

export const damaged = (uri: string, how: string): WritError =>
  new WritError('artifact_damaged', `${uri}: ${how}`);

/** `faultOf` turns what breaks the body on its way into an error of ours. */
export function checked(
  body: Readable,
  uri: string,
  expected: { readonly sha256: string; readonly sizeBytes: number },
  faultOf: (error: unknown) => unknown,
): Readable {
  const stream = new Checked(uri, expected);
  // Before pipeline's own listener, so that readers hear what it means.
  body.once('error', (error) => stream.destroy(faultOf(error) as Error));
  pipeline(body, stream).catch(() => undefined); // the reader of the stream hears of it
  return stream;
}

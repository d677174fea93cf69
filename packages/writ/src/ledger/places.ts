/**
 * Where checkpoints are kept outside the database: a file, or an HTTP address that takes a PUT and
 * answers a GET with what was put. A place holds the newest checkpoint of `_system`; through it,
 * those of every log.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { WritError } from '../errors/index.js';

export interface Place {
  readonly name: string;
  /** The checkpoint it holds; null when it has none yet. */
  read(): Promise<string | null>;
  write(note: string): Promise<void>;
}

const noteLimit = 10_000;
const timeoutMs = 10_000;

/** `https://…`, `http://…`, or a path, with or without `file:`. */
export function placeOf(text: string): Place {
  if (/^https?:\/\//.test(text)) return new HttpPlace(text);
  if (text === '' || text.includes('\0'))
    throw new WritError('invalid_argument', 'a place for checkpoints is a path or an http address');
  return new FilePlace(resolve(text.replace(/^file:(?:\/\/)?/, '')));
}

class FilePlace implements Place {
  readonly name: string;

  constructor(path: string) {
    this.name = path;
  }

  async read(): Promise<string | null> {
    try {
      return limited(await readFile(this.name, 'utf8'), this.name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw unreachable(this.name, error);
    }
  }

  /** Whole or not at all, and on the disk before it returns. */
  async write(note: string): Promise<void> {
    const beside = `${this.name}.${process.pid}.new`;
    try {
      const file = await open(beside, 'w', 0o644);
      try {
        await file.writeFile(note);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(beside, this.name);
      const folder = await open(dirname(this.name), 'r');
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    } catch (error) {
      throw unreachable(this.name, error);
    }
  }
}

class HttpPlace implements Place {
  readonly name: string;
  readonly #url: URL;
  readonly #headers: Record<string, string>;

  constructor(text: string) {
    this.#url = new URL(text);
    // A password in the address is sent as one and shown nowhere.
    const { username, password } = this.#url;
    this.#url.username = '';
    this.#url.password = '';
    this.name = this.#url.href;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.#headers =
      username || password
        ? { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
        : {};
  }

  async read(): Promise<string | null> {
    const answer = await this.#fetch({ method: 'GET' });
    if (answer.status === 404) {
      await answer.body?.cancel();
      return null;
    }
    return limited(await this.#text(answer), this.name);
  }

  async write(note: string): Promise<void> {
    await this.#text(
      await this.#fetch({
        method: 'PUT',
        body: note,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
      }),
    );
  }

  async #fetch(request: {
    method: string;
    body?: string;
    headers?: Record<string, string>;
  }): Promise<Response> {
    try {
      return await fetch(this.#url, {
        ...request,
        headers: { ...request.headers, ...this.#headers },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (error) {
      throw unreachable(this.name, error);
    }
  }

  async #text(answer: Response): Promise<string> {
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new WritError('checkpoint_place_unreachable', `${this.name} answered ${answer.status}`);
    }
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of answer.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        if (text.length > noteLimit) break;
      }
    } catch (error) {
      throw unreachable(this.name, error);
    }
    return text;
  }
}

function limited(text: string, name: string): string {
  if (text.length > noteLimit)
    throw new WritError('checkpoint_place_unreachable', `${name} holds more than a checkpoint`);
  return text;
}

const words: Record<string, string> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'it is a folder, and should be a file in one',
  EACCES: 'this user may not',
  ENOSPC: 'the disk is full',
  ECONNREFUSED: 'nobody answers there',
  ENOTFOUND: 'there is no such host',
};

function unreachable(name: string, thrown: unknown): WritError {
  // What fetch throws says why in its cause.
  const { cause } = thrown as Error;
  const { code, message } = (cause instanceof Error ? cause : thrown) as NodeJS.ErrnoException;
  return new WritError(
    'checkpoint_place_unreachable',
    `${name}: ${words[code ?? ''] ?? code ?? message}`,
    { cause: thrown },
  );
}

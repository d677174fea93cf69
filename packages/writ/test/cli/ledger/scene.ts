/**
 * What the tests of `writ ledger` need: a database, a folder, a key, and an HTTP place on the
 * loopback. What a test is not about is done without a process.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../../src/ledger/note.js';
import { type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import type { Writ } from '../../../src/writ.js';
import { append, entryOf } from '../../ledger/receipts.js';
import { json, type RunOptions, writ } from '../run.js';

export class Scene {
  readonly db: TestDatabase;
  readonly folder = mkdtempSync(join(tmpdir(), 'writ-ledger-cli-'));
  readonly env: Record<string, string>;
  readonly options: RunOptions;
  #writ: Writ | undefined;

  private constructor(db: TestDatabase) {
    this.db = db;
    this.env = { DATABASE_URL: db.connectionString };
    this.options = { env: this.env, cwd: this.folder };
  }

  static async make(): Promise<Scene> {
    return new Scene(await testDatabase());
  }

  async end(): Promise<void> {
    await this.db.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** Runs a command of the ledger in the folder. */
  ledger(args: readonly string[], env: Record<string, string> = {}) {
    return writ(['ledger', ...args], { ...this.options, env: { ...this.env, ...env } });
  }

  json<T = Record<string, unknown>>(args: readonly string[]): Promise<T> {
    return json<T>(['ledger', ...args], this.options);
  }

  /** Makes a key in the file `key`; answers the public one. */
  async key(file = 'key', ...more: string[]): Promise<string> {
    if (more.length === 0) {
      const key = keyOfSeed('acme.example/test', randomBytes(32));
      writeFileSync(this.path(file), `${privateKeyText(key)}\n`, { mode: 0o600, flag: 'wx' });
      return publicKeyText(key);
    }
    return (
      await this.json<{ publicKey: string }>([
        'keygen',
        '--name',
        'acme.example/test',
        '--out',
        file,
        ...more,
      ])
    ).publicKey;
  }

  /** Not of a governor: what those wrote is decided again. */
  receipts(log: string, first: number, count: number): Promise<void> {
    return append(
      this.db,
      Array.from({ length: count }, (_, n) => entryOf(log, 'test:1', first + n)),
    );
  }

  /** Signs with the file `key`, into the file `checkpoint`. */
  async sign(...more: string[]): Promise<void> {
    if (more.length === 0) {
      this.#writ ??= await this.db.connect({ actor: 'test' });
      await this.#writ.ledger.checkpoint({
        key: this.read('key'),
        places: [this.path('checkpoint')],
      });
      return;
    }
    await this.json(['checkpoint', '--key', 'key', '--to', 'checkpoint', ...more]);
  }
}

export interface HttpPlace {
  readonly url: string;
  held: string | undefined;
  status: number;
  requests: number;
  close(): Promise<void>;
}

/** Takes a PUT, and answers a GET with what was put, to whoever has the password. */
export async function httpPlace(): Promise<HttpPlace> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      place.requests++;
      const allowed =
        request.headers.authorization === `Basic ${Buffer.from('ada:geheim').toString('base64')}`;
      const status = allowed ? place.status : 401;
      if (status === 200 && request.method === 'PUT') place.held = body;
      response.statusCode =
        status === 200 && request.method === 'GET' && place.held === undefined ? 404 : status;
      response.end(status === 200 && request.method === 'GET' ? place.held : '');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const place: HttpPlace = {
    url: `http://ada:geheim@127.0.0.1:${(server.address() as AddressInfo).port}/checkpoint`,
    held: undefined,
    status: 200,
    requests: 0,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
  return place;
}

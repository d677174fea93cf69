/**
 * Artifacts in a bucket: a real client of S3, and a server from npm that speaks as S3 does, in a
 * process of its own.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectS3, type S3ClientOptions } from '../../src/artifacts/s3-client.js';
import { s3Artifacts } from '../../src/index.js';
import { keepsItsPromises } from './conformance.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const missing = ['s3rver', '@aws-sdk/client-s3'].filter((name) => {
  try {
    createRequire(import.meta.url).resolve(name);
    return false;
  } catch {
    return true;
  }
});
if (missing.length > 0)
  console.warn(
    `NOT TESTED: artifacts in S3, because ${missing.join(' and ')} is not installed. Run \`npm ci\`.`,
  );

interface Server {
  readonly client: S3ClientOptions;
  readonly process: ChildProcess;
  end(): Promise<void>;
}

async function startServer(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-s3-'));
  const script = fileURLToPath(new URL('s3-server.mjs', import.meta.url));
  // The server pages its lists with a cipher that OpenSSL has retired.
  const child = spawn(
    process.execPath,
    ['--no-warnings', '--openssl-legacy-provider', script, folder],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const port = await new Promise<string>((done, failed) => {
    child.stdout.once('data', (data) => done(String(data).trim()));
    child.once('exit', () => failed(new Error('the S3 server ended')));
  });
  return {
    client: {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    },
    process: child,
    end: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe.skipIf(missing.length > 0)('a bucket', () => {
  keepsItsPromises(async () => {
    const server = await startServer();
    const options = { bucket: 'artifacts', prefix: 'writ/test', client: server.client };
    const send = await connectS3(server.client);
    return {
      store: 's3Artifacts',
      options,
      make: (more = {}) => s3Artifacts({ ...options, ...more }),
      keys: async () => {
        const { Contents = [] } = await send('ListObjectsV2', {
          Bucket: 'artifacts',
          MaxKeys: 1000,
        });
        return Contents.map(({ Key = '' }) => Key.slice('writ/test/'.length));
      },
      overwrite: async (ref, bytes) => {
        await send('PutObject', {
          Bucket: 'artifacts',
          Key: ref.uri.slice('s3://artifacts/'.length),
          Body: bytes,
          ContentLength: bytes.length,
        });
      },
      end: () => server.end(),
    };
  });
});

describe.skipIf(missing.length > 0)('a bucket, beyond what is promised of every store', () => {
  let server: Server;
  beforeEach(async () => {
    server = await startServer();
  });
  afterEach(() => server.end());
  const make = (client: object = {}, more: object = {}) =>
    s3Artifacts({
      bucket: 'artifacts',
      client: { ...server.client, maxAttempts: 1, ...client },
      ...more,
    });

  test('keys begin with the prefix, and two stores in one bucket do not see each other', async () => {
    const one = make({}, { prefix: 'one' });
    const other = make({}, { prefix: 'other/' });
    const ref = await one.put('x', { kind: 'report', expiresAt: new Date('2199-01-01') });
    expect(ref.uri).toMatch(/^s3:\/\/artifacts\/one\/default\/2199-01-01\//);
    await expect(other.get(ref)).rejects.toMatchObject({ code: 'artifact_reference_invalid' });
    expect(await other.sweep({ now: new Date('2200-01-01') })).toEqual({ deleted: 0 });
    expect(await one.sweep({ now: new Date('2200-01-01') })).toEqual({ deleted: 1 });
  });

  test('without a prefix, a sweep leaves alone what is not an artifact', async () => {
    const send = await connectS3(server.client);
    const strangers = ['a.txt', 'default/2000-01-01/notes.txt', 'zz/2000-01-01/x/y'];
    for (const Key of strangers)
      await send('PutObject', {
        Bucket: 'artifacts',
        Key,
        Body: Buffer.from('x'),
        ContentLength: 1,
      });
    await make().put('x', { kind: 'report', expiresAt: new Date('2199-01-01') });
    expect(await make().sweep({ now: new Date('2200-01-01') })).toEqual({ deleted: 1 });
    const { Contents = [] } = await send('ListObjectsV2', { Bucket: 'artifacts', MaxKeys: 1000 });
    expect(Contents.map(({ Key }) => Key).sort()).toEqual(strangers);
  });

  test('what is larger than a part arrives whole', async () => {
    const bytes = Buffer.alloc(17 * 2 ** 20 + 1, 'parts');
    const ref = await make().put(bytes, { kind: 'large', contentType: 'application/octet-stream' });
    expect((await buffer(await make().get(ref))).equals(bytes)).toBe(true);
  });

  // The server looks at the key and not at the signature, so a wrong secret cannot be tried here.
  test('a key that nobody knows: refused in words, and nothing of the request is in the error', async () => {
    const ref = await make().put('x', { kind: 'report' });
    const stranger = make({
      credentials: {
        accessKeyId: 'NOBODY',
        secretAccessKey: 'hidden-word',
        sessionToken: 'hidden-token',
      },
    });
    const calls = [
      () => stranger.put('x', { kind: 'report' }),
      () => stranger.get(ref),
      () => stranger.exists(ref),
      () => stranger.delete(ref),
      () => stranger.sweep(),
    ];
    for (const call of calls) {
      const error = (await call().catch((thrown: unknown) => thrown)) as Error & { code: string };
      expect(error.code).toBe('artifact_store_refused');
      expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/hidden-|Signature=/);
    }
    expect(await make().exists(ref)).toBe(true);
  });

  test('a bucket that is not there: refused, and named', async () => {
    const store = s3Artifacts({ bucket: 'nobody-made-it', client: server.client });
    await expect(store.put('x', { kind: 'report' })).rejects.toMatchObject({
      code: 'artifact_store_refused',
      message: expect.stringContaining('bucket'),
    });
  });

  test('a server that is gone: the store is unavailable, and a retry may help', async () => {
    const store = make();
    const ref = await store.put('x', { kind: 'report' });
    server.process.kill('SIGKILL');
    for (const call of [
      () => store.put('x', { kind: 'report' }),
      () => store.get(ref),
      () => store.exists(ref),
      () => store.sweep(),
    ])
      await expect(call()).rejects.toMatchObject({
        code: 'artifact_store_unavailable',
        retryable: true,
      });
  });

  test('a server that goes in the middle of a put: the put fails, and its stream is told', async () => {
    let told = false;
    async function* content() {
      try {
        for (let n = 0; n < 1000; n++) {
          if (n === 20) server.process.kill('SIGKILL');
          yield Buffer.alloc(2 ** 20);
        }
      } finally {
        told = true;
      }
    }
    await expect(make().put(content(), { kind: 'report' })).rejects.toMatchObject({
      code: 'artifact_store_unavailable',
    });
    expect(told).toBe(true);
  });

  test('a server that goes in the middle of a get: the stream fails, and does not end early', async () => {
    const ref = await make().put(Buffer.alloc(30 * 2 ** 20), { kind: 'report' });
    const stream = await make().get(ref);
    const reading = (async () => {
      for await (const _ of stream) server.process.kill('SIGKILL');
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'artifact_store_unavailable',
      retryable: true,
    });
  });
});

test.each([
  { bucket: '' },
  { bucket: 'Not_A_Bucket' },
  { bucket: 'artifacts', prefix: '/x' },
  { bucket: 'artifacts', prefix: '../x' },
  { bucket: 'artifacts', prefix: 'x//y' },
  { bucket: 'artifacts', prefix: 'a b' },
])('options that mean nothing are refused at once: %o', (options) => {
  expect(() => s3Artifacts(options)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
});

test('without the client, an error says what to install', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-s3-'));
  try {
    cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const code = `
      import { s3Artifacts } from './dist/artifacts/s3.js';
      await s3Artifacts({ bucket: 'artifacts' }).put('x', { kind: 'report' }).catch(({ code, remedy }) => console.log(code, remedy));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', code],
      { cwd: folder },
    );
    expect(stdout).toBe(
      'artifact_client_missing Install it beside writ: `npm install @aws-sdk/client-s3`.\n',
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

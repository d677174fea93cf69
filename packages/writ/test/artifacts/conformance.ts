/** What is promised of every store of artifacts, whatever it keeps them in. */
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ArtifactRef, ArtifactStore } from '../../src/index.js';

export interface Setting {
  /** Which function of the package makes the store, and with which options. */
  readonly store: 'fileArtifacts' | 's3Artifacts';
  readonly options: object;
  make(options?: object): ArtifactStore;
  /** The keys that are visible, of all tenants. */
  keys(): Promise<string[]>;
  /** Puts other bytes in the place of an artifact, past the store. */
  overwrite(ref: ArtifactRef, bytes: Buffer): Promise<void>;
  end(): Promise<void>;
}

const putting = fileURLToPath(new URL('putting.mjs', import.meta.url));
const day = 86_400_000;
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

export function keepsItsPromises(start: () => Promise<Setting>): void {
  let setting: Setting;
  let store: ArtifactStore;
  beforeAll(async () => {
    setting = await start();
    store = setting.make();
  });
  afterAll(() => setting?.end());
  afterEach(() => {
    vi.useRealTimers();
  });
  const read = async (ref: ArtifactRef, from = store) => buffer(await from.get(ref));

  describe('what was put', () => {
    test.each([
      ['bytes', randomBytes(100_000)],
      ['nothing', Buffer.alloc(0)],
      ['a text', 'Grüße'],
    ])('comes back as it was: %s', async (_, content) => {
      const ref = await store.put(content, { kind: 'report' });
      expect(ref).toEqual({
        uri: expect.any(String),
        kind: 'report',
        sha256: sha256(content),
        sizeBytes: Buffer.byteLength(content),
      });
      expect(await read(ref)).toEqual(Buffer.from(content as string));
      expect(await store.exists(ref)).toBe(true);
    });

    test('comes back from a stream of Node, of the web, and of a generator, in pieces of any size', async () => {
      const bytes = randomBytes(300_001);
      async function* pieces() {
        for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 65_536)
          yield bytes.subarray(at, at + size);
      }
      for (const content of [Readable.from(pieces()), new Blob([bytes]).stream(), pieces()]) {
        const ref = await store.put(content as AsyncIterable<Uint8Array>, { kind: 'report' });
        expect(ref.sha256).toBe(sha256(bytes));
        expect(await read(ref)).toEqual(bytes);
      }
    });

    test('is there more than once, when the same bytes are put at the same time, and deleting one leaves the others', async () => {
      const bytes = randomBytes(50_000);
      const refs = await Promise.all(
        Array.from({ length: 20 }, () => store.put(bytes, { kind: 'twin' })),
      );
      expect(new Set(refs.map(({ uri }) => uri)).size).toBe(20);
      await store.delete(refs[0] as ArtifactRef);
      await store.delete(refs[0] as ArtifactRef);
      expect(await Promise.all(refs.map((ref) => store.exists(ref)))).toEqual([
        false,
        ...Array(19).fill(true),
      ]);
      await expect(read(refs[0] as ArtifactRef)).rejects.toMatchObject({
        code: 'artifact_not_found',
      });
      for (const ref of refs.slice(1)) expect(await read(ref)).toEqual(bytes);
    });

    test('is found by its run', async () => {
      const runId = '0199a8c2-0000-7000-8000-000000000001';
      const { uri } = await store.put('x', { kind: 'log-bundle', runId });
      expect(
        (await setting.keys()).filter((key) => key.includes(runId) && uri.endsWith(key)),
      ).toHaveLength(1);
    });

    test('is streamed: 100 MiB grow the process by far less', { timeout: 120_000 }, async () => {
      const { store: name, options } = setting;
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--no-warnings',
        putting,
        JSON.stringify({ store: name, options, task: 'large' }),
      ]);
      const { grown, sizeBytes, same } = JSON.parse(stdout) as {
        grown: number;
        sizeBytes: number;
        same: boolean;
      };
      expect({ sizeBytes, same }).toEqual({ sizeBytes: 100 * 2 ** 20, same: true });
      expect(grown).toBeLessThan(80_000); // KiB
    });
  });

  describe('what was changed behind the back of the store is not handed out', () => {
    const bytes = randomBytes(200_000);
    const flipped = Buffer.from(bytes);
    flipped[150_000] = (flipped[150_000] as number) ^ 1;
    test.each([
      ['one bit', flipped],
      ['cut short', bytes.subarray(0, 199_999)],
      ['cut to nothing', Buffer.alloc(0)],
      ['longer by a byte', Buffer.concat([bytes, Buffer.alloc(1)])],
      ['replaced by something of its size', randomBytes(200_000)],
    ])('%s', async (_, other) => {
      const ref = await store.put(bytes, { kind: 'report' });
      await setting.overwrite(ref, other);
      await expect(read(ref)).rejects.toMatchObject({ code: 'artifact_damaged' });
    });

    test('and what was never changed is, so the check can tell', async () => {
      const ref = await store.put(bytes, { kind: 'report' });
      await setting.overwrite(ref, bytes);
      expect(await read(ref)).toEqual(bytes);
    });

    test('a reference that says something else is as good as a changed artifact', async () => {
      const ref = await store.put('abc', { kind: 'report' });
      await expect(read({ ...ref, sha256: sha256('abd') })).rejects.toMatchObject({
        code: 'artifact_damaged',
      });
      await expect(read({ ...ref, sizeBytes: 2 })).rejects.toMatchObject({
        code: 'artifact_damaged',
      });
    });
  });

  describe('references', () => {
    const wrong: [string, (ref: ArtifactRef, base: string) => object | undefined | null][] = [
      ['none', () => undefined],
      ['content in place of a pointer', () => ({ uri: 'data:text/plain,hello' })],
      ['a file of the machine', () => ({ uri: 'file:///etc/passwd' })],
      ['another store', (ref) => ({ uri: ref.uri.replace('://', '://x') })],
      ['the store itself', (_, base) => ({ uri: base })],
      ['a way out of the store', (_, base) => ({ uri: `${base}../../etc/passwd` })],
      ['a way out in the middle', (ref) => ({ uri: ref.uri.replace(/\/([^/]+)$/, '/../$1') })],
      ['an encoded way out', (ref) => ({ uri: ref.uri.replace(/\/([^/]+)$/, '/%2e%2e/$1') })],
      ['a NUL', (ref) => ({ uri: `${ref.uri}\0` })],
      ['a line more', (ref) => ({ uri: `${ref.uri}\n` })],
      ['a query', (ref) => ({ uri: `${ref.uri}?versionId=1` })],
      [
        'temporary files',
        (_, base) => ({ uri: `${base}.incoming/0199a8c2-0000-7000-8000-000000000001` }),
      ],
      ['another kind', () => ({ kind: 'other' })],
      ['no hash', () => ({ sha256: undefined })],
      ['a hash that is none', () => ({ sha256: 'A'.repeat(64) })],
      ['no size', () => ({ sizeBytes: undefined })],
      ['a size below nothing', () => ({ sizeBytes: -1 })],
    ];
    test.each(wrong)('%s: refused, whatever is asked', async (name, change) => {
      const good = await store.put('abc', { kind: 'report' });
      const changed = change(good, good.uri.slice(0, good.uri.indexOf('default/')));
      const ref = (changed && { ...good, ...changed }) as ArtifactRef;
      await expect(store.get(ref)).rejects.toMatchObject({ code: 'artifact_reference_invalid' });
      if (/hash|size/.test(name)) return; // these matter to reading alone
      await expect(store.exists(ref)).rejects.toMatchObject({ code: 'artifact_reference_invalid' });
      await expect(store.delete(ref)).rejects.toMatchObject({ code: 'artifact_reference_invalid' });
      expect(await store.exists(good)).toBe(true);
    });

    test('an absurd size is refused before anything is read', async () => {
      const ref = await store.put('abc', { kind: 'report' });
      await expect(store.get({ ...ref, sizeBytes: 2 ** 40 })).rejects.toMatchObject({
        code: 'artifact_too_large',
      });
    });

    test.each(['acme', '..', '.', 'a/b', 'a b', 'ünï', '!2E', 'я'.repeat(200), '~', 'CON'])(
      'the artifacts of tenant %s are its own',
      async (tenant) => {
        const ref = await store.put(tenant, { kind: 'report', tenant });
        expect((await buffer(await store.get(ref, { tenant }))).toString()).toBe(tenant);
        for (const other of ['default', `${tenant.slice(0, 190)}x`, 'a', '../acme']) {
          await expect(store.get(ref, { tenant: other })).rejects.toMatchObject({
            code: 'artifact_of_another_tenant',
          });
          await expect(store.exists(ref, { tenant: other })).rejects.toMatchObject({
            code: 'artifact_of_another_tenant',
          });
          await expect(store.delete(ref, { tenant: other })).rejects.toMatchObject({
            code: 'artifact_of_another_tenant',
          });
        }
        expect(await store.exists(ref, { tenant })).toBe(true);
      },
    );
  });

  describe('a put that cannot be is refused, and leaves nothing', () => {
    const none: unknown[] = [];
    test.each([
      ['a kind with a slash', 'x', { kind: '../x' }, 'invalid_artifact'],
      ['no kind', 'x', { kind: '' }, 'invalid_artifact'],
      ['a kind that begins with a dot', 'x', { kind: '.x' }, 'invalid_artifact'],
      ['an end in the past', 'x', { kind: 'x', expiresAt: new Date(0) }, 'invalid_artifact'],
      [
        'an end that is no time',
        'x',
        { kind: 'x', expiresAt: new Date(Number.NaN) },
        'invalid_artifact',
      ],
      ['a run that is none', 'x', { kind: 'x', runId: '../..' }, 'invalid_artifact'],
      ['an empty tenant', 'x', { kind: 'x', tenant: '' }, 'invalid_tenant'],
      ['a tenant that is no text', 'x', { kind: 'x', tenant: '\ud800' }, 'invalid_tenant'],
      ['a number', 5 as unknown as string, { kind: 'x' }, 'invalid_artifact'],
      ['a stream of numbers', Readable.from([1, 2]), { kind: 'x' }, 'invalid_artifact'],
    ])('%s', async (_, content, options, code) => {
      const before = await setting.keys();
      await expect(store.put(content, options)).rejects.toMatchObject({ code });
      expect((await setting.keys()).filter((key) => !before.includes(key))).toEqual(none);
    });

    test('more than the store takes, from a stream that would never end', async () => {
      const before = await setting.keys();
      let given = 0;
      let told = false;
      async function* endless() {
        try {
          for (;;) {
            given += 100;
            yield Buffer.alloc(100);
          }
        } finally {
          told = true;
        }
      }
      await expect(
        setting.make({ maxBytes: 1000 }).put(endless(), { kind: 'x' }),
      ).rejects.toMatchObject({ code: 'artifact_too_large' });
      expect({ given, told }).toEqual({ given: 1100, told: true });
      await setting.make({ maxBytes: 1000 }).put(Buffer.alloc(1000), { kind: 'exact' });
      expect(
        (await setting.keys()).filter((key) => !before.includes(key) && !key.endsWith('.exact')),
      ).toEqual(none);
    });

    test.each([0, 20])(
      'a stream that fails after %i MiB: its own error comes out',
      async (mebibytes) => {
        const before = await setting.keys();
        const mine = Object.assign(new Error('the source broke'), {
          code: 'ENOENT',
          syscall: 'read',
        });
        async function* broken() {
          yield Buffer.alloc(1);
          for (let n = 0; n < mebibytes; n++) yield Buffer.alloc(2 ** 20);
          throw mine;
        }
        await expect(store.put(broken(), { kind: 'x' })).rejects.toBe(mine);
        expect((await setting.keys()).filter((key) => !before.includes(key))).toEqual(none);
      },
    );

    test('a put that is told to stop', async () => {
      const before = await setting.keys();
      const stop = new AbortController();
      async function* stopped() {
        for (let n = 0; ; n++) {
          if (n === 20) stop.abort(new Error('enough'));
          yield Buffer.alloc(2 ** 20);
        }
      }
      await expect(store.put(stopped(), { kind: 'x', signal: stop.signal })).rejects.toThrow(
        'enough',
      );
      expect((await setting.keys()).filter((key) => !before.includes(key))).toEqual(none);
    });

    test('a process that is killed in the middle', async () => {
      const before = await setting.keys();
      const { store: name, options } = setting;
      const child = spawn(
        process.execPath,
        ['--no-warnings', putting, JSON.stringify({ store: name, options, task: 'half' })],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      await new Promise<void>((half, failed) => {
        child.stdout.once('data', () => half());
        child.once('exit', () => failed(new Error('it ended by itself')));
      });
      child.removeAllListeners('exit');
      const ended = new Promise((done) => child.once('exit', (_, signal) => done(signal)));
      child.kill('SIGKILL');
      expect(await ended).toBe('SIGKILL');
      expect((await setting.keys()).filter((key) => !before.includes(key))).toEqual(none);
    });
  });

  describe('retention', () => {
    const keeping = () =>
      setting.make({ retention: { 'log-bundle': '30d', forever: '9999999d', '*': '365d' } });
    const until = (ref: ArtifactRef) => (Date.parse(ref.expiresAt as string) - Date.now()) / day;

    test('goes by kind; what is said at the put goes before it; without either it is kept', async () => {
      expect(until(await keeping().put('x', { kind: 'log-bundle' }))).toBeCloseTo(30, 2);
      expect(until(await keeping().put('x', { kind: 'report' }))).toBeCloseTo(365, 2);
      expect(
        until(await keeping().put('x', { kind: 'report', expiresAt: new Date(Date.now() + day) })),
      ).toBeCloseTo(1, 2);
      expect((await keeping().put('x', { kind: 'forever' })).expiresAt).toBe(
        '9999-12-31T00:00:00.000Z',
      );
      expect((await store.put('x', { kind: 'report' })).expiresAt).toBeUndefined();
      expect(() => setting.make({ retention: { 'log/bundle': '30d' } })).toThrow(/kind/);
      expect(() => setting.make({ retention: { report: 'soon' } })).toThrow(/duration/);
    });

    test('what is past it is not handed out, even while it lies there', async () => {
      const ref = await keeping().put('x', { kind: 'log-bundle' });
      expect((await read(ref)).toString()).toBe('x');
      vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(ref.expiresAt as string) });
      await expect(store.get(ref)).rejects.toMatchObject({ code: 'artifact_expired' });
      vi.useRealTimers();
      expect(await store.exists(ref)).toBe(true);
    });

    test('a sweep deletes exactly what has expired, of every tenant and kind, to the millisecond', {
      timeout: 60_000,
    }, async () => {
      await store.sweep({ now: new Date('9998-01-01') });
      const at = Date.UTC(2199, 5, 15, 12);
      const put = (kind: string, tenant: string, expiresAt?: number) =>
        store.put('x', {
          kind,
          tenant,
          expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
        });
      const over: ArtifactRef[] = [];
      const left: ArtifactRef[] = [];
      for (const tenant of ['acme', 'acme2', 'b', 'я']) {
        for (const kind of ['a', 'z']) {
          over.push(
            await put(kind, tenant, at),
            await put(kind, tenant, at - 1),
            await put(kind, tenant, at - 40 * day),
          );
          left.push(
            await put(kind, tenant, at + 1),
            await put(kind, tenant, at + day),
            await put(kind, tenant),
          );
        }
      }
      over.push(
        ...(await Promise.all(
          Array.from({ length: 30 }, (_, n) => put('many', 'b', at - n * 60_000)),
        )),
      );
      expect(await store.sweep({ now: new Date(at - 50 * day) })).toEqual({ deleted: 0 });
      expect(await store.sweep({ now: new Date(at) })).toEqual({ deleted: over.length });
      for (const ref of over) expect(await store.exists(ref)).toBe(false);
      for (const ref of left) expect(await store.exists(ref)).toBe(true);
      expect(await store.sweep({ now: new Date(at) })).toEqual({ deleted: 0 });
    });

    test('two sweeps and puts at the same moment do no harm to each other', async () => {
      const soon = Date.now() + day;
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          store.put('x', { kind: 'race', expiresAt: new Date(soon + n) }),
        ),
      );
      const now = new Date(soon + 2 * day);
      const [one, other, ...refs] = await Promise.all([
        store.sweep({ now }),
        store.sweep({ now }),
        ...Array.from({ length: 20 }, (_, n) =>
          store.put('x', { kind: 'race', expiresAt: new Date(now.getTime() + day + n) }),
        ),
      ]);
      expect(one.deleted + other.deleted).toBeGreaterThanOrEqual(20);
      for (const ref of refs) expect((await read(ref)).toString()).toBe('x');
    });
  });
}

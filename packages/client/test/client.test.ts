/** The client against a real server, over connections that break. */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Problem, writClient } from '@writ/client';
import { writServer } from '@writ/server';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { defineJob, definePlan, rights, Writ } from 'writ';
import { type TestDatabase, testDatabase } from 'writ/testing';

let db: TestDatabase;
let writ: Writ;
let server: ReturnType<typeof writServer>;
let key: string;
let wire: Wire;

beforeAll(async () => {
  db = await testDatabase();
  writ = await Writ.connect({ connectionString: db.connectionString });
  await writ.principals.add({ id: 'all', kind: 'person', rights });
  ({ key } = await writ.apiKeys.make({ principal: 'all' }));
  server = writServer(writ);
  await server.listen({ host: '127.0.0.1', port: 0 });
  wire = await Wire.to((server.server.address() as AddressInfo).port);
});
afterEach(() => wire.mend());
afterAll(async () => {
  await wire.close();
  await server.close();
  await writ.close();
});

/** A connection between client and server that can lose answers. */
class Wire {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #swallow = 0;
  #cutAfter = Number.POSITIVE_INFINITY;
  cuts = 0;

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      for (const socket of [client, upstream]) {
        this.#open.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#open.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream);
      upstream.on('data', (bytes) => {
        if (this.#swallow > 0) {
          this.#swallow -= 1;
          this.cuts += 1;
          client.destroy();
          return;
        }
        client.write(bytes);
        this.#cutAfter -= 1;
        if (this.#cutAfter <= 0) {
          this.#cutAfter = Number.POSITIVE_INFINITY;
          this.cuts += 1;
          client.destroy();
        }
      });
    });
  }

  static async to(port: number): Promise<Wire> {
    const wire = new Wire(port);
    await new Promise<void>((done) => wire.#server.listen(0, '127.0.0.1', done));
    return wire;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Loses this many answers after the server has made them. */
  swallow(answers: number): void {
    this.#swallow = answers;
  }

  /** Breaks the connection after this many pieces of an answer have passed. */
  cutAfter(pieces: number): void {
    this.#cutAfter = pieces;
  }

  mend(): void {
    this.#swallow = 0;
    this.#cutAfter = Number.POSITIVE_INFINITY;
    this.cuts = 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }
}

const client = () => writClient({ url: wire.url, key });

test('reads, page by page', async () => {
  await writ.enqueue(defineJob('one'));
  await writ.enqueue(defineJob('two'));
  const first = await client().queue.list({ limit: 1 });
  expect(first.items).toMatchObject([{ job_kind: 'two' }]);
  const second = await client().queue.list({ limit: 1, after: first.next as string });
  expect(second.items).toMatchObject([{ job_kind: 'one' }]);
  expect(await client().caller.get()).toMatchObject({ principal: 'all' });
});

test('throws a refusal with its code, its remedy and the id of the request', async () => {
  const missing = client().contracts.get('019a0000-0000-7000-8000-000000000000');
  const problem: Problem = await missing.then(
    () => expect.unreachable(),
    (error) => error,
  );
  expect(problem).toBeInstanceOf(Problem);
  expect(problem).toMatchObject({ code: 'contract_not_found', status: 404, retryable: false });
  expect(problem.remedy).toMatch(/\w/);
  expect(problem.requestId).toMatch(/\w/);
  const stranger = writClient({ url: wire.url, key: 'writ_0000_00', tries: 1 });
  await expect(stranger.runs.list()).rejects.toMatchObject({ code: 'not_authenticated' });
});

test('repeats an act whose answer was lost, and its effect is there once', async () => {
  wire.swallow(2);
  const freeze = await client().freezes.put({ reason: 'a quiet week for everybody' });
  expect(wire.cuts).toBe(2);
  const { items } = await writ.freezes.list();
  expect(items.map(({ freeze_id }) => freeze_id)).toEqual([freeze.freeze_id]);
});

test('does the same call with the same key once', async () => {
  await writ.enqueue(defineJob('mail'));
  const call = () => client().queue.enqueue({ kind: 'mail' }, { once: 'mail-1' });
  const { job_id } = await call();
  expect(await call()).toEqual({ job_id, duplicate: true });
});

test('follows a run across broken connections, without a gap and without a repetition', async () => {
  const plan = definePlan('followed', { version: '1.0.0' }, (p) => {
    for (let n = 0; n < 5; n++) p.waitFor(`word${n}`);
  });
  const { runId } = await writ.start(plan);
  const stop = new AbortController();
  const seen: string[] = [];
  wire.cutAfter(2);
  for await (const { id, event } of client().runs.follow(runId, {}, { signal: stop.signal })) {
    seen.push(id);
    // One delivery at a time, and a cut after some of them.
    if (seen.length % 2 === 0) wire.cutAfter(1);
    if (event === 'RunCompleted') stop.abort();
    else if (Number(id) === (await writ.runs.events(runId, { limit: 1_000 })).items.length) {
      const { steps } = await writ.runs.snapshot(runId);
      const next = steps.find(({ status }) => status === 'RUNNING');
      if (next) await writ.runs.deliver(runId, next.stepId.replace(/^undo:/, ''));
    }
  }
  expect(seen).toEqual(seen.map((_, n) => String(n + 1)));
  expect(wire.cuts).toBeGreaterThan(0);
});

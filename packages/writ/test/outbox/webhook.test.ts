/** The bus of webhooks, against a receiver in another process that answers as it is told. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Bus, NotSent } from '../../src/outbox/buses/bus.js';
import { outcomeOf, type WebhookOptions, webhookBus } from '../../src/outbox/buses/webhook.js';
import { largestEvent } from '../../src/outbox/envelope.js';
import { newWebhookSecret, verifyWebhook } from '../../src/outbox/webhooks.js';
import { eventOf, eventsOf, inOrder, never } from './events.js';
import { type Receiver, startReceiver } from './receiver.js';

let receiver: Receiver & AsyncDisposable;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver[Symbol.asyncDispose]());
afterEach(() => receiver.answer());

function busTo(url: string, options: Partial<WebhookOptions> = {}): Bus {
  const bus = webhookBus({
    name: 'hooks',
    url,
    secrets: ['first'],
    secretOf: () => receiver.secret,
    allowHttp: true,
    allowPrivate: true,
    ...options,
  });
  onTestFinished(() => bus.close());
  return bus;
}
const gotOf = (events: readonly { id: string }[]) => {
  const ids = new Set(events.map(({ id }) => id));
  return receiver.deliveries().filter(({ id }) => ids.has(id));
};

describe('events', () => {
  test('arrive signed, one by one, in the order of their runs, with runs side by side', async () => {
    await receiver.answer({ mode: 'slow', ms: 5 });
    await receiver.most();
    const events = eventsOf(8, 6);
    const outcomes = await busTo(receiver.url, { concurrency: 4 }).publish(events, never);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(48);
    const got = gotOf(events);
    expect(
      got.every(
        ({ verified, contentType }) => verified && contentType === 'application/cloudevents+json',
      ),
    ).toBe(true);
    expect(got.every(({ url }) => url === '/hooks?for=writ')).toBe(true);
    expect(new Set(got.map(({ id }) => id)).size).toBe(48);
    expect(inOrder(got)).toBe(true);
    expect(await receiver.most()).toBe(4);
  });

  test('behind a failed one of their run are held; other runs go on; the next call sends what was held, in order', async () => {
    const events = eventsOf(3, 4);
    const stuck = events[0]!.partitionkey;
    await receiver.answer({ mode: 'status', status: 500, partitionkey: stuck });
    const bus = busTo(receiver.url);
    const outcomes = await bus.publish(events, never);
    const ofStuck = outcomes.filter((_, at) => events[at]?.partitionkey === stuck);
    expect(ofStuck[0]).toMatchObject({
      ok: false,
      retryable: true,
      status: 500,
      reason: 'the endpoint answered 500',
    });
    expect(ofStuck[0]).not.toHaveProperty('held');
    expect(ofStuck.slice(1).every((outcome) => !outcome.ok && outcome.held)).toBe(true);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(8);
    expect(gotOf(events).filter(({ partitionkey }) => partitionkey === stuck)).toHaveLength(1);
    await receiver.answer();
    const rest = events.filter((_, at) => !outcomes[at]?.ok);
    expect((await bus.publish(rest, never)).every(({ ok }) => ok)).toBe(true);
    expect(inOrder(gotOf(events))).toBe(true);
    expect(new Set(gotOf(events).map(({ id }) => id)).size).toBe(12);
  });

  test('that are too long are refused here, for good, and the receiver never hears of them', async () => {
    const event = eventOf('run-long', 1, 'x'.repeat(largestEvent));
    expect(await busTo(receiver.url).publish([event], never)).toEqual([
      expect.objectContaining({ ok: false, retryable: false }),
    ]);
    expect(gotOf([event])).toEqual([]);
  });
});

describe('the secret', () => {
  test('is asked for at each publish, so a rotation needs no restart, and two sign side by side', async () => {
    const next = newWebhookSecret();
    let secrets: Record<string, string> = { first: newWebhookSecret() };
    const bus = busTo(receiver.url, {
      secrets: ['second', 'first'],
      secretOf: (name) => secrets[name] ?? next,
    });
    const [before, during] = [eventOf('r', 1), eventOf('r', 2)];
    await bus.publish([before], never);
    secrets = { first: receiver.secret };
    await bus.publish([during], never);
    expect(gotOf([before, during]).map(({ verified }) => verified)).toEqual([false, true]);
  });

  test.each([
    [
      'cannot be read',
      () => Promise.reject(new Error('vault said whsec_abcdef')),
      'secret first: it could not be read',
    ],
    ['is none', () => 'whsec_abcdef', /^secret first: This is not a secret for webhooks/],
  ])('that %s holds everything and is not repeated in the reason', async (_, secretOf, reason) => {
    const events = eventsOf(2, 2);
    const outcomes = (await busTo(receiver.url, { secretOf }).publish(events, never)) as NotSent[];
    expect(outcomes[0]).toMatchObject({
      ok: false,
      retryable: true,
      busDown: true,
      reason: expect.stringMatching(reason),
    });
    expect(outcomes.slice(1).every(({ held }) => held)).toBe(true);
    expect(JSON.stringify(outcomes)).not.toContain('abcdef');
    expect(gotOf(events)).toEqual([]);
  });

  test('has to be named', () => {
    expect(() =>
      webhookBus({ name: 'n', url: 'https://hooks.example/', secrets: [], secretOf: String }),
    ).toThrow(/has no secret/);
  });
});

describe('an answer', () => {
  const now = Date.parse('2026-03-01T00:00:00Z');
  const dated = 'Sun, 01 Mar 2026 00:00:30 GMT';
  test.each([
    [200, undefined, { ok: true }],
    [204, undefined, { ok: true }],
    [301, undefined, { ok: false, retryable: false }],
    [400, undefined, { ok: false, retryable: false }],
    [401, undefined, { ok: false, retryable: false }],
    [404, undefined, { ok: false, retryable: false }],
    [408, undefined, { ok: false, retryable: true }],
    [409, undefined, { ok: false, retryable: true }],
    [410, undefined, { ok: false, retryable: true, gone: true }],
    [422, '5', { ok: false, retryable: false }],
    [425, undefined, { ok: false, retryable: true }],
    [429, undefined, { ok: false, retryable: true, busDown: true }],
    [429, '7', { ok: false, retryable: true, busDown: true, retryAfterMs: 7_000 }],
    [429, 'soon', { ok: false, retryable: true, busDown: true }],
    [500, undefined, { ok: false, retryable: true }],
    [503, undefined, { ok: false, retryable: true }],
    [503, dated, { ok: false, retryable: true, busDown: true, retryAfterMs: 30_000 }],
    [
      503,
      'Sun, 01 Mar 2020 00:00:30 GMT',
      { ok: false, retryable: true, busDown: true, retryAfterMs: 0 },
    ],
    [503, '99999999999', { ok: false, retryable: true, busDown: true, retryAfterMs: 86_400_000 }],
  ])(
    'of %i with Retry-After %s means what the documentation says',
    (status, retryAfter, meaning) => {
      const { ms, status: said, ...rest } = outcomeOf({ status, retryAfter }, 3, now) as NotSent;
      const { reason: _, ...outcome } = rest;
      expect(outcome).toEqual(meaning);
      expect([ms, said]).toEqual([3, status]);
    },
  );

  test('of 410 stops everything that has not begun', async () => {
    await receiver.answer({ mode: 'status', status: 410 });
    const events = eventsOf(6, 1);
    const outcomes = (await busTo(receiver.url, { concurrency: 1 }).publish(
      events,
      never,
    )) as NotSent[];
    expect(outcomes.map(({ gone, held }) => [gone, held])).toEqual([
      [true, undefined],
      ...Array(5).fill([undefined, true]),
    ]);
    expect(gotOf(events)).toHaveLength(1);
  });

  test('of 429 stops everything that has not begun, for as long as it says', async () => {
    await receiver.answer({ mode: 'status', status: 429, retryAfter: '2' });
    const events = eventsOf(6, 1);
    const outcomes = (await busTo(receiver.url, { concurrency: 2 }).publish(
      events,
      never,
    )) as NotSent[];
    expect(outcomes[0]).toMatchObject({ busDown: true, retryAfterMs: 2_000 });
    expect(gotOf(events)).toHaveLength(2);
  });

  test('that redirects is not followed', async () => {
    await receiver.answer({ mode: 'redirect' });
    const events = eventsOf(1, 1);
    expect(await busTo(receiver.url).publish(events, never)).toEqual([
      expect.objectContaining({ ok: false, retryable: false, status: 302 }),
    ]);
    expect(gotOf(events)).toHaveLength(1);
  });

  test('that is long counts by its status, and is not read to its end', async () => {
    await receiver.answer({ mode: 'huge' });
    const [outcome] = await busTo(receiver.url).publish(eventsOf(1, 1), never);
    expect(outcome).toMatchObject({ ok: true, status: 200 });
  });

  test.each(['break', 'reset'] as const)(
    'that ends in a %s is none: the event is sent again later',
    async (mode) => {
      await receiver.answer({ mode });
      const [outcome] = await busTo(receiver.url).publish(eventsOf(1, 1), never);
      expect(outcome).toMatchObject({ ok: false, retryable: true });
      expect(outcome).not.toHaveProperty('busDown');
    },
  );

  test('that does not come is waited for so long, and not once per event', async () => {
    await receiver.answer({ mode: 'hang' });
    const events = eventsOf(40, 1);
    const began = performance.now();
    const outcomes = (await busTo(receiver.url, { timeoutMs: 100, concurrency: 4 }).publish(
      events,
      never,
    )) as NotSent[];
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(outcomes[0]).toMatchObject({
      ok: false,
      retryable: true,
      reason: 'no whole answer within 100 ms',
    });
    expect(outcomes.filter(({ held }) => held).length).toBeGreaterThanOrEqual(32);
    expect(outcomes.some(({ busDown }) => busDown)).toBe(true);
  });

  test('that hangs for one event keeps nothing else from being sent', async () => {
    const events = eventsOf(40, 1);
    await receiver.answer({ mode: 'hang', id: events[0]!.id });
    const outcomes = await busTo(receiver.url, { timeoutMs: 3_000, concurrency: 4 }).publish(
      events,
      never,
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(39);
  });
});

describe('a connection', () => {
  test('that is refused is a bus that is down: one attempt, the rest held', async () => {
    const gone = await startReceiver();
    await gone[Symbol.asyncDispose]();
    const outcomes = (await busTo(gone.url, { concurrency: 1 }).publish(
      eventsOf(5, 2),
      never,
    )) as NotSent[];
    expect(outcomes[0]).toMatchObject({
      ok: false,
      retryable: true,
      busDown: true,
      reason: 'the connection was refused',
    });
    expect(outcomes.filter(({ held }) => held)).toHaveLength(9);
  });

  test('that is never made is given up after its own time', async () => {
    // A server that takes the connection and never says a word of TLS.
    const mute = createServer(() => {}).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    onTestFinished(() => void mute.close());
    const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/`;
    const [outcome] = await busTo(url, { connectTimeoutMs: 100 }).publish(eventsOf(1, 1), never);
    expect(outcome).toMatchObject({
      ok: false,
      retryable: true,
      busDown: true,
      reason: 'no connection within 100 ms',
    });
  });

  test('that the other end closed while it was idle costs no attempt', async () => {
    // Answers one request per connection, and closes on the next without a word, as a server does
    // whose keep-alive has just run out.
    const seen = new WeakSet<object>();
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => {
        if (seen.has(socket)) return void socket.destroy();
        seen.add(socket);
        socket.write('HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const bus = busTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const outcomes = await bus.publish(eventsOf(1, 4), never);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, true]);
  });

  test('to a name that leads inside is not made, even if the name is public', async () => {
    const [outcome] = await busTo(`http://localhost:${receiver.port}/`, {
      allowPrivate: false,
    }).publish(eventsOf(1, 1), never);
    expect(outcome).toMatchObject({
      ok: false,
      busDown: true,
      reason: 'its name has no public address; allowPrivate lets private ones',
    });
  });

  test('goes on after the receiver was killed and started again on its port', async () => {
    const first = await startReceiver({ secret: receiver.secret });
    const bus = busTo(first.url);
    const events = eventsOf(4, 3);
    expect((await bus.publish(events.slice(0, 4), never)).every(({ ok }) => ok)).toBe(true);
    await first[Symbol.asyncDispose]();
    expect((await bus.publish(events.slice(4), never)).some(({ ok }) => ok)).toBe(false);
    const second = await startReceiver({ port: first.port, secret: receiver.secret });
    onTestFinished(() => second[Symbol.asyncDispose]());
    expect((await bus.publish(events.slice(4), never)).every(({ ok }) => ok)).toBe(true);
    expect(inOrder(second.deliveries())).toBe(true);
  });

  test('is encrypted, and to whom the certificate names', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
        ...subject,
      ],
      {
        stdio: 'ignore',
      },
    );
    const ca = readFileSync(cert, 'utf8');
    const bodies: unknown[] = [];
    const server = createSecureServer(
      { key: readFileSync(key), cert: ca },
      async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        bodies.push(verifyWebhook(request.headers, Buffer.concat(chunks), receiver.secret));
        response.end();
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const events = eventsOf(1, 1);
    expect(await busTo(`https://localhost:${port}/`, { ca }).publish(events, never)).toMatchObject([
      { ok: true, status: 200 },
    ]);
    expect(bodies).toEqual(events);
    expect(await busTo(`https://localhost:${port}/`).publish(events, never)).toMatchObject([
      { ok: false, retryable: true, busDown: true },
    ]);
    expect(await busTo(`https://127.0.0.1:${port}/`, { ca }).publish(events, never)).toMatchObject([
      { ok: false, reason: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID') },
    ]);
  });
});

describe('stopping', () => {
  test.each(['abort', 'close'] as const)(
    'by %s answers for every event at once, and what was under way is no attempt',
    async (how) => {
      await receiver.answer({ mode: 'hang' });
      const bus = busTo(receiver.url, { concurrency: 2 });
      const stop = new AbortController();
      const events = eventsOf(4, 2);
      const publishing = bus.publish(events, stop.signal);
      while (gotOf(events).length < 2) await new Promise((resume) => setTimeout(resume, 5));
      if (how === 'abort') stop.abort();
      else await bus.close();
      const outcomes = (await publishing) as NotSent[];
      expect(outcomes.map(({ held, reason }) => [held, reason])).toEqual(
        Array(8).fill([true, 'sending was stopped']),
      );
    },
  );

  test('before anything has begun sends nothing', async () => {
    const events = eventsOf(2, 1);
    const outcomes = (await busTo(receiver.url).publish(events, AbortSignal.abort())) as NotSent[];
    expect(outcomes.every(({ held }) => held)).toBe(true);
    expect(gotOf(events)).toEqual([]);
  });
});

test('thousands of deliveries arrive once each and in order', async () => {
  const bus = busTo(receiver.url, { concurrency: 32 });
  const batch = eventsOf(1_000, 4);
  const began = performance.now();
  const outcomes = await bus.publish(batch, never);
  const rate = Math.round((batch.length / (performance.now() - began)) * 1_000);
  // How fast it has to be is asked by test/outbox/speed.mjs, of a machine that does nothing else.
  console.log(`webhooks: ${rate} deliveries/s`);
  expect(outcomes.every(({ ok }) => ok)).toBe(true);
  const got = gotOf(batch);
  expect(inOrder(got)).toBe(true);
  expect(got).toHaveLength(batch.length);
});

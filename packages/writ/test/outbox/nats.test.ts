/** The bus of NATS JetStream, against a real server, which is killed in the middle. */
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Bus, NotSent, Outcome } from '../../src/outbox/buses/bus.js';
import { type NatsOptions, natsBus, subjectOf } from '../../src/outbox/buses/nats.js';
import { type CloudEvent, cloudEvent, largestEvent } from '../../src/outbox/envelope.js';
import { eventOf, eventsOf, inOrder, never } from './events.js';
import { type NatsServer, natsMissing, startNats } from './nats-server.js';

if (natsMissing) console.warn(`\n  !!! ${natsMissing}\n`);

interface Stored {
  readonly subject: string;
  readonly id: string | undefined;
  readonly contentType: string | undefined;
  readonly event: CloudEvent;
}

/** Everything that a stream has, oldest first. */
async function stored(url: string, stream: string): Promise<Stored[]> {
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  const { messages } = (await manager.streams.info(stream)).state;
  await manager.consumers.add(stream, {
    durable_name: 'reader',
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.All,
  });
  const consumer = await jetstream(connection).consumers.get(stream, 'reader');
  const all: Stored[] = [];
  while (all.length < messages) {
    for await (const message of await consumer.fetch({
      max_messages: Math.min(500, messages - all.length),
      expires: 5_000,
    })) {
      all.push({
        subject: message.subject,
        id: message.headers?.get('Nats-Msg-Id'),
        contentType: message.headers?.get('Content-Type'),
        event: message.json<CloudEvent>(),
      });
    }
  }
  await manager.consumers.delete(stream, 'reader');
  await connection.close();
  return all;
}

function bus(server: { url: string }, options: Partial<NatsOptions> = {}): Bus {
  const made = natsBus({
    name: 'nats',
    servers: server.url,
    stream: 'FACTS',
    timeoutMs: 10_000,
    create: {},
    ...options,
  });
  onTestFinished(() => made.close());
  return made;
}

describe('a subject', () => {
  const of = (tenant: string, type = 'dot.run.StepCompleted') =>
    subjectOf('writ', cloudEvent({ id: 'a', type, source: '/writ', time: new Date(), tenant }));

  test('is PREFIX.TENANT.TYPE, so that a consumer can ask for one tenant or one type', () => {
    expect(of('acme')).toBe('writ.acme.dot.run.StepCompleted');
  });

  test.each([
    ['a.b', 'writ.a%2Eb.x'],
    ['a b', 'writ.a%20b.x'],
    ['*', 'writ.%2A.x'],
    ['>', 'writ.%3E.x'],
    ['%', 'writ.%25.x'],
    ['', 'writ.%.x'],
    ['ü', 'writ.%C3%BC.x'],
  ])(
    'has of tenant %j nothing that means something in a subject, and no other tenant has the same',
    (tenant, subject) => {
      expect(of(tenant, 'x')).toBe(subject);
    },
  );

  test('begins with a prefix that is one', () => {
    expect(() => natsBus({ name: 'n', servers: '', stream: 'S', prefix: 'a.>' })).toThrow(
      /no subject/,
    );
    expect(() => natsBus({ name: 'n', servers: '', stream: 'S', concurrency: 0 })).toThrow(
      /whole number/,
    );
  });
});

describe.skipIf(natsMissing)('JetStream', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('has every event once, as CloudEvents, in the order of its run; what is published again is dropped by its id', async () => {
    const out = bus(server, { stream: 'ONCE', prefix: 'once' });
    const events = eventsOf(20, 10);
    expect((await out.publish(events, never)).every(({ ok }) => ok)).toBe(true);
    const again = await out.publish(events.slice(50), never);
    expect(again.every((outcome) => outcome.ok && outcome.duplicate)).toBe(true);
    const all = await stored(server.url, 'ONCE');
    expect(all.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort());
    expect(inOrder(all.map(({ event }) => event))).toBe(true);
    expect(new Set(all.map(({ subject, contentType }) => `${subject} ${contentType}`))).toEqual(
      new Set(['once.acme.dot.run.StepCompleted application/cloudevents+json']),
    );
    expect(all[0]?.event).toEqual(events.find(({ id }) => id === all[0]?.id));
  });

  test('is asked for a stream that is missing only if that is said', async () => {
    const { create: _, ...options } = {
      name: 'n',
      servers: server.url,
      stream: 'MISSING',
      create: undefined,
    };
    const out = natsBus({ ...options, prefix: 'missing' });
    onTestFinished(() => out.close());
    const outcomes = (await out.publish(eventsOf(2, 2), never)) as NotSent[];
    expect(outcomes[0]).toMatchObject({
      ok: false,
      retryable: true,
      busDown: true,
      reason: expect.stringContaining('stream not found'),
    });
    expect(outcomes.slice(1).every(({ held }) => held)).toBe(true);
    // Once somebody has made it, the same bus goes on.
    await bus(server, {
      stream: 'MISSING',
      prefix: 'missing',
      create: { duplicateWindowSec: 600, maxAgeSec: 300 },
    }).publish(eventsOf(1, 1), never);
    expect(await out.publish(eventsOf(1, 1), never)).toMatchObject([{ ok: true }]);
    const connection = await connect({ servers: server.url });
    const { config } = await (await jetstreamManager(connection)).streams.info('MISSING');
    await connection.close();
    expect(config).toMatchObject({
      subjects: ['missing.>'],
      duplicate_window: 300e9,
      max_age: 300e9,
      storage: 'file',
    });
  });

  test('of a stream with other subjects is a bus that is down, and says so', async () => {
    await bus(server, { stream: 'OTHER', prefix: 'other' }).publish(eventsOf(1, 1), never);
    const [outcome] = await bus(server, { stream: 'OTHER', prefix: 'mine' }).publish(
      eventsOf(1, 1),
      never,
    );
    expect(outcome).toMatchObject({
      busDown: true,
      reason: expect.stringContaining('stream OTHER does not take mine.>'),
    });
  });

  test('hears of no event that is too long; the rest of its run waits for what becomes of it', async () => {
    const events = [eventOf('r', 1, 'x'.repeat(largestEvent)), eventOf('r', 2), eventOf('s', 1)];
    const outcomes = await bus(server, { stream: 'LONG', prefix: 'long' }).publish(events, never);
    expect(outcomes).toMatchObject([
      { ok: false, retryable: false },
      { ok: false, held: true },
      { ok: true },
    ]);
  });

  test('that takes no message of a length refuses it for good', async () => {
    const out = bus(server, { stream: 'SHORT', prefix: 'short' });
    await out.publish(eventsOf(1, 1), never);
    const connection = await connect({ servers: server.url });
    await (await jetstreamManager(connection)).streams.update('SHORT', { max_msg_size: 1_000 });
    await connection.close();
    const [outcome] = await out.publish([eventOf('r', 1, 'x'.repeat(2_000))], never);
    expect(outcome).toMatchObject({
      ok: false,
      retryable: false,
      reason: expect.stringContaining('size'),
    });
    expect(outcome).not.toHaveProperty('busDown');
  });

  test('that is not there is a bus that is down, before and after close', async () => {
    const gone = await startNats();
    await gone[Symbol.asyncDispose]();
    const out = bus(gone);
    expect(
      (await out.publish(eventsOf(3, 1), never)).map(
        (outcome) => !outcome.ok && (outcome.busDown ?? outcome.held),
      ),
    ).toEqual([true, true, true]);
    await out.close();
    expect(await out.publish(eventsOf(1, 1), never)).toMatchObject([{ held: true }]);
  });

  test('that wants a login gets it from the function, and a wrong one is not repeated', async () => {
    const guarded = await startNats('--user', 'writ', '--pass', 'hunter2');
    onTestFinished(() => guarded[Symbol.asyncDispose]());
    let pass = 'wrong-pass';
    const out = bus(guarded, { connectOptions: async () => ({ user: 'writ', pass }) });
    const [refused] = await out.publish(eventsOf(1, 1), never);
    expect(refused).toMatchObject({ ok: false, retryable: true, busDown: true });
    expect(JSON.stringify(refused)).not.toContain('wrong-pass');
    pass = 'hunter2';
    expect(await out.publish(eventsOf(1, 1), never)).toMatchObject([{ ok: true }]);
  });

  test('killed and started again in the middle has every event once, and every run in order', async () => {
    const shaky = await startNats();
    onTestFinished(() => shaky[Symbol.asyncDispose]());
    const out = bus(shaky, { concurrency: 16, timeoutMs: 500 });
    const events = eventsOf(50, 60);
    let left = events;
    let failures = 0;
    const acknowledged = new Set<string>();
    const sendOnce = async () => {
      const outcomes: Outcome[] = await out.publish(left.slice(0, 1_000), never);
      failures += outcomes.filter((outcome) => !outcome.ok && !outcome.held).length;
      for (const [at, outcome] of outcomes.entries())
        if (outcome.ok) acknowledged.add(left[at]!.id);
      left = left.filter(({ id }) => !acknowledged.has(id));
    };
    await sendOnce();
    for (let kills = 0; kills < 3; kills += 1) {
      const sending = sendOnce();
      await shaky.kill();
      await sending;
      await sendOnce();
      await shaky.start();
      await sendOnce();
    }
    while (left.length > 0) await sendOnce();
    expect(failures).toBeGreaterThan(0);
    const all = await stored(shaky.url, 'FACTS');
    expect(all.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort());
    expect(inOrder(all.map(({ event }) => event))).toBe(true);
  });

  test('whose stream was removed is a bus that is down, and the next call makes the stream again', async () => {
    const out = bus(server, { stream: 'LOST', prefix: 'lost' });
    await out.publish(eventsOf(1, 1), never);
    const connection = await connect({ servers: server.url });
    await (await jetstreamManager(connection)).streams.delete('LOST');
    await connection.close();
    const events = eventsOf(1, 2);
    expect(await out.publish(events, never)).toMatchObject([
      { ok: false, retryable: true, busDown: true },
      { held: true },
    ]);
    expect(await out.publish(events, never)).toMatchObject([{ ok: true }, { ok: true }]);
    expect((await stored(server.url, 'LOST')).map(({ id }) => id)).toEqual(
      events.map(({ id }) => id),
    );
  });

  test('that hangs lets go of the caller by its signal', async () => {
    const out = bus(server, { stream: 'STOP', prefix: 'stop' });
    await out.publish(eventsOf(1, 1), never);
    const stop = new AbortController();
    const publishing = out.publish(eventsOf(500, 4), stop.signal);
    stop.abort();
    const outcomes = await publishing;
    expect(outcomes.every((outcome) => outcome.ok || outcome.held)).toBe(true);
    expect(outcomes.some(({ ok }) => !ok)).toBe(true);
  });
});

test('without the packages of NATS the error says what to install', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-no-nats-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
  for (const part of ['errors', 'outbox'])
    cpSync(join(dist, part), join(folder, part), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  copyFileSync(
    fileURLToPath(new URL('../../package.json', import.meta.url)),
    join(folder, 'package.json'),
  );
  const program = `
    const { natsBus } = await import('./outbox/buses/nats.js');
    const bus = natsBus({ name: 'n', servers: 'nats://127.0.0.1:1', stream: 'S' });
    await bus.publish([], new AbortController().signal).catch(({ code, message }) => console.log(code, message));
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program],
    { cwd: folder },
  );
  expect(stdout).toMatch(
    /^bus_package_missing .*npm install @nats-io\/transport-node @nats-io\/jetstream/,
  );
});

/**
 * Whatever somebody sends, the listener answers it or hangs up, goes on, and fails at nothing. The
 * seed is fixed, so that a failure can be seen again.
 */
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alertsOf, entitlementOf, listening, signalsOf } from './listening.js';
import { firing, notification } from './notification.js';
import { bytesOf, signal, signedNow, token } from './sender.js';

const seed = 20_260_301;

/** A whole request as bytes. */
function wire(
  path: string,
  { headers, body }: { headers: Record<string, string>; body: Buffer },
): Buffer {
  const lines = Object.entries({
    ...headers,
    host: '127.0.0.1',
    connection: 'close',
    'content-length': body.length,
  });
  return Buffer.concat([
    Buffer.from(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    ),
    body,
  ]);
}

const right = () => [
  wire(
    signalsOf,
    signedNow({ ...signal, timestamp: new Date().toISOString(), metadata: { region: 'eu' } }),
  ),
  wire(entitlementOf, signedNow({ entitlement_id: 'e', state: 'CANCELLED', quota: 5 })),
  wire(alertsOf, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: bytesOf(notification(firing)),
  }),
];

/** Sends bytes, says that no more will come, and hears all that is answered. */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(heard));
  });
}

const statuses = (heard: string) =>
  [...heard.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

test('a request that is right is answered, so that what follows is not about something else', async () => {
  const { port } = await listening();
  for (const request of right()) expect(statuses(await exchange(port, request))).toEqual([200]);
});

test('a request with bytes changed, cut out or doubled', async () => {
  const { port, faults, took } = await listening();
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    what: fc.constantFrom('change', 'cut', 'double'),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.nat(2),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      async (which, changes) => {
        let bytes = right()[which] as Buffer;
        for (const { at, what, bytes: others } of changes) {
          const place = Math.floor(at * bytes.length);
          const after = what === 'double' ? place : place + others.length;
          bytes = Buffer.concat([
            bytes.subarray(0, place),
            what === 'cut' ? Buffer.alloc(0) : others,
            bytes.subarray(after),
          ]);
        }
        for (const status of statuses(await exchange(port, bytes)))
          expect(status).toBeLessThan(500);
      },
    ),
    { seed, numRuns: 600 },
  );
  expect(faults).toEqual([]);
  // Nothing that was signed can have been changed and taken all the same.
  for (const { signal: taken } of took.filter(
    ({ signal: one }) => !one.signal_id.startsWith('alert-'),
  ))
    expect(taken).toMatchObject({ type: signal.type, value: signal.value });
  expect(statuses(await exchange(port, right()[0] as Buffer))).toEqual([200]);
});

test('a body that is signed, and is anything', async () => {
  const { port, faults } = await listening();
  const any = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...Object.values(signal)),
  );
  const body = fc.oneof(
    fc
      .record({
        source: any,
        type: any,
        timestamp: any,
        severity: any,
        value: any,
        metadata: any,
        correlation_id: any,
      })
      .map((value) => JSON.stringify(value)),
    fc
      .record({ entitlement_id: any, state: any, expires_at: any, tier: any, quota: any })
      .map((value) => JSON.stringify(value)),
    fc
      .record({
        version: fc.constant('4'),
        alerts: fc.array(fc.oneof(any, fc.constant(firing)), { maxLength: 3 }),
      })
      .map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(signalsOf, alertsOf, entitlementOf),
      body,
      async (path, text) => {
        const [status] = statuses(await exchange(port, wire(path, signedNow(text))));
        expect([200, 400]).toContain(status);
      },
    ),
    { seed, numRuns: 600 },
  );
  expect(faults).toEqual([]);
});

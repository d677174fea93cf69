/**
 * The listener on a real port: what it answers, what it writes before it answers, what it does not
 * read, and how it ends.
 */
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WritError, WritRefusal } from '../../../src/errors/index.js';
import type { Signalled } from '../../../src/governor/intake.js';
import { eventually } from '../../cli/run.js';
import {
  alertsOf,
  decided,
  entitlementOf,
  gateway,
  listening,
  receipt,
  signalsOf,
} from './listening.js';
import { firing, notification, resolved } from './notification.js';
import { bytesOf, signal, signedNow, token } from './sender.js';

const alerts = (...given: readonly object[]) => ({
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  body: bytesOf(notification(...given)),
});
const refusal =
  (code: 'invalid_tenant' | 'job_not_found' | 'job_terminal' | 'replay_disabled') => () => {
    throw new WritRefusal(code, 'what it is about');
  };
const lost = () => {
  throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
};

describe('a signal', () => {
  test('reaches the governor that the address names, once it has passed every check', async () => {
    const { post, took, rejected, counted } = await listening();
    const answer = await post('/v1/governors/acme/web%2Fshop/signals?x=1', signedNow());
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'accept', receipt: receipt() });
    expect(took).toMatchObject([
      {
        governor: { tenant: 'acme', sku: 'web/shop' },
        signal: { signal_id: 'signal-1', type: 'cpu_utilization' },
      },
    ]);
    expect([rejected, counted]).toEqual([[], ['decided']]);
  });

  test.each<[string, Signalled, number, object]>([
    ['accepted by its governor', decided, 200, { status: 'accept', receipt: receipt() }],
    [
      'refused by its governor',
      { status: 'decided', arrival_seq: 2, receipt: receipt('refuse', 'policy_violation') },
      200,
      { status: 'refuse', receipt: receipt('refuse', 'policy_violation') },
    ],
    [
      'sent to a governor that cannot decide',
      { status: 'decided', arrival_seq: 2, receipt: receipt('refuse', 'health_check_failed') },
      503,
      { status: 'refuse', receipt: receipt('refuse', 'health_check_failed') },
    ],
    [
      'whose turn has not come',
      { status: 'accepted', arrival_seq: 7 },
      202,
      { status: 'accepted', arrival_seq: 7 },
    ],
    [
      'of a storm',
      { status: 'buffered', arrival_seq: 131 },
      429,
      { status: 'buffered', arrival_seq: 131, retry_after: 30, code: 'signal_storm_throttle' },
    ],
    [
      'that was there before',
      { ...decided, duplicate: true },
      200,
      { status: 'accept', duplicate: true, receipt: receipt() },
    ],
    [
      'that was there before and waits',
      { status: 'accepted', arrival_seq: 7, duplicate: true },
      202,
      { duplicate: true, arrival_seq: 7 },
    ],
  ])('%s', async (_, taken, status, body) => {
    const { post } = await listening(() => taken);
    const answer = await post(signalsOf, signedNow());
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject(body);
    expect(answer.headers.get('retry-after')).toBe(status === 429 ? '30' : null);
  });

  test('with an id that was used before is given to the intake again, whose answer it is', async () => {
    const seen = new Set<string>();
    const { post, took } = await listening(({ signal_id }) => {
      const duplicate = seen.has(signal_id);
      seen.add(signal_id);
      return duplicate ? { ...decided, duplicate } : decided;
    });
    const first = await (await post(signalsOf, signedNow())).json();
    const second = await (await post(signalsOf, signedNow())).json();
    expect(first).not.toHaveProperty('duplicate');
    expect(second).toMatchObject({ duplicate: true, receipt: receipt() });
    expect(took).toHaveLength(2);
  });

  test.each([
    ['invalid_tenant', 400, null],
    ['job_not_found', 404, null],
    ['job_terminal', 409, null],
    ['replay_disabled', 503, '10'],
  ] as const)('that is refused with %s is answered %i', async (code, status, retryAfter) => {
    const { post, rejected, missed } = await listening(refusal(code));
    const answer = await post(signalsOf, signedNow());
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect(await answer.json()).toEqual({
      code,
      message: expect.stringContaining('what it is about'),
      requestId: answer.headers.get('x-request-id'),
      details: expect.objectContaining({ remedy: expect.any(String) }),
    });
    expect([rejected, missed]).toEqual([[code], []]);
  });

  test('that makes the intake fail is answered without the words of the failure', async () => {
    const fault = new TypeError('password=hunter2');
    const { post, faults, missed } = await listening(() => {
      throw fault;
    });
    const answer = await post(signalsOf, signedNow());
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({
      code: 'internal_error',
      requestId: expect.any(String),
    });
    expect(text).not.toContain('hunter2');
    expect([faults, missed]).toEqual([[fault], []]);
  });
});

describe('what is refused before it is taken', () => {
  test('is counted by its reason, and reaches nobody', async () => {
    const { post, took, rejected } = await listening();
    const wrong = [
      signedNow(undefined, { authorization: 'Bearer other' }),
      signedNow(undefined, { 'webhook-signature': `v1,${'A'.repeat(43)}=` }),
      signedNow('{'),
      signedNow({ ...signal, source: undefined }),
      signedNow({ ...signal, timestamp: new Date().toISOString(), value: 'much' }),
    ];
    const statuses = [];
    for (const request of wrong) statuses.push((await post(signalsOf, request)).status);
    expect(statuses).toEqual([403, 403, 400, 400, 400]);
    expect(rejected).toEqual([
      'header_validation_failed',
      'signature_invalid',
      'body_parse_error',
      'missing_source_field',
      'invalid_signal',
    ]);
    expect(took).toEqual([]);
  });

  test('tells a tenant that does not exist from a wrong token to nobody', async () => {
    const { post } = await listening();
    const answers = [
      await post('/v1/governors/nobody/web/signals', signedNow()),
      await post(signalsOf, signedNow(undefined, { authorization: 'Bearer x' })),
    ];
    const [one, other] = (await Promise.all(answers.map((answer) => answer.json()))) as {
      code: string;
      message: string;
    }[];
    expect([one?.code, one?.message]).toEqual([other?.code, other?.message]);
  });

  test.each([
    ['GET', signalsOf, 405, 'method_not_allowed'],
    ['PUT', alertsOf, 405, 'method_not_allowed'],
    ['POST', '/healthz', 405, 'method_not_allowed'],
    ['POST', '/', 404, 'route_not_found'],
    ['POST', '/v1/governors/acme/signals', 404, 'route_not_found'],
    ['POST', '/v1/governors//web/signals', 404, 'route_not_found'],
    ['POST', '/v1/governors/acme/%ff/signals', 404, 'route_not_found'],
    ['POST', '/v1/governors/acme/%00/signals', 404, 'route_not_found'],
    ['POST', `/v1/governors/acme/${'x'.repeat(201)}/signals`, 404, 'route_not_found'],
    ['POST', `${signalsOf}/`, 404, 'route_not_found'],
  ])('%s %s is answered %i', async (method, path, status, code) => {
    const { port, rejected } = await listening();
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code });
    if (status === 405)
      expect(answer.headers.get('allow')).toBe(path === '/healthz' ? 'GET, HEAD' : 'POST');
    expect(rejected).toEqual([code]);
  });

  test('is answered before its body has come, and nobody waits for the rest', async () => {
    const { port, socket } = await listening();
    const sender = await socket();
    sender.write(
      `POST ${signalsOf} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n{`,
    );
    const [first] = await once(sender, 'data');
    expect(String(first)).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('too large a body is cut off, whether its length is said or not', async () => {
    const { post, took, rejected } = await listening();
    const large = signedNow({ ...signal, blanks: ' '.repeat(200_000) });
    expect((await post(signalsOf, large)).status).toBe(413);
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(large.body);
        controller.close();
      },
    });
    const answer = await post(signalsOf, { headers: large.headers, body: stream });
    expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'body_too_large' }]);
    expect([rejected, took]).toEqual([['body_too_large', 'body_too_large'], []]);
  });

  test.each([
    ['headers', (port: number) => `POST ${signalsOf} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-a: `],
    [
      'a body',
      (port: number) => {
        const { headers, body } = signedNow();
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        return `POST ${signalsOf} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n{`;
      },
    ],
  ])('%s that do not end are not waited for', async (_, text) => {
    const { port, socket, rejected, took } = await listening(() => decided, { timeoutMs: 200 });
    const sender = await socket();
    sender.write(text(port));
    const heard = await sender.heard();
    expect(heard).toMatch(/^HTTP\/1\.1 408 /);
    expect(heard).toContain('"code":"request_timed_out"');
    expect([rejected, took]).toEqual([['request_timed_out'], []]);
  });

  test.each([
    'nonsense\r\n\r\n',
    `POST ${signalsOf} HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    '\u0016\u0003\u0001\r\n\r\n',
  ])('what is no HTTP is told so, and the connection closed: %j', async (text) => {
    const { socket, rejected } = await listening();
    const sender = await socket();
    sender.write(text);
    const heard = await sender.heard();
    expect(heard).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(heard.split('\r\n\r\n')[1] as string)).toMatchObject({
      code: 'malformed_request',
      requestId: expect.any(String),
    });
    expect(rejected).toEqual(['malformed_request']);
  });

  test('nonsense behind a request that is in hand is not answered in its place', async () => {
    const { passed, open } = gateway();
    const { port, socket, took, rejected } = await listening(() => passed.then(() => decided));
    const sender = await socket();
    const { headers, body } = signedNow();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    sender.write(
      `POST ${signalsOf} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(async () => took.length === 1);
    sender.write('nonsense\r\n\r\n');
    expect(await sender.heard()).toBe('');
    open();
    expect(rejected).toEqual([]);
  });

  test('a sender that goes away in the middle leaves nothing behind', async () => {
    const { port, socket, took, faults, post } = await listening();
    const sender = await socket();
    const { headers } = signedNow();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    sender.write(
      `POST ${signalsOf} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}content-length: 500\r\n\r\n{`,
    );
    await eventually(
      async () =>
        ((await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()) as { in_hand: number })
          .in_hand === 1,
    );
    sender.destroy();
    await eventually(
      async () =>
        ((await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()) as { in_hand: number })
          .in_hand === 0,
    );
    expect((await post(signalsOf, signedNow())).status).toBe(200);
    expect([took.length, faults]).toEqual([1, []]);
  });

  test('while secrets cannot be read nobody is believed, and all are asked to come again', async () => {
    const away = new WritError('secrets_unavailable', 'vault');
    const { post, took, faults } = await listening(() => decided, {
      secretsOf: () => Promise.reject(away),
    });
    const answer = await post(signalsOf, signedNow());
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await answer.json()).toMatchObject({ code: 'secrets_unavailable' });
    expect([took, faults]).toEqual([[], [away]]);
  });
});

describe('with the database away', () => {
  test.each([
    ['the connection is refused', lost],
    [
      'a gate said so',
      () => {
        throw new WritError('database_unreachable');
      },
    ],
    [
      'nobody knows what became of the write',
      () => {
        throw new WritError('WRITE_BUDGET_EXCEEDED', 'fn_signal after 3000 ms');
      },
    ],
  ])('what was missed is on the disk before the sender is told: %s', async (_, take) => {
    const { passed, open } = gateway();
    let asked = false;
    const { post, faults } = await listening(take, {
      onOutage: async (missed) => {
        expect(missed).toEqual({
          kind: 'signal',
          tenant: 'acme',
          sku: 'web',
          signal_id: 'signal-1',
        });
        asked = true;
        await passed;
      },
    });
    let answered = false;
    const answering = post(signalsOf, signedNow()).finally(() => {
      answered = true;
    });
    await eventually(async () => asked);
    for (let turns = 0; turns < 50; turns++) await turn();
    expect(answered).toBe(false);
    open();
    const answer = await answering;
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await answer.json()).toMatchObject({
      code: 'database_unreachable',
      details: { retry_after: 10, remedy: expect.stringContaining('same webhook-id') },
    });
    expect(faults).toEqual([]);
  });

  test('a intake that does not answer is not waited for without end', async () => {
    const { post, missed } = await listening(() => new Promise<Signalled>(() => undefined), {
      takeMs: 50,
    });
    expect((await post(signalsOf, signedNow())).status).toBe(503);
    expect(missed).toHaveLength(1);
  });

  test('a sender is told the same when the disk has failed too, and so is the log', async () => {
    const full = new WritError('spool_full');
    const { post, faults } = await listening(lost, { onOutage: () => Promise.reject(full) });
    expect((await post(signalsOf, signedNow())).status).toBe(503);
    expect(faults).toEqual([full]);
  });

  test('a notice of an entitlement is missed as well', async () => {
    const { post, missed } = await listening(undefined, { entitlement: async () => lost() });
    expect(
      (await post(entitlementOf, signedNow({ entitlement_id: 'e', state: 'CANCELLED' }))).status,
    ).toBe(503);
    expect(missed).toEqual([{ kind: 'entitlement', tenant: 'acme', webhook_id: 'signal-1' }]);
  });

  test('alerts that were not taken are missed, each, and the others are not asked for any more', async () => {
    let taken = 0;
    const { post, missed, took } = await listening(() => (++taken > 40 ? lost() : decided));
    const given = Array.from({ length: 200 }, (_, at) => ({ ...firing, fingerprint: `f${at}` }));
    const answer = await post(alertsOf, alerts(...given));
    expect(answer.status).toBe(503);
    expect(missed).toHaveLength(160);
    expect(new Set(missed.map((one) => (one.kind === 'signal' ? one.signal_id : ''))).size).toBe(
      160,
    );
    expect(took.length).toBeLessThan(40 + 33);
  });
});

test('an entitlement is signed, and given on in our words', async () => {
  const { post, notices, rejected } = await listening();
  const answer = await post(
    entitlementOf,
    signedNow({ entitlement_id: 'ent-1', state: 'ENTITLEMENT_ACTIVE', tier: 'Starter' }),
  );
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { status: 'accept', entitlement_id: 'ent-1' },
  ]);
  expect(notices).toMatchObject([
    {
      tenant: 'acme',
      notice: { entitlement_id: 'ent-1', state: 'ACTIVE', tier: 'starter', webhook_id: 'signal-1' },
    },
  ]);
  expect(
    (
      await post(entitlementOf, {
        ...signedNow({ entitlement_id: 'ent-1', state: 'CANCELLED' }),
        body: bytesOf({ entitlement_id: 'ent-2', state: 'CANCELLED' }),
      })
    ).status,
  ).toBe(403);
  expect([notices.length, rejected]).toEqual([1, ['signature_invalid']]);
});

describe('alerts', () => {
  test('are taken though one of them makes the intake fail, and the whole is answered so that it is sent again', async () => {
    const fault = new TypeError('password=hunter2');
    const { post, took, faults, missed } = await listening(({ instance }) => {
      if (instance === 'bad') throw fault;
      return decided;
    });
    const given = ['f1', 'bad', 'f2', 'f3'].map((fingerprint) => ({ ...firing, fingerprint }));
    const answer = await post(alertsOf, alerts(...given));
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(text).not.toContain('hunter2');
    const { code, details } = JSON.parse(text) as {
      code: string;
      details: { signals: { status: string }[] };
    };
    expect([code, details.signals.map(({ status }) => status)]).toEqual([
      'internal_error',
      ['accept', 'failed', 'accept', 'accept'],
    ]);
    expect(took.map(({ signal: { instance } }) => instance)).toEqual(['f1', 'bad', 'f2', 'f3']);
    expect([faults, missed]).toEqual([[fault], []]);
  });

  test('are taken one by one, and each is answered', async () => {
    const { post, took, rejected } = await listening(({ value }) =>
      value === 0 ? { status: 'buffered', arrival_seq: 2 } : decided,
    );
    const answer = await post(
      alertsOf,
      alerts(firing, resolved, { ...firing, annotations: { value: 'much' } }),
    );
    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({
      status: 'accepted',
      signals: [
        { signal_id: took[0]?.signal.signal_id, status: 'accept', receipt: receipt() },
        { signal_id: took[1]?.signal.signal_id, status: 'buffered', arrival_seq: 2 },
        { alert: 2, status: 'refused', code: 'invalid_signal' },
      ],
    });
    expect(rejected).toEqual(['invalid_signal']);
  });

  test('that were all decided are answered 200, whatever was decided: Alertmanager would send them again', async () => {
    const { post } = await listening(() => ({
      status: 'decided',
      arrival_seq: 3,
      receipt: receipt('refuse', 'health_check_failed'),
    }));
    const answer = await post(alertsOf, alerts(firing));
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { status: 'decided', signals: [{ status: 'refuse' }] },
    ]);
    expect((await post(alertsOf, alerts())).status).toBe(200);
  });

  test('of which none can be taken are refused as a whole, with the reason of the first', async () => {
    const { post } = await listening(refusal('job_not_found'));
    const answer = await post(alertsOf, alerts(firing, resolved));
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { code: 'job_not_found', details: { signals: [{}, {}] } },
    ]);
  });

  test('need no signature, and a token all the same', async () => {
    const { post, took } = await listening();
    expect(
      (await post(alertsOf, { ...alerts(firing), headers: { 'content-type': 'application/json' } }))
        .status,
    ).toBe(403);
    expect(took).toEqual([]);
  });

  test('are taken together, in bounds', async () => {
    let now = 0;
    let most = 0;
    const { post, took } = await listening(async () => {
      most = Math.max(most, ++now);
      await turn();
      now--;
      return decided;
    });
    const answer = await post(
      alertsOf,
      alerts(...Array.from({ length: 500 }, (_, at) => ({ ...firing, fingerprint: `f${at}` }))),
    );
    const { signals } = (await answer.json()) as { signals: { signal_id: string }[] };
    expect(signals.map(({ signal_id }) => signal_id)).toEqual(
      took.map((one) => one.signal.signal_id),
    );
    expect(most).toBe(32);
  });
});

describe('requests in hand', () => {
  test('are so many and no more; whoever asks for its health is answered all the same', async () => {
    const { passed, open } = gateway();
    const { post, took, rejected, port } = await listening(() => passed.then(() => decided), {
      inHand: 2,
    });
    const both = [post(signalsOf, signedNow()), post(signalsOf, signedNow())];
    await eventually(async () => took.length === 2);
    const third = await post(signalsOf, signedNow());
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await third.json()).toMatchObject({ code: 'listener_busy' });
    const health = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok', in_hand: 2 }]);
    open();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await post(signalsOf, signedNow())).status).toBe(200);
    expect(rejected).toEqual(['listener_busy']);
  });

  test('of one sender share a connection', async () => {
    const { port } = await listening();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ports = new Set<number | undefined>();
    for (const headers of [{}, { authorization: 'Bearer other' }, {}]) {
      const { headers: all, body } = signedNow(undefined, headers);
      const request = httpRequest({
        port,
        path: signalsOf,
        method: 'POST',
        agent,
        headers: { ...all, 'content-length': body.length },
      });
      request.end(body);
      const [answer] = await once(request, 'response');
      ports.add(answer.socket.localPort);
      await once(answer.resume(), 'end');
    }
    expect(ports.size).toBe(1);
  });
});

describe('when it is closed', () => {
  test('what is in hand is answered, and nothing new is taken, not even on connections that are open', async () => {
    const { passed, open } = gateway();
    const { post, took, listener, port, socket } = await listening(() =>
      passed.then(() => decided),
    );
    const idle = await socket();
    idle.write(`GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    await once(idle, 'data');
    const inHand = post(signalsOf, signedNow());
    await eventually(async () => took.length === 1);
    const closing = listener.close();
    await idle.heard();
    open();
    const answer = await inHand;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    await closing;
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    await listener.close();
  });

  test('what does not end is not waited for', async () => {
    const { post, took, listener } = await listening(
      () => new Promise<Signalled>(() => undefined),
      {
        drainMs: 50,
      },
    );
    const hanging = post(signalsOf, signedNow());
    hanging.catch(() => undefined);
    await eventually(async () => took.length === 1);
    await listener.close();
    await expect(hanging).rejects.toThrow();
  });
});

test('a port that is taken is said, not waited for', async () => {
  const { port } = await listening();
  const { HttpListener } = await import('../../../src/governor/http/listener.js');
  const other = new HttpListener({
    intake: { take: async () => decided, entitlement: async () => undefined },
    secretsOf: async () => [],
    tokensOf: async () => [],
    onOutage: async () => undefined,
    port,
  });
  await expect(other.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

/** Alertmanager's own notifications become signals, each once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAlerts } from '../../../src/governor/http/alertmanager.js';
import { firing, notification, resolved } from './notification.js';
import { type Body, bytesOf, credentials, now, token } from './sender.js';

const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
const read = (body: Body) => readAlerts({ headers, body: bytesOf(body) }, credentials);
const signals = (...alerts: readonly object[]) => read(notification(...alerts)).ok?.signals ?? [];
const one = (alert: object) => {
  const [signal] = signals(alert);
  if (!signal) throw new Error(JSON.stringify(read(notification(alert))));
  return signal;
};

test('an alert that fires is a signal with its value, and one that is resolved is over', () => {
  expect(signals(firing, { ...resolved, fingerprint: 'other' })).toEqual([
    {
      signal_id: expect.stringMatching(/^alert-[0-9a-f]{64}$/),
      source: 'monitoring',
      type: 'high_cpu_usage',
      severity: 'CRITICAL',
      value: 92.4,
      observed_at: Date.parse('2026-03-01T07:52:26.739Z'),
      correlation_id: 'c6eadffa33fcdf37',
      instance: 'c6eadffa33fcdf37',
      metadata: {
        status: 'firing',
        fingerprint: 'c6eadffa33fcdf37',
        labels: firing.labels,
        annotations: firing.annotations,
        generator_url: firing.generatorURL,
      },
    },
    expect.objectContaining({
      type: 'high_cpu_usage',
      value: 0,
      observed_at: Date.parse('2026-03-01T08:10:26.739Z'),
      correlation_id: 'other',
    }),
  ]);
});

describe('its id', () => {
  test('stays the same while it is notified again, and from another replica in another zone', () => {
    const again = {
      ...firing,
      endsAt: '2026-03-01T12:00:00Z',
      startsAt: '2026-03-01T07:52:26.739266876Z',
      annotations: { value: '99' },
    };
    expect(one(again).signal_id).toBe(one(firing).signal_id);
  });

  test('is another when it is resolved, when it fires anew, and for each alert', () => {
    const later = { startsAt: '2026-03-01T09:00:00Z', endsAt: '2026-03-01T09:30:00Z' };
    const all = [
      firing,
      resolved,
      { ...firing, ...later },
      { ...resolved, ...later },
      { ...firing, fingerprint: 'other' },
    ];
    expect(new Set(all.map((alert) => one(alert).signal_id)).size).toBe(all.length);
  });
});

test.each([
  ['HighCPUUsage', 'high_cpu_usage'],
  ['InstanceDown', 'instance_down'],
  ['Probe failure (eu-1)', 'probe_failure_eu-1'],
  ['cpu_utilization', 'cpu_utilization'],
  ['KubePod5xxErrors', 'kube_pod5xx_errors'],
  ['404Rate', 'rate'],
  ['x'.repeat(300), 'x'.repeat(100)],
])('alertname %s is the type %s', (alertname, type) => {
  expect(one({ ...firing, labels: { alertname } }).type).toBe(type);
});

test('the label signal_type names the type', () => {
  expect(
    one({ ...firing, labels: { ...firing.labels, signal_type: 'cpu_utilization' } }).type,
  ).toBe('cpu_utilization');
});

test.each([
  ['critical', 'CRITICAL'],
  ['high', 'HIGH'],
  ['error', 'HIGH'],
  ['Warning', 'MEDIUM'],
  ['medium', 'MEDIUM'],
  ['info', 'LOW'],
  ['none', 'LOW'],
  ['page', 'MEDIUM'],
  [undefined, 'MEDIUM'],
])('severity %s is %s', (severity, ours) => {
  expect(
    one({ ...firing, labels: { alertname: 'a', ...(severity && { severity }) } }).severity,
  ).toBe(ours);
});

describe('its value', () => {
  const of = (alert: object, annotations: object, labels: object = {}) =>
    one({ ...alert, annotations, labels: { alertname: 'a', ...labels } }).value;

  test('is in an annotation, else in a label, else 1 while it fires and 0 when it is resolved', () => {
    expect(of(firing, { value: '1.2e+06' }, { value: '5' })).toBe(1_200_000);
    expect(of(firing, {}, { value: '-5' })).toBe(-5);
    expect(of(firing, {})).toBe(1);
    expect(of(resolved, {})).toBe(0);
  });

  test('is not the last one that fired, once it is resolved: Prometheus leaves that in its annotations', () => {
    expect(of(resolved, { value: '92.4' })).toBe(0);
    expect(of(resolved, { value: '3', resolved_value: '100' })).toBe(100);
  });

  test.each(['92%', 'NaN', '+Inf', '1.2k', '', '0x10', '1e999', ' 5'])(
    'is not guessed from %j',
    (value) => {
      expect(read(notification({ ...firing, annotations: { value } })).ok).toMatchObject({
        signals: [],
        refused: [{ alert: 0, why: { status: 400, code: 'invalid_signal' } }],
      });
    },
  );
});

test('one that cannot be taken does not keep the others out', () => {
  const wrong = [
    null,
    { ...firing, status: 'pending' },
    { ...firing, fingerprint: undefined },
    { ...firing, fingerprint: '\n' },
    { ...firing, startsAt: 'now' },
    { ...resolved, endsAt: '0' },
    { ...firing, startsAt: '0001-01-01T00:00:00Z' },
    { ...firing, labels: { alertname: '過負荷' } },
    { ...firing, labels: {} },
    { ...firing, labels: 'none' },
  ];
  const answer = read({ ...notification(), alerts: [...wrong, firing] });
  expect(answer.ok?.signals).toHaveLength(1);
  expect(answer.ok?.refused.map(({ alert, why }) => [alert, why.code])).toEqual(
    wrong.map((_, at) => [at, 'invalid_signal']),
  );
});

test('one that was observed in the future is not taken, and one that has fired for days is', () => {
  const at = (startsAt: number) =>
    read(notification({ ...firing, startsAt: new Date(startsAt).toISOString() })).ok;
  expect(at(now + 60_001)?.refused).toMatchObject([{ why: { code: 'timestamp_in_future' } }]);
  expect(at(now - 9 * 86_400_000)?.signals).toHaveLength(1);
});

test('as much of its labels and annotations is kept as there is room for', () => {
  const long = { text: 'x'.repeat(11_000) };
  expect(one({ ...firing, annotations: long }).metadata).toEqual({
    status: 'firing',
    fingerprint: firing.fingerprint,
    labels: firing.labels,
  });
  expect(one({ ...firing, labels: { ...firing.labels, ...long } }).metadata).toEqual({
    status: 'firing',
    fingerprint: firing.fingerprint,
  });
  expect(one({ ...firing, annotations: { nul: 'a\u0000b' } }).metadata).not.toHaveProperty(
    'annotations',
  );
});

describe('a notification is refused', () => {
  test.each([
    ['without a token', { ...headers, authorization: undefined }, 403, 'header_validation_failed'],
    [
      'with another token',
      { ...headers, authorization: 'Bearer other' },
      403,
      'header_validation_failed',
    ],
    [
      'with another content type',
      { ...headers, 'content-type': 'text/plain' },
      403,
      'header_validation_failed',
    ],
  ])('%s', (_, wrong, status, code) => {
    expect(readAlerts({ headers: wrong, body: bytesOf('<') }, credentials).refused).toMatchObject({
      status,
      code,
    });
  });

  test.each([
    ['that is not JSON', '<', 'body_parse_error'],
    ['of another version', { ...notification(firing), version: '3' }, 'invalid_alerts'],
    ['without alerts', { ...notification(), alerts: undefined }, 'invalid_alerts'],
    [
      'with more than 500',
      notification(...Array.from({ length: 501 }, () => firing)),
      'invalid_alerts',
    ],
    ['that is too large', ' '.repeat(1_048_577), 'body_too_large'],
  ])('%s', (_, body, code) => {
    expect(read(body).refused?.code).toBe(code);
  });

  test('but not with exactly 500', () => {
    expect(
      signals(...Array.from({ length: 500 }, (_, at) => ({ ...firing, fingerprint: `f${at}` }))),
    ).toHaveLength(500);
  });
});

test('no notification throws', () => {
  const any = fc.jsonValue();
  const alert = fc.oneof(
    any,
    fc.record({
      status: fc.oneof(fc.constantFrom('firing', 'resolved'), any),
      labels: fc.oneof(
        fc.dictionary(
          fc.constantFrom('alertname', 'value', 'severity', '__proto__', 'signal_type'),
          fc.string({ unit: 'binary' }),
        ),
        any,
      ),
      annotations: fc.oneof(fc.dictionary(fc.string(), fc.string({ unit: 'binary' })), any),
      startsAt: fc.oneof(fc.constantFrom(firing.startsAt, firing.endsAt, resolved.endsAt), any),
      endsAt: fc.oneof(fc.constantFrom(firing.startsAt, firing.endsAt, resolved.endsAt), any),
      fingerprint: fc.oneof(fc.string(), any),
    }),
  );
  fc.assert(
    fc.property(fc.array(alert, { maxLength: 5 }), (alerts) => {
      const answer = read({ ...notification(), alerts });
      expect((answer.ok?.signals.length ?? 0) + (answer.ok?.refused.length ?? 0)).toBe(
        alerts.length,
      );
    }),
    { seed: 20_260_301, numRuns: 2_000 },
  );
});

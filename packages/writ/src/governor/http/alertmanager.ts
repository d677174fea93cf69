/**
 * A notification of Prometheus' Alertmanager, as its webhook sends it (version 4): one signal for
 * each alert. Alertmanager cannot sign, so that its token is all that is checked. It sends the same
 * alerts again and again, by itself and from several replicas: the id of a signal is made of what
 * stays the same meanwhile, so that each is taken once when it fires and once when it is resolved.
 */
import { hash } from 'node:crypto';
import type { Signal } from '../events.js';
import { type IncomingSignal, metadataBytes } from '../incoming.js';
import { momentOf } from '../moment.js';
import {
  type Credentials,
  checkSender,
  type Fields,
  isFields,
  isFuture,
  parseBody,
  type Read,
  type Refused,
  type Request,
  refused,
} from './request.js';
import { incoming } from './signal.js';

export const alertsBytes = 1_048_576;
const mostAlerts = 500;

export interface Alerts {
  readonly signals: readonly IncomingSignal[];
  /**
   * Alerts that are no signal, by their place in the notification: what is wrong with one is no
   * reason to leave the others out.
   */
  readonly refused: readonly { readonly alert: number; readonly why: Refused }[];
}

export function readAlerts(
  { headers, body }: Request,
  { tokens, now }: Omit<Credentials, 'secrets'>,
): Read<Alerts> {
  const sender = checkSender(headers, tokens);
  if (sender.refused) return { refused: sender.refused };
  if (body.length > alertsBytes) return refused('body_too_large');
  const read = parseBody(body);
  if (read.refused) return read;
  const { version, alerts } = read.ok;
  if (version !== '4') return refused('invalid_alerts', 'version is "4"');
  if (!Array.isArray(alerts) || alerts.length > mostAlerts)
    return refused('invalid_alerts', `alerts is a list of at most ${mostAlerts}`);
  const signals: IncomingSignal[] = [];
  const wrong: { alert: number; why: Refused }[] = [];
  for (const [alert, given] of alerts.entries()) {
    const signal = signalOf(given, now);
    if (signal.refused) wrong.push({ alert, why: signal.refused });
    else signals.push(signal.ok);
  }
  return { ok: { signals, refused: wrong } };
}

function signalOf(alert: unknown, now: number): Read<IncomingSignal> {
  if (!isFields(alert)) return refused('invalid_signal', 'an alert is an object');
  const { status, fingerprint } = alert;
  const labels = textsIn(alert.labels);
  const annotations = textsIn(alert.annotations);
  if (status !== 'firing' && status !== 'resolved')
    return refused('invalid_signal', 'status is firing or resolved');
  if (typeof fingerprint !== 'string' || !/^[\x21-\x7e]{1,100}$/.test(fingerprint))
    return refused('invalid_signal', 'fingerprint');
  const began = momentIn(alert.startsAt);
  const ended = momentIn(alert.endsAt);
  if (began === undefined) return refused('invalid_signal', 'startsAt is a time by RFC 3339');
  if (status === 'resolved' && ended === undefined)
    return refused('invalid_signal', 'endsAt is a time by RFC 3339');
  const observed = status === 'firing' ? began : ended;
  // It may have begun long ago: what counts is that it fires now.
  if (observed !== undefined && isFuture(observed, now)) return refused('timestamp_in_future');
  // Of an alert that fires, endsAt is empty or moves on with each notification.
  const times = status === 'firing' ? [began] : [began, ended];
  return incoming({
    signal_id: `alert-${hash('sha256', JSON.stringify([fingerprint, status, ...times]))}`,
    source: 'monitoring',
    type: typeOf(labels.signal_type ?? labels.alertname ?? ''),
    severity: severities.get((labels.severity ?? '').toLowerCase()) ?? 'MEDIUM',
    value: observedIn(status, { ...labels, ...annotations }),
    observed_at: observed,
    correlation_id: fingerprint,
    instance: fingerprint,
    metadata: metadataOf(alert, labels, annotations),
  });
}

/** Names with texts; what is no text, is not of Alertmanager. */
function textsIn(value: unknown): Readonly<Record<string, string>> {
  const texts = Object.entries(isFields(value) ? value : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

const momentIn = (value: unknown): number | undefined =>
  typeof value === 'string' ? momentOf(value) : undefined;

/**
 * HighCPUUsage becomes high_cpu_usage. What has no letter in it that a type can have becomes
 * nothing, which is no type.
 */
function typeOf(name: string): string {
  return name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_.:-]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .slice(0, 100)
    .replace(/_+$/, '');
}

/**
 * Severities are whatever somebody has called them; those that are known to nobody are in the
 * middle.
 */
const severities = new Map<string, Signal['severity']>([
  ['critical', 'CRITICAL'],
  ['high', 'HIGH'],
  ['error', 'HIGH'],
  ['warning', 'MEDIUM'],
  ['medium', 'MEDIUM'],
  ['info', 'LOW'],
  ['low', 'LOW'],
  ['none', 'LOW'],
]);

/**
 * What was observed. An alert that is resolved still carries the annotations of when it last fired,
 * so that its `value` would say that it fires: it has `resolved_value`, or 0. What is there and is
 * no number is not taken for 1: it might be 92%, and would pass for next to nothing.
 */
function observedIn(
  status: 'firing' | 'resolved',
  texts: Readonly<Record<string, string>>,
): unknown {
  const text = status === 'firing' ? texts.value : texts.resolved_value;
  if (text === undefined) return status === 'firing' ? 1 : 0;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

/** As much of it as there is room for: it is for people, and not what a signal is refused for. */
function metadataOf(alert: Fields, labels: Fields, annotations: Fields): Fields {
  const least = { status: alert.status, fingerprint: alert.fingerprint };
  const generator =
    typeof alert.generatorURL === 'string' ? { generator_url: alert.generatorURL } : {};
  const fits = (metadata: Fields) => {
    const text = JSON.stringify(metadata);
    return Buffer.byteLength(text) <= metadataBytes && !/\\u(?:0000|d[89a-f])/.test(text);
  };
  return (
    [
      { ...least, labels, annotations, ...generator },
      { ...least, labels },
    ].find(fits) ?? least
  );
}

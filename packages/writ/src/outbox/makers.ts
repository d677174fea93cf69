/**
 * Buses out of what a destination's config says and what a process adds to it: how to reach a
 * network, and what its secrets are.
 */
import { WritError } from '../errors/index.js';
import type { Reach } from './buses/addresses.js';
import { type NatsOptions, natsBus } from './buses/nats.js';
import { type WebhookOptions, webhookBus } from './buses/webhook.js';
import type { BusMaker } from './relay.js';

export interface WebhooksOptions
  extends Reach,
    Pick<WebhookOptions, 'secretOf' | 'concurrency' | 'connectTimeoutMs' | 'timeoutMs' | 'ca'> {}

/**
 * Destinations on the bus `webhook`: config has `url` and `secrets`, the names of its secrets, the
 * newest first.
 */
export function webhooks(options: WebhooksOptions): BusMaker {
  return ({ name, config }) => {
    const { url, secrets } = config;
    if (typeof url !== 'string')
      throw new WritError('invalid_bus', `destination ${name}: config has no url`);
    if (
      !Array.isArray(secrets) ||
      !secrets.every((secret): secret is string => typeof secret === 'string')
    )
      throw new WritError(
        'invalid_bus',
        `destination ${name}: config has no secrets, the names of its secrets`,
      );
    return webhookBus({ ...options, name, url, secrets });
  };
}

export interface NatsDestinationsOptions
  extends Pick<NatsOptions, 'concurrency' | 'timeoutMs' | 'connectOptions'> {}

/**
 * Destinations on the bus `nats`: config has `servers` and `stream`, and may have `prefix` and
 * `create`.
 */
export function nats(options: NatsDestinationsOptions = {}): BusMaker {
  return ({ name, config }) => {
    const { servers, stream, prefix, create } = config as Partial<NatsOptions>;
    if (servers === undefined || stream === undefined)
      throw new WritError('invalid_bus', `destination ${name}: config has no servers or no stream`);
    return natsBus({
      ...options,
      name,
      servers,
      stream,
      ...(prefix !== undefined && { prefix }),
      ...(create !== undefined && { create }),
    });
  };
}

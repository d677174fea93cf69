/**
 * The bus of signed webhooks: one endpoint, one POST per event, by Standard Webhooks. Receivers
 * read docs/webhooks.md.
 */
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { rootCertificates } from 'node:tls';
import { WritError } from '../../errors/index.js';
import { posting } from '../../telemetry/delivery.js';
import { type CloudEvent, cloudEventsJson, encodeEvent } from '../envelope.js';
import { signWebhook, webhookKey } from '../webhooks.js';
import { endpointUrl, lookupWithin, type Reach } from './addresses.js';
import { type Bus, heldByBus, heldByStop, type NotSent, type Outcome, tooLarge } from './bus.js';
import { concurrencyOf, publishInLanes, UnderWay } from './lanes.js';
import { type Answer, post, Unanswered } from './post.js';

export interface WebhookOptions extends Reach {
  readonly name: string;
  readonly url: string;
  /**
   * Names of secrets, the newest first. Two during a rotation: each event then has two signatures.
   */
  readonly secrets: readonly string[];
  /**
   * The secret of a name. Asked at each publish, so that a rotation needs no restart; the database
   * never has one.
   */
  readonly secretOf: (name: string) => string | Promise<string>;
  /** How many runs are sent at once; the events of one run go one after the other. Default 16. */
  readonly concurrency?: number;
  /** Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** For the whole of a delivery, with its answer. Default 15 s. */
  readonly timeoutMs?: number;
  /**
   * Certificates to trust besides the system's, in PEM: private networks have an authority of their
   * own.
   */
  readonly ca?: string;
}

/** A receiver that asks for more time than this is asked again all the same. */
const longestRetryAfter = 24 * 60 * 60 * 1_000;
/** Client errors that are about the moment, not about the event. */
const passing = new Set([408, 409, 425, 429]);

export function webhookBus(options: WebhookOptions): Bus {
  return new WebhookBus(options);
}

class WebhookBus implements Bus {
  readonly name: string;
  readonly #options: WebhookOptions;
  readonly #url: URL;
  readonly #concurrency: number;
  readonly #agent: Agent | SecureAgent;
  readonly #underWay = new UnderWay();

  constructor(options: WebhookOptions) {
    if (options.secrets.length === 0)
      throw new WritError('invalid_bus', `endpoint ${options.name} has no secret`);
    this.name = options.name;
    this.#options = options;
    this.#concurrency = concurrencyOf(options.concurrency, 16);
    this.#url = endpointUrl(options.url, options);
    const settings = {
      keepAlive: true,
      maxSockets: this.#concurrency,
      lookup: lookupWithin(options),
    };
    this.#agent =
      this.#url.protocol === 'https:'
        ? new SecureAgent({
            ...settings,
            ...(options.ca && { ca: [...rootCertificates, options.ca] }),
          })
        : new Agent(settings);
  }

  publish(events: readonly CloudEvent[], caller: AbortSignal): Promise<Outcome[]> {
    return this.#underWay.publish(caller, (signal) => this.#publish(events, signal));
  }

  async close(): Promise<void> {
    await this.#underWay.close();
    this.#agent.destroy();
  }

  async #publish(events: readonly CloudEvent[], signal: AbortSignal): Promise<Outcome[]> {
    const keys = await this.#keys();
    if (!Array.isArray(keys)) return events.map((_, at) => (at === 0 ? keys : heldByBus));
    return publishInLanes(events, this.#concurrency, signal, (event) =>
      posting(this.name, event, (traceparent) => this.#deliver(event, keys, traceparent, signal)),
    );
  }

  /**
   * The keys to sign with, or why there are none: that is said without the error's own words, which
   * may have the secret in them.
   */
  async #keys(): Promise<Buffer[] | NotSent> {
    const keys: Buffer[] = [];
    for (const name of this.#options.secrets) {
      try {
        keys.push(webhookKey(await this.#options.secretOf(name)));
      } catch (error) {
        const why =
          error instanceof WritError && error.code === 'invalid_webhook_secret'
            ? error.message
            : 'it could not be read';
        return {
          ok: false,
          retryable: true,
          reason: `secret ${name}: ${why}`,
          ms: 0,
          busDown: true,
        };
      }
    }
    return keys;
  }

  async #deliver(
    event: CloudEvent,
    keys: readonly Buffer[],
    traceparent: string | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const body = encodeEvent(event);
    if (!body) return tooLarge;
    const began = performance.now();
    const ms = () => Math.round(performance.now() - began);
    try {
      return outcomeOf(
        await this.#post(
          body,
          { ...signWebhook(event.id, body, keys), ...(traceparent && { traceparent }) },
          signal,
        ),
        ms(),
      );
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      if (signal.aborted) return { ...heldByStop, ms: ms() };
      return {
        ok: false,
        retryable: true,
        reason: error.message,
        ms: ms(),
        ...(!error.connected && { busDown: true }),
      };
    }
  }

  async #post(
    body: Buffer,
    own: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { connectTimeoutMs = 5_000, timeoutMs = 15_000 } = this.#options;
    const headers = { 'content-type': cloudEventsJson, 'user-agent': 'writ', ...own };
    const call = {
      url: this.#url,
      agent: this.#agent,
      headers,
      body,
      connectTimeoutMs,
      timeoutMs,
      signal,
    };
    // The other end closes idle connections when it likes. That says nothing about the event, and
    // the id makes a second arrival harmless.
    for (let idle = this.#concurrency; ; idle -= 1) {
      try {
        return await post(call);
      } catch (error) {
        if (!(error instanceof Unanswered && error.stale && idle > 0) || signal.aborted)
          throw error;
      }
    }
  }
}

/** What an answer means. */
export function outcomeOf({ status, retryAfter }: Answer, ms: number, now = Date.now()): Outcome {
  if (status >= 200 && status < 300) return { ok: true, ms, status };
  const failure = { ok: false, ms, status, reason: `the endpoint answered ${status}` } as const;
  if (status === 410) return { ...failure, retryable: true, gone: true };
  const retryAfterMs = status === 429 || status === 503 ? waitOf(retryAfter, now) : undefined;
  if (retryAfterMs !== undefined)
    return { ...failure, retryable: true, busDown: true, retryAfterMs };
  if (status === 429) return { ...failure, retryable: true, busDown: true };
  if (status >= 300 && status < 400)
    return {
      ...failure,
      retryable: false,
      reason: `${failure.reason}, a redirect, which is not followed`,
    };
  return { ...failure, retryable: status >= 500 || passing.has(status) };
}

/** Retry-After is a number of seconds or a date. */
function waitOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestRetryAfter);
}

/**
 * Actions that are asked for over HTTP: one POST, whose answer says how it ended. The time is
 * short, so connections are kept. One that the other end has closed meanwhile is replaced; the
 * idempotency key makes a second arrival harmless.
 */
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { WritError } from '../../errors/index.js';
import { endpointUrl, lookupWithin, type Reach } from '../../outbox/buses/addresses.js';
import { type Answer, type Call, post, Unanswered } from '../../outbox/buses/post.js';
import { signWebhook, webhookKey } from '../../outbox/webhooks.js';
import { type ActionContext, type ActionJob, failed, type Outcome, succeeded } from './job.js';

/** Connections to one host at a time; more requests wait. */
const connections = 64;

export type Ask = (
  url: string,
  call: Pick<Call, 'headers' | 'signal'> & { readonly body?: string; readonly leftMs: number },
) => Promise<Answer>;

/**
 * Asks over HTTP, where it may. Throws Unanswered, or WritError `invalid_bus` for an address that
 * it may not go to.
 */
export function asking(reach: Reach): Ask {
  const settings = { keepAlive: true, maxSockets: connections, lookup: lookupWithin(reach) };
  const agents = { 'https:': new SecureAgent(settings), 'http:': new Agent(settings) };
  return async (address, { headers, body, signal, leftMs }) => {
    const url = endpointUrl(address, reach);
    const call: Call = {
      url,
      method: body === undefined ? 'GET' : 'POST',
      agent: agents[url.protocol as keyof typeof agents],
      headers: { 'user-agent': 'writ', accept: 'application/json', ...headers },
      body: Buffer.from(body ?? ''),
      connectTimeoutMs: leftMs,
      timeoutMs: leftMs,
      signal,
    };
    for (let idle = connections; ; idle -= 1) {
      try {
        return await post(call);
      } catch (error) {
        if (!(error instanceof Unanswered && error.stale && idle > 0) || signal.aborted)
          throw error;
      }
    }
  };
}

export async function askWebhook(
  ask: Ask,
  signing: ReadonlySet<string>,
  context: ActionContext,
  signal: AbortSignal,
  leftMs: number,
): Promise<Outcome> {
  const { doing, idempotency_key } = context.input;
  if (doing.actuator.kind !== 'webhook') return failed('rejected', 'it is no webhook');
  const { url, signed_with } = doing.actuator;
  // A policy names any secret. Only those that this process signs with are read at all.
  if (signed_with !== undefined && !signing.has(signed_with))
    return failed(
      'rejected',
      `secret ${signed_with} is not among the signingSecrets of this worker`,
    );
  const body = JSON.stringify(bodyOf(context.input));
  try {
    const signature =
      signed_with === undefined ? {} : await signatureOf(context, signed_with, body);
    if ('failed' in signature) return failed('rejected', signature.failed);
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': idempotency_key,
      ...signature,
    };
    return outcomeOf(await ask(url, { headers, body, signal, leftMs }));
  } catch (error) {
    if (error instanceof Unanswered && !signal.aborted) return failed('unreachable', error.message);
    if (error instanceof WritError && error.code === 'invalid_bus')
      return failed('rejected', error.detail ?? error.message);
    throw error;
  }
}

/** What a webhook is told. Nobody else has asked for what the governor does by its policy. */
function bodyOf({
  action_id,
  sku_id,
  tenant,
  doing,
  now,
  initiated_by = 'governor',
  policy_id,
  signal_id,
  of,
}: ActionJob) {
  const { action_type, target, parameters } = doing;
  return {
    action_id,
    action_type,
    sku_id,
    tenant_id: tenant,
    target,
    parameters,
    created_at: new Date(now).toISOString(),
    initiated_by,
    policy_id,
    signal_id,
    rollback_of: of,
  };
}

/**
 * Why a secret could not be had is said without the error's own words, which may have it in them.
 */
async function signatureOf(
  context: ActionContext,
  name: string,
  body: string,
): Promise<Record<string, string> | { readonly failed: string }> {
  try {
    return signWebhook(context.input.idempotency_key, Buffer.from(body), [
      webhookKey(await context.secret(name)),
    ]);
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    const why =
      error instanceof WritError && error.code === 'invalid_webhook_secret'
        ? error.message
        : 'it could not be read';
    return { failed: `secret ${name}: ${why}` };
  }
}

function outcomeOf({ status, body }: Answer): Outcome {
  if (status >= 200 && status < 300) {
    const { baseline, result } = jsonOf(body);
    return {
      ...succeeded({ ...(typeof result === 'object' && result), baseline }),
      response_code: status,
    };
  }
  const said = `it answered ${status}`;
  if (status === 403) return failed('permission_denied', said, status);
  if (status >= 500) return failed('service_error', said, status);
  return failed(
    'rejected',
    status < 400 ? `${said}, and redirects are not followed` : said,
    status,
  );
}

/**
 * Whether the baseline is back, as the policy's probe has it. One that cannot be asked does not
 * know.
 */
export async function askProbe(
  ask: Ask,
  url: string,
  signal: AbortSignal,
  leftMs: number,
): Promise<'restored' | 'not_restored' | 'unknown'> {
  try {
    const { status, body } = await ask(url, { headers: {}, signal, leftMs });
    return status >= 200 && status < 300 && jsonOf(body).restored !== false
      ? 'restored'
      : 'not_restored';
  } catch (error) {
    if (error instanceof Unanswered || (error instanceof WritError && error.code === 'invalid_bus'))
      return 'unknown';
    throw error;
  }
}

/** An answer that is no JSON says nothing more than its status. */
function jsonOf(body: Buffer | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body?.toString('utf8') ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

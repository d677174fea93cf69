/** A refusal or a failure that the server answered, as its problem details say it (RFC 9457). */
export class Problem extends Error {
  override name = 'Problem';
  /** The code of the error registry: `contract_not_found`. */
  readonly code: string;
  readonly status: number;
  /** What to do about it. */
  readonly remedy: string | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Names this request in the logs of the server. */
  readonly requestId: string | undefined;
  readonly detail: string | undefined;
  /** Places of the request that do not fit. */
  readonly places: readonly { readonly place: string; readonly message: string }[];
  /** How long to wait before another try, where the server says so. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, body: unknown, retryAfterMs?: number) {
    const given = (typeof body === 'object' && body !== null ? body : {}) as {
      readonly [name: string]: unknown;
    };
    const text = (name: string): string | undefined =>
      typeof given[name] === 'string' ? given[name] : undefined;
    const title = text('title') ?? `The server answered ${status}.`;
    const detail = text('detail');
    super(detail === undefined ? title : `${title} (${detail})`);
    this.code = text('code') ?? 'unknown';
    this.status = status;
    this.remedy = text('remedy');
    this.retryable = given.retryable === true || (status === 503 && given.code === undefined);
    this.requestId = text('requestId');
    this.detail = detail;
    this.places = Array.isArray(given.errors) ? given.errors : [];
    this.retryAfterMs = retryAfterMs;
  }
}

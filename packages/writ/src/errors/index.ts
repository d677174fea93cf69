import { type ErrorCode, isErrorCode, registry } from './registry.js';

export { type ErrorCode, isErrorCode, registry } from './registry.js';

/**
 * An error of Writ: a code of the registry, a sentence on what happened to what, and what to do.
 */
export class WritError extends Error {
  override name = 'WritError';
  readonly code: ErrorCode;
  readonly remedy: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly detail: string | undefined;

  constructor(code: ErrorCode, detail?: string, options?: ErrorOptions) {
    const entry = registry[code];
    super(detail ? `${entry.message} (${detail})` : entry.message, options);
    this.code = code;
    this.remedy = entry.remedy;
    this.status = entry.status;
    this.retryable = entry.retryable;
    this.detail = detail;
  }
}

/**
 * A gate said no. In SQL that is a value; here it is thrown, because a value that is ignored would
 * be a lost job.
 */
export class WritRefusal extends WritError {
  override name = 'WritRefusal';
  /** How long to wait before trying again, where the gate knows. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ErrorCode,
    detail?: string,
    options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(code, detail, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Thrown by a handler: no retry can help, the job goes to the dead letters at once. */
export class PermanentFailure extends Error {
  override name = 'PermanentFailure';
  readonly code: string;

  constructor(message: string, options?: ErrorOptions & { code?: string }) {
    super(message, options);
    this.code = options?.code ?? 'permanent_failure';
  }
}

/**
 * Thrown by a handler of our own: what it needs is not there yet. The job is tried again later, and
 * no attempt is charged.
 */
export class Postponed extends Error {
  override name = 'Postponed';
  readonly code: string;

  constructor(message: string, options: ErrorOptions & { code: string }) {
    super(message, options);
    this.code = options.code;
  }
}

/** The refusal in a gate's answer, if it is one. */
export function refusalIn(answer: unknown): WritRefusal | undefined {
  if (
    typeof answer !== 'object' ||
    answer === null ||
    !('refused' in answer) ||
    answer.refused !== true
  )
    return undefined;
  const { reason, detail } = answer as { reason?: unknown; detail?: unknown };
  return asRefusal(String(reason), typeof detail === 'string' ? detail : undefined);
}

export function asRefusal(reason: string, detail?: string, retryAfterMs?: number): WritRefusal {
  if (!isErrorCode(reason))
    throw new Error(`a gate refused with ${reason}, which is not in the registry`);
  return new WritRefusal(reason, detail, { retryAfterMs });
}

/**
 * Turns what PostgreSQL and the driver throw into an error of the registry where it means one;
 * anything else stays itself.
 */
export function fromDatabase(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof WritError) return error;
  if (error.cause instanceof Error && !('code' in error)) {
    // Some libraries wrap what the driver threw.
    const meaning = fromDatabase(error.cause);
    return meaning === error.cause ? error : meaning;
  }
  const { code, detail } = error as Error & { code?: string; detail?: string };
  if (code === 'WR001' && isErrorCode(error.message))
    return new WritRefusal(error.message, detail, { cause: error });
  if (code === 'WR002') return new WritError('illegal_transition', error.message, { cause: error });
  if (code === '42501') return new WritError('permission_denied', error.message, { cause: error });
  if (code === '28P01' || code === '28000' || code === '3D000')
    return new WritError('connection_refused', error.message, { cause: error });
  if (code === '3F000' || code === '42883' || code === '42P01') {
    if (/\bwrit\b/.test(error.message))
      return new WritError('schema_missing', undefined, { cause: error });
  }
  if (isConnectionLoss(error))
    return new WritError('database_unreachable', error.message, { cause: error });
  return error;
}

/**
 * Whether an error, the driver's or ours, says that the connection is gone or does not answer, and
 * so nothing about what the statement did.
 */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as Error & { code?: string };
  if (error instanceof WritError)
    return code === 'WRITE_BUDGET_EXCEEDED' || code === 'database_unreachable';
  if (
    code &&
    /^(08...|57P0[123]|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENOENT)$/.test(
      code,
    )
  )
    return true;
  return /Connection terminated|connection is closed|not queryable|timeout exceeded when trying to connect|Client was closed/i.test(
    error.message,
  );
}

/** A code short enough to be one: ours, the driver's, or whatever the error calls its own. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' && code.length > 0 && code.length <= 100 ? code : undefined;
}

// @ts-check

/**
 * Whether a call failed because the server was down or the connection was cut: what a fault run
 * does on purpose. @param {unknown} error @returns {boolean}
 */
export function isOutage(error) {
  const { code, message, cause } = /** @type {Error & { code?: string }} */ (error);
  if (code === 'database_unreachable' || /^(08...|57P0.|ECONN.*|EPIPE)$/.test(code ?? ''))
    return true;
  return (
    /Connection terminated|not queryable|connection is closed/i.test(message) ||
    (cause instanceof Error && isOutage(cause))
  );
}

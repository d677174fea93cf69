import { redactSecrets } from '../secrets/redaction.js';

/** Keeps passwords out of what is printed: those of the connection strings in use, and whatever looks like one. */
const secrets = new Set<string>();

export function keepSecret(connectionString: string): void {
  const { password, searchParams } = new URL(connectionString);
  for (const secret of [password, decoded(password), searchParams.get('password') ?? '']) if (secret) secrets.add(secret);
}

export function redact(text: string): string {
  let safe = redactSecrets(text)
    .replace(/(\w+:\/\/[^\s:/@]*:)[^\s@]*@/g, '$1***@')
    .replace(/(password=)[^\s&]+/gi, '$1***');
  // A very short password would be found in every word; the patterns above still cover its connection string.
  for (const secret of secrets) if (secret.length >= 4) safe = safe.replaceAll(secret, '***');
  return safe;
}

/** Where a connection string leads, for people: user, server and database. */
export function describeTarget(connectionString: string): string {
  const { username, hostname, port, pathname, searchParams } = new URL(connectionString);
  const host = hostname || searchParams.get('host') || 'localhost';
  return `${username ? `${decoded(username)}@` : ''}${host}${port ? `:${port}` : ''}${decoded(pathname) || '/'}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

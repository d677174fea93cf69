import { redactSecrets } from '../secrets/redaction.js';

/**
 * Keeps passwords out of what is printed: those of the connection strings in use, and whatever
 * looks like one.
 */
const secrets = new Set<string>();

export function keepSecret(connectionString: string): void {
  const { password, searchParams } = new URL(connectionString);
  for (const secret of [password, decoded(password), searchParams.get('password') ?? ''])
    if (secret) secrets.add(secret);
}

export function redact(text: string): string {
  let safe = withoutPasswords(redactSecrets(text)).replace(/(password=)[^\s&]+/gi, '$1***');
  // A very short password would be found in every word; the patterns above still cover its
  // connection string.
  for (const secret of secrets) if (secret.length >= 4) safe = safe.replaceAll(secret, '***');
  return safe;
}

/**
 * Replaces the password of every `scheme://user:password@`. It looks for `://` and goes on from
 * there, so each character is read a fixed number of times: one expression for the whole would
 * begin at every letter of a long word, and look for the @ behind every colon.
 */
function withoutPasswords(text: string): string {
  const user = /[^\s:/@]*:/y;
  const end = /[\s@]/g;
  let safe = '';
  let copied = 0;
  let searched = -1; // the next space or @ of every place before it
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', Math.max(at + 1, copied))) {
    user.lastIndex = at + 3;
    if (!/\w/.test(text[at - 1] ?? '') || !user.test(text)) continue;
    const from = user.lastIndex;
    if (searched < from) {
      end.lastIndex = from;
      searched = end.exec(text)?.index ?? text.length;
    }
    if (text[searched] !== '@') continue;
    safe += `${text.slice(copied, from)}***`;
    copied = searched;
  }
  return safe + text.slice(copied);
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

/** A connection string with the name and password of another login. */
export function urlFor(connectionString: string, login: string, password: string): string {
  const url = new URL(connectionString);
  url.searchParams.delete('user');
  url.searchParams.delete('password');
  url.username = login;
  url.password = password;
  return url.href;
}

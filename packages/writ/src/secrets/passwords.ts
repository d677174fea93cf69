/**
 * Keeps passwords out of what people are shown: those of the addresses in use, and text that looks
 * like one. Secrets that a provider gave are kept out too, by the redactor of this process.
 */
import { redactSecrets } from './redaction.js';

const secrets = new Set<string>();

/** Keeps the password of an address, such as a connection string, out of every later text. */
export function keepSecret(address: string): void {
  const { password, searchParams } = new URL(address);
  for (const secret of [password, decoded(password), searchParams.get('password') ?? ''])
    if (secret) secrets.add(secret);
}

/** Part of an address as it is meant, or as it is written if it cannot be decoded. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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

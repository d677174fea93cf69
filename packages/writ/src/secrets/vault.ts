/**
 * Secrets from HashiCorp Vault, or what speaks like it (OpenBao): the second version of its
 * key-value engine, over HTTP.
 */
import { WritError } from '../errors/index.js';
import { readSecret } from './file.js';
import type { SecretContext, SecretsProvider } from './provider.js';
import { knownSecrets } from './redactor.js';

interface VaultPlace {
  /**
   * Of the server: `https://vault.example:8200`. Plain http is taken for loopback addresses only,
   * where an agent listens.
   */
  readonly address: string;
  /** Where the key-value engine is mounted; `secret` unless given. */
  readonly mount?: string;
  /** The document whose keys are the names of secrets, or a function that says which for whom. */
  readonly path: string | ((context: SecretContext) => string);
  readonly namespace?: string;
  /** How long an answer may take; 5,000 ms unless given. */
  readonly timeoutMs?: number;
}

export type VaultSecretsOptions = VaultPlace &
  (
    | { readonly token: string; readonly tokenFile?: undefined }
    /** Read again for each request: an agent that renews the token writes it there. */
    | { readonly tokenFile: string; readonly token?: undefined }
  );

const maxBytes = 1024 * 1024;

/**
 * `stripe-key` is that key of the document at `path`; `db/password` is the key `password` of the
 * document `path/db`.
 */
export function vaultSecrets(options: VaultSecretsOptions): SecretsProvider {
  const server = serverOf(options.address);
  return {
    async resolve(refs, context) {
      const { path } = options;
      const base = typeof path === 'function' ? path(context) : path;
      const documents = new Map<string, { name: string; key: string }[]>();
      for (const { $secret: name } of refs) {
        const cut = name.lastIndexOf('/');
        const document = cut < 0 ? base : `${base}/${name.slice(0, cut)}`;
        documents.set(document, [
          ...(documents.get(document) ?? []),
          { name, key: name.slice(cut + 1) },
        ]);
      }
      const values: Record<string, string> = {};
      await Promise.all(
        [...documents].map(async ([document, wanted]) => {
          const data = await read(server, document, options);
          for (const { name, key } of wanted)
            if (Object.hasOwn(data, key)) values[name] = data[key] as string;
        }),
      );
      return values;
    },
  };
}

function serverOf(address: string): URL {
  const wrong = (why: string) => new WritError('invalid_argument', `the address of Vault ${why}`);
  if (!URL.canParse(address)) throw wrong('is not one');
  const url = new URL(address);
  if (url.username || url.password) throw wrong('has a password in it; give a token');
  const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback))
    throw wrong('must begin with https:// unless it is loopback');
  return url;
}

/** What a document holds; nothing if it is not there. */
async function read(
  server: URL,
  document: string,
  options: VaultSecretsOptions,
): Promise<Record<string, unknown>> {
  const { mount = 'secret', namespace, timeoutMs = 5_000 } = options;
  const failed = (why: string) =>
    new WritError('secrets_unavailable', `Vault at ${server.host}, ${document}: ${why}`);
  const url = `${server.origin}${server.pathname.replace(/\/$/, '')}/v1/${encoded(mount)}/data/${encoded(document)}`;
  const token = await tokenOf(options);
  let status: number;
  let body: string;
  try {
    const answer = await fetch(url, {
      headers: {
        'X-Vault-Token': token,
        ...(namespace !== undefined && { 'X-Vault-Namespace': namespace }),
      },
      // A redirect would take the token along, to wherever it leads.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    status = answer.status;
    body = await bounded(answer);
  } catch (error) {
    if (error instanceof WritError) throw failed(error.detail ?? error.message);
    if ((error as Error).name === 'TimeoutError') throw failed(`no answer within ${timeoutMs} ms`);
    const { cause } = error as Error & { cause?: { code?: string } };
    throw failed(`it cannot be reached: ${cause?.code ?? 'the connection failed'}`);
  }
  if (status === 404) return {};
  if (status === 401 || status === 403)
    throw new WritError('secrets_denied', `Vault at ${server.host}, ${document}`);
  if (status >= 300 && status < 400)
    throw failed(`it answers ${status}, a redirect; give the address that it leads to`);
  if (status !== 200) throw failed(`it answers ${status}`);
  return (
    dataIn(body) ?? fail(failed('its answer is not what the key-value engine, version 2, answers'))
  );
}

const fail = (error: WritError): never => {
  throw error;
};

/** The `data.data` of an answer. Of a deleted version it is null, and holds nothing. */
function dataIn(body: string): Record<string, unknown> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined; // what a parser says about a text may quote it
  }
  const { data } = (parsed ?? {}) as { data?: { data?: unknown } };
  if (data?.data === null) return {};
  return typeof data?.data === 'object' && !Array.isArray(data.data)
    ? (data.data as Record<string, unknown>)
    : undefined;
}

async function bounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new WritError('secrets_unavailable', `its answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function tokenOf({ token, tokenFile }: VaultSecretsOptions): Promise<string> {
  const found = token ?? (await readSecret(tokenFile as string, 'the Vault token'));
  if (!found) throw new WritError('secrets_unavailable', 'there is no Vault token');
  if (!/^[\x21-\x7e]+$/.test(found))
    throw new WritError('secrets_unavailable', 'the Vault token is not one');
  knownSecrets.add('vault-token', found);
  return found;
}

/** A path in an address: its parts encoded, and none that would lead to another document. */
function encoded(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0 || parts.some((part) => part === '.' || part === '..')) {
    throw new WritError(
      'invalid_argument',
      'a path in Vault has parts between slashes, none of which is . or ..',
    );
  }
  return parts.map(encodeURIComponent).join('/');
}

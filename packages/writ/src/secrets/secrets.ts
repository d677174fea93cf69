/**
 * The secrets of one connection: asked of the provider, kept in memory for a moment, and known from
 * then on to what keeps them out of records.
 */
import { WritError } from '../errors/index.js';
import { shortest } from './forms.js';
import { isSecretName, type SecretContext, type SecretsProvider } from './provider.js';
import { knownSecrets } from './redactor.js';

interface Cached {
  readonly value: Promise<string>;
  readonly until: number;
}

const longest = 64 * 1024;
const mostCached = 10_000;

export class Secrets {
  readonly #provider: SecretsProvider | undefined;
  readonly #cacheMs: number;
  readonly #cache = new Map<string, Cached>();

  constructor(provider: SecretsProvider | undefined, cacheMs: number) {
    this.#provider = provider;
    this.#cacheMs = cacheMs;
    for (const [name, value] of provider?.held?.() ?? []) knownSecrets.add(name, value);
  }

  /** The values of these names, all or none. */
  async resolve(names: readonly string[], context: SecretContext): Promise<Map<string, string>> {
    const wrong = names.find((name) => !isSecretName(name));
    if (wrong !== undefined)
      throw new WritError('invalid_argument', 'that is not the name of a secret');
    const now = performance.now();
    const keyOf = (name: string) => JSON.stringify([context.tenantId, context.environmentId, name]);
    const found = new Map<string, Promise<string>>();
    for (const name of names) {
      const cached = this.#cache.get(keyOf(name));
      if (cached && cached.until > now) found.set(name, cached.value);
    }
    const missing = [...new Set(names)].filter((name) => !found.has(name));
    if (missing.length > 0) {
      const asked = this.#ask(missing, context);
      for (const name of missing) {
        const value = asked.then((values) => usable(name, values));
        found.set(name, value);
        // At once: others that need it meanwhile wait for the same answer.
        if (this.#cacheMs > 0) this.#keep(keyOf(name), { value, until: now + this.#cacheMs });
      }
    }
    return new Map(
      await Promise.all([...found].map(async ([name, value]) => [name, await value] as const)),
    );
  }

  #keep(key: string, cached: Cached): void {
    if (this.#cache.size >= mostCached) {
      const now = performance.now();
      for (const [old, { until }] of this.#cache)
        if (until <= now || this.#cache.size >= mostCached) this.#cache.delete(old);
    }
    this.#cache.delete(key);
    this.#cache.set(key, cached);
    // What could not be had is asked for again by the next who needs it.
    cached.value.catch(() => {
      if (this.#cache.get(key) === cached) this.#cache.delete(key);
    });
  }

  async #ask(names: readonly string[], context: SecretContext): Promise<Record<string, string>> {
    if (!this.#provider) throw new WritError('secrets_not_configured', names.join(', '));
    let values: Record<string, string>;
    try {
      values = await this.#provider.resolve(
        names.map((name) => ({ $secret: name })),
        context,
      );
    } catch (error) {
      if (error instanceof WritError) throw error;
      throw new WritError(
        'secrets_unavailable',
        `${names.join(', ')}: ${error instanceof Error ? error.message : 'the provider failed'}`,
        {
          cause: error,
        },
      );
    }
    // Before anything else is done with it.
    for (const name of names)
      if (Object.hasOwn(values, name) && typeof values[name] === 'string')
        knownSecrets.add(name, values[name]);
    return values;
  }
}

function usable(name: string, values: Record<string, string>): string {
  const value = Object.hasOwn(values, name) ? (values[name] as unknown) : undefined;
  if (value === undefined) throw new WritError('secret_not_found', name);
  if (typeof value !== 'string') throw new WritError('secret_unusable', `${name} is not a text`);
  if (value.length < shortest)
    throw new WritError('secret_unusable', `${name} has fewer than ${shortest} characters`);
  if (value.length > longest)
    throw new WritError('secret_unusable', `${name} has more than ${longest} characters`);
  return value;
}

/**
 * Secrets and tokens of `writ governor listen`: each option says where one is, and for which
 * tenant. They are read again once a minute, so that a rotation needs no restart, and from then on
 * kept out of what this process prints.
 */
import { WritError } from '../../errors/index.js';
import { readSecret } from '../../secrets/file.js';
import { secretsAt } from '../../secrets/places.js';
import type { SecretsProvider } from '../../secrets/provider.js';
import { Secrets } from '../../secrets/secrets.js';
import { wrongUsage } from '../failure.js';

const cacheMs = 60_000;

interface Place {
  /** Undefined: for every tenant that has none of its own. */
  readonly tenant: string | undefined;
  /** As it was given, for people: where it is, not what. */
  readonly words: string;
  readonly read: () => Promise<string>;
}

export class Credentials {
  readonly #places: readonly Place[];

  /** `option` is what they are given with, `--secret` or `--token`. */
  constructor(option: string, given: readonly string[]) {
    this.#places = given.map((text, at) => placeOf(option, text, at));
  }

  get size(): number {
    return this.#places.length;
  }

  /** Reads all of them once: what is missing is said at the start, not to the first sender. */
  async assertThere(): Promise<void> {
    for (const { words, read } of this.#places) {
      try {
        await read();
      } catch (error) {
        if (!(error instanceof WritError)) throw error;
        throw wrongUsage(
          `${words} cannot be used: ${error.message}`,
          'Put it there, with 8 characters or more, or name another place.',
          {
            cause: error,
          },
        );
      }
    }
  }

  /**
   * Those of a tenant: its own, or those for all. One that is gone since, as after a rotation, is
   * left out.
   */
  async of(tenant: string): Promise<readonly string[]> {
    const own = this.#places.filter((place) => place.tenant === tenant);
    const places =
      own.length > 0 ? own : this.#places.filter((place) => place.tenant === undefined);
    const found = await Promise.all(places.map(({ read }) => read().catch(unlessGone)));
    return found.filter((value) => value !== undefined);
  }
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof WritError && error.code === 'secret_not_found')) throw error;
}

/** `env:NAME`, `file:PATH` or `vault:MOUNT/PATH#KEY`, for one tenant with `TENANT=` before it. */
function placeOf(option: string, text: string, at: number): Place {
  const [, tenant, scheme, where] = /^(?:([^=]{1,200})=)?(env|file|vault):(.+)$/s.exec(text) ?? [];
  // What was given is not repeated: it may be the secret itself.
  if (!scheme || !where) {
    throw wrongUsage(
      `${option} does not say where to find it.`,
      'Write env:NAME, file:PATH or vault:MOUNT/PATH#KEY, with TENANT= before it for one tenant.',
    );
  }
  const name = `listener-${option.replace(/^-+/, '')}-${at + 1}`;
  const secrets = new Secrets(providerOf(option, scheme, where), cacheMs);
  const read = async () =>
    (await secrets.resolve([name], { tenantId: tenant ?? '', environmentId: 'default' })).get(
      name,
    ) as string;
  return { tenant, words: `${option} ${scheme}:${where}`, read };
}

/** One value, whatever name it is asked for by. */
function providerOf(option: string, scheme: string, where: string): SecretsProvider {
  const single = (value: (tenantId: string) => Promise<string | undefined>): SecretsProvider => ({
    async resolve(refs, { tenantId }) {
      const found = await value(tenantId);
      return found === undefined
        ? {}
        : Object.fromEntries(refs.map(({ $secret }) => [$secret, found]));
    },
  });
  if (scheme === 'env') return single(async () => process.env[where] || undefined);
  if (scheme === 'file') return single(async () => readSecret(where, where));
  const [, place, key] = /^([^#]+)#([^#]+)$/.exec(where) ?? [];
  if (!place || !key)
    throw wrongUsage(
      `${option} does not say which key of Vault it is.`,
      'Write vault:MOUNT/PATH#KEY.',
    );
  const vault = secretsAt(`vault:${place}`);
  return single(
    async (tenantId) =>
      (await vault.resolve([{ $secret: key }], { tenantId, environmentId: 'default' }))[key],
  );
}

import type { SecretsProvider } from './provider.js';

export interface EnvironmentSecretsOptions {
  /** What the names of the variables begin with; `WRIT_SECRET_` unless given. */
  readonly prefix?: string;
}

/**
 * Secrets from the environment of this process: `stripe-key` is `WRIT_SECRET_STRIPE_KEY`. The same
 * for every tenant.
 */
export function environmentSecrets({
  prefix = 'WRIT_SECRET_',
}: EnvironmentSecretsOptions = {}): SecretsProvider {
  const variable = (name: string) => prefix + name.replace(/[^A-Za-z0-9]/g, '_').toUpperCase();
  return {
    async resolve(refs) {
      const values: Record<string, string> = {};
      for (const { $secret: name } of refs) {
        const value = process.env[variable(name)];
        if (value !== undefined) values[name] = value;
      }
      return values;
    },
    held: () =>
      Object.entries(process.env).flatMap(([name, value]) =>
        value !== undefined && name.startsWith(prefix)
          ? [[name.slice(prefix.length).toLowerCase().replaceAll('_', '-'), value] as const]
          : [],
      ),
  };
}

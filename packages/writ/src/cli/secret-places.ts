/**
 * Where `--secrets` says that secrets are: for workers, and for commands that read what stands
 * outside.
 */
import type { Command } from 'commander';
import { environmentSecrets } from '../secrets/environment.js';
import { fileSecrets } from '../secrets/file.js';
import type { SecretsProvider } from '../secrets/provider.js';
import { vaultSecrets } from '../secrets/vault.js';
import { wrongUsage } from './failure.js';

export const withSecrets = (command: Command): Command =>
  command.option(
    '--secrets <place>',
    'where secrets are: env or env:PREFIX, file:FOLDER, or vault:MOUNT/PATH with VAULT_ADDR and VAULT_TOKEN or VAULT_TOKEN_FILE',
  );

/** `env`, `env:PREFIX`, `file:FOLDER` or `vault:MOUNT/PATH`. */
export function secretsAt(place: string): SecretsProvider {
  const [, scheme, rest = ''] = /^(\w+)(?::(.+))?$/s.exec(place) ?? [];
  if (scheme === 'env') return environmentSecrets(rest ? { prefix: rest } : {});
  if (scheme === 'file' && rest) return fileSecrets({ folder: rest });
  const [, mount, path] = /^([^/]+)\/(.+)$/s.exec(rest) ?? [];
  if (scheme === 'vault' && mount && path) return vault(mount, path);
  throw wrongUsage(
    '--secrets does not say where secrets are.',
    'Write env, env:PREFIX, file:FOLDER or vault:MOUNT/PATH.',
  );
}

/**
 * Address and token come from where Vault's own command has them: a token does not belong on a
 * command line.
 */
function vault(mount: string, path: string): SecretsProvider {
  const {
    VAULT_ADDR: address,
    VAULT_TOKEN: token,
    VAULT_TOKEN_FILE: tokenFile,
    VAULT_NAMESPACE: namespace,
  } = process.env;
  if (!address)
    throw wrongUsage(
      'Vault has no address.',
      'Set VAULT_ADDR: https://vault.example:8200, for instance.',
    );
  const place = { address, mount, path, ...(namespace && { namespace }) };
  if (token) return vaultSecrets({ ...place, token });
  if (tokenFile) return vaultSecrets({ ...place, tokenFile });
  throw wrongUsage(
    'There is no token for Vault.',
    'Set VAULT_TOKEN, or VAULT_TOKEN_FILE to a file that holds one.',
  );
}

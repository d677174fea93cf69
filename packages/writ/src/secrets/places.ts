/** Where secrets are, in one word: `env`, `env:PREFIX`, `file:FOLDER` or `vault:MOUNT/PATH`. */
import { WritError } from '../errors/index.js';
import { environmentSecrets } from './environment.js';
import { fileSecrets } from './file.js';
import type { SecretsProvider } from './provider.js';
import { vaultSecrets } from './vault.js';

/** The provider of a place. The place is never repeated: it may be a secret by mistake. */
export function secretsAt(place: string): SecretsProvider {
  const [, scheme, rest = ''] = /^(\w+)(?::(.+))?$/s.exec(place) ?? [];
  if (scheme === 'env') return environmentSecrets(rest ? { prefix: rest } : {});
  if (scheme === 'file' && rest) return fileSecrets({ folder: rest });
  const [, mount, path] = /^([^/]+)\/(.+)$/s.exec(rest) ?? [];
  if (scheme === 'vault' && mount && path) return vault(mount, path);
  throw new WritError('invalid_secrets_place');
}

/** Vault's own command has address and token in these variables, too. */
function vault(mount: string, path: string): SecretsProvider {
  const {
    VAULT_ADDR: address,
    VAULT_TOKEN: token,
    VAULT_TOKEN_FILE: tokenFile,
    VAULT_NAMESPACE: namespace,
  } = process.env;
  if (!address) throw new WritError('vault_not_configured', 'it has no address');
  const place = { address, mount, path, ...(namespace && { namespace }) };
  if (token) return vaultSecrets({ ...place, token });
  if (tokenFile) return vaultSecrets({ ...place, tokenFile });
  throw new WritError('vault_not_configured', 'there is no token');
}

/** `writ keys`: API keys, by which the API server knows principals. */
import type { Command } from 'commander';
import type { KnownApiKey, MadeApiKey } from '../../governance/api-keys.js';
import type { Right } from '../../governance/rights.js';
import { notBlank, repeated, wholeNumber } from '../command.js';
import { withTenant } from '../governance/session.js';
import { ago } from '../output.js';
import { act, list } from '../shapes.js';

interface MakeOptions extends Record<string, unknown> {
  readonly tenant?: string;
  readonly right?: readonly Right[];
  readonly label?: string;
  readonly days: number;
}

export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .description('API keys: what programs send to `writ serve` instead of a database login');
  list<KnownApiKey, { principal?: string; tenant?: string }>(
    withTenant(keys.command('list'), 'only those of this tenant')
      .description('keys, the newest first')
      .option('--principal <name>', 'only keys of this principal', notBlank),
    {
      read: (writ, page, { options: { principal, tenant } }) =>
        writ.apiKeys.list({ ...page, principal, tenant }),
      none: 'No keys. `writ keys make PRINCIPAL` makes one.',
      columns: [
        { title: 'KEY', of: ({ keyId }) => keyId },
        { title: 'PRINCIPAL', of: ({ principal }) => principal },
        { title: 'TENANT', of: ({ tenant }) => tenant ?? 'every one' },
        { title: 'RIGHTS', of: ({ rights }) => rights?.join(', ') ?? 'all of its principal' },
        {
          title: 'STATE',
          of: ({ revokedAt, expiresAt }, now) =>
            revokedAt !== null ? 'revoked' : new Date(expiresAt) <= now ? 'expired' : 'valid',
        },
        { title: 'UNTIL', of: ({ expiresAt }) => expiresAt.slice(0, 10) },
        {
          title: 'LAST USED',
          of: ({ lastUsedAt }, now) =>
            lastUsedAt === null ? 'never' : ago(new Date(lastUsedAt), now),
        },
        { title: 'LABEL', of: ({ label }) => label },
      ],
    },
  );
  act<MadeApiKey, MakeOptions>(
    withTenant(keys.command('make'), 'valid in this tenant only')
      .description('make a key for a principal; it is shown once')
      .argument('<principal>', 'whose key it is', notBlank)
      .option('--right <right>', 'narrow it to this right; may be repeated', repeated)
      .option('--label <text>', 'where it is used, for people', notBlank)
      .option('--days <n>', 'how long it is valid', wholeNumber(1, 3_660), 90),
    {
      do: (writ, { args: [principal = ''], options: { tenant, right, label, days } }) =>
        writ.apiKeys.make({
          principal,
          expiresIn: `${days}d`,
          tenant,
          rights: right,
          label,
        }),
      says: ({ key, expiresAt }) => [key, `Valid until ${expiresAt}. It is not shown again.`],
    },
  );
  act<void>(
    keys
      .command('revoke')
      .description('end a key at once')
      .argument('<key>', 'id of the key: `writ keys list` shows it', notBlank),
    {
      do: (writ, { args: [id = ''] }) => writ.apiKeys.revoke(id),
      data: (_, { args: [keyId] }) => ({ keyId, revoked: true }),
      says: (_, { args: [id] }) => `Revoked ${id}.`,
    },
  );
}

/** `writ governor entitlement`: what a tenant may have done for it, and what it has used of that. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { EntitlementChange } from '../../../governor/governors.js';
import { contextOf, later, type Moment, notBlank } from '../../command.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { type KeyOptions, whoActs, withKey } from '../../governance/session.js';
import { plain } from '../../governance/words.js';
import { type EntitlementRow, readEntitlement } from '../../governor/look.js';
import { governorsOf, name } from '../../governor/session.js';
import { ago, count, type Output } from '../../output.js';
import { databaseNow } from '../runs/session.js';

interface Options extends KeyOptions {
  readonly tier?: NonNullable<EntitlementChange['tier']>;
  readonly status?: NonNullable<EntitlementChange['status']>;
  readonly expires?: Moment | 'never';
  readonly quota?: number | 'unlimited';
  readonly id?: string;
}

function quota(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a number of actions per month, or `unlimited`.');
}

const expiry = (text: string): Moment | 'never' => (text === 'never' ? text : later(text));

export function addEntitlement(group: Command): void {
  const entitlement = group
    .command('entitlement')
    .description('what a tenant may have done for it: show or set it');
  entitlement
    .command('show')
    .description('what a tenant is entitled to, and what it has used this month')
    .argument('<tenant>', 'the tenant', name)
    .action(async (tenant: string, _options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const row = await readEntitlement(db, tenant);
        if (!row) process.exitCode = exitCodes.failed;
        if (output.json) return output.data(row ? asData(row) : null);
        if (row) show(output, row, new Date(await databaseNow(db)));
        else
          output.line(
            `${plain(tenant)} has no entitlement: its governors refuse to act. \`writ governor entitlement set ${plain(tenant)} --tier starter\``,
          );
      });
    });
  withKey(entitlement.command('set'))
    .description(
      'what a tenant is entitled to from now on; what is not given stays as it is. Its governors hear of it at once',
    )
    .argument('<tenant>', 'the tenant', name)
    .addOption(
      new Option(
        '--tier <tier>',
        'sets the quota, too: 50, 500, 5,000 actions a month, or without limit',
      ).choices(['free', 'starter', 'professional', 'enterprise']),
    )
    .addOption(
      new Option(
        '--status <status>',
        'nothing is done unless it is ACTIVE, which a new one is',
      ).choices(['ACTIVE', 'INACTIVE', 'EXPIRED', 'CANCELLED']),
    )
    .option('--expires <when>', 'when it ends: a time, in how long (30d), or `never`', expiry)
    .option('--quota <n>', 'actions a month, in UTC, or `unlimited`', quota)
    .option('--id <id>', 'what the catalogue knows it by', notBlank)
    .action(
      async (
        tenant: string,
        { tier, status, expires, quota: limit, id, ...key }: Options,
        command: Command,
      ) => {
        if ([tier, status, expires, limit, id].every((given) => given === undefined))
          throw wrongUsage(
            'Nothing is to be set.',
            'Give --tier, --status, --expires, --quota or --id.',
          );
        const who = whoActs(key);
        const { output, session } = contextOf(command);
        await session(async (db) => {
          const now = await databaseNow(db);
          await governorsOf(db).entitle(
            tenant,
            {
              ...(tier && { tier }),
              ...(status && { status }),
              ...(expires !== undefined && {
                expiresAt: expires === 'never' ? null : expires(now),
              }),
              ...(limit !== undefined && { quota: limit === 'unlimited' ? null : limit }),
              ...(id !== undefined && { entitlementId: id }),
            },
            { as: who },
          );
          const row = (await readEntitlement(db, tenant)) as EntitlementRow;
          if (output.json) output.data(asData(row));
          else show(output, row, new Date(await databaseNow(db)));
        });
      },
    );
}

const asData = (row: EntitlementRow) => ({
  ...row,
  quota_limit: row.quota_limit === null ? null : Number(row.quota_limit),
  quota_used: Number(row.quota_used),
});

function show(output: Output, row: EntitlementRow, now: Date): void {
  const over = row.expires_at !== null && row.expires_at <= now;
  output.pairs([
    ['tenant', plain(row.tenant_id)],
    [
      'status',
      output.style(
        row.status === 'ACTIVE' && !over ? 'green' : 'yellow',
        over ? `${row.status}, and expired` : row.status,
      ),
    ],
    ['tier', row.tier],
    [
      'quota',
      `${count(Number(row.quota_used))} of ${row.quota_limit === null ? 'any number' : count(Number(row.quota_limit))} used this month`,
    ],
    ['expires', row.expires_at === null ? 'never' : row.expires_at.toISOString()],
    ['known as', plain(row.entitlement_id)],
    ['set', plain(`${ago(row.put_at, now)} by ${row.put_by}`)],
  ]);
}

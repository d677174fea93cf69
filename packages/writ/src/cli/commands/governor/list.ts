/** `writ governor list`: every governor, and where it is. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import { type TenantOptions, withTenant } from '../../governance/session.js';
import { plain } from '../../governance/words.js';
import type { GovernorRow } from '../../governor/look.js';
import { policyWords, stateStyle } from '../../governor/picture.js';
import { governorsOf } from '../../governor/session.js';
import { count, type Output, span } from '../../output.js';
import { databaseNow } from '../runs/session.js';

export function addList(group: Command): void {
  withTenant(group.command('list'), 'only those of this tenant')
    .description('every governor: where it is and why, its policy, and what waits for it')
    .action(async (options: TenantOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = (await governorsOf(db).list(options)) as unknown as GovernorRow[];
        if (output.json) output.data(all);
        else show(output, all, await databaseNow(db), options);
      });
    });
}

function show(
  output: Output,
  all: readonly GovernorRow[],
  now: number,
  { tenant }: TenantOptions,
): void {
  if (all.length === 0) {
    output.line(
      tenant === undefined
        ? 'No governors yet. `writ governor policy publish FILE TENANT` makes one.'
        : `${plain(tenant)} has no governor.`,
    );
    return;
  }
  const right = { align: 'right' } as const;
  output.table(
    [
      { title: 'TENANT' },
      { title: 'PRODUCT' },
      { title: 'STATE' },
      { title: 'SINCE', ...right },
      { title: 'POLICY' },
      { title: 'SIGNALS', ...right },
      { title: 'WAITING', ...right },
      { title: 'BUFFERED', ...right },
      { title: 'POSTPONED', ...right },
      { title: 'IN FLIGHT' },
    ],
    all.map((row) => [
      row.tenant_id,
      row.sku_id,
      output.style(stateStyle[row.state], plain(stateWords(row))),
      row.state_since === null ? null : span(Math.max(0, now - Date.parse(row.state_since))),
      policyWords(row),
      count(row.signals),
      count(row.in_mailbox),
      count(row.buffered),
      count(row.postponed),
      row.in_flight &&
        plain(`${row.in_flight.kind === 'rollback' ? '↩ ' : ''}${row.in_flight.action_type}`),
    ]),
  );
}

/** With the causes by their names, which are short; `show` has them in words. */
function stateWords({ state, causes, refusals }: GovernorRow): string {
  const why = [...(causes ?? []), ...(refusals ?? []).map(({ cause }) => cause)];
  return why.length === 0 ? state : `${state} (${why.join(', ')})`;
}

/** `writ contracts list`: contracts, the newest first. */
import { type Command, Option } from 'commander';
import { type ContractState, contractStates } from '../../../machines/contract.js';
import { contextOf, wholeNumber } from '../../command.js';
import { contractId, type TenantOptions, withTenant } from '../../governance/session.js';
import { contractStyle, plain } from '../../governance/words.js';
import { ago, type Output } from '../../output.js';

interface Filter extends TenantOptions {
  readonly status?: ContractState;
  readonly before?: string;
  readonly limit: number;
}

interface Listed {
  readonly contract_id: string;
  readonly tenant_id: string;
  readonly status: ContractState;
  readonly risk_level: string;
  readonly title: string;
  readonly created_by: string;
  readonly approved_by: readonly string[];
  readonly created_at: Date;
  readonly now: Date;
}

export function addList(contracts: Command): void {
  withTenant(contracts.command('list'), 'only those of this tenant')
    .description('contracts, the newest first')
    .addOption(new Option('--status <status>', 'only those in this status').choices(contractStates))
    .option('--before <contract>', 'only those proposed before this one', contractId)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 1_000), 20)
    .action(async (filter: Filter, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const listed = await db.rows<Listed>(
          `select c.contract_id, c.tenant_id, c.status, c.status_reason, c.risk_level, c.title, c.affected_capabilities, c.created_by, c.on_behalf_of, c.approved_by, c.job_id, c.created_at, c.expires_at, writ.now() as now
           from writ.system_contracts c
           where ($1::text is null or c.status = $1) and ($2::text is null or c.tenant_id = $2) and ($3::uuid is null or c.contract_id < $3) order by c.contract_id desc limit $4`,
          [filter.status ?? null, filter.tenant ?? null, filter.before ?? null, filter.limit],
        );
        if (output.json) output.data(listed.map(({ now: _, ...contract }) => contract));
        else show(output, listed, filter);
      });
    });
}

function show(output: Output, all: readonly Listed[], filter: Filter): void {
  if (all.length === 0) {
    output.line(
      filter.status || filter.tenant || filter.before
        ? 'No such contract.'
        : 'No contracts yet. `writ contracts propose FILE` proposes one.',
    );
    return;
  }
  const tenants =
    filter.tenant === undefined && all.some(({ tenant_id }) => tenant_id !== 'default');
  output.table(
    [
      'CONTRACT',
      ...(tenants ? ['TENANT'] : []),
      'STATUS',
      'RISK',
      'ASKED BY',
      'APPROVED BY',
      'PROPOSED',
      'TITLE',
    ].map((title) => ({
      title,
    })),
    all.map((each) => [
      each.contract_id,
      ...(tenants ? [plain(each.tenant_id)] : []),
      output.style(contractStyle[each.status], each.status),
      each.risk_level,
      plain(each.created_by),
      each.approved_by.length === 0 ? null : plain(each.approved_by.join(', ')),
      ago(each.created_at, each.now),
      plain(each.title),
    ]),
  );
  if (all.length === filter.limit)
    output.note(
      `The newest ${filter.limit}; --limit shows more, --before ${all.at(-1)?.contract_id} the next.`,
    );
}

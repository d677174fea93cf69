/** `writ jobs list`: governance jobs, the newest first. */
import { type Command, Option } from 'commander';
import { type GovernanceJobState, governanceJobStates } from '../../../machines/governance-job.js';
import { contextOf, wholeNumber } from '../../command.js';
import { governanceJobId, type TenantOptions, withTenant } from '../../governance/session.js';
import { jobStyle, plain } from '../../governance/words.js';
import { ago, type Output, span } from '../../output.js';

interface Filter extends TenantOptions {
  readonly status?: GovernanceJobState;
  readonly before?: string;
  readonly limit: number;
}

interface Listed {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly kind: 'forward' | 'rollback';
  readonly status: GovernanceJobState;
  readonly total_steps: number;
  readonly completed_steps: number;
  readonly audit_verdict: string | null;
  readonly title: string;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly now: Date;
}

export function addList(jobs: Command): void {
  withTenant(jobs.command('list'), 'only those of this tenant')
    .description('governance jobs, the newest first')
    .addOption(
      new Option('--status <status>', 'only those in this status').choices(governanceJobStates),
    )
    .option('--before <job>', 'only those begun before this one', governanceJobId)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 1_000), 20)
    .action(async (filter: Filter, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const listed = await db.rows<Listed>(
          `select g.job_id, g.tenant_id, g.contract_id, g.kind, g.of_job_id, g.status, g.status_reason, g.total_steps, g.completed_steps, g.audit_verdict, g.rollback_job_id, g.resolved_by_job_id, g.created_at, g.started_at, g.completed_at, c.title, writ.now() as now
           from writ.governance_jobs g join writ.system_contracts c on c.contract_id = g.contract_id
           where ($1::text is null or g.status = $1) and ($2::text is null or g.tenant_id = $2) and ($3::uuid is null or g.job_id < $3) order by g.job_id desc limit $4`,
          [filter.status ?? null, filter.tenant ?? null, filter.before ?? null, filter.limit],
        );
        if (output.json) output.data(listed.map(({ now: _, ...job }) => job));
        else show(output, listed, filter);
      });
    });
}

function show(output: Output, all: readonly Listed[], filter: Filter): void {
  if (all.length === 0) {
    output.line(
      filter.status || filter.tenant || filter.before
        ? 'No such job.'
        : 'No governance jobs yet: `writ contracts activate` makes one.',
    );
    return;
  }
  const tenants =
    filter.tenant === undefined && all.some(({ tenant_id }) => tenant_id !== 'default');
  output.table(
    [
      'JOB',
      ...(tenants ? ['TENANT'] : []),
      'STATUS',
      'STEPS',
      'AUDIT',
      'BEGUN',
      'TOOK',
      'TITLE',
    ].map((title) => ({ title })),
    all.map((each) => [
      each.job_id,
      ...(tenants ? [plain(each.tenant_id)] : []),
      output.style(jobStyle[each.status], each.status),
      `${each.completed_steps}/${each.total_steps}`,
      each.audit_verdict,
      ago(each.created_at, each.now),
      each.started_at && each.completed_at
        ? span(each.completed_at.getTime() - each.started_at.getTime())
        : null,
      `${each.kind === 'rollback' ? 'undoing ' : ''}${plain(each.title)}`,
    ]),
  );
  if (all.length === filter.limit)
    output.note(
      `The newest ${filter.limit}; --limit shows more, --before ${all.at(-1)?.job_id} the next.`,
    );
}

/** `writ incidents`: what is wrong and somebody is at work on; a capability with an open incident is degraded. */
import { type Command, Option } from 'commander';
import { contextOf, notBlank, uuid, wholeNumber } from '../command.js';
import { type KeyOptions, put, type TenantOptions, whoActs, withKey, withTenant } from '../governance/session.js';
import { plain } from '../governance/words.js';
import { ago, type Output } from '../output.js';

interface OpenOptions extends KeyOptions, TenantOptions {
  readonly capability?: string;
  readonly severity: string;
}

interface ResolveOptions extends KeyOptions, TenantOptions {
  readonly resolution: string;
}

interface ListOptions extends TenantOptions {
  readonly all?: boolean;
  readonly limit: number;
}

export function addIncidents(program: Command): void {
  const incidents = program.command('incidents').description('what is wrong: see it, open one, resolve one');
  withTenant(incidents.command('list'), 'only those of this tenant')
    .description('incidents that are open, the worst first')
    .option('--all', 'resolved ones, too')
    .option('--limit <n>', 'how many at most', wholeNumber(1, 1_000), 50)
    .action(async (options: ListOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await db.rows<Listed>(
          `select i.*, writ.now() as now from writ.incident i where ($1 or i.resolved_at is null) and i.tenant_id = coalesce($2, i.tenant_id)
           order by i.resolved_at is not null, case when i.resolved_at is null then i.severity end, i.opened_at desc limit $3`,
          [options.all === true, options.tenant ?? null, options.limit],
        );
        if (output.json) output.data(all.map(({ now: _, ...incident }) => incident));
        else show(output, all, options.all === true);
      });
    });
  withKey(withTenant(incidents.command('open')))
    .description('say that something is wrong')
    .argument('<summary>', 'what is wrong', notBlank)
    .option('--capability <name>', 'what is affected: it is degraded until the incident is resolved', notBlank)
    .addOption(new Option('--severity <severity>', 'P1 wants somebody now, P2 today').choices(['P1', 'P2', 'P3']).default('P2'))
    .action(async (summary: string, options: OpenOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      const { capability, severity } = options;
      const { incident_id } = await session((db) =>
        put<{ incident_id: string }>(db, 'fn_incident_put', who, { capability, severity, summary }, options),
      );
      if (output.json) output.data({ incidentId: incident_id });
      else output.line(`Opened ${incident_id}. \`writ incidents resolve ${incident_id} --resolution TEXT\` ends it.`);
    });
  withKey(withTenant(incidents.command('resolve')))
    .description('say that it is in order again; what a failed rollback holds is free then')
    .argument('<incident>', 'id of the incident', uuid('The id of an incident is a UUID; `writ incidents list` shows them.'))
    .requiredOption('--resolution <text>', 'how it was resolved, in more than ten characters', notBlank)
    .action(async (id: string, options: ResolveOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session((db) => put(db, 'fn_incident_put', who, { incident_id: id, resolution: options.resolution }, options));
      if (output.json) output.data({ incidentId: id, resolved: true });
      else output.line(`Resolved ${id}.`);
    });
}

interface Listed {
  readonly incident_id: string;
  readonly capability: string | null;
  readonly severity: string;
  readonly summary: string;
  readonly opened_by: string;
  readonly opened_at: Date;
  readonly resolved_by: string | null;
  readonly resolved_at: Date | null;
  readonly now: Date;
}

function show(output: Output, all: readonly Listed[], resolved: boolean): void {
  if (all.length === 0) {
    output.line(resolved ? 'No incidents.' : 'No incident is open.');
    return;
  }
  output.table(
    ['INCIDENT', 'SEVERITY', 'CAPABILITY', 'OPENED', 'BY', ...(resolved ? ['RESOLVED'] : []), 'SUMMARY'].map((title) => ({ title })),
    all.map((each) => [
      each.incident_id,
      each.resolved_at === null && each.severity === 'P1' ? output.style('red', 'P1') : each.severity,
      each.capability === null ? null : plain(each.capability),
      ago(each.opened_at, each.now),
      plain(each.opened_by),
      ...(resolved ? [each.resolved_at === null ? 'open' : plain(`${ago(each.resolved_at, each.now)} by ${each.resolved_by}`)] : []),
      plain(each.summary),
    ]),
  );
}

/** `writ incidents`: what is wrong and somebody is at work on; a capability with an open incident is degraded. */
import { type Command, Option } from 'commander';
import type { Incident, Severity } from '../../governance/incidents.js';
import { contextOf, notBlank, uuid, wholeNumber } from '../command.js';
import {
  governanceOf,
  type KeyOptions,
  type TenantOptions,
  tenantOf,
  whoActs,
  withKey,
  withTenant,
} from '../governance/session.js';
import { plain } from '../governance/words.js';
import { ago, type Output } from '../output.js';
import { databaseNow } from './runs/session.js';

interface OpenOptions extends KeyOptions, TenantOptions {
  readonly capability?: string;
  readonly severity: Severity;
}

interface ResolveOptions extends KeyOptions, TenantOptions {
  readonly resolution: string;
}

interface ListOptions extends TenantOptions {
  readonly all?: boolean;
  readonly limit: number;
}

export function addIncidents(program: Command): void {
  const incidents = program
    .command('incidents')
    .description('what is wrong: see it, open one, resolve one');
  withTenant(incidents.command('list'), 'only those of this tenant')
    .description('incidents that are open, the worst first')
    .option('--all', 'resolved ones, too')
    .option('--limit <n>', 'how many at most', wholeNumber(1, 1_000), 50)
    .action(async (options: ListOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await governanceOf(db).incidents.list(options);
        if (output.json) output.data(all);
        else show(output, all, options.all === true, new Date(await databaseNow(db)));
      });
    });
  withKey(withTenant(incidents.command('open')))
    .description('say that something is wrong')
    .argument('<summary>', 'what is wrong', notBlank)
    .option(
      '--capability <name>',
      'what is affected: it is degraded until the incident is resolved',
      notBlank,
    )
    .addOption(
      new Option('--severity <severity>', 'P1 wants somebody now, P2 today')
        .choices(['P1', 'P2', 'P3'])
        .default('P2'),
    )
    .action(async (summary: string, options: OpenOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      const { capability, severity } = options;
      const id = await session((db) =>
        governanceOf(db).incidents.open(
          { summary, severity, ...(capability !== undefined && { capability }) },
          { as: who, tenant: tenantOf(options) },
        ),
      );
      if (output.json) output.data({ incidentId: id });
      else output.line(`Opened ${id}. \`writ incidents resolve ${id} --resolution TEXT\` ends it.`);
    });
  withKey(withTenant(incidents.command('resolve')))
    .description('say that it is in order again; what a failed rollback holds is free then')
    .argument(
      '<incident>',
      'id of the incident',
      uuid('The id of an incident is a UUID; `writ incidents list` shows them.'),
    )
    .requiredOption(
      '--resolution <text>',
      'how it was resolved, in more than ten characters',
      notBlank,
    )
    .action(async (id: string, options: ResolveOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      const { resolution } = options;
      await session((db) =>
        governanceOf(db).incidents.resolve(id, { as: who, tenant: tenantOf(options), resolution }),
      );
      if (output.json) output.data({ incidentId: id, resolved: true });
      else output.line(`Resolved ${id}.`);
    });
}

function show(output: Output, all: readonly Incident[], resolved: boolean, now: Date): void {
  if (all.length === 0) {
    output.line(resolved ? 'No incidents.' : 'No incident is open.');
    return;
  }
  output.table(
    [
      'INCIDENT',
      'SEVERITY',
      'CAPABILITY',
      'OPENED',
      'BY',
      ...(resolved ? ['RESOLVED'] : []),
      'SUMMARY',
    ].map((title) => ({ title })),
    all.map((each) => [
      each.incident_id,
      each.resolved_at === null && each.severity === 'P1'
        ? output.style('red', 'P1')
        : each.severity,
      each.capability === null ? null : plain(each.capability),
      ago(new Date(each.opened_at), now),
      plain(each.opened_by),
      ...(resolved
        ? [
            each.resolved_at === null
              ? 'open'
              : plain(`${ago(new Date(each.resolved_at), now)} by ${each.resolved_by}`),
          ]
        : []),
      plain(each.summary),
    ]),
  );
}

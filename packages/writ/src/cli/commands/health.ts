/** `writ health`: how everything that can be changed is, and why. */
import type { Command } from 'commander';
import type { Health } from '../../governance/governance.js';
import { contextOf } from '../command.js';
import { exitCodes } from '../failure.js';
import { governanceOf, type TenantOptions, tenantOf, withTenant } from '../governance/session.js';
import { healthStyle, plain } from '../governance/words.js';
import type { Output } from '../output.js';

export function addHealth(program: Command): void {
  withTenant(program.command('health'))
    .description(
      'how capabilities, domains and the whole are, and why; exit code 0 if the whole is HEALTHY',
    )
    .action(async (options: TenantOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const health = await governanceOf(db).health(tenantOf(options));
        if (health.system !== 'HEALTHY') process.exitCode = exitCodes.failed;
        if (output.json) output.data(health);
        else show(output, health);
      });
    });
}

function show(output: Output, { system, domains, capabilities }: Health): void {
  const styled = (status: string) => output.style(healthStyle[status] ?? 'dim', status);
  output.line(`${output.style('bold', 'system')}  ${styled(system)}`);
  if (capabilities.length === 0) {
    output.line('No capabilities are known.');
    return;
  }
  output.line();
  output.table(
    [{ title: 'DOMAIN' }, { title: 'CAPABILITY' }, { title: 'STATUS' }, { title: 'WHY' }],
    Object.entries(domains).flatMap(([domain, status]) => [
      [output.style('bold', plain(domain)), '', styled(status), ''],
      ...capabilities
        .filter((each) => each.domain === domain)
        .map((each) => [
          '',
          each.capability,
          styled(each.status),
          each.why === 'unmonitored' ? output.style('dim', 'unmonitored') : plain(each.why ?? ''),
        ]),
    ]),
  );
}

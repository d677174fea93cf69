/** `writ freeze`: times in which no contract is activated, unless somebody breaks the glass. */
import type { Command } from 'commander';
import type { Freeze } from '../../governance/freezes.js';
import { contextOf, later, type Moment, notBlank, uuid } from '../command.js';
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
import { type Output, plural } from '../output.js';
import { moment as written } from '../runs/words.js';
import { databaseNow } from './runs/session.js';

interface OnOptions extends KeyOptions, TenantOptions {
  readonly from?: Moment;
  readonly until?: Moment;
}

export function addFreeze(program: Command): void {
  const freeze = program
    .command('freeze')
    .description('times in which nothing is activated: on, off, list');
  withKey(withTenant(freeze.command('on'), 'what is frozen; otherwise the default tenant'))
    .description(
      'no contract is activated from now on, or in the time that is given; what goes on goes on',
    )
    .argument('<reason>', 'why, for those who are refused', notBlank)
    .option(
      '--from <time>',
      'when it begins: a time, or in how long, such as 2h; otherwise now',
      later,
    )
    .option('--until <time>', 'when it ends by itself: a time, or in how long', later)
    .action(async (reason: string, options: OnOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const now = await databaseNow(db);
        const [from, until] = [options.from?.(now), options.until?.(now)];
        const id = await governanceOf(db).freezes.put(
          { reason, ...(from && { from }), ...(until && { until }) },
          { as: who, tenant: tenantOf(options) },
        );
        if (output.json) return output.data({ freezeId: id });
        const when = `${from ? `from ${written(from.toISOString())}` : 'from now on'}${until ? ` until ${written(until.toISOString())}` : ''}`;
        output.line(`Nothing is activated ${when}. \`writ freeze off ${id}\` ends it.`);
      });
    });
  withKey(withTenant(freeze.command('off'), 'what was frozen; otherwise the default tenant'))
    .description('end a freeze; without an id, all that last')
    .argument(
      '[freeze]',
      'id of the freeze',
      uuid('The id of a freeze is a UUID; `writ freeze list` shows them.'),
    )
    .action(
      async (id: string | undefined, options: KeyOptions & TenantOptions, command: Command) => {
        const who = whoActs(options);
        const { output, session } = contextOf(command);
        await session(async (db) => {
          const { freezes } = governanceOf(db);
          const tenant = tenantOf(options);
          const lasting = async () =>
            (await freezes.list({ tenant }))
              .filter(({ lasts }) => lasts)
              .map(({ freeze_id }) => freeze_id);
          const ids = id === undefined ? await lasting() : [id];
          for (const each of ids) await freezes.lift(each, { as: who, tenant });
          if (output.json) output.data({ lifted: ids });
          else
            output.line(
              ids.length === 0 ? 'Nothing is frozen.' : `Lifted ${plural(ids.length, 'freeze')}.`,
            );
        });
      },
    );
  withTenant(freeze.command('list'), 'only those of this tenant')
    .description('freezes that last, and those to come')
    .action(async (options: TenantOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await governanceOf(db).freezes.list(options);
        if (output.json) output.data(all);
        else show(output, all);
      });
    });
}

const time = (text: string) => written(new Date(text).toISOString());

function show(output: Output, all: readonly Freeze[]): void {
  if (all.length === 0) {
    output.line('Nothing is frozen.');
    return;
  }
  output.table(
    ['FREEZE', 'TENANT', 'FROM', 'UNTIL', 'NOW', 'BY', 'REASON'].map((title) => ({ title })),
    all.map((each) => [
      each.freeze_id,
      plain(each.tenant_id),
      time(each.begins_at),
      each.ends_at === null ? 'lifted' : time(each.ends_at),
      each.lasts ? output.style('yellow', 'frozen') : 'to come',
      plain(each.put_by),
      plain(each.reason),
    ]),
  );
}

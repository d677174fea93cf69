/** `writ freeze`: times in which no contract is activated, unless somebody breaks the glass. */
import type { Command } from 'commander';
import { contextOf, later, type Moment, notBlank, uuid } from '../command.js';
import { type KeyOptions, put, type TenantOptions, tenantOf, whoActs, withKey, withTenant } from '../governance/session.js';
import { plain } from '../governance/words.js';
import { type Output, plural } from '../output.js';
import { moment as written } from '../runs/words.js';
import { databaseNow } from './runs/session.js';

interface OnOptions extends KeyOptions, TenantOptions {
  readonly from?: Moment;
  readonly until?: Moment;
}

interface Listed {
  readonly freeze_id: string;
  readonly tenant_id: string;
  readonly reason: string;
  readonly begins_at: Date;
  readonly ends_at: Date | null;
  readonly put_by: string;
  readonly lasts: boolean;
}

export function addFreeze(program: Command): void {
  const freeze = program.command('freeze').description('times in which nothing is activated: on, off, list');
  withKey(withTenant(freeze.command('on'), 'what is frozen; otherwise the default tenant'))
    .description('no contract is activated from now on, or in the time that is given; what goes on goes on')
    .argument('<reason>', 'why, for those who are refused', notBlank)
    .option('--from <time>', 'when it begins: a time, or in how long, such as 2h; otherwise now', later)
    .option('--until <time>', 'when it ends by itself: a time, or in how long', later)
    .action(async (reason: string, options: OnOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const now = await databaseNow(db);
        const times = { begins_at: options.from?.(now).toISOString(), ends_at: options.until?.(now).toISOString() };
        const { freeze_id } = await put<{ freeze_id: string }>(db, 'fn_freeze_put', who, { reason, ...times }, options);
        if (output.json) return output.data({ freezeId: freeze_id });
        const from = times.begins_at ? `from ${written(times.begins_at)}` : 'from now on';
        output.line(
          `Nothing is activated ${from}${times.ends_at ? ` until ${written(times.ends_at)}` : ''}. \`writ freeze off ${freeze_id}\` ends it.`,
        );
      });
    });
  withKey(withTenant(freeze.command('off'), 'what was frozen; otherwise the default tenant'))
    .description('end a freeze; without an id, all that last')
    .argument('[freeze]', 'id of the freeze', uuid('The id of a freeze is a UUID; `writ freeze list` shows them.'))
    .action(async (id: string | undefined, options: KeyOptions & TenantOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const ids =
          id === undefined
            ? (await readFreezes(db, tenantOf(options))).filter(({ lasts }) => lasts).map(({ freeze_id }) => freeze_id)
            : [id];
        for (const each of ids) await put(db, 'fn_freeze_put', who, { freeze_id: each }, options);
        if (output.json) output.data({ lifted: ids });
        else output.line(ids.length === 0 ? 'Nothing is frozen.' : `Lifted ${plural(ids.length, 'freeze')}.`);
      });
    });
  withTenant(freeze.command('list'), 'only those of this tenant')
    .description('freezes that last, and those to come')
    .action(async (options: TenantOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await readFreezes(db, options.tenant);
        if (output.json) output.data(all);
        else show(output, all);
      });
    });
}

const readFreezes = (db: { rows<T>(sql: string, params: unknown[]): Promise<T[]> }, tenant: string | undefined) =>
  db.rows<Listed>(
    'select * from writ.change_freeze where lifted_at is null and (ends_at is null or ends_at > writ.now()) and tenant_id = coalesce($1, tenant_id) order by begins_at',
    [tenant ?? null],
  );

function show(output: Output, all: readonly Listed[]): void {
  if (all.length === 0) {
    output.line('Nothing is frozen.');
    return;
  }
  output.table(
    ['FREEZE', 'TENANT', 'FROM', 'UNTIL', 'NOW', 'BY', 'REASON'].map((title) => ({ title })),
    all.map((each) => [
      each.freeze_id,
      plain(each.tenant_id),
      written(each.begins_at.toISOString()),
      each.ends_at === null ? 'lifted' : written(each.ends_at.toISOString()),
      each.lasts ? output.style('yellow', 'frozen') : 'to come',
      plain(each.put_by),
      plain(each.reason),
    ]),
  );
}

/** `writ signals`: what somebody or something says about the health of a capability: a BLOCKED signal keeps changes away from it. */
import { type Command, Option } from 'commander';
import { type Duration, milliseconds } from '../../queue/duration.js';
import { contextOf, duration, notBlank } from '../command.js';
import { type KeyOptions, put, type TenantOptions, whoActs, withKey, withTenant } from '../governance/session.js';
import { plain } from '../governance/words.js';
import { ago } from '../output.js';
import { databaseNow } from './runs/session.js';

interface Options extends KeyOptions, TenantOptions {
  readonly reason: string;
  readonly type: string;
  readonly for?: Duration;
}

interface Listed {
  readonly id: string;
  readonly signal_type: string;
  readonly scope: string;
  readonly decision: string;
  readonly reason: string;
  readonly recorded_by: string;
  readonly recorded_at: Date;
  readonly expires_at: Date | null;
  readonly now: Date;
}

const decisions = ['CLEAN', 'BLOCKED', 'WARN', 'PENDING'] as const;

export function addSignals(program: Command): void {
  const signals = program.command('signals').description('what is said about the health of capabilities: record it, or see what stands');
  withKey(withTenant(signals.command('record')))
    .description('say how a capability is; it takes the place of the signal of the same type')
    .argument('<capability>', 'what it is about', notBlank)
    .addArgument(signals.createArgument('<decision>', 'BLOCKED: unhealthy; WARN: degraded; CLEAN and PENDING: neither').choices(decisions))
    .requiredOption('--reason <text>', 'why, for people', notBlank)
    .option('--type <type>', 'what kind of signal it is', notBlank, 'MANUAL')
    .addOption(new Option('--for <duration>', 'how long it stands; otherwise until another takes its place').argParser(duration))
    .action(async (scope: string, decision: string, options: Options, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const until = options.for === undefined ? undefined : new Date((await databaseNow(db)) + milliseconds(options.for)).toISOString();
        const signal = { signal_type: options.type, scope, decision, reason: options.reason, expires_at: until };
        const { signal_id } = await put<{ signal_id: string }>(db, 'fn_signal_record', who, signal, options);
        if (output.json) output.data({ signalId: signal_id });
        else output.line(plain(`${decision} stands for ${scope}${until ? ` until ${until}` : ''}.`));
      });
    });
  withTenant(signals.command('list'), 'only those of this tenant')
    .description('signals that stand')
    .action(async (options: TenantOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await db.rows<Listed>(
          'select s.*, writ.now() as now from writ.governance_signals s where s.stands and s.tenant_id = coalesce($1, s.tenant_id) order by s.scope, s.signal_type',
          [options.tenant ?? null],
        );
        if (output.json) return output.data(all.map(({ now: _, ...signal }) => signal));
        if (all.length === 0) return output.line('No signal stands.');
        output.table(
          ['SCOPE', 'TYPE', 'DECISION', 'REASON', 'BY', 'SINCE'].map((title) => ({ title })),
          all.map((each) => [
            plain(each.scope),
            plain(each.signal_type),
            each.decision,
            plain(each.reason),
            plain(each.recorded_by),
            ago(each.recorded_at, each.now),
          ]),
        );
      });
    });
}

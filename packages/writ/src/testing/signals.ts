/** `writ signals`: what somebody or something says about the health of a capability: a BLOCKED signal keeps changes away from it. */
import { type Command, Option } from 'commander';
import type { NewGovernanceSignal } from '../../governance/signals.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import { contextOf, duration, notBlank } from '../command.js';
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
import { ago } from '../output.js';
import { databaseNow } from './runs/session.js';

interface Options extends KeyOptions, TenantOptions {
  readonly reason: string;
  readonly type: string;
  readonly for?: Duration;
}

const decisions = ['CLEAN', 'BLOCKED', 'WARN', 'PENDING'] as const;

export function addSignals(program: Command): void {
  const signals = program
    .command('signals')
    .description('what is said about the health of capabilities: record it, or see what stands');
  withKey(withTenant(signals.command('record')))
    .description('say how a capability is; it takes the place of the signal of the same type')
    .argument('<capability>', 'what it is about', notBlank)
    .addArgument(
      signals
        .createArgument(
          '<decision>',
          'BLOCKED: unhealthy; WARN: degraded; CLEAN and PENDING: neither',
        )
        .choices(decisions),
    )
    .requiredOption('--reason <text>', 'why, for people', notBlank)
    .option('--type <type>', 'what kind of signal it is', notBlank, 'MANUAL')
    .addOption(
      new Option(
        '--for <duration>',
        'how long it stands; otherwise until another takes its place',
      ).argParser(duration),
    )
    .action(
      async (
        scope: string,
        decision: NewGovernanceSignal['decision'],
        options: Options,
        command: Command,
      ) => {
        const who = whoActs(options);
        const { output, session } = contextOf(command);
        await session(async (db) => {
          const until =
            options.for === undefined
              ? undefined
              : new Date((await databaseNow(db)) + milliseconds(options.for));
          const { type, reason } = options;
          const signalId = await governanceOf(db).signals.record(
            { type, scope, decision, reason, ...(until && { until }) },
            { as: who, tenant: tenantOf(options) },
          );
          if (output.json) output.data({ signalId });
          else
            output.line(
              plain(
                `${decision} stands for ${scope}${until ? ` until ${until.toISOString()}` : ''}.`,
              ),
            );
        });
      },
    );
  withTenant(signals.command('list'), 'only those of this tenant')
    .description('signals that stand')
    .action(async (options: TenantOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await governanceOf(db).signals.list(options);
        if (output.json) return output.data(all);
        if (all.length === 0) return output.line('No signal stands.');
        const now = new Date(await databaseNow(db));
        output.table(
          ['SCOPE', 'TYPE', 'DECISION', 'REASON', 'BY', 'SINCE'].map((title) => ({ title })),
          all.map((each) => [
            plain(each.scope),
            plain(each.signal_type),
            each.decision,
            plain(each.reason),
            plain(each.recorded_by),
            ago(new Date(each.recorded_at), now),
          ]),
        );
      });
    });
}

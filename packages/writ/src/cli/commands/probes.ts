/** `writ probes`: how health is found out: addresses and queries that workers ask, and what others report. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ProbeOptions } from '../../governance/governance.js';
import type { Status } from '../../governance/probes.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import { contextOf, duration, notBlank, wholeNumber } from '../command.js';
import { wrongUsage } from '../failure.js';
import {
  governanceOf,
  type KeyOptions,
  type TenantOptions,
  tenantOf,
  whoActs,
  withKey,
  withTenant,
} from '../governance/session.js';
import { healthStyle, plain } from '../governance/words.js';
import { ago, type Output, span } from '../output.js';

type Type = NonNullable<ProbeOptions['type']>;

/** What each type is told; what it must be told, first. */
const settings: Readonly<
  Record<Type, readonly [must: readonly (keyof Config)[], may: readonly (keyof Config)[]]>
> = {
  http: [['url'], ['expect']],
  sql: [['query'], ['below', 'above', 'warnBelow', 'warnAbove']],
  prometheus: [
    ['url', 'query'],
    ['below', 'above', 'warnBelow', 'warnAbove'],
  ],
  heartbeat: [[], []],
  reported: [[], []],
};

interface Config {
  readonly url?: string;
  readonly query?: string;
  readonly expect?: number;
  readonly below?: number;
  readonly above?: number;
  readonly warnBelow?: number;
  readonly warnAbove?: number;
}

interface PutOptions extends Config, KeyOptions, TenantOptions {
  readonly capability: string;
  readonly type: Type;
  readonly every?: Duration;
  readonly timeout?: Duration;
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It is a number.');
}

export function addProbes(program: Command): void {
  const probes = program
    .command('probes')
    .description('how health is found out: what workers ask, and what others report');
  withKey(withTenant(probes.command('put')))
    .description(
      'add a probe of a capability, or change it; from then on the capability is as healthy as its probes say',
    )
    .argument('<name>', 'name of the probe')
    .requiredOption('--capability <name>', 'whose health it tells')
    .addOption(
      new Option(
        '--type <type>',
        'http, sql and prometheus are asked by workers; heartbeat and reported wait for `writ probes report`',
      )
        .choices(Object.keys(settings))
        .makeOptionMandatory(),
    )
    .option(
      '--url <url>',
      'http: what is asked, healthy if it answers 200 to 299; prometheus: its address',
      notBlank,
    )
    .option('--expect <status>', 'http: the status that is healthy', wholeNumber(100, 599))
    .option(
      '--query <query>',
      'sql, prometheus: what is asked; the first value counts, and true is healthy',
      notBlank,
    )
    .option('--below <n>', 'sql, prometheus: unhealthy unless the value is below', number)
    .option('--above <n>', 'sql, prometheus: unhealthy unless the value is above', number)
    .option('--warn-below <n>', 'sql, prometheus: degraded unless the value is below', number)
    .option('--warn-above <n>', 'sql, prometheus: degraded unless the value is above', number)
    .option(
      '--every <duration>',
      'how often; 10s unless given. An answer counts for three times as long',
      duration,
    )
    .option('--timeout <duration>', 'how long an answer may take; 2s unless given', duration)
    .action(async (name: string, options: PutOptions, command: Command) => {
      const { capability, type, every, timeout } = options;
      const probe: ProbeOptions = {
        name,
        capability,
        type,
        config: configOf(type, options) as Record<string, unknown>,
        ...(every !== undefined && { every_ms: Math.round(milliseconds(every)) }),
        ...(timeout !== undefined && { timeout_ms: Math.round(milliseconds(timeout)) }),
      };
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session((db) =>
        governanceOf(db).putProbe(probe, { as: who, tenant: tenantOf(options) }),
      );
      if (output.json) output.data({ name });
      else output.line(plain(`${capability} is as healthy as ${name} says.`));
    });
  withKey(withTenant(probes.command('remove')))
    .description(
      'take a probe away; its capability stays monitored, until `writ capabilities put` says otherwise',
    )
    .argument('<name>', 'name of the probe')
    .action(async (name: string, options: KeyOptions & TenantOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session((db) =>
        governanceOf(db).putProbe({ name, removed: true }, { as: who, tenant: tenantOf(options) }),
      );
      if (output.json) output.data({ name, removed: true });
      else output.line(plain(`Removed ${name}.`));
    });
  withKey(withTenant(probes.command('report')))
    .description('say how something is, for a probe of type heartbeat or reported')
    .argument('<name>', 'name of the probe')
    .argument('[status]', 'HEALTHY, DEGRADED or UNHEALTHY', statusOf, 'HEALTHY')
    .option('--detail <text>', 'why, for people')
    .action(
      async (
        name: string,
        status: Status,
        options: KeyOptions & TenantOptions & { detail?: string },
        command: Command,
      ) => {
        const who = whoActs(options);
        const { output, session } = contextOf(command);
        const { detail } = options;
        await session((db) =>
          governanceOf(db).report(name, status, {
            as: who,
            tenant: tenantOf(options),
            ...(detail !== undefined && { detail }),
          }),
        );
        if (output.json) output.data({ name, status });
        else output.line(plain(`${name} says ${status}.`));
      },
    );
  withTenant(probes.command('list'), 'only those of this tenant')
    .description('every probe, and what it said last')
    .action(async (options: TenantOptions, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await db.rows<Listed>(
          'select p.*, writ.now() as now from writ.probe p where tenant_id = coalesce($1, tenant_id) order by tenant_id, capability, name',
          [options.tenant ?? null],
        );
        if (output.json) output.data(all.map(({ now: _, ...probe }) => probe));
        else show(output, all);
      });
    });
}

function statusOf(text: string): Status {
  const status = text.toUpperCase();
  if (status === 'HEALTHY' || status === 'DEGRADED' || status === 'UNHEALTHY') return status;
  throw new InvalidArgumentError('It is HEALTHY, DEGRADED or UNHEALTHY.');
}

function configOf(type: Type, given: Config): Config {
  const [must, may] = settings[type];
  const all = ['url', 'query', 'expect', 'below', 'above', 'warnBelow', 'warnAbove'] as const;
  const option = (name: string) =>
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const missing = must.find((name) => given[name] === undefined);
  if (missing)
    throw wrongUsage(
      `A probe of type ${type} needs ${option(missing)}.`,
      'See `writ probes put --help`.',
    );
  const unread = all.find(
    (name) => given[name] !== undefined && !must.includes(name) && !may.includes(name),
  );
  if (unread)
    throw wrongUsage(
      `A probe of type ${type} does not read ${option(unread)}.`,
      'See `writ probes put --help`.',
    );
  return Object.fromEntries(
    all.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  ) as Config;
}

interface Listed {
  readonly tenant_id: string;
  readonly name: string;
  readonly capability: string;
  readonly type: Type;
  readonly config: Config;
  readonly every_ms: number;
  readonly status: string | null;
  readonly detail: string | null;
  readonly checked_at: Date | null;
  readonly now: Date;
}

function show(output: Output, all: readonly Listed[]): void {
  if (all.length === 0) {
    output.line(
      'No probes: every capability is healthy by declaration. `writ probes put` adds one.',
    );
    return;
  }
  const tenants = new Set(all.map(({ tenant_id }) => tenant_id)).size > 1;
  output.table(
    [
      ...(tenants ? ['TENANT'] : []),
      'PROBE',
      'CAPABILITY',
      'TYPE',
      'EVERY',
      'SAYS',
      'WHY',
      'ASKED',
      'WHAT',
    ].map((title) => ({ title })),
    all.map((each) => [
      ...(tenants ? [plain(each.tenant_id)] : []),
      each.name,
      each.capability,
      each.type,
      span(each.every_ms),
      each.status === null
        ? output.style('yellow', 'nothing yet')
        : output.style(healthStyle[each.status] ?? 'dim', each.status),
      plain(each.detail ?? ''),
      each.checked_at === null ? 'never' : ago(each.checked_at, each.now),
      plain([each.config.url, each.config.query].filter(Boolean).join(' ')),
    ]),
  );
}

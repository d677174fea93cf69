/**
 * Commands about health and what stands in the way of changes: `writ health`, `probes`, `signals`,
 * `incidents`, `freeze`.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Freeze } from '../../governance/freezes.js';
import type { Status, SystemHealth } from '../../governance/health.js';
import type { Incident, Severity } from '../../governance/incidents.js';
import type { Probe, ProbeOptions } from '../../governance/probes.js';
import type { GovernanceSignal, NewGovernanceSignal } from '../../governance/signals.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import { duration, later, type Moment, notBlank, uuid, wholeNumber } from '../command.js';
import { exitCodes } from '../failure.js';
import { withKey, withTenant } from '../governance/session.js';
import { healthStyle } from '../governance/words.js';
import { ago, plural, span } from '../output.js';
import { moment as written } from '../runs/words.js';
import { act, collect, list, show } from '../shapes.js';
import { notOnlyDefault } from './contracts.js';

type Tenant = { tenant?: string };
const ofTenant = ({ tenant }: Tenant) => ({ tenant });
const since = (at: string, now: Date) => ago(new Date(at), now);
const onlyTenant = 'only those of this tenant';

export function addHealth(program: Command): void {
  show<SystemHealth, Tenant>(
    withTenant(program.command('health')).description(
      'how capabilities, domains and the whole are, and why; exit code 0 if the whole is HEALTHY',
    ),
    {
      read: async (writ, { options }) => {
        const health = await writ.health.get(ofTenant(options));
        if (health.system !== 'HEALTHY') process.exitCode = exitCodes.failed;
        return health;
      },
      print: ({ system, domains, capabilities }, { output }) => {
        const styled = (status: Status) => output.style(healthStyle[status] ?? 'dim', status);
        output.line(`${output.style('bold', 'system')}  ${styled(system)}`);
        if (capabilities.length === 0) return output.line('No capabilities are known.');
        output.line();
        output.table(
          ['DOMAIN', 'CAPABILITY', 'STATUS', 'WHY'].map((title) => ({ title })),
          Object.entries(domains).flatMap(([domain, status]) => [
            [output.style('bold', domain), '', styled(status), ''],
            ...capabilities
              .filter((each) => each.domain === domain)
              .map(({ capability_name, status, why }) => [
                '',
                capability_name,
                styled(status),
                why === 'unmonitored' ? output.style('dim', why) : (why ?? ''),
              ]),
          ]),
        );
      },
    },
  );
}

type Type = NonNullable<ProbeOptions['type']>;
interface Config {
  readonly url?: string;
  readonly query?: string;
  readonly expect?: number;
  readonly below?: number;
  readonly above?: number;
  readonly warnBelow?: number;
  readonly warnAbove?: number;
}

const probeTypes = ['http', 'sql', 'prometheus', 'heartbeat', 'reported'] as const;

interface PutOptions extends Config, Tenant, Record<string, unknown> {
  readonly capability: string;
  readonly type: Type;
  readonly every?: Duration;
  readonly timeout?: Duration;
}

export function addProbes(program: Command): void {
  const probes = program
    .command('probes')
    .description('how health is found out: what workers ask, and what others report');
  const put = withKey(withTenant(probes.command('put')))
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
        .choices(probeTypes)
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
    );
  for (const each of ['below', 'above'])
    put.option(`--${each} <n>`, `sql, prometheus: unhealthy unless the value is ${each}`, number);
  for (const each of ['below', 'above'])
    put.option(
      `--warn-${each} <n>`,
      `sql, prometheus: degraded unless the value is ${each}`,
      number,
    );
  put
    .option(
      '--every <duration>',
      'how often; 10s unless given. An answer counts for three times as long',
      duration,
    )
    .option('--timeout <duration>', 'how long an answer may take; 2s unless given', duration);
  act<void, PutOptions>(put, {
    do: (writ, { args: [name = ''], options }) => {
      const { capability, type, every, timeout } = options;
      const { url, query, expect, below, above, warnBelow, warnAbove } = options;
      const config = { url, query, expect, below, above, warnBelow, warnAbove };
      return writ.probes.put(
        {
          name,
          capability,
          type,
          config: Object.fromEntries(
            Object.entries(config).filter(([, value]) => value !== undefined),
          ),
          every_ms: every && Math.round(milliseconds(every)),
          timeout_ms: timeout && Math.round(milliseconds(timeout)),
        },
        ofTenant(options),
      );
    },
    data: (_, { args: [name] }) => ({ name }),
    says: (_, { args: [name], options }) => `${options.capability} is as healthy as ${name} says.`,
  });
  act<void, Tenant & Record<string, unknown>>(
    withKey(withTenant(probes.command('remove')))
      .description(
        'take a probe away; its capability stays monitored, until `writ capabilities put` says otherwise',
      )
      .argument('<name>', 'name of the probe'),
    {
      do: (writ, { args: [name = ''], options }) => writ.probes.remove(name, ofTenant(options)),
      data: (_, { args: [name] }) => ({ name, removed: true }),
      says: (_, { args: [name] }) => `Removed ${name}.`,
    },
  );
  act<void, Tenant & { detail?: string }>(
    withKey(withTenant(probes.command('report')))
      .description('say how something is, for a probe of type heartbeat or reported')
      .argument('<name>', 'name of the probe')
      .argument('[status]', 'HEALTHY, DEGRADED or UNHEALTHY', statusOf, 'HEALTHY')
      .option('--detail <text>', 'why, for people'),
    {
      do: (writ, { args: [name = '', status], options: { detail, tenant } }) =>
        writ.probes.report(name, status as Status, {
          tenant,
          detail,
        }),
      data: (_, { args: [name, status] }) => ({ name, status }),
      says: (_, { args: [name, status] }) => `${name} says ${status}.`,
    },
  );
  list<Probe, Tenant & Record<string, unknown>>(
    withTenant(probes.command('list'), onlyTenant).description(
      'every probe, and what it said last',
    ),
    {
      limit: 1_000,
      read: (writ, page, { options }) => writ.probes.list({ ...page, ...ofTenant(options) }),
      none: 'No probes: every capability is healthy by declaration. `writ probes put` adds one.',
      columns: ({ output }) => [
        { title: 'TENANT', of: (probe) => probe.tenant_id, when: notOnlyDefault },
        { title: 'PROBE', of: (probe) => probe.name },
        { title: 'CAPABILITY', of: (probe) => probe.capability },
        { title: 'TYPE', of: (probe) => probe.type },
        { title: 'EVERY', of: (probe) => span(probe.every_ms) },
        {
          title: 'SAYS',
          of: ({ status }) =>
            status === null
              ? output.style('yellow', 'nothing yet')
              : output.style(healthStyle[status] ?? 'dim', status),
        },
        { title: 'WHY', of: (probe) => probe.detail ?? '' },
        {
          title: 'ASKED',
          of: ({ checked_at: at }, now) => (at === null ? 'never' : since(at, now)),
        },
        {
          title: 'WHAT',
          of: ({ config: { url, query } }) => [url, query].filter(Boolean).join(' '),
        },
      ],
    },
  );
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It is a number.');
}

function statusOf(text: string): Status {
  const status = text.toUpperCase();
  if (status === 'HEALTHY' || status === 'DEGRADED' || status === 'UNHEALTHY') return status;
  throw new InvalidArgumentError('It is HEALTHY, DEGRADED or UNHEALTHY.');
}

export function addSignals(program: Command): void {
  const signals = program
    .command('signals')
    .description('what is said about the health of capabilities: record it, or see what stands');
  act<
    { id: string; until: Date | undefined },
    Tenant & { reason: string; type: string; for?: Duration }
  >(
    withKey(withTenant(signals.command('record')))
      .description('say how a capability is; it takes the place of the signal of the same type')
      .argument('<capability>', 'what it is about', notBlank)
      .addArgument(
        signals
          .createArgument(
            '<decision>',
            'BLOCKED: unhealthy; WARN: degraded; CLEAN and PENDING: neither',
          )
          .choices(['CLEAN', 'BLOCKED', 'WARN', 'PENDING']),
      )
      .requiredOption('--reason <text>', 'why, for people', notBlank)
      .option('--type <type>', 'what kind of signal it is', notBlank, 'MANUAL')
      .addOption(
        new Option(
          '--for <duration>',
          'how long it stands; otherwise until another takes its place',
        ).argParser(duration),
      ),
    {
      do: async (writ, { args: [scope = '', decision], options }) => {
        const { type, reason, for: lasts } = options;
        const until =
          lasts === undefined
            ? undefined
            : new Date((await writ.now()).getTime() + milliseconds(lasts));
        const signal = { type, scope, reason, until };
        const id = await writ.signals.record(
          { ...signal, decision: decision as NewGovernanceSignal['decision'] },
          ofTenant(options),
        );
        return { id, until };
      },
      data: ({ id }) => ({ id }),
      says: ({ until }, { args: [scope, decision] }) =>
        `${decision} stands for ${scope}${until ? ` until ${until.toISOString()}` : ''}.`,
    },
  );
  list<GovernanceSignal, Tenant & { all?: boolean }>(
    withTenant(signals.command('list'), onlyTenant)
      .description('signals that stand')
      .option('--all', 'those that were superseded or have expired, too; the newest first'),
    {
      limit: 1_000,
      read: (writ, page, { options: { all, ...options } }) =>
        writ.signals.list({ ...page, ...ofTenant(options), all }),
      none: 'No signal stands.',
      columns: [
        { title: 'SCOPE', of: (signal) => signal.scope },
        { title: 'TYPE', of: (signal) => signal.signal_type },
        { title: 'DECISION', of: (signal) => signal.decision },
        { title: 'REASON', of: (signal) => signal.reason },
        { title: 'BY', of: (signal) => signal.recorded_by },
        { title: 'SINCE', of: (signal, now) => since(signal.recorded_at, now) },
      ],
    },
  );
}

export function addIncidents(program: Command): void {
  const incidents = program
    .command('incidents')
    .description('what is wrong: see it, open one, resolve one');
  list<Incident, { all?: boolean; tenant?: string }>(
    withTenant(incidents.command('list'), onlyTenant)
      .description('incidents that are open, the worst first')
      .option('--all', 'resolved ones, too; the newest first'),
    {
      limit: 50,
      read: (writ, page, { options: { all, ...options } }) =>
        writ.incidents.list({ ...page, ...ofTenant(options), all }),
      none: ({ options }) => (options.all ? 'No incidents.' : 'No incident is open.'),
      columns: ({ options, output }) => [
        { title: 'INCIDENT', of: ({ incidentId }) => incidentId },
        {
          title: 'SEVERITY',
          of: ({ severity, resolvedAt }) =>
            resolvedAt === null && severity === 'P1' ? output.style('red', 'P1') : severity,
        },
        { title: 'CAPABILITY', of: ({ capability }) => capability },
        { title: 'OPENED', of: ({ openedAt }, now) => since(openedAt, now) },
        { title: 'BY', of: ({ openedBy }) => openedBy },
        {
          title: 'RESOLVED',
          when: () => options.all === true,
          of: ({ resolvedAt, resolvedBy }, now) =>
            resolvedAt === null ? 'open' : `${since(resolvedAt, now)} by ${resolvedBy}`,
        },
        { title: 'SUMMARY', of: ({ summary }) => summary },
      ],
    },
  );
  act<string, { capability?: string; severity: Severity; tenant?: string }>(
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
      ),
    {
      do: (writ, { args: [summary = ''], options }) =>
        writ.incidents.open({ ...options, summary }, ofTenant(options)),
      data: (incidentId) => ({ incidentId }),
      says: (id) => `Opened ${id}. \`writ incidents resolve ${id} --resolution TEXT\` ends it.`,
    },
  );
  act<void, { resolution: string; tenant?: string }>(
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
      ),
    {
      do: (writ, { args: [id = ''], options }) =>
        writ.incidents.resolve(id, { resolution: options.resolution, ...ofTenant(options) }),
      data: (_, { args: [incidentId] }) => ({ incidentId, resolved: true }),
      says: (_, { args: [id] }) => `Resolved ${id}.`,
    },
  );
}

const time = (text: string) => written(new Date(text).toISOString());

export function addFreeze(program: Command): void {
  const freeze = program
    .command('freeze')
    .description('times in which nothing is activated: on, off, list');
  act<
    { id: string; from: Date | undefined; until: Date | undefined },
    Tenant & { from?: Moment; until?: Moment }
  >(
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
      .option('--until <time>', 'when it ends by itself: a time, or in how long', later),
    {
      do: async (writ, { args: [reason = ''], options }) => {
        const now = (await writ.now()).getTime();
        const [from, until] = [options.from?.(now), options.until?.(now)];
        const times = { from, until };
        const id = await writ.freezes.put({ reason, ...times }, ofTenant(options));
        return { id, from, until };
      },
      data: ({ id }) => ({ freeze_id: id }),
      says: ({ id, from, until }) =>
        `Nothing is activated ${from ? `from ${time(from.toISOString())}` : 'from now on'}${until ? ` until ${time(until.toISOString())}` : ''}. \`writ freeze off ${id}\` ends it.`,
    },
  );
  act<{ lifted: readonly string[] }, Tenant & Record<string, unknown>>(
    withKey(withTenant(freeze.command('off'), 'what was frozen; otherwise the default tenant'))
      .description('end a freeze; without an id, all that last')
      .argument(
        '[freeze]',
        'id of the freeze',
        uuid('The id of a freeze is a UUID; `writ freeze list` shows them.'),
      ),
    {
      do: async (writ, { args: [id], options }) => {
        const { tenant = 'default' } = options;
        const { rows } = await collect(
          (page) => writ.freezes.list({ ...page, tenant }),
          id === undefined ? 10_000 : 0,
        );
        const lasting = rows.filter(({ lasts }) => lasts).map(({ freeze_id }) => freeze_id);
        const lifted = id === undefined ? lasting : [id];
        for (const each of lifted) await writ.freezes.lift(each, { tenant });
        return { lifted };
      },
      says: ({ lifted }) =>
        lifted.length === 0 ? 'Nothing is frozen.' : `Lifted ${plural(lifted.length, 'freeze')}.`,
    },
  );
  list<Freeze, Tenant & Record<string, unknown>>(
    withTenant(freeze.command('list'), onlyTenant).description(
      'freezes that last, and those to come',
    ),
    {
      limit: 1_000,
      read: (writ, page, { options }) => writ.freezes.list({ ...page, ...ofTenant(options) }),
      none: 'Nothing is frozen.',
      columns: ({ output }) => [
        { title: 'FREEZE', of: (each) => each.freeze_id },
        { title: 'TENANT', of: (each) => each.tenant_id },
        { title: 'FROM', of: (each) => time(each.begins_at) },
        { title: 'UNTIL', of: ({ ends_at }) => (ends_at === null ? 'lifted' : time(ends_at)) },
        { title: 'NOW', of: ({ lasts }) => (lasts ? output.style('yellow', 'frozen') : 'to come') },
        { title: 'BY', of: (each) => each.put_by },
        { title: 'REASON', of: (each) => each.reason },
      ],
    },
  );
}

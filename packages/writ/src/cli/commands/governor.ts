/** `writ governor`: state machines that decide about signals, one per tenant and product. */
import { extname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { isUuid } from '../../database/uuid.js';
import { plain } from '../../errors/words.js';
import type { EntitlementChange } from '../../governor/entitlements.js';
import type { SentSignal } from '../../governor/governors.js';
import type { Signalled } from '../../governor/intake.js';
import type { PolicyPreview } from '../../governor/policies.js';
import { policyHash, validatePolicy } from '../../governor/policy.js';
import { changesOf, permissionsOf } from '../../governor/policy-changes.js';
import type { GovernorPolicy, Parameters } from '../../governor/policy-document.js';
import type {
  Governor,
  GovernorDetails,
  PublishedVersion,
  TenantEntitlement,
} from '../../governor/rows.js';
import type { Receipt } from '../../ledger/receipt.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import { type GeneratorOptions, signalsAround } from '../../testing/signals.js';
import type { Writ } from '../../writ.js';
import { duration, later, type Moment, notBlank, wholeNumber } from '../command.js';
import { wrongUsage } from '../failure.js';
import { isObject, modules, parseFile } from '../governance/proposal.js';
import { withKey, withTenant } from '../governance/session.js';
import {
  changeLines,
  headingOf,
  policyLines,
  policyWords,
  printEntitlement,
  printGovernor,
  receiptLine,
  stateWords,
} from '../governor/print.js';
import { watch } from '../live.js';
import { importFile } from '../modules.js';
import { count, Output, plural, span } from '../output.js';
import { Progress } from '../progress.js';
import { moment } from '../runs/words.js';
import { act, type Call, list, show } from '../shapes.js';
import { addListen } from './listen.js';

export function addGovernor(program: Command): void {
  const group = program
    .command('governor')
    .description('Decide about signals, within a policy: act, undo, refuse, and write down why.');
  addList(group);
  addShow(group);
  addWatch(group);
  addSignal(group);
  addPolicy(group);
  addEntitlement(group);
  addAct(group);
  addAck(group);
  addListen(group);
}

// Which governor ----------------------------------------------------------------------------------

function name(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'It has up to 100 letters, digits and _ . : @ -, and begins with a letter or a digit.',
  );
}

const withGovernor = (command: Command): Command =>
  command
    .argument('<tenant>', 'whose governor it is', name)
    .argument('[sku]', 'of which product; otherwise `default`', name);

/** The product may be left out before the last argument, which says what the call is about. */
const withGovernorAnd = (command: Command, last: string, words: string): Command =>
  command
    .usage(`<tenant> [sku] <${last}> [options]`)
    .argument('<tenant>', 'whose governor it is', name)
    .argument('<sku>', 'of which product; left out, it is `default`', notBlank)
    .argument(`[${last}]`, words, notBlank);

interface At {
  readonly tenant: string;
  readonly sku: string;
}

const at = ([tenant = '', sku = 'default']: readonly string[]): At => ({ tenant, sku });

function atAnd([tenant = '', ...rest]: readonly string[]): At & { readonly what: string } {
  const [sku, what] = rest.length > 1 ? [name(String(rest[0])), rest[1]] : ['default', rest[0]];
  return { tenant, sku, what: String(what) };
}

const nameOf = ({ tenant, sku }: At) => plain(sku === 'default' ? tenant : `${tenant} ${sku}`);
const namesOf = ({ tenant, sku }: At) => ({ tenant_id: tenant, sku_id: sku });

// Looking -----------------------------------------------------------------------------------------

function addList(group: Command): void {
  const right = { align: 'right' } as const;
  list<Governor, { tenant?: string }>(
    withTenant(group.command('list'), 'only those of this tenant').description(
      'every governor: where it is and why, its policy, and what waits for it',
    ),
    {
      limit: 100,
      read: (writ, page, { options: { tenant } }) => writ.governors.list({ ...page, tenant }),
      none: ({ options: { tenant } }) =>
        tenant === undefined
          ? 'No governors yet. `writ governor policy publish FILE TENANT` makes one.'
          : `${plain(tenant)} has no governor.`,
      columns: ({ output }) => [
        { title: 'TENANT', of: (row) => row.tenant_id },
        { title: 'PRODUCT', of: (row) => row.sku_id },
        { title: 'STATE', of: (row) => stateWords(row, output) },
        {
          title: 'SINCE',
          ...right,
          of: ({ state_since }, now) =>
            state_since === null
              ? null
              : span(Math.max(0, now.getTime() - Date.parse(state_since))),
        },
        { title: 'POLICY', of: policyWords },
        { title: 'SIGNALS', ...right, of: ({ signals }) => count(signals) },
        { title: 'WAITING', ...right, of: ({ in_mailbox }) => count(in_mailbox) },
        { title: 'BUFFERED', ...right, of: ({ buffered }) => count(buffered) },
        { title: 'POSTPONED', ...right, of: ({ postponed }) => count(postponed) },
        {
          title: 'IN FLIGHT',
          of: ({ in_flight: doing }) =>
            doing && plain(`${doing.kind === 'rollback' ? '↩ ' : ''}${doing.action_type}`),
        },
      ],
    },
  );
}

function addShow(group: Command): void {
  show<GovernorDetails & { readonly last_receipts: readonly Receipt[] }, { receipts: number }>(
    withGovernor(group.command('show'))
      .description(
        'a governor as it stands: its state and why, what it does and waits for, its policy, and its last receipts in words',
      )
      .option('--receipts <n>', 'how many of its last receipts', wholeNumber(0, 1_000), 10),
    {
      read: async (writ, { args, options: { receipts: limit } }) => {
        const { tenant, sku } = at(args);
        const [details, { items }] = await Promise.all([
          writ.governors.get(sku, { tenant }),
          limit === 0 ? { items: [] } : writ.governors.receipts(sku, { tenant, limit }),
        ]);
        return { ...details, last_receipts: [...items].reverse() };
      },
      print: (governor, { output, now }) => printGovernor(output, governor, now),
    },
  );
}

function addWatch(group: Command): void {
  watch<Receipt, never, { after?: number; for?: Duration }>(
    withGovernor(group.command('watch'))
      .description('each receipt of a governor as it comes; Ctrl-C ends the watch')
      .option('--for <duration>', 'end by itself after so long', duration)
      .option(
        '--after <n>',
        'begin after this number; otherwise with the receipts to come',
        wholeNumber(0, Number.MAX_SAFE_INTEGER),
      ),
    async (writ, { args, options, output }) => {
      const { tenant, sku } = at(args);
      const governor = await writ.governors.get(sku, { tenant });
      let beyond = options.after ?? governor.receipts;
      return {
        forMs: options.for && milliseconds(options.for),
        head: async () =>
          `${headingOf(governor, await writ.now(), output)}. Receipts after number ${beyond}:`,
        read: async () => {
          const page = { tenant, beyond, order: 'asc', limit: 1_000 } as const;
          const { items, next } = await writ.governors.receipts(sku, page);
          beyond = items.at(-1)?.context.stream_seq ?? beyond;
          return { news: items, more: next !== null && items.length > 0 };
        },
        line: (receipt) => receiptLine(receipt, output),
      };
    },
  );
}

// Signals -----------------------------------------------------------------------------------------

interface SignalOptions {
  readonly type?: string;
  readonly value?: number;
  readonly source?: NonNullable<SentSignal['source']>;
  readonly severity?: NonNullable<SentSignal['severity']>;
  readonly id?: string;
  readonly generate?: number;
  readonly n: number;
  readonly profile: GeneratorOptions['profile'];
}

interface Generated {
  readonly sent: number;
  readonly duplicates: number;
  readonly answers: Readonly<Record<string, number>>;
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It is a number, such as 82 or 0.05.');
}

const own = ['type', 'value', 'source', 'severity', 'id'] as const;

function addSignal(group: Command): void {
  act<Signalled | Generated, SignalOptions & Record<string, unknown>>(
    withGovernor(group.command('signal'))
      .description(
        'tell a governor what was observed, and see what became of it; or send many that a number makes',
      )
      .option(
        '--type <type>',
        'what was observed, as its policy names it: cpu_utilization',
        notBlank,
      )
      .option('--value <number>', 'the value observed', number)
      .addOption(
        new Option(
          '--source <source>',
          'what kind of system observed it; otherwise custom',
        ).choices(['monitoring', 'logging', 'billing', 'custom']),
      )
      .addOption(
        new Option('--severity <severity>', 'how severe it is; otherwise MEDIUM').choices([
          'CRITICAL',
          'HIGH',
          'MEDIUM',
          'LOW',
        ]),
      )
      .option(
        '--id <id>',
        'its id: the same again within a day gets the answer of the first',
        notBlank,
      )
      .option(
        '--generate <seed>',
        'send signals that this number makes, around the thresholds of the policy: the same for the same number',
        wholeNumber(0, 4_294_967_295),
      )
      .option('--n <n>', 'with --generate: how many', wholeNumber(1, 100_000), 100)
      .addOption(
        new Option('--profile <profile>', 'with --generate: how they go')
          .choices(['calm', 'spikes', 'storm'])
          .default('spikes'),
      ),
    {
      checks: ({ options }) => {
        if ((options.type === undefined) === (options.generate === undefined))
          throw wrongUsage(
            'Say what was observed, or generate signals.',
            'Give --type TYPE and --value NUMBER, or --generate SEED.',
          );
        if (options.generate !== undefined && own.some((option) => options[option] !== undefined))
          throw wrongUsage(
            'Generated signals have values of their own.',
            `Leave out ${own.map((option) => `--${option}`).join(', ')}.`,
          );
      },
      do: (writ, { args, options, output }) => {
        const { type, value, source, severity, id } = options;
        const { tenant, sku } = at(args);
        if (type === undefined) return generate(writ, at(args), options, output);
        const signal = {
          type,
          ...(value !== undefined && { value }),
          ...(source && { source }),
          ...(severity && { severity }),
          ...(id !== undefined && { id }),
        };
        return writ.governors.signal(sku, signal, { tenant });
      },
      says: (done, { args, output }) => {
        if ('sent' in done) {
          const answers = Object.entries(done.answers).map(([what, times]) => `${times} ${what}`);
          const before =
            done.duplicates > 0
              ? ` ${done.duplicates} had come before: the same number makes the same signals.`
              : '';
          return `${plural(done.sent, 'signal')} sent: ${answers.join(', ')}.${before}`;
        }
        return [
          ...(done.duplicate ? [`It had come before, as signal ${done.arrival_seq}.`] : []),
          done.status === 'decided'
            ? receiptLine(done.receipt, output)
            : done.status === 'buffered'
              ? `Signal ${done.arrival_seq} is buffered: the tenant sends more than is taken in. It comes in when its turn has come.`
              : `Signal ${done.arrival_seq} is taken; nothing is decided yet. \`writ governor show ${nameOf(at(args))}\` shows why, if it stays so.`,
        ];
      },
    },
  );
}

/** So many are on their way at once, in their order. */
const atOnce = 50;

async function generate(
  writ: Writ,
  { tenant, sku }: At,
  { generate: seed = 0, n, profile }: SignalOptions,
  output: Output,
): Promise<Generated> {
  const { document } = await writ.governors.policies.get(sku, { tenant });
  if (!document)
    throw wrongUsage(
      `The policy of ${nameOf({ tenant, sku })} was withdrawn, and says which types of signals there are.`,
      'Publish a policy first.',
    );
  const from = (await writ.now()).getTime();
  const signals = signalsAround(document, seed, { n, profile, from });
  const progress = new Progress({ json: output.json });
  const answers: Record<string, number> = {};
  let duplicates = 0;
  for (let sent = 0; sent < signals.length; sent += atOnce) {
    const answered = await Promise.all(
      signals
        .slice(sent, sent + atOnce)
        .map(({ signal_id: id, type, value, source, severity, observed_at }) =>
          writ.governors.signal(
            sku,
            { id, type, value, source, severity, observedAt: new Date(observed_at) },
            { tenant },
          ),
        ),
    );
    for (const answer of answered) {
      const what = answer.status === 'decided' ? answer.receipt.reason : answer.status;
      answers[what] = (answers[what] ?? 0) + 1;
      if (answer.duplicate) duplicates++;
    }
    progress.show(`${Math.min(sent + atOnce, signals.length)} of ${signals.length} signals sent`);
  }
  progress.end();
  return { sent: signals.length, duplicates, answers };
}

// Policies ----------------------------------------------------------------------------------------

const fileHelp =
  'YAML or JSON with policy_id, when and then, or a module whose default export is what definePolicy made';

const policyShape = `A policy has policy_id, when and then, for example:

        policy_id: error-budget
        when: { error_rate: { above: 0.05, clearBelow: 0.01, cooldown: 5m } }
        then: { type: disable_flag, actuator: { kind: handler }, target: checkout, requires: flags:write, inverse: enable_flag }`;

/** Refuses with the place in the policy that is wrong. */
async function readPolicy(file: string): Promise<GovernorPolicy> {
  const isModule = modules.includes(extname(file));
  const given = isModule ? (await importFile(file)).default : await parseFile(file);
  if (given === undefined && isModule)
    throw wrongUsage(
      `${file} has no default export.`,
      'Export the policy: export default definePolicy(ID, { when, then }).',
    );
  if (!isObject(given)) throw wrongUsage(`${file} holds no policy.`, policyShape);
  return validatePolicy(given);
}

const needs = (document: GovernorPolicy): string =>
  permissionsOf(document).map(plain).join(', ') || 'no permission: it only observes';

function addPolicy(group: Command): void {
  const policy = group
    .command('policy')
    .description(
      'what a governor watches and does about it: publish, show, withdraw and check policies',
    );
  addPublish(policy);
  show<PublishedVersion, { policyVersion?: number }>(
    withGovernor(policy.command('show'))
      .description('the policy in force, or an older version')
      .option('--policy-version <n>', 'this version', wholeNumber(1, 2_147_483_647)),
    {
      read: (writ, { args, options: { policyVersion: version } }) => {
        const { tenant, sku } = at(args);
        return writ.governors.policies.get(sku, { tenant, version });
      },
      print: (row, { output }) => {
        const done = row.document ? 'published' : output.style('yellow', 'withdrawn');
        output.line(
          `${output.style('bold', plain(row.policy_id))} v${row.version}${row.shadow ? ' (shadow)' : ''}, ${done} by ${plain(row.published_by)} at ${moment(new Date(row.published_at).toISOString())}`,
        );
        if (row.document) printPolicy(output, row.document, row.hash);
      },
    },
  );
  addWithdraw(policy);
  policy
    .command('check')
    .description(
      'whether a file holds a policy that can be published, and what it says; without a database',
    )
    .argument('<file>', fileHelp)
    .action(async (file: string, _options: unknown, command: Command) => {
      const output = new Output({
        json: command.optsWithGlobals<{ json?: boolean }>().json === true,
      });
      const document = await readPolicy(file);
      const hash = policyHash(document);
      if (output.json) return output.data({ valid: true, hash, document });
      output.line(
        `${output.style('green', '✓')} ${plain(document.policy_id)} can be published. It needs ${needs(document)}.`,
      );
      printPolicy(output, document, hash);
    });
}

function printPolicy(output: Output, document: GovernorPolicy, hash: string): void {
  output.line();
  for (const line of policyLines(document, output)) output.line(line);
  output.line();
  output.line(`hash ${hash}`);
}

type Publishing = PolicyPreview & { readonly at: At };

function addPublish(policy: Command): void {
  act<{ version: number; duplicate?: true }, { shadow?: boolean }, Publishing>(
    withKey(withGovernor(policy.command('publish').argument('<file>', fileHelp)))
      .description(
        'show what a policy would change, ask, and publish it as the next version; the governor is made if there is none',
      )
      .option('--shadow', 'try it out: it decides and writes receipts, and acts on nothing'),
    {
      plans: async (writ, { args: [file = '', ...names], options: { shadow = false } }) => {
        const { tenant, sku } = at(names);
        const preview = await writ.governors.policies.preview(sku, await readPolicy(file), {
          tenant,
          shadow,
        });
        return { ...preview, at: { tenant, sku } };
      },
      shows: previewLines,
      asks: (_, { options: { shadow } }, { same }) =>
        same ? undefined : `Publish this${shadow ? ', in shadow' : ''}?`,
      do: (writ, { options: { shadow = false } }, { at: { tenant, sku }, before, document }) =>
        writ.governors.policies.publish(sku, document, {
          tenant,
          shadow,
          version: before?.version ?? 0,
        }),
      data: ({ version, duplicate }, { options: { shadow = false } }, { at: where, ...plan }) => ({
        ...namesOf(where),
        published: !duplicate,
        version,
        shadow,
        changes: plan.changes,
        missing_permissions: plan.missing_permissions,
      }),
      says: ({ version, duplicate }, { output, options: { shadow } }, { at: where }) =>
        duplicate
          ? `Nothing changes: version ${version} is the same.`
          : `${output.style('green', '✓')} Published as version ${version}${shadow ? ', in shadow' : ''}. \`writ governor watch ${nameOf(where)}\` shows what it does.`,
    },
  );
}

function previewLines(
  { at: where, before, document, changes, permissions, missing_permissions: missing }: Publishing,
  { output, options: { shadow = false } }: Call<{ shadow?: boolean }>,
): string[] {
  const against = !before
    ? 'its first policy:'
    : before.document
      ? `against version ${before.version}${before.shadow ? ' (shadow)' : ''}:`
      : `after version ${before.version}, which withdrew the one before:`;
  const all = [...(permissions ?? []), ...missing].map((each) => `--permission ${each}`).join(' ');
  const { principal } = document;
  const lacks = permissions
    ? `${principal} does not have ${missing.join(', ')}: actions are refused until \`writ principals put ${principal} ${all}\`.`
    : `There is no principal ${principal} that could have ${missing.join(', ')}: actions are refused until \`writ principals add ${principal} --kind service ${all}\`.`;
  return [
    `${output.style('bold', plain(document.policy_id))} for ${nameOf(where)}, ${against}`,
    ...changeLines(changes, output),
    ...(before?.document && before.shadow !== shadow
      ? [
          `${output.style('yellow', '~')} ${shadow ? 'it will act on nothing: shadow' : 'it will act, and not only be tried out'}`,
        ]
      : []),
    ...(missing.length > 0 ? [`${output.style('yellow', '!')} ${plain(lacks)}`] : []),
  ];
}

function addWithdraw(policy: Command): void {
  act<{ version: number }, Record<string, unknown>, PublishedVersion>(
    withKey(withGovernor(policy.command('withdraw'))).description(
      'take the policy away: the governor acts on nothing any more, and what is in flight is undone',
    ),
    {
      plans: (writ, { args }) => {
        const { tenant, sku } = at(args);
        return writ.governors.policies.get(sku, { tenant });
      },
      shows: ({ document, policy_id, version }, { args, output }) =>
        document
          ? [
              `${output.style('bold', plain(policy_id))} v${version} of ${nameOf(at(args))} would be gone:`,
              ...changeLines(changesOf(document, null), output),
            ]
          : [],
      asks: (_, __, { document }) => (document ? 'Withdraw it?' : undefined),
      do: (writ, { args }, { version }) => {
        const { tenant, sku } = at(args);
        return writ.governors.policies.withdraw(sku, { tenant, version });
      },
      data: ({ version }, { args }) => ({ ...namesOf(at(args)), withdrawn: true, version }),
      says: (_, { args }) =>
        `Withdrawn. ${nameOf(at(args))} acts on nothing until a policy is published.`,
    },
  );
}

// Entitlements ------------------------------------------------------------------------------------

interface EntitlementOptions {
  readonly tier?: NonNullable<EntitlementChange['tier']>;
  readonly status?: NonNullable<EntitlementChange['status']>;
  readonly expires?: Moment | 'never';
  readonly quota?: number | 'unlimited';
  readonly id?: string;
}

function quota(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a number of actions per month, or `unlimited`.');
}

const expiry = (text: string): Moment | 'never' => (text === 'never' ? text : later(text));

function addEntitlement(group: Command): void {
  const entitlement = group
    .command('entitlement')
    .description('what a tenant may have done for it: show or set it');
  show<TenantEntitlement>(
    entitlement
      .command('show')
      .description('what a tenant is entitled to, and what it has used this month')
      .argument('<tenant>', 'the tenant', name),
    {
      read: (writ, { args: [tenant = ''] }) => writ.governors.entitlements.get({ tenant }),
      print: (row, { output, now }) => printEntitlement(output, row, now),
    },
  );
  act<TenantEntitlement, EntitlementOptions & Record<string, unknown>>(
    withKey(entitlement.command('set'))
      .description(
        'what a tenant is entitled to from now on; what is not given stays as it is. Its governors hear of it at once',
      )
      .argument('<tenant>', 'the tenant', name)
      .addOption(
        new Option(
          '--tier <tier>',
          'sets the quota, too: 50, 500, 5,000 actions a month, or without limit',
        ).choices(['free', 'starter', 'professional', 'enterprise']),
      )
      .addOption(
        new Option(
          '--status <status>',
          'nothing is done unless it is ACTIVE, which a new one is',
        ).choices(['ACTIVE', 'INACTIVE', 'EXPIRED', 'CANCELLED']),
      )
      .option('--expires <when>', 'when it ends: a time, in how long (30d), or `never`', expiry)
      .option('--quota <n>', 'actions a month, in UTC, or `unlimited`', quota)
      .option('--id <id>', 'what the catalogue knows it by', notBlank),
    {
      checks: ({ options: { tier, status, expires, quota: limit, id } }) => {
        if ([tier, status, expires, limit, id].every((given) => given === undefined))
          throw wrongUsage(
            'Nothing is to be set.',
            'Give --tier, --status, --expires, --quota or --id.',
          );
      },
      do: async (writ, { args: [tenant = ''], options }) => {
        const { tier, status, expires, quota: limit, id } = options;
        const now = expires instanceof Function ? (await writ.now()).getTime() : 0;
        const change = {
          tier,
          status,
          ...(expires !== undefined && { expiresAt: expires === 'never' ? null : expires(now) }),
          ...(limit !== undefined && { quota: limit === 'unlimited' ? null : limit }),
          entitlementId: id,
        };
        return writ.governors.entitlements.put(change, { tenant });
      },
      says: (row, { output }) => {
        printEntitlement(output, row, new Date());
        return [];
      },
    },
  );
}

// What a person asks of a governor ----------------------------------------------------------------

/** Numbers and booleans as such, everything else as text. */
function parameter(text: string, before: Parameters = {}): Parameters {
  const [, key, value = ''] = /^([A-Za-z][\w.-]*)=(.*)$/s.exec(text) ?? [];
  if (key === undefined) throw new InvalidArgumentError('Write NAME=VALUE: replicas_delta=3.');
  const numeric = /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
  return {
    ...before,
    [key]: value === 'true' ? true : value === 'false' ? false : (numeric ?? value),
  };
}

function actionId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('The id of an action is a UUID.');
}

function addAct(group: Command): void {
  act<{ action_id: string }, { param?: Parameters; id?: string }>(
    withKey(
      withGovernorAnd(
        group.command('act'),
        'type',
        'the type of the action, as its policy names it',
      ),
    )
      .description('ask a governor for an action of its policy; it is checked like any other')
      .option(
        '--param <name=value>',
        'a parameter, within the bounds of the policy; may be repeated; those of the policy otherwise',
        parameter,
      )
      .option(
        '--id <id>',
        'the id that the action is to have, so that a call that was not answered can be made again',
        actionId,
      ),
    {
      do: async (writ, { args, options: { param, id } }) => {
        const { tenant, sku, what: type } = atAnd(args);
        // A governor that is asked for something else refuses everything until it looks again.
        const parameters = await writ.governors.policies.allowed(sku, type, param, { tenant });
        const asked = { type, parameters, id };
        return writ.governors.act(sku, asked, { tenant });
      },
      data: (done, { args }) => ({
        ...namesOf(atAnd(args)),
        ...done,
        action_type: atAnd(args).what,
      }),
      says: ({ action_id }, { args }) =>
        plain(
          `Asked for ${atAnd(args).what}: action ${action_id}. \`writ governor watch ${nameOf(atAnd(args))}\` shows what becomes of it.`,
        ),
    },
  );
}

function addAck(group: Command): void {
  act<void, { reason: string }>(
    withKey(
      withGovernorAnd(
        group.command('ack'),
        'cause',
        'the cause that is seen to, as `writ governor show` names it',
      ),
    )
      .description(
        'say that you have seen to what only a person can clear: rollback_failed, nondeterminism, crash or action_timeout',
      )
      .requiredOption(
        '--reason <text>',
        'what was done about it, in ten characters or more',
        notBlank,
      ),
    {
      do: (writ, { args, options: { reason } }) => {
        const { tenant, sku, what: cause } = atAnd(args);
        return writ.governors.acknowledge(sku, { cause, reason }, { tenant });
      },
      data: (_, { args }) => ({
        ...namesOf(atAnd(args)),
        cause: atAnd(args).what,
        acknowledged: true,
      }),
      says: (_, { args }) =>
        plain(
          `Noted: ${atAnd(args).what} is seen to. The governor looks whether everything is there, and goes on by itself.`,
        ),
    },
  );
}

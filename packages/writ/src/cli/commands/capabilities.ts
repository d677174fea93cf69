/**
 * `writ capabilities`: what can be changed by contracts: capabilities, and configurations with
 * their values.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Capability, CapabilityItem } from '../../governance/capabilities.js';
import type { ConfigurationValue } from '../../governance/configuration.js';
import { notBlank } from '../command.js';
import { parseExactJson } from '../exact.js';
import { wrongUsage } from '../failure.js';
import { parseFile } from '../governance/proposal.js';
import { withKey, withTenant } from '../governance/session.js';
import { valueText } from '../governance/words.js';
import { type Output, plural } from '../output.js';
import { act, collect, show } from '../shapes.js';

interface Options extends Record<string, unknown> {
  readonly tenant?: string;
  readonly file?: string;
  readonly domain?: string;
  readonly lifecycle?: string;
  readonly monitored?: boolean;
  readonly frozen?: string | false;
  readonly disqualified?: string | false;
  readonly owner?: string;
  readonly set?: Readonly<Record<string, unknown>>;
}

function assigned(
  text: string,
  before: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write KEY=VALUE.');
  const value = text.slice(at + 1);
  try {
    return { ...before, [text.slice(0, at)]: parseExactJson(value, text.slice(0, at)) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ...before, [text.slice(0, at)]: value };
  }
}

export function addCapabilities(program: Command): void {
  const capabilities = program
    .command('capabilities')
    .description('what contracts can change: capabilities, and configurations with their values');
  const put = withKey(withTenant(capabilities.command('put')))
    .description(
      'make a capability or a configuration known, or say more about it; values that exist are changed by contracts',
    )
    .argument('[name]', 'name of the capability, or of the configuration')
    .option('--file <path>', 'all that this file lists, as YAML or JSON')
    .option('--domain <domain>', 'which domain of health it is part of; default unless given')
    .addOption(
      new Option('--lifecycle <state>', 'what a new one begins as').choices([
        'DISABLED',
        'PREVIEW',
        'LAUNCHED',
        'DEPRECATED',
      ]),
    )
    .option(
      '--monitored',
      'it is unhealthy until somebody says otherwise; one that has probes is so by itself',
    )
    .option('--frozen <reason>', 'it may not be changed, for this reason', notBlank)
    .option('--no-frozen', 'it may be changed again')
    .option('--disqualified <reason>', 'it is unhealthy, for this reason', notBlank)
    .option('--no-disqualified', 'it is no longer')
    .option(
      '--owner <capability>',
      'it is a configuration, and this the capability whose health counts for it',
      notBlank,
    )
    .option(
      '--set <key=value>',
      'a value of a configuration, as JSON or as a text; may be repeated',
      assigned,
    );
  act<readonly CapabilityItem[], Options>(put, {
    do: async (writ, { args: [name], options }) => {
      const items = await itemsOf(name, options);
      await writ.capabilities.put(items, { tenant: options.tenant });
      return items;
    },
    data: (items) => ({ put: items.length }),
    says: (items) =>
      `Known now: ${items.map((item) => item.capability_name ?? item.scope).join(', ')}.`,
  });
  show<Known, { tenant?: string }>(
    withTenant(capabilities.command('list'), 'only those of this tenant').description(
      'capabilities and values as they are, and which contract is at work on them',
    ),
    {
      read: async (writ, { options: { tenant } }) => {
        const of = { tenant };
        const all = Number.POSITIVE_INFINITY;
        const known = await collect((page) => writ.capabilities.list({ ...page, ...of }), all);
        const values = await collect((page) => writ.configuration.list({ ...page, ...of }), all);
        return { capabilities: known.rows, configuration: values.rows };
      },
      print: (known, { output }) => print(output, known),
    },
  );
}

const example = `A file is a list, for example:

        - { capability_name: checkout, domain: shop }
        - { scope: limits, owner_capability: checkout, values: { max: 100 } }`;

async function itemsOf(name: string | undefined, options: Options): Promise<CapabilityItem[]> {
  if ((name === undefined) === (options.file === undefined))
    throw wrongUsage('Give a name, or --file.', example);
  if (options.file !== undefined) return itemsIn(await parseFile(options.file), options.file);
  const { domain, lifecycle, monitored, frozen, disqualified, owner, set } = options;
  const ofCapability = {
    domain,
    lifecycle,
    monitored,
    frozen: orNull(frozen),
    disqualified: orNull(disqualified),
  };
  if (owner === undefined && set === undefined)
    return [{ capability_name: name, ...ofCapability } as CapabilityItem];
  const other = Object.entries(ofCapability).find(([, value]) => value !== undefined);
  if (other)
    throw wrongUsage(
      `A configuration has no ${other[0]}.`,
      'Give that to the capability that owns it.',
    );
  return [{ scope: name, owner_capability: owner, values: set } as CapabilityItem];
}

/** What --no-frozen says: null takes it away. */
const orNull = (given: string | false | undefined) => (given === false ? null : given);

function itemsIn(given: unknown, file: string): CapabilityItem[] {
  if (Array.isArray(given) && given.length > 0) return given as CapabilityItem[];
  throw wrongUsage(`${file} is not a list of capabilities.`, example);
}

interface Known {
  readonly capabilities: readonly Capability[];
  readonly configuration: readonly ConfigurationValue[];
}

function print(output: Output, { capabilities: known, configuration: values }: Known): void {
  if (known.length === 0) {
    output.line('No capabilities yet. `writ capabilities put NAME` makes one known.');
    return;
  }
  const tenants = new Set(known.map(({ tenant_id }) => tenant_id)).size > 1;
  const titles = (...names: string[]) =>
    [...(tenants ? ['TENANT'] : []), ...names].map((title) => ({ title }));
  const of = (tenant: string) => (tenants ? [tenant] : []);
  output.table(
    titles('CAPABILITY', 'DOMAIN', 'LIFECYCLE', 'MONITORED', 'HELD BY', 'NOTE'),
    known.map((each) => [
      ...of(each.tenant_id),
      each.capability_name,
      each.domain,
      each.lifecycle,
      each.monitored ? 'yes' : 'no',
      each.held_by ?? '',
      [
        each.frozen && `frozen: ${each.frozen}`,
        each.disqualified && `disqualified: ${each.disqualified}`,
      ]
        .filter(Boolean)
        .join('; '),
    ]),
  );
  if (values.length === 0) return;
  output.line();
  output.table(
    titles('CONFIGURATION', 'KEY', 'VALUE', 'OWNER', 'HELD BY'),
    values.map((each) => [
      ...of(each.tenant_id),
      each.scope,
      each.key ?? '',
      each.key === null ? '' : valueText(each.value),
      each.owner_capability,
      each.held_by ?? '',
    ]),
  );
  const held =
    known.filter(({ held_by }) => held_by !== null).length +
    new Set(values.filter(({ held_by }) => held_by !== null).map(({ scope }) => scope)).size;
  if (held > 0)
    output.note(`${plural(held, 'target')} held by contracts at work: \`writ contracts show ID\`.`);
}

/** `writ webhooks add`: an address that is told of events from now on; or changes to one that is there, which are shown first. */
import { isIP } from 'node:net';
import type { Command } from 'commander';
import { WritError } from '../../../errors/index.js';
import { endpointUrl, isPublic } from '../../../outbox/buses/addresses.js';
import type { DestinationSettings, ListedDestination } from '../../../outbox/destinations.js';
import { everythingOfRuns } from '../../../outbox/follow.js';
import { contextOf, type Moment, moment, notBlank, repeated } from '../../command.js';
import { exitCodes, Failure, wrongUsage } from '../../failure.js';
import {
  confirmed,
  destinationsOf,
  nameOf,
  withActor,
  withName,
} from '../../outbox/destinations.js';
import { placesOf, troubleWith } from '../../outbox/secrets.js';
import { type Output, oneLine } from '../../output.js';
import { moment as written } from '../../runs/words.js';
import { databaseNow } from '../runs/session.js';

interface Options {
  readonly secret?: readonly string[];
  readonly type?: readonly string[];
  readonly tenant?: string;
  readonly since?: Moment;
  readonly yes?: boolean;
  readonly actor?: string;
}

function secretName(text: string, before: readonly string[] = []): readonly string[] {
  // Not as an argument that is invalid: that would be shown.
  if (text.startsWith('whsec_')) {
    throw wrongUsage(
      'This is a secret, and --secret takes the name of one.',
      'It may now be in the history of this shell: make another with `writ webhooks secret`.',
    );
  }
  return [...before, nameOf(text)];
}

export function addAdd(webhooks: Command): void {
  withActor(
    withName(
      webhooks
        .command('add')
        .description(
          'tell an address of events from now on; with the name of one that is there, change it',
        ),
    )
      .argument('<url>', 'where events are sent', notBlank)
      .option(
        '--secret <name>',
        'name of the secret that signs, never the secret itself; may be repeated during a rotation, the newest first',
        secretName,
      )
      .option(
        '--type <type>',
        `types of events; one that ends with * is the beginning of types; may be repeated; otherwise ${everythingOfRuns.join(' and ')}`,
        repeated,
      )
      .option('--tenant <tenant>', 'only events of this tenant; otherwise of all', notBlank)
      .option(
        '--since <time>',
        'also what has happened since then, and is still recorded: a time, or how long ago, such as 2h',
        moment,
      )
      .option('--yes', 'change one that is there without asking'),
  ).action(async (name: string, url: string, options: Options, command: Command) => {
    const { output, session } = contextOf(command);
    const address = addressOfUrl(url);
    await session(async (db) => {
      const of = destinationsOf(db, options.actor);
      const before = (await of.list()).find((one) => one.name === name);
      if (before && before.bus !== 'webhook') throw taken(before);
      const since = options.since?.(await databaseNow(db));
      const next = { ...settingsOf(name, address.href, options, before), ...(since && { since }) };
      if (before && !options.yes) {
        const changes = changesOf(before, next);
        if (!output.json)
          for (const line of changes.length > 0
            ? [`${name} would change:`, ...changes.map((each) => `  ${each}`)]
            : [])
            output.line(line);
        if (changes.length > 0 && !(await confirmed(output))) {
          process.exitCode = exitCodes.failed; // what was asked for was not done
          if (output.json) output.data({ name, changed: false, changes });
          else output.line('Nothing was changed yet. Add --yes to do it.');
          return;
        }
      }
      const { created } = await of.put(name, next);
      if (output.json)
        output.data({
          name,
          created,
          url: address.href,
          secrets: next.config.secrets,
          types: next.types,
        });
      else say(output, name, created, next);
      advise(output, address, next.config.secrets);
    });
  });
}

/** Whether plain http and private addresses may be called is for the relay to say: here it is noted. */
function addressOfUrl(text: string): URL {
  try {
    return endpointUrl(text, { allowHttp: true, allowPrivate: true });
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    throw wrongUsage(
      'This is not an address that webhooks are sent to.',
      'Write https://host/path, without user and password: the signature says who sends.',
      {
        cause: error,
      },
    );
  }
}

type Webhook = DestinationSettings & {
  readonly types: readonly string[];
  readonly config: { readonly url: string; readonly secrets: readonly string[] };
};

/** What is not given stays as it was. */
function settingsOf(
  name: string,
  url: string,
  { secret, type, tenant }: Options,
  before: ListedDestination | undefined,
): Webhook {
  const secrets = secret ?? (before?.config.secrets as readonly string[] | undefined);
  if (secrets === undefined) {
    throw wrongUsage(
      'A webhook is signed, so it needs --secret with the name of a secret.',
      `Make one with \`writ webhooks secret ${name}\`, put it into ${placesOf(name)}, and add --secret ${name}.`,
    );
  }
  const whose = tenant ?? before?.tenant;
  return {
    bus: 'webhook',
    types: type ?? before?.types ?? everythingOfRuns,
    config: { url, secrets },
    ...(whose !== undefined && { tenant: whose }),
  };
}

function changesOf(before: ListedDestination, { config, types, tenant, since }: Webhook): string[] {
  const pairs: [string, unknown, unknown][] = [
    ['url', before.config.url, config.url],
    ['secrets', [before.config.secrets].flat().join(', '), config.secrets.join(', ')],
    ['types', before.types.join(', '), types.join(', ')],
    ['tenant', before.tenant ?? 'all', tenant ?? 'all'],
  ];
  const changed = pairs
    .filter(([, was, is]) => was !== is)
    .map(([what, was, is]) => oneLine(`${what}: ${was} → ${is}`));
  return since
    ? [...changed, `it is told again what has happened since ${written(since.toISOString())}`]
    : changed;
}

const taken = ({ name, bus }: ListedDestination) =>
  new Failure(
    exitCodes.failed,
    'name_taken',
    `${name} is a destination on the bus ${bus}.`,
    'Choose another name.',
  );

function say(
  output: Output,
  name: string,
  created: boolean,
  { config, types, tenant, since }: Webhook,
): void {
  const whose = tenant === undefined ? '' : ` of tenant ${tenant}`;
  const from = since
    ? `since ${written(since.toISOString())}`
    : created
      ? 'from now on'
      : 'where it was';
  output.line(
    oneLine(
      `${created ? 'Added' : 'Changed'} ${name}: ${config.url} is told of ${types.join(', ')}${whose}, ${from}.`,
    ),
  );
}

/** What a relay will need for it. */
function advise(output: Output, { protocol, hostname }: URL, secrets: readonly string[]): void {
  if (output.json) return;
  const host = hostname.replace(/^\[|\]$/g, '');
  const inside = host === 'localhost' || (isIP(host) !== 0 && !isPublic(host));
  const flags = [
    protocol === 'http:' ? ' --allow-http' : '',
    inside ? ' --allow-private' : '',
  ].join('');
  for (const name of secrets)
    if (troubleWith(name) !== undefined)
      output.note(
        `The relay needs the secret ${name}: in ${placesOf(name)}. \`writ webhooks secret ${name}\` makes one.`,
      );
  output.note(`\`writ relay${flags}\` tells it.`);
}

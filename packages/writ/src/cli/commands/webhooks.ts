/** `writ webhooks`: addresses outside that are told of events, and how they are. */
import { isIP } from 'node:net';
import type { Command } from 'commander';
import { WritError, WritRefusal } from '../../errors/index.js';
import { endpointUrl, isPublic } from '../../outbox/buses/addresses.js';
import type {
  Delivery,
  DestinationSettings,
  ListedDestination,
} from '../../outbox/destinations.js';
import { everythingOfRuns } from '../../outbox/follow.js';
import { newWebhookSecret } from '../../outbox/webhooks.js';
import type { Writ } from '../../writ.js';
import { type Moment, moment, notBlank, withActor } from '../command.js';
import { exitCodes, Failure, wrongUsage } from '../failure.js';
import {
  addressOf,
  lagOf,
  nameOf,
  placesOf,
  secretVariable,
  troubleWith,
  withName,
  withTypes,
} from '../outbox.js';
import { ago, count, Output, oneLine, plural, span } from '../output.js';
import { moment as written } from '../runs/words.js';
import { act, type Call, list, show } from '../shapes.js';

const right = { align: 'right' } as const;

export function addWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('addresses that are told of events: add, list, pause and remove them');
  addList(webhooks);
  addAdd(webhooks);
  addShow(webhooks);
  addPause(webhooks);
  addResume(webhooks);
  addRemove(webhooks);
  addDeliveries(webhooks);
  addSecret(webhooks);
}

function addList(webhooks: Command): void {
  list<ListedDestination>(
    webhooks
      .command('list')
      .description('every webhook: its state, how far it is behind, what it has not accepted'),
    {
      limit: 1_000,
      read: (writ, page) => writ.destinations.list({ ...page, bus: 'webhook' }),
      none: 'No webhooks. `writ webhooks add NAME URL --secret NAME` makes one.',
      columns: ({ output }) => [
        { title: 'WEBHOOK', of: ({ name }) => name },
        { title: 'STATE', of: (one) => stateOf(output, one) },
        { title: 'BEHIND', ...right, of: (one, now) => lagOf(one, now) },
        { title: 'UNDELIVERED', ...right, of: ({ undelivered }) => count(undelivered) },
        {
          title: 'DEAD',
          ...right,
          of: ({ dead }) => (dead > 0 ? output.style('red', count(dead)) : 0),
        },
        {
          title: 'TENANT',
          when: (all) => all.some(({ tenant }) => tenant !== null),
          of: ({ tenant }) => tenant ?? 'all',
        },
        { title: 'URL', of: addressOf },
      ],
    },
  );
}

function stateOf(output: Output, { state, failures }: ListedDestination): string {
  if (state === 'paused') return output.style('yellow', 'paused');
  return failures > 0 ? output.style('red', 'failing') : output.style('green', 'active');
}

interface AddGiven extends Record<string, unknown> {
  readonly secret?: readonly string[];
  readonly type?: readonly string[];
  readonly tenant?: string;
  readonly since?: Moment;
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

type Webhook = DestinationSettings & {
  readonly types: readonly string[];
  readonly config: { readonly url: string; readonly secrets: readonly string[] };
};

function addAdd(webhooks: Command): void {
  act<Webhook & { created: boolean }, AddGiven>(
    withActor(
      withTypes(
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
          ),
      )
        .option('--tenant <tenant>', 'only events of this tenant; otherwise of all', notBlank)
        .option(
          '--since <time>',
          'also what has happened since then, and is still recorded: a time, or how long ago, such as 2h',
          moment,
        ),
    ),
    {
      checks: ({ args: [, url = ''] }) => void urlOf(url),
      asks: async (writ, call) => {
        const before = await standing(writ, call);
        if (!before) return undefined;
        const { name } = before;
        const changes = changesOf(before, await settingsOf(writ, call, before));
        if (changes.length === 0) return undefined;
        if (!call.output.json)
          for (const line of [`${name} would change:`, ...changes.map((each) => `  ${each}`)])
            call.output.line(line);
        return `Change ${name}?`;
      },
      do: async (writ, call) => {
        const next = await settingsOf(writ, call, await standing(writ, call));
        const { created } = await writ.destinations.put(call.args[0] ?? '', next);
        return { ...next, created };
      },
      data: ({ created, since: _, ...put }, { args: [name] }) => ({ name, created, ...put }),
      says: ({ created, config, types, tenant, since }, { args: [name], output }) => {
        for (const note of adviceForRelay(config)) output.note(note);
        const whose = tenant === undefined ? '' : ` of tenant ${tenant}`;
        const from = since
          ? `since ${written(new Date(since).toISOString())}`
          : created
            ? 'from now on'
            : 'where it was';
        return oneLine(
          `${created ? 'Added' : 'Changed'} ${name}: ${config.url} is told of ${types.join(', ')}${whose}, ${from}.`,
        );
      },
    },
  );
}

/** Whether plain http and private addresses may be called is for the relay to say. */
function urlOf(text: string): URL {
  try {
    return endpointUrl(text, { allowHttp: true, allowPrivate: true });
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    throw wrongUsage(
      'This is not an address that webhooks are sent to.',
      'Write https://host/path, without user and password: the signature says who sends.',
      { cause: error },
    );
  }
}

/** The webhook that has the name, if there is one. */
async function standing(
  writ: Writ,
  { args: [name = ''] }: Call<AddGiven>,
): Promise<ListedDestination | undefined> {
  try {
    const found = await writ.destinations.get(name);
    if (found.bus === 'webhook') return found;
    throw new Failure(
      exitCodes.failed,
      'name_taken',
      `${name} is a destination on the bus ${found.bus}.`,
      'Choose another name.',
    );
  } catch (error) {
    if (error instanceof WritRefusal && error.code === 'destination_not_found') return undefined;
    throw error;
  }
}

/** What is not given stays as it was. */
async function settingsOf(
  writ: Writ,
  { args: [name = '', url = ''], options }: Call<AddGiven>,
  before: ListedDestination | undefined,
): Promise<Webhook> {
  const secrets = options.secret ?? (before?.config.secrets as readonly string[] | undefined);
  if (secrets === undefined) {
    throw wrongUsage(
      'A webhook is signed, so it needs --secret with the name of a secret.',
      `Make one with \`writ webhooks secret ${name}\`, put it into ${placesOf(name)}, and add --secret ${name}.`,
    );
  }
  const tenant = options.tenant ?? before?.tenant ?? undefined;
  const since = options.since?.((await writ.now()).getTime());
  return {
    bus: 'webhook',
    types: options.type ?? before?.types ?? everythingOfRuns,
    config: { url: urlOf(url).href, secrets },
    tenant,
    since,
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
    ? [
        ...changed,
        `it is told again what has happened since ${written(new Date(since).toISOString())}`,
      ]
    : changed;
}

/** What a relay will need for it. */
function adviceForRelay({ url, secrets }: Webhook['config']): string[] {
  const { protocol, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const inside = host === 'localhost' || (isIP(host) !== 0 && !isPublic(host));
  const flags = [
    protocol === 'http:' ? ' --allow-http' : '',
    inside ? ' --allow-private' : '',
  ].join('');
  return [
    ...secrets
      .filter((name) => troubleWith(name) !== undefined)
      .map(
        (name) =>
          `The relay needs the secret ${name}: in ${placesOf(name)}. \`writ webhooks secret ${name}\` makes one.`,
      ),
    `\`writ relay${flags}\` tells it.`,
  ];
}

interface ShownWebhook extends ListedDestination {
  readonly lastFailure: Delivery | null;
  /** What a person can do about it; nothing where all is well. */
  readonly todo: readonly string[];
}

function addShow(webhooks: Command): void {
  show<ShownWebhook>(
    withName(webhooks.command('show').description('one webhook: how it is, why, and what to do')),
    {
      read: async (writ, { args: [name = ''] }) => {
        const one = await writ.destinations.get(name);
        const failed = await writ.destinations.deliveries(name, { failed: true, limit: 1 });
        return {
          ...one,
          lastFailure: failed.items[0] ?? null,
          todo: adviceOn(one, await writ.now()),
        };
      },
      print: (one, { output, now }) => {
        const { lastFailure: failed, retryAt, todo } = one;
        output.pairs([
          ['webhook', output.style('bold', one.name)],
          ['url', oneLine(addressOf(one))],
          ['secrets', oneLine([one.config.secrets].flat().join(', '))],
          ['types', one.types.join(', ')],
          ['tenant', one.tenant === null ? 'all' : oneLine(one.tenant)],
          ['state', `${stateOf(output, one)}${one.note ? `: ${oneLine(one.note)}` : ''}`],
          [
            'next try',
            retryAt && Date.parse(retryAt) > now.getTime()
              ? `in ${span(Date.parse(retryAt) - now.getTime())}`
              : undefined,
          ],
          ['relay', one.relay],
          ['behind', lagOf(one, now) ?? 'no'],
          ['undelivered', count(one.undelivered)],
          ['dead letters', count(one.dead)],
          [
            'last failure',
            failed &&
              oneLine(
                `${ago(new Date(failed.at), now)}: ${failed.reason ?? failed.status ?? 'no answer'}`,
              ),
          ],
        ]);
        if (todo.length > 0) output.line();
        for (const line of todo) output.line(`→ ${line}`);
      },
    },
  );
}

function adviceOn(one: ListedDestination, now: Date): string[] {
  const { name, state, failures, dead, behindSince, relay, retryAt } = one;
  const waits = retryAt !== null && Date.parse(retryAt) > now.getTime();
  return [
    state === 'paused' &&
      `Nothing is lost while it is paused. See to its receiver, then \`writ webhooks resume ${name}\`.`,
    state === 'active' &&
      failures > 0 &&
      `It accepted nothing in ${plural(failures, 'call')}. See to its receiver: it goes on by itself, or at once with \`writ webhooks resume ${name}\`.`,
    dead > 0 &&
      `\`writ events dead-letters ${name}\` says why; \`writ events redeliver ${name} --all-dead\` tells them again.`,
    state === 'active' &&
      failures === 0 &&
      behindSince !== null &&
      relay === null &&
      !waits &&
      'No relay is telling it anything at this moment: is `writ relay` running?',
  ].filter((line): line is string => line !== false);
}

function addPause(webhooks: Command): void {
  act<void, { reason?: string }>(
    withActor(
      withName(
        webhooks
          .command('pause')
          .description('tell it nothing until it is resumed; nothing is lost'),
      ).option('--reason <text>', 'why, for whoever looks at it', notBlank),
    ),
    {
      do: (writ, { args: [name = ''], options: { reason: note } }) =>
        writ.destinations.pause(name, { note }),
      data: (_, { args: [name] }) => ({ name, state: 'paused' }),
      says: (_, { args: [name] }) =>
        `Paused ${name}. What happens meanwhile is kept for it; \`writ webhooks resume ${name}\` lets it go on.`,
    },
  );
}

function addResume(webhooks: Command): void {
  act<{ lag: string | undefined; one: ListedDestination }>(
    withActor(
      withName(webhooks.command('resume').description('let it go on where it was, at once')),
    ),
    {
      do: async (writ, { args: [name = ''] }) => {
        await writ.destinations.resume(name);
        const one = await writ.destinations.get(name);
        return { one, lag: lagOf(one, await writ.now()) };
      },
      data: ({ one: { name, state, undelivered, dead } }) => ({ name, state, undelivered, dead }),
      says: ({ lag, one: { name, dead } }, { output }) => {
        if (dead > 0)
          output.note(
            `${plural(dead, 'dead letter')}: \`writ events redeliver ${name} --all-dead\` tells them again.`,
          );
        return `Resumed ${name}${lag === undefined ? '' : `, ${lag} behind`}.`;
      },
    },
  );
}

function addRemove(webhooks: Command): void {
  act(
    withActor(
      withName(
        webhooks.command('remove').description('end it; it is never told what it was not told yet'),
      ),
    ),
    {
      asks: async (writ, { args: [name = ''], output }) => {
        const lost = lostWith(await writ.destinations.get(name), await writ.now());
        if (!output.json)
          for (const line of [`Removing ${name}:`, ...lost.map((each) => `  ${each}`)])
            output.line(line);
        return `Remove ${name}?`;
      },
      do: (writ, { args: [name = ''] }) => writ.destinations.remove(name),
      data: (_, { args: [name] }) => ({ name, removed: true }),
      says: (_, { args: [name] }) => `Removed ${name}.`,
    },
  );
}

function lostWith(found: ListedDestination, now: Date): string[] {
  const { undelivered, dead } = found;
  const lag = lagOf(found, now);
  const lost = [
    lag !== undefined && `it is ${lag} behind, and will not be told of what happened since`,
    undelivered > 0 &&
      `${plural(undelivered, 'event')} that it has not accepted yet will not be told again`,
    dead > 0 && `${plural(dead, 'dead letter')} can no longer be redelivered`,
  ].filter((line): line is string => line !== false);
  return lost.length > 0 ? lost : ['it has been told of everything; nothing is lost'];
}

function addDeliveries(webhooks: Command): void {
  list<Delivery, { failed?: boolean }>(
    withName(
      webhooks
        .command('deliveries')
        .description('what was sent to it and what it answered, the newest first'),
    ).option('--failed', 'only what it did not accept'),
    {
      read: async (writ, page, { args: [name = ''], options: { failed = false } }) => {
        await writ.destinations.get(name);
        return writ.destinations.deliveries(name, { ...page, failed });
      },
      none: ({ args: [name], options: { failed } }) =>
        failed
          ? `${name} has accepted everything that it was sent.`
          : `Nothing was sent to ${name} yet.`,
      columns: ({ output }) => [
        { title: 'SENT', of: ({ at }, now) => ago(new Date(at), now) },
        { title: 'EVENT', of: ({ eventId }) => eventId },
        { title: 'TRY', ...right, of: ({ attempt }) => attempt },
        {
          title: 'ANSWER',
          of: ({ ok, status }) =>
            output.style(ok ? 'green' : 'red', String(status ?? (ok ? 'accepted' : 'none'))),
        },
        { title: 'TOOK', ...right, of: ({ ms }) => (ms === null ? undefined : span(ms)) },
        { title: 'WHY', of: ({ reason }) => reason ?? '' },
      ],
    },
  );
}

/** Needs no database. The secret is on standard output, and nowhere else. */
function addSecret(webhooks: Command): void {
  webhooks
    .command('secret')
    .description('make a secret; it is printed once, and kept nowhere')
    .argument('[name]', 'the name that the secret will have', nameOf)
    .action((name: string | undefined, _options: unknown, command: Command) => {
      const output = new Output({ json: command.optsWithGlobals().json === true });
      const secret = newWebhookSecret();
      if (output.json)
        return output.data({
          secret,
          ...(name !== undefined && { variable: secretVariable(name) }),
        });
      output.line(secret);
      output.note(`Keep it where the relay finds it: in ${placesOf(name ?? 'NAME')}.`);
      output.note('The receiver verifies with the same secret. The database has its name only.');
    });
}

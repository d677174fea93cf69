/**
 * `writ principals`: who may act. A key is made here and shown once, or put into a file; the
 * database keeps what recognises it. The file is on the disk before the database hears of the key:
 * a crash between the two leaves a key of nobody, never somebody whose key nobody has.
 */
import { rmSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { WritError } from '../../errors/index.js';
import { newKey } from '../../governance/keys.js';
import type { KnownPrincipal } from '../../governance/principals.js';
import { type Right, rights } from '../../governance/rights.js';
import { repeated } from '../command.js';
import { exitCodes, explain, Failure, wrongUsage } from '../failure.js';
import { writeKey } from '../files.js';
import { ago, type Output } from '../output.js';
import { act, action, list } from '../shapes.js';

const kinds = ['person', 'service', 'agent'] as const;

interface AddOptions extends Record<string, unknown> {
  readonly kind: (typeof kinds)[number];
  readonly onBehalfOf?: string;
  readonly right?: readonly Right[];
  readonly permission?: readonly string[];
  readonly tenant?: string;
  readonly keyFile?: string;
}

interface PutOptions extends Record<string, unknown> {
  readonly right?: readonly Right[];
  /** False: none any more. */
  readonly permission?: readonly string[] | false;
  readonly newKey?: boolean;
  readonly keyFile?: string;
  readonly enable?: boolean;
}

function right(text: string, before: readonly Right[] = []): readonly Right[] {
  const given = text.split(',').map((each) => each.trim());
  const wrong = given.find((each) => !(rights as readonly string[]).includes(each));
  if (wrong !== undefined) throw new InvalidArgumentError(`Rights are ${rights.join(', ')}.`);
  return [...before, ...(given as Right[])];
}

const rightsHelp = `${rights.join(', ')}; may be repeated, or with commas between`;
const keyFileHelp = 'put the key into this file, which only you can read, instead of showing it';

export function addPrincipals(program: Command): void {
  const principals = program
    .command('principals')
    .description('who may act: persons, services and agents, and what each may do');
  principals
    .command('add')
    .description('add somebody, and show the key, once')
    .argument('<name>', 'letters, digits and _ . @ -')
    .addOption(
      new Option('--kind <kind>', 'only persons approve; agents only propose')
        .choices(kinds)
        .makeOptionMandatory(),
    )
    .option(
      '--on-behalf-of <name>',
      'of an agent: for whom it acts, who does not approve what it proposes',
    )
    .option(
      '--right <right>',
      `what it may do: ${rightsHelp}; otherwise what is usual for its kind`,
      right,
    )
    .option(
      '--permission <name>',
      'what it may have done by a governor, as the actions of its policy name it: flags:write; may be repeated',
      repeated,
    )
    .option('--tenant <tenant>', 'in this tenant only; otherwise in every one')
    .option('--key-file <path>', keyFileHelp)
    .action(
      action<AddOptions>(async (writ, { args: [name = ''], options, output }) => {
        const { kind, onBehalfOf, tenant } = options;
        if ((kind === 'agent') !== (onBehalfOf !== undefined))
          throw wrongUsage(
            'An agent acts on behalf of somebody, and nobody else does.',
            'Give --on-behalf-of NAME with --kind agent, and only then.',
          );
        const key = newKey(name);
        await withKept(options.keyFile, key, () =>
          writ.principals.add({
            id: name,
            kind,
            key,
            onBehalfOf,
            rights: options.right,
            permissions: options.permission,
            tenant,
          }),
        );
        tell(output, `Added ${kind} ${name}.`, { principal_id: name, kind }, key, options.keyFile);
      }),
    );
  list<KnownPrincipal>(principals.command('list').description('everybody, with what they may do'), {
    limit: 1_000,
    read: (writ, page) => writ.principals.list(page),
    none: 'Nobody yet. `writ principals add NAME --kind person` adds somebody.',
    columns: ({ output }) => [
      { title: 'NAME', of: (each) => each.principal_id },
      {
        title: 'KIND',
        of: ({ kind, on_behalf_of }) => (on_behalf_of ? `${kind} of ${on_behalf_of}` : kind),
      },
      { title: 'MAY', of: (each) => each.rights.join(', ') },
      {
        title: 'PERMISSIONS',
        when: (all) => all.some((each) => each.permissions.length > 0),
        of: (each) => each.permissions.join(', '),
      },
      {
        title: 'TENANT',
        when: (all) => all.some(({ tenant_id }) => tenant_id !== null),
        of: (each) => each.tenant_id ?? 'all',
      },
      { title: 'ADDED', of: (each, now) => ago(new Date(each.added_at), now) },
      {
        title: 'DISABLED',
        of: ({ disabled_at: at }, now) =>
          at === null ? '' : output.style('yellow', ago(new Date(at), now)),
      },
    ],
  });
  principals
    .command('put')
    .description('give somebody other rights, permissions or another key, or let them act again')
    .argument('<name>', 'name of the principal')
    .option('--right <right>', `all that it may do from now on: ${rightsHelp}`, right)
    .option(
      '--permission <name>',
      'all that it may have done by a governor from now on; may be repeated',
      repeated,
    )
    .option('--no-permission', 'it may have nothing done by a governor any more')
    .option('--new-key', 'make another key, and show it once; the one before is no longer valid')
    .option('--key-file <path>', `with --new-key: ${keyFileHelp}`)
    .option('--enable', 'let somebody act again who was disabled')
    .action(
      action<PutOptions>(async (writ, { args: [name = ''], options, output }) => {
        if (
          !options.right &&
          options.permission === undefined &&
          !options.newKey &&
          !options.enable
        )
          throw wrongUsage(
            'Nothing is to be changed.',
            'Give --right, --permission, --new-key or --enable.',
          );
        if (options.keyFile !== undefined && !options.newKey)
          throw wrongUsage('--key-file is for a new key.', 'Add --new-key.');
        const key = options.newKey ? newKey(name) : undefined;
        await withKept(options.keyFile, key, () =>
          writ.principals.change(name, {
            rights: options.right,
            ...(options.permission !== undefined && { permissions: options.permission || [] }),
            key,
            ...(options.enable && { disabled: false }),
          }),
        );
        tell(output, `Changed ${name}.`, { principal_id: name }, key, options.keyFile);
      }),
    );
  act<void>(
    principals
      .command('disable')
      .description('from now on somebody’s key is refused; what they did stays')
      .argument('<name>', 'name of the principal'),
    {
      do: (writ, { args: [name = ''] }) => writ.principals.change(name, { disabled: true }),
      data: (_, { args: [name] }) => ({ principal_id: name, disabled: true }),
      says: (_, { args: [name] }) =>
        `${name} can no longer act. \`writ principals put ${name} --enable\` takes that back.`,
    },
  );
}

/** Puts the key into its file, if it has one, before anybody relies on it. */
async function withKept(
  path: string | undefined,
  key: string | undefined,
  use: () => Promise<unknown>,
): Promise<void> {
  if (path !== undefined && key !== undefined) writeKey(path, `${key}\n`, '--key-file');
  try {
    await use();
  } catch (error) {
    if (path === undefined || key === undefined) throw error;
    const { exitCode, code, message, remedy } = explain(error);
    // Where it is certain that nothing was recorded, the key is of no use. When the connection was
    // lost meanwhile it may be valid already, and is kept.
    if (
      error instanceof Failure ||
      (error instanceof WritError && error.code !== 'database_unreachable')
    ) {
      rmSync(path);
      throw new Failure(exitCode, code, message, remedy, { cause: error });
    }
    throw new Failure(
      exitCodes.failed,
      code,
      message,
      `The key is in ${path}, and may be valid: see \`writ principals list\`.`,
      {
        cause: error,
      },
    );
  }
}

function tell(
  output: Output,
  done: string,
  about: object,
  key: string | undefined,
  keyFile: string | undefined,
): void {
  const shown = key !== undefined && keyFile === undefined;
  if (output.json) output.data({ ...about, ...(shown && { key }), keyFile });
  // alone on standard output, so that it can be piped to where it is kept
  else if (shown) output.line(key);
  if (!output.json || shown)
    output.note(
      shown
        ? `${done} The key is shown this once: keep it where secrets are kept. Nobody can get it back.`
        : keyFile === undefined
          ? done
          : `${done} The key is in ${keyFile}.`,
    );
}

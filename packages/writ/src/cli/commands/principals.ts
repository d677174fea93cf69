/**
 * `writ principals`: who may act. A key is made here and shown once, or put into a file; the database keeps what recognises it. The file is on the disk before the
 * database hears of the key: a crash between the two leaves a key of nobody, never somebody whose key nobody has.
 */
import { rmSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { WritError } from '../../errors/index.js';
import type { Right } from '../../governance/governance.js';
import { newKey } from '../../governance/keys.js';
import { contextOf, repeated } from '../command.js';
import { exitCodes, explain, Failure, wrongUsage } from '../failure.js';
import { writeKey } from '../files.js';
import { governanceOf } from '../governance/session.js';
import { plain } from '../governance/words.js';
import { ago, type Output } from '../output.js';

const rights = ['propose', 'approve', 'activate', 'operate', 'report', 'break_glass'] as const;
const kinds = ['person', 'service', 'agent'] as const;

interface AddOptions {
  readonly kind: (typeof kinds)[number];
  readonly onBehalfOf?: string;
  readonly right?: readonly Right[];
  readonly permission?: readonly string[];
  readonly tenant?: string;
  readonly keyFile?: string;
}

interface PutOptions {
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
    .action(async (name: string, options: AddOptions, command: Command) => {
      if ((options.kind === 'agent') !== (options.onBehalfOf !== undefined))
        throw wrongUsage(
          'An agent acts on behalf of somebody, and nobody else does.',
          'Give --on-behalf-of NAME with --kind agent, and only then.',
        );
      const { output, session } = contextOf(command);
      const { kind, onBehalfOf, tenant } = options;
      const key = newKey(name);
      await withKept(options.keyFile, key, () =>
        session((db) =>
          governanceOf(db).addPrincipal({
            id: name,
            kind,
            key,
            ...(onBehalfOf !== undefined && { onBehalfOf }),
            ...(options.right && { rights: options.right }),
            ...(options.permission && { permissions: options.permission }),
            ...(tenant !== undefined && { tenant }),
          }),
        ),
      );
      tell(output, `Added ${kind} ${name}.`, { name, kind }, key, options.keyFile);
    });
  principals
    .command('list')
    .description('everybody, with what they may do')
    .action(async (_options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const all = await db.rows<Listed>('select * from writ.principal order by principal_id');
        if (output.json) output.data(all);
        else show(output, all);
      });
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
    .action(async (name: string, options: PutOptions, command: Command) => {
      if (!options.right && options.permission === undefined && !options.newKey && !options.enable)
        throw wrongUsage(
          'Nothing is to be changed.',
          'Give --right, --permission, --new-key or --enable.',
        );
      if (options.keyFile !== undefined && !options.newKey)
        throw wrongUsage('--key-file is for a new key.', 'Add --new-key.');
      const { output, session } = contextOf(command);
      const key = options.newKey ? newKey(name) : undefined;
      await withKept(options.keyFile, key, () =>
        session((db) =>
          governanceOf(db).changePrincipal(name, {
            ...(options.right && { rights: options.right }),
            ...(options.permission !== undefined && { permissions: options.permission || [] }),
            ...(key !== undefined && { key }),
            ...(options.enable && { disabled: false }),
          }),
        ),
      );
      tell(output, `Changed ${name}.`, { name }, key, options.keyFile);
    });
  principals
    .command('disable')
    .description('from now on somebody’s key is refused; what they did stays')
    .argument('<name>', 'name of the principal')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session((db) => governanceOf(db).changePrincipal(name, { disabled: true }));
      if (output.json) output.data({ name, disabled: true });
      else
        output.line(
          `${name} can no longer act. \`writ principals put ${name} --enable\` takes that back.`,
        );
    });
}

interface Listed {
  readonly principal_id: string;
  readonly kind: string;
  readonly on_behalf_of: string | null;
  readonly rights: readonly string[];
  readonly permissions: readonly string[];
  readonly tenant_id: string | null;
  readonly added_at: Date;
  readonly disabled_at: Date | null;
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
    // Where it is certain that nothing was recorded, the key is of no use. When the connection was lost meanwhile it may be valid already, and is kept.
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
  if (output.json)
    output.data({ ...about, ...(shown && { key }), ...(keyFile !== undefined && { keyFile }) });
  else if (shown) output.line(key); // alone on standard output, so that it can be piped to where it is kept
  if (!output.json || shown)
    output.note(
      shown
        ? `${done} The key is shown this once: keep it where secrets are kept. Nobody can get it back.`
        : keyFile === undefined
          ? done
          : `${done} The key is in ${keyFile}.`,
    );
}

function show(output: Output, all: readonly Listed[]): void {
  if (all.length === 0) {
    output.line('Nobody yet. `writ principals add NAME --kind person` adds somebody.');
    return;
  }
  const tenants = all.some(({ tenant_id }) => tenant_id !== null);
  const permissions = all.some((each) => each.permissions.length > 0);
  const now = new Date();
  output.table(
    [
      'NAME',
      'KIND',
      'MAY',
      ...(permissions ? ['PERMISSIONS'] : []),
      ...(tenants ? ['TENANT'] : []),
      'ADDED',
      'DISABLED',
    ].map((title) => ({
      title,
    })),
    all.map((each) => [
      each.principal_id,
      each.on_behalf_of === null ? each.kind : `${each.kind} of ${each.on_behalf_of}`,
      each.rights.join(', '),
      ...(permissions ? [plain(each.permissions.join(', '))] : []),
      ...(tenants ? [plain(each.tenant_id ?? 'all')] : []),
      ago(each.added_at, now),
      each.disabled_at === null ? '' : output.style('yellow', ago(each.disabled_at, now)),
    ]),
  );
}

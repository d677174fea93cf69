/**
 * `writ logins` lists, makes and removes the database logins that use Writ. It prints the password
 * of a new login once, in a connection string. The server gets only the password's verifier.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { urlFor } from '../../database/address.js';
import { uses } from '../../database/roles.js';
import { WritError } from '../../errors/index.js';
import {
  isRole,
  type ListedLogin,
  type LoginPlan,
  newPassword,
  singleRoles,
} from '../../governance/logins.js';
import type { Writ } from '../../writ.js';
import { notBlank } from '../command.js';
import { connectionString } from '../connection.js';
import { exitCodes, Failure, wrongUsage } from '../failure.js';
import { ago, type Output } from '../output.js';
import { action, type Call, confirmed, list } from '../shapes.js';

interface AddOptions extends Record<string, unknown> {
  readonly principal?: string;
  readonly tenant?: string;
  readonly role?: readonly string[];
  readonly passwordStdin?: boolean;
  readonly newPassword?: boolean;
  readonly yes?: boolean;
}

interface RemoveOptions extends Record<string, unknown> {
  readonly dropRole?: boolean;
  readonly yes?: boolean;
}

function loginName(text: string): string {
  if (
    /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,62}$/.test(text) &&
    !/^(?:pg_|writ_)/.test(text) &&
    !isRole(text)
  )
    return text;
  throw new InvalidArgumentError(
    'A login name has 1 to 63 letters, digits and _ . @ -. It begins with a letter or digit, and not with pg_ or writ_, which begin names of roles.',
  );
}

function role(text: string, before: readonly string[] = []): readonly string[] {
  if (isRole(text)) return [...new Set([...before, text])];
  throw new InvalidArgumentError(
    'This is not a role of Writ. docs/operate.md lists them, for example writ_producer, writ_worker and dot_executor.',
  );
}

const actorHelp = 'who makes the change, for the record (default: the system user)';

export function addLogins(program: Command): void {
  const logins = program
    .command('logins')
    .description(
      'list, make and remove database logins, each for one principal, tenant or set of roles',
    );
  logins
    .command('add')
    .description(
      'make a login, or change an existing one to match these options; shows the changes and asks first',
    )
    .argument('<name>', 'name of the login', loginName)
    .option(
      '--principal <name>',
      'the one principal that the login acts for, without a key; without --role it gets writ_principal',
      notBlank,
    )
    .option(
      '--tenant <tenant>',
      'the one tenant that the login may see and change (default: the tenant of the principal, if it has one)',
      notBlank,
    )
    .option(
      '--role <role>',
      'a role to grant; repeat it for more roles; every other role of Writ is revoked',
      role,
    )
    .option(
      '--password-stdin',
      'read the password from standard input instead of making one; needs --yes',
    )
    .option('--new-password', 'give an existing login a new password')
    .option('--yes', 'do it without asking')
    .option('--actor <name>', actorHelp)
    .action(action(add));
  list<ListedLogin>(
    logins.command('list').description('list every login that is registered or has a role of Writ'),
    {
      limit: 1_000,
      read: (writ, page) => writ.logins.list(page),
      none: 'No login has a role of Writ. `writ logins add NAME` makes one.',
      columns: ({ output }) => [
        { title: 'LOGIN', of: (each) => each.login },
        {
          title: 'ACTS FOR',
          of: (each) => each.principal_id ?? (each.registered ? 'any key' : ''),
        },
        { title: 'TENANT', of: (each) => each.tenant_id ?? (each.registered ? 'all' : '') },
        { title: 'ROLES', of: (each) => each.has.join(', ') || 'none' },
        {
          title: 'REGISTERED',
          of: ({ put_at, put_by }, now) =>
            put_at === null
              ? output.style('yellow', 'no')
              : `${ago(new Date(put_at), now)} by ${put_by}`,
        },
      ],
    },
  );
  logins
    .command('remove')
    .description(
      'revoke every role of Writ from a login, and delete its registration; shows the changes and asks first',
    )
    .argument('<name>', 'name of the login')
    .option('--drop-role', 'also drop the login; it must own nothing')
    .option('--yes', 'do it without asking')
    .option('--actor <name>', actorHelp)
    .action(action(remove));
}

async function add(writ: Writ, call: Call<AddOptions>): Promise<void> {
  const {
    args: [login = ''],
    options,
    output,
  } = call;
  const { principal, tenant } = options;
  const roles = options.role ?? (principal === undefined ? [] : ['writ_principal']);
  if (roles.length === 0)
    throw wrongUsage(
      'No option says what this login is for.',
      'Give --principal NAME or --role ROLE.',
    );
  if (principal !== undefined && !roles.includes('writ_principal'))
    throw wrongUsage(
      'A login that acts for a principal needs the role writ_principal.',
      'Add --role writ_principal.',
    );
  const given = options.passwordStdin ? await passwordFrom(process.stdin) : undefined;
  const plan = await writ.logins.plan({
    login,
    roles,
    principal,
    tenant,
    newPassword: options.newPassword === true || given !== undefined,
  });
  const password = given ?? newPassword();
  if (!plan.nothing) {
    if (!output.json) showPlan(output, plan);
    if (!options.yes) await confirmed('Do it?');
    await unlessForbidden(plan, () => writ.logins.put(plan, { password }));
  }
  const shown = plan.setsPassword && given === undefined;
  tell(
    output,
    plan,
    shown
      ? urlFor(connectionString(options.databaseUrl as string | undefined), login, password)
      : undefined,
  );
}

/** Names the statements that an administrator could run instead. */
async function unlessForbidden(plan: LoginPlan, carryOut: () => Promise<void>): Promise<void> {
  try {
    await carryOut();
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== 'permission_denied') throw error;
    throw new Failure(
      exitCodes.failed,
      'permission_denied',
      `Your login is not allowed to do this, and nothing was changed: ${error.detail}`,
      `Ask an administrator with CREATEROLE, writ_admin and the right to grant these roles to run this command, or these statements: ${plan.statements.join('; ')};`,
      { cause: error },
    );
  }
}

/** Describes a role's use; for a composite, lists its parts. */
const useOf = (role: string): string =>
  (uses as Record<string, string>)[role] ?? singleRoles([role]).join(', ');

function showPlan(output: Output, { definition, creates, statements }: LoginPlan): void {
  const { login, principal, tenant, roles } = definition;
  output.line(
    `${creates ? 'Makes' : 'Changes'} the login ${output.style('bold', login)}${creates ? '' : ' to this'}`,
  );
  output.pairs([
    ['acts for', principal ?? 'the principal whose key it sends'],
    [
      'touches',
      tenant === undefined
        ? principal === undefined
          ? 'every tenant'
          : 'every tenant that its principal may act in'
        : `the tenant ${tenant} only`,
    ],
    ...roles.map((each): [string, string] => [each, useOf(each)]),
  ]);
  output.line();
  for (const statement of statements) output.line(`  ${output.style('dim', `${statement};`)}`);
  output.line();
}

function tell(output: Output, plan: LoginPlan, url: string | undefined): void {
  const { login, principal } = plan.definition;
  if (output.json) {
    output.data({
      login,
      changed: !plan.nothing,
      created: plan.creates,
      connectionString: url,
    });
    return;
  }
  // alone on standard output, for piping into a store of secrets
  if (url !== undefined) output.line(url);
  const as = principal === undefined ? '' : ` It acts for ${principal}, and needs no key.`;
  output.note(
    plan.nothing
      ? `${login} already has these roles and this registration.`
      : `${plan.creates ? 'Made' : 'Changed'} ${login}.${as}${
          url === undefined
            ? ''
            : ' The password is shown this once. Store it where you keep secrets.'
        }`,
  );
}

/** Printable ASCII: PostgreSQL would normalise other characters before it computes the verifier. */
async function passwordFrom(input: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.length > 1_000) break;
  }
  const password = text.replace(/\r?\n$/, '');
  if (/^[\x20-\x7e]{12,200}$/.test(password)) return password;
  throw wrongUsage(
    'Standard input holds no valid password.',
    'Send one line of 12 to 200 printable ASCII characters.',
  );
}

async function remove(writ: Writ, { args: [login = ''], options, output }: Call<RemoveOptions>) {
  const plan = await writ.logins.planRemoval(login);
  const dropRole = options.dropRole === true;
  if (!output.json) {
    output.line(
      `The login ${output.style('bold', login)} loses every role of Writ${dropRole ? ', and PostgreSQL drops it' : ''}.`,
    );
    for (const statement of plan.statements)
      output.line(`  ${output.style('dim', `${statement};`)}`);
  }
  if (!options.yes) await confirmed('Do it?');
  await unlessForbidden(plan, () => writ.logins.remove(plan, { dropRole }));
  if (output.json) output.data({ login, changed: true, dropped: dropRole });
  else
    output.line(
      dropRole
        ? `Removed ${login}.`
        : `Removed the roles and registration of ${login}. The login still exists, without a role of Writ.`,
    );
}

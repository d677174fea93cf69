/**
 * `writ logins`: which database logins use Writ, whose they are, and making one. The password of a new
 * login is printed once, as a connection string; the server only ever gets its verifier.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { roles as known } from '../../database/roles.js';
import { contextOf, notBlank } from '../command.js';
import { answersYes } from '../confirm.js';
import { actor, type Session } from '../connection.js';
import { wrongUsage } from '../failure.js';
import {
  carryOut,
  carryOutRemoval,
  isNothing,
  isRole,
  type LoginPlan,
  newPassword,
  planLogin,
  planRemoval,
  registrationText,
  statementsOf,
  urlFor,
  useOf,
} from '../logins.js';
import { ago, type Output } from '../output.js';

interface AddOptions {
  readonly principal?: string;
  readonly tenant?: string;
  readonly role?: readonly string[];
  readonly passwordStdin?: boolean;
  readonly newPassword?: boolean;
  readonly yes?: boolean;
  readonly actor?: string;
}

interface RemoveOptions {
  readonly dropRole?: boolean;
  readonly yes?: boolean;
  readonly actor?: string;
}

function loginName(text: string): string {
  if (
    /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,62}$/.test(text) &&
    !/^(?:pg_|writ_)/.test(text) &&
    !isRole(text)
  )
    return text;
  throw new InvalidArgumentError(
    'A login has up to 63 letters, digits and _ . @ -, and does not begin with pg_ or writ_, which are names of roles.',
  );
}

function role(text: string, before: readonly string[] = []): readonly string[] {
  if (isRole(text)) return [...new Set([...before, text])];
  throw new InvalidArgumentError(
    'Roles of Writ are in docs/operate.md: writ_producer, writ_worker, dot_executor, for instance.',
  );
}

const actorHelp = 'who asks, for the record; otherwise the system user';

export function addLogins(program: Command): void {
  const logins = program
    .command('logins')
    .description('database logins: whose they are, which tenant and roles each has');
  logins
    .command('add')
    .description(
      'make a login, or make one that is there what it should be; shows what changes, and asks',
    )
    .argument('<name>', 'name of the login', loginName)
    .option(
      '--principal <name>',
      'the one principal that it acts for, without a key; then its role is writ_principal',
      notBlank,
    )
    .option(
      '--tenant <tenant>',
      'the one tenant that it may touch; otherwise the principal’s, if it has one',
      notBlank,
    )
    .option(
      '--role <role>',
      'a role that it has; all others of Writ are taken from it; may be repeated',
      role,
    )
    .option(
      '--password-stdin',
      'take the password from standard input instead of making one; with --yes',
    )
    .option('--new-password', 'give a login that is there a new password')
    .option('--yes', 'do it without asking')
    .option('--actor <name>', actorHelp)
    .action(add);
  logins
    .command('list')
    .description('every login that is registered or has a role of Writ')
    .action(async (_options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => list(output, await readLogins(db)));
    });
  logins
    .command('remove')
    .description(
      'take every role of Writ from a login, and forget what it was for; shows what changes, and asks',
    )
    .argument('<name>', 'name of the login')
    .option('--drop-role', 'drop the login itself as well; it must own nothing')
    .option('--yes', 'do it without asking')
    .option('--actor <name>', actorHelp)
    .action(remove);
}

async function add(login: string, options: AddOptions, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  const { principal, tenant } = options;
  const roles = options.role ?? (principal === undefined ? [] : ['writ_principal']);
  if (roles.length === 0)
    throw wrongUsage(
      'Nothing says what this login is for.',
      'Give --principal NAME or --role ROLE.',
    );
  if (principal !== undefined && !roles.includes('writ_principal'))
    throw wrongUsage(
      'A login that acts for a principal needs the role writ_principal.',
      'Add --role writ_principal.',
    );
  const given = options.passwordStdin ? await passwordFrom(process.stdin) : undefined;
  await session(async (db) => {
    const plan = await planLogin(db, {
      login,
      roles,
      ...(principal !== undefined && { principal }),
      ...(tenant !== undefined && { tenant }),
      newPassword: options.newPassword === true || given !== undefined,
    });
    const who = actor(options.actor);
    if (!isNothing(plan)) {
      if (!output.json)
        showPlan(output, plan, [
          ...statementsOf(plan),
          ...(plan.registers ? [registrationText(plan, who)] : []),
        ]);
      if (!(await goesOn(output, options.yes))) return;
    }
    const password = given ?? newPassword();
    await carryOut(db, plan, { actor: who, password });
    tell(output, db, plan, given === undefined ? password : undefined);
  });
}

function showPlan(
  output: Output,
  { definition, creates }: LoginPlan,
  statements: readonly string[],
): void {
  const { login, principal, tenant, roles } = definition;
  output.line(
    `${creates ? 'A new login' : 'The login'} ${output.style('bold', login)} ${creates ? '' : 'becomes this'}`.trimEnd(),
  );
  output.pairs([
    ['acts for', principal ?? 'whoever gives a key'],
    [
      'touches',
      tenant === undefined
        ? principal === undefined
          ? 'every tenant'
          : 'what its principal may'
        : `the tenant ${tenant} only`,
    ],
    ...roles.map((each): [string, string] => [each, useOf(each)]),
  ]);
  output.line();
  for (const statement of statements) output.line(`  ${output.style('dim', `${statement};`)}`);
  output.line();
}

async function goesOn(output: Output, yes: boolean | undefined): Promise<boolean> {
  if (
    yes ||
    (output.live &&
      process.stdin.isTTY &&
      (await answersYes('Do it?', process.stdin, process.stdout)))
  )
    return true;
  if (output.json) output.data({ changed: false });
  else output.line('Nothing was done yet. Add --yes to do it.');
  return false;
}

function tell(output: Output, db: Session, plan: LoginPlan, password: string | undefined): void {
  const { login, principal } = plan.definition;
  const url = plan.setsPassword && password !== undefined ? urlFor(db, login, password) : undefined;
  if (output.json) {
    output.data({
      login,
      changed: !isNothing(plan),
      created: plan.creates,
      ...(url !== undefined && { connectionString: url }),
    });
    return;
  }
  if (url !== undefined) output.line(url); // alone on standard output, so that it can be piped to where it is kept
  const as = principal === undefined ? '' : ` It acts for ${principal}, and needs no key.`;
  if (isNothing(plan)) output.note(`${login} is so already.`);
  else if (url === undefined) output.note(`${plan.creates ? 'Made' : 'Changed'} ${login}.${as}`);
  else
    output.note(
      `${plan.creates ? 'Made' : 'Changed'} ${login}.${as} The password is shown this once: keep it where secrets are kept.`,
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
    'Standard input holds no password that can be used.',
    'It has 12 to 200 printable ASCII characters, on one line.',
  );
}

interface Listed {
  readonly login: string;
  readonly registered: boolean;
  readonly principal_id: string | null;
  readonly tenant_id: string | null;
  readonly roles: readonly string[] | null;
  readonly has: readonly string[];
  readonly put_by: string | null;
  readonly put_at: Date | null;
}

function readLogins(db: Session): Promise<Listed[]> {
  return db.rows<Listed>(
    `select coalesce(l.login, r.rolname) as login, l.login is not null as registered, l.principal_id, l.tenant_id, l.roles, l.put_by, l.put_at,
       coalesce(array_agg(m.roleid::regrole::text order by 1) filter (where m.roleid is not null), '{}') as has
     from pg_roles r
     left join pg_auth_members m on m.member = r.oid and m.roleid = any (select oid from pg_roles where rolname = any ($1))
     full join writ.login l on l.login = r.rolname
     where l.login is not null or (r.rolcanlogin and m.roleid is not null)
     group by r.rolname, l.login, l.principal_id, l.tenant_id, l.roles, l.put_by, l.put_at
     order by 1`,
    [known],
  );
}

function list(output: Output, all: readonly Listed[]): void {
  const now = new Date();
  if (output.json) output.data(all);
  else if (all.length === 0)
    output.line('No login has a role of Writ. `writ logins add NAME` makes one.');
  else
    output.table(
      ['LOGIN', 'ACTS FOR', 'TENANT', 'ROLES', 'REGISTERED'].map((title) => ({ title })),
      all.map((each) => [
        each.login,
        each.principal_id ?? (each.registered ? 'any key' : ''),
        each.tenant_id ?? (each.registered ? 'all' : ''),
        each.has.join(', ') || 'none',
        each.registered
          ? `${ago(each.put_at as Date, now)} by ${each.put_by}`
          : output.style('yellow', 'no'),
      ]),
    );
}

async function remove(login: string, options: RemoveOptions, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const plan = await planRemoval(db, login);
    const dropsRole = options.dropRole === true;
    const who = actor(options.actor);
    if (!output.json) {
      output.line(
        `The login ${output.style('bold', login)} loses every role of Writ${dropsRole ? ', and is dropped' : ''}.`,
      );
      for (const statement of statementsOf(plan))
        output.line(`  ${output.style('dim', `${statement};`)}`);
    }
    if (!(await goesOn(output, options.yes))) return;
    await carryOutRemoval(db, plan, { actor: who, dropsRole });
    if (output.json) output.data({ login, changed: true, dropped: dropsRole });
    else
      output.line(
        dropsRole
          ? `Removed ${login}.`
          : `Removed. The login ${login} is still there, without a role of Writ.`,
      );
  });
}

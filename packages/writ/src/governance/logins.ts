/**
 * Database logins: what each is to be for, what it is now, and how the one becomes the other. One
 * transaction creates the login, grants and revokes its roles and registers it, so a failure leaves
 * nothing behind. The server gets a SCRAM verifier instead of a password: a statement can end up in its
 * log.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { composites, roles as known, uses } from '../database/roles.js';
import { WritError } from '../errors/index.js';
import type { Session } from './connection.js';
import { exitCodes, Failure, wrongUsage } from './failure.js';

export interface LoginDefinition {
  readonly login: string;
  /** The one principal that it acts for, without a key. */
  readonly principal?: string;
  /** The one tenant that it may touch; otherwise that of the principal, if it has one. */
  readonly tenant?: string;
  /** Exactly these roles of Writ. */
  readonly roles: readonly string[];
  /** Gives a login that is there another password. */
  readonly newPassword?: boolean;
}

interface Membership {
  readonly role: string;
  readonly grantor: string;
}

/** What has to be done so that a login is as it was defined. */
export interface LoginPlan {
  readonly definition: LoginDefinition;
  readonly creates: boolean;
  readonly setsPassword: boolean;
  readonly grants: readonly string[];
  readonly revokes: readonly Membership[];
  /** The database, where PUBLIC may not connect to it. */
  readonly connectsTo?: string;
  readonly registers: boolean;
  /** Whether the server knows who granted a role to whom, and revokes only what that one granted. */
  readonly namesGrantors: boolean;
}

export const isNothing = ({
  creates,
  setsPassword,
  grants,
  revokes,
  connectsTo,
  registers,
}: LoginPlan): boolean =>
  !creates &&
  !setsPassword &&
  grants.length === 0 &&
  revokes.length === 0 &&
  connectsTo === undefined &&
  !registers;

export const isRole = (name: string): boolean => known.includes(name);

/** The single roles that a list of roles comes to. */
export const singleRoles = (names: readonly string[]): readonly string[] => {
  const parts: Readonly<Record<string, readonly string[]>> = composites;
  return [...new Set(names.flatMap((each) => parts[each] ?? [each]))].sort();
};

interface Now {
  readonly there: boolean;
  readonly superuser: boolean;
  readonly canLogin: boolean;
  readonly memberships: readonly Membership[];
  readonly version: number;
  readonly database: string;
  readonly connects: boolean;
}

async function read(db: Session, login: string): Promise<Now> {
  const [row] = await db.rows<Now>(
    `select r.oid is not null as there, coalesce(r.rolsuper, false) as superuser, coalesce(r.rolcanlogin, false) as "canLogin",
       current_setting('server_version_num')::integer as version, current_database() as database,
       has_database_privilege(coalesce(r.rolname, 'public'), current_database(), 'connect') as connects,
       coalesce((select jsonb_agg(jsonb_build_object('role', m.roleid::regrole::text, 'grantor', pg_get_userbyid(m.grantor)) order by 1)
         from pg_auth_members m where m.member = r.oid and pg_get_userbyid(m.roleid) = any ($2)), '[]') as memberships
     from (select $1::name as name) wanted left join pg_roles r on r.rolname = wanted.name`,
    [login, known],
  );
  return row as Now;
}

interface Registered {
  readonly principal_id: string | null;
  readonly tenant_id: string | null;
  readonly roles: readonly string[];
}

const registrationOf = async (db: Session, login: string): Promise<Registered | undefined> =>
  (
    await db.rows<Registered>(
      'select principal_id, tenant_id, roles from writ.login where login = $1',
      [login],
    )
  )[0];

/** Looks at what is there, and changes nothing. */
export async function planLogin(db: Session, definition: LoginDefinition): Promise<LoginPlan> {
  const { login, principal, roles } = definition;
  const owner = principal === undefined ? undefined : await principalOf(db, principal);
  const needless =
    owner?.kind === 'agent' ? singleRoles(roles).filter((role) => role !== 'writ_principal') : [];
  if (needless.length > 0) {
    throw wrongUsage(
      `${principal} is an agent, and a login of an agent has the role writ_principal only, not ${needless.join(', ')}.`,
      'Leave --role out. A process that does other work gets a login of its own.',
    );
  }
  const now = await read(db, login);
  if (now.superuser || (now.there && !now.canLogin)) {
    throw wrongUsage(
      now.superuser
        ? `${login} is a superuser, whom no role and no registration limits.`
        : `${login} is a role that nobody logs in as.`,
      'Choose another name.',
    );
  }
  const was = await registrationOf(db, login);
  const tenant = definition.tenant ?? owner?.tenant_id ?? null;
  const registered =
    was !== undefined &&
    was.principal_id === (principal ?? null) &&
    was.tenant_id === tenant &&
    sameNames(was.roles, roles);
  const has = (role: string) => now.memberships.some((membership) => membership.role === role);
  return {
    definition,
    creates: !now.there,
    setsPassword: !now.there || definition.newPassword === true,
    grants: roles.filter((role) => !has(role)),
    revokes: now.memberships.filter(({ role }) => !roles.includes(role)),
    ...(!now.connects && { connectsTo: now.database }),
    registers: !registered,
    namesGrantors: now.version >= 160_000,
  };
}

const sameNames = (a: readonly string[], b: readonly string[]) =>
  JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());

async function principalOf(
  db: Session,
  id: string,
): Promise<{ kind: string; tenant_id: string | null }> {
  const [row] = await db.rows<{ kind: string; tenant_id: string | null }>(
    'select kind, tenant_id from writ.principal where principal_id = $1 and disabled_at is null',
    [id],
  );
  if (!row) throw new WritError('principal_not_found', id);
  return row;
}

/** Takes every role of Writ from a login, and forgets what it is for. */
export async function planRemoval(
  db: Session,
  login: string,
): Promise<LoginPlan & { readonly registered: boolean }> {
  const now = await read(db, login);
  const registered = (await registrationOf(db, login)) !== undefined;
  if (!now.there && !registered) throw new WritError('login_not_found', login);
  return {
    definition: { login, roles: [] },
    creates: false,
    setsPassword: false,
    grants: [],
    revokes: now.memberships,
    registers: false,
    namesGrantors: now.version >= 160_000,
    registered,
  };
}

const name = (text: string) => pg.escapeIdentifier(text);

/** The statements of PostgreSQL's own; `verifier` is what a new password is shown and sent as. */
export function statementsOf(plan: LoginPlan, verifier = 'SCRAM-SHA-256$…'): string[] {
  const { login } = plan.definition;
  const password = `password ${pg.escapeLiteral(verifier)}`;
  return [
    ...(plan.creates
      ? [`create role ${name(login)} login ${password}`]
      : plan.setsPassword
        ? [`alter role ${name(login)} ${password}`]
        : []),
    ...plan.revokes.map(
      ({ role, grantor }) =>
        `revoke ${role} from ${name(login)}${plan.namesGrantors ? ` granted by ${name(grantor)}` : ''}`,
    ),
    ...plan.grants.map((role) => `grant ${role} to ${name(login)}`),
    ...(plan.connectsTo === undefined
      ? []
      : [`grant connect on database ${name(plan.connectsTo)} to ${name(login)}`]),
  ];
}

/** The call of the gate that registers the login, as a statement for people. */
export function registrationText({ definition }: LoginPlan, actor: string): string {
  const { login } = definition;
  return `select writ.fn_login_put(${[login, JSON.stringify(documentOf(definition)), actor].map((text) => pg.escapeLiteral(text)).join(', ')})`;
}

const documentOf = ({ principal, tenant, roles }: LoginDefinition) => ({
  ...(principal !== undefined && { principal_id: principal }),
  ...(tenant !== undefined && { tenant_id: tenant }),
  roles,
});

/** Does all of it or nothing. `password` is needed where the plan sets one. */
export async function carryOut(
  db: Session,
  plan: LoginPlan,
  options: { actor: string; password?: string },
): Promise<void> {
  const { definition } = plan;
  const verifier = plan.setsPassword ? scramVerifier(options.password as string) : undefined;
  await allOrNothing(db, plan, options.actor, async () => {
    for (const sql of statementsOf(plan, verifier)) await db.rows(sql);
    if (plan.registers) {
      await db.gate('fn_login_put($1, $2::text::jsonb, $3)', [
        definition.login,
        JSON.stringify(documentOf(definition)),
        options.actor,
      ]);
    }
  });
}

export async function carryOutRemoval(
  db: Session,
  plan: LoginPlan & { readonly registered: boolean },
  options: { actor: string; dropsRole: boolean },
): Promise<void> {
  const { login } = plan.definition;
  await allOrNothing(db, plan, options.actor, async () => {
    for (const sql of statementsOf(plan)) await db.rows(sql);
    if (plan.registered) await db.gate('fn_login_remove($1, $2)', [login, options.actor]);
    if (options.dropsRole) await db.rows(`drop role if exists ${name(login)}`);
  });
}

async function allOrNothing(
  db: Session,
  plan: LoginPlan,
  actor: string,
  work: () => Promise<void>,
): Promise<void> {
  await db.rows('begin');
  try {
    await work();
    await db.rows('commit');
  } catch (error) {
    await db.rows('rollback').catch(() => undefined);
    const { code } = error as { code?: string };
    if (code !== 'permission_denied' && code !== '42501') throw error;
    const statements = [
      ...statementsOf(plan),
      ...(plan.registers ? [registrationText(plan, actor)] : []),
    ];
    throw new Failure(
      exitCodes.failed,
      'permission_denied',
      `Your own login may not do this, and nothing was changed: ${(error as Error).message}`,
      `It takes an administrator with CREATEROLE, who may grant these roles and has writ_admin. They can run this command, or: ${statements.join('; ')};`,
      { cause: error },
    );
  }
}

/** A password for a program: 144 random bits. */
export const newPassword = (): string => randomBytes(18).toString('base64url');

/**
 * What PostgreSQL stores of a password (RFC 5803). Who reads it can neither log in with it nor get the
 * password back. For passwords of printable ASCII, which SASLprep leaves as they are.
 */
export function scramVerifier(
  password: string,
  salt = randomBytes(16),
  iterations = 4_096,
): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`;
}

/** How a program connects with this login: as this session does, with another name and password. */
export function urlFor(session: Session, login: string, password: string): string {
  const url = new URL(session.url);
  url.searchParams.delete('user');
  url.searchParams.delete('password');
  url.username = login;
  url.password = password;
  return url.href;
}

/** What a role is for, for people. */
export const useOf = (role: string): string =>
  (uses as Record<string, string>)[role] ?? singleRoles([role]).join(', ');

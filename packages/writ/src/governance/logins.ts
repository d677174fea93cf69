/**
 * `writ.logins`: the database logins that use Writ. A plan compares a login with its definition;
 * one transaction creates the login, grants and revokes its roles and registers it, so a failure
 * leaves nothing behind. The server gets a SCRAM verifier instead of a password, because it may log
 * the statement.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Acting, actOnce, actorOf } from '../database/acting.js';
import type { Queryable } from '../database/connection.js';
import { gate, readJson, readRows } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { composites, roles as known } from '../database/roles.js';
import { WritError } from '../errors/index.js';
import type { ActingHost } from './actor.js';
import type { KnownPrincipal } from './principals.js';

export interface LoginDefinition {
  readonly login: string;
  /** The one principal that the login acts for, without a key. */
  readonly principal?: string | undefined;
  /**
   * The one tenant that the login may touch. The default is the principal's tenant, if it has one.
   */
  readonly tenant?: string | undefined;
  /** Exactly these roles of Writ. */
  readonly roles: readonly string[];
  /** Gives an existing login a new password. */
  readonly newPassword?: boolean | undefined;
}

interface Membership {
  readonly role: string;
  readonly grantor: string;
}

/** The changes that make a login match its definition. */
export interface LoginPlan {
  readonly definition: LoginDefinition;
  /** It matches already. */
  readonly nothing: boolean;
  readonly creates: boolean;
  readonly setsPassword: boolean;
  readonly grants: readonly string[];
  readonly revokes: readonly Membership[];
  /** The database to grant CONNECT on, if the login may not connect to it yet. */
  readonly connectsTo?: string;
  readonly registers: boolean;
  /** Of a removal: the registration goes. */
  readonly unregisters: boolean;
  /** Whether REVOKE has to name the grantor (PostgreSQL 16 and later). */
  readonly namesGrantors: boolean;
  /** What an administrator could run instead, with a placeholder for the password's verifier. */
  readonly statements: readonly string[];
}

/** A login that is registered or has a role of Writ. */
export interface ListedLogin {
  readonly login: string;
  readonly registered: boolean;
  readonly principal_id: string | null;
  readonly tenant_id: string | null;
  /** Those that it was registered with. */
  readonly roles: readonly string[] | null;
  /** Those that it has. */
  readonly has: readonly string[];
  readonly put_by: string | null;
  readonly put_at: string | null;
}

export interface LoginsHost extends ActingHost {
  /** Runs statements in one transaction. */
  readonly transact: <T>(use: (db: Queryable) => Promise<T>) => Promise<T>;
}

export const isRole = (name: string): boolean => known.includes(name);

/** Replaces composites with their parts. */
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
  readonly registered: Pick<ListedLogin, 'principal_id' | 'tenant_id' | 'roles'> | null;
}

export class Logins {
  readonly #host: LoginsHost;

  constructor(host: LoginsHost) {
    this.#host = host;
  }

  /** Logins by name, registered or not. */
  list(page: PageOptions = {}): Promise<Page<ListedLogin>> {
    const granted = known.map((role) => pg.escapeLiteral(role)).join(', ');
    return readPage<ListedLogin>(
      this.#host.db,
      {
        columns: '*',
        from: `(
          select coalesce(l.login, r.rolname) as login, l.login is not null as registered,
            l.principal_id, l.tenant_id, l.roles,
            coalesce(
              array_agg(m.roleid::regrole::text order by 1) filter (where m.roleid is not null), '{}'
            ) as has,
            l.put_by, l.put_at
          from pg_roles r
          left join pg_auth_members m on m.member = r.oid
            and m.roleid = any (select oid from pg_roles where rolname in (${granted}))
          full join writ.login l on l.login = r.rolname
          where l.login is not null or (r.rolcanlogin and m.roleid is not null)
          group by r.rolname, l.login, l.principal_id, l.tenant_id, l.roles, l.put_by, l.put_at
        ) l`,
        key: [['login', 'text']],
        order: 'asc',
      },
      page,
    );
  }

  /** What would make a login match its definition. Changes nothing. */
  async plan(definition: LoginDefinition): Promise<LoginPlan> {
    const { login, principal, roles } = definition;
    const owner = principal === undefined ? undefined : await this.#principal(principal);
    const needless =
      owner?.kind === 'agent' ? singleRoles(roles).filter((role) => role !== 'writ_principal') : [];
    if (needless.length > 0)
      throw new WritError(
        'invalid_argument',
        `${principal} is an agent. The login of an agent may have only the role writ_principal, not ${needless.join(', ')}`,
      );
    const now = await this.#read(login);
    if (now.superuser || (now.there && !now.canLogin))
      throw new WritError(
        'invalid_argument',
        now.superuser
          ? `${login} is a superuser. Roles and registrations do not limit it`
          : `${login} is a role without the LOGIN attribute`,
      );
    const was = now.registered;
    const tenant = definition.tenant ?? owner?.tenant_id ?? null;
    const registered =
      was !== null &&
      was.principal_id === (principal ?? null) &&
      was.tenant_id === tenant &&
      sameNames(was.roles ?? [], roles);
    const has = (role: string) => now.memberships.some((membership) => membership.role === role);
    return this.#planned({
      definition,
      creates: !now.there,
      setsPassword: !now.there || definition.newPassword === true,
      grants: roles.filter((role) => !has(role)),
      revokes: now.memberships.filter(({ role }) => !roles.includes(role)),
      ...(!now.connects && { connectsTo: now.database }),
      registers: !registered,
      unregisters: false,
      namesGrantors: now.version >= 160_000,
    });
  }

  /**
   * Carries a plan out in one transaction. Needs `password` if the plan sets one. With `once`, a
   * repetition makes no role again, even from a plan that was made after the first call.
   */
  async put(
    plan: LoginPlan,
    { password, ...options }: Acting & { readonly password?: string | undefined } = {},
  ): Promise<void> {
    const verifier = plan.setsPassword ? scramVerifier(password as string) : undefined;
    // Another password is another call. It costs as much to guess as the verifier that PostgreSQL
    // keeps.
    const { login } = plan.definition;
    const secret = password === undefined ? null : scramVerifier(password, Buffer.from(login));
    const meant = [plan.definition, secret];
    await this.#carryOut('logins.put', meant, plan, statementsOf(plan, verifier), options);
  }

  /** What would revoke every role of Writ from a login and delete its registration. */
  async planRemoval(login: string): Promise<LoginPlan> {
    const now = await this.#read(login);
    if (!now.there && now.registered === null) throw new WritError('login_not_found', login);
    return this.#planned({
      definition: { login, roles: [] },
      creates: false,
      setsPassword: false,
      grants: [],
      revokes: now.memberships,
      registers: false,
      unregisters: now.registered !== null,
      namesGrantors: now.version >= 160_000,
    });
  }

  /** Carries a removal out in one transaction. */
  async remove(
    plan: LoginPlan,
    { dropRole = false, ...options }: Acting & { readonly dropRole?: boolean | undefined } = {},
  ): Promise<void> {
    const { login } = plan.definition;
    const last = dropRole ? [`drop role if exists ${name(login)}`] : [];
    const meant = [login, dropRole];
    await this.#carryOut('logins.remove', meant, plan, statementsOf(plan), options, last);
  }

  async #carryOut(
    call: string,
    meant: unknown,
    { definition, registers, unregisters }: LoginPlan,
    statements: readonly string[],
    options: Acting,
    last: readonly string[] = [],
  ): Promise<void> {
    const { login } = definition;
    const actor = actorOf(this.#host, options);
    await this.#host.transact(async (db) => {
      const host = { ...this.#host, db };
      await actOnce(host, call, meant, options, async () => {
        for (const sql of statements) await readRows(db, sql);
        if (registers) {
          const document = JSON.stringify(documentOf(definition));
          await gate(db, 'fn_login_put($1, $2::text::jsonb, $3)', [login, document, actor]);
        }
        if (unregisters) await gate(db, 'fn_login_remove($1, $2)', [login, actor]);
        for (const sql of last) await readRows(db, sql);
      });
    });
  }

  #planned(plan: Omit<LoginPlan, 'nothing' | 'statements'>): LoginPlan {
    const statements = statementsOf(plan);
    return {
      ...plan,
      nothing: statements.length === 0 && !plan.registers && !plan.unregisters,
      statements: [
        ...statements,
        ...(plan.registers ? [registrationText(plan.definition, this.#host.actor)] : []),
      ],
    };
  }

  async #read(login: string): Promise<Now> {
    const [row] = await readJson<Now>(
      this.#host.db,
      `select r.oid is not null as there, coalesce(r.rolsuper, false) as superuser,
         coalesce(r.rolcanlogin, false) as "canLogin",
         current_setting('server_version_num')::integer as version,
         current_database() as database,
         has_database_privilege(coalesce(r.rolname, 'public'), current_database(), 'connect')
           as connects,
         coalesce(
           (
             select json_agg(
               json_build_object(
                 'role', m.roleid::regrole::text, 'grantor', pg_get_userbyid(m.grantor)
               )
               order by m.roleid
             )
             from pg_auth_members m
             where m.member = r.oid and pg_get_userbyid(m.roleid) = any ($2::text::text[])
           ),
           '[]'
         ) as memberships,
         (
           select json_build_object(
             'principal_id', l.principal_id, 'tenant_id', l.tenant_id, 'roles', l.roles
           )
           from writ.login l where l.login = $1
         ) as registered
       from (select $1::text::name as name) wanted left join pg_roles r on r.rolname = wanted.name`,
      [login, `{${known.join(',')}}`],
    );
    return row as Now;
  }

  async #principal(id: string): Promise<Pick<KnownPrincipal, 'kind' | 'tenant_id'>> {
    const [row] = await readJson<Pick<KnownPrincipal, 'kind' | 'tenant_id'>>(
      this.#host.db,
      'select kind, tenant_id from writ.principal where principal_id = $1 and disabled_at is null',
      [id],
    );
    if (!row) throw new WritError('principal_not_found', id);
    return row;
  }
}

const sameNames = (a: readonly string[], b: readonly string[]) =>
  JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());

const name = (text: string) => pg.escapeIdentifier(text);

/** A plan's SQL statements, without the registration. `verifier` stands for a new password. */
function statementsOf(
  plan: Omit<LoginPlan, 'nothing' | 'statements'>,
  verifier = 'SCRAM-SHA-256$…',
): string[] {
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

/** The statement that registers a login, for display. */
function registrationText(definition: LoginDefinition, actor: string): string {
  const values = [definition.login, JSON.stringify(documentOf(definition)), actor];
  return `select writ.fn_login_put(${values.map((text) => pg.escapeLiteral(text)).join(', ')})`;
}

const documentOf = ({ principal, tenant, roles }: LoginDefinition) => ({
  ...(principal !== undefined && { principal_id: principal }),
  ...(tenant !== undefined && { tenant_id: tenant }),
  roles,
});

/** A password for a program: 144 random bits. */
export const newPassword = (): string => randomBytes(18).toString('base64url');

/**
 * The verifier that PostgreSQL stores instead of a password (RFC 5803). A reader of the verifier
 * cannot log in with it or recover the password. The password must be printable ASCII, which
 * SASLprep does not change.
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

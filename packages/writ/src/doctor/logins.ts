/**
 * Checks logins. Finds roles that a login's registered use does not need, logins of agents that can
 * do more than propose, processes that connect as a superuser or an owner, and a server whose log
 * would contain the keys of principals.
 */
import pg from 'pg';
import { readRows } from '../database/gate.js';
import { roles as known } from '../database/roles.js';
import { WritError } from '../errors/index.js';
import { plural } from '../errors/words.js';
import { singleRoles } from '../governance/logins.js';
import {
  type Check,
  type Checks,
  type Finding,
  type Patient,
  type Trouble,
  well,
} from './finding.js';

/**
 * A login that is registered here, has a role of Writ, or made one of the last calls in this
 * database.
 */
export interface LoginFacts {
  readonly login: string;
  /** Whether the login exists in PostgreSQL. */
  readonly there: boolean;
  readonly superuser: boolean;
  /** Whether it is a member of the owner of our schemas. */
  readonly owner: boolean;
  /** Roles of Writ that were granted to it directly. */
  readonly granted: readonly string[];
  /** Who granted each of them (PostgreSQL 16 and later; empty before). */
  readonly grantors: Readonly<Record<string, string>>;
  /** Roles of Writ that it has through another role. */
  readonly inherited: readonly string[];
  /** Its registration, or null. */
  readonly registered: {
    readonly principal_id: string | null;
    readonly roles: readonly string[];
  } | null;
  readonly agent: boolean;
  /** Whether it made one of the last recorded calls. */
  readonly used: boolean;
  /** Whether one of those calls was a claim. */
  readonly worked: boolean;
  /** Agents that those calls name as actor. */
  readonly agents: readonly string[];
}

/** How many of the last recorded calls the check reads. */
const lately = 5_000;

export const readLogins = ({ db }: Pick<Patient, 'db'>): Promise<LoginFacts[]> =>
  readRows(
    db,
    `with recent as (
       select login, command, actor from writ.command_run order by run_id desc limit ${lately}
     ),
     seen as (
       select r.login, bool_or(r.command = 'fn_job_claim') as worked,
         coalesce(
           array_agg(distinct p.principal_id) filter (where p.principal_id is not null), '{}'
         ) as agents
       from recent r
       left join writ.principal p on p.principal_id = r.actor and p.kind = 'agent'
       group by r.login
     ),
     ours as (
       select oid, rolname from pg_roles where rolname = any ($1)
     ),
     granted as (
       select m.member, array_agg(distinct o.rolname::text order by o.rolname::text) as roles,
         jsonb_object_agg(o.rolname, pg_get_userbyid(m.grantor)) as grantors
       from pg_auth_members m
       join ours o on o.oid = m.roleid
       group by m.member
     )
     select coalesce(r.rolname, l.login, s.login)::text as login,
       r.oid is not null as there,
       coalesce(r.rolsuper, false) as superuser,
       coalesce(
         pg_has_role(
           r.oid, (select nspowner from pg_namespace where nspname = 'writ'), 'member'
         ), false
       ) as owner,
       coalesce(g.roles, '{}') as granted,
       case
         when current_setting('server_version_num')::integer >= 160000
         then coalesce(g.grantors, '{}')
         else '{}'
       end as grantors,
       case when r.rolsuper then '{}' else array(
         select o.rolname::text
         from ours o
         where pg_has_role(r.oid, o.oid, 'member')
           and o.rolname <> all (coalesce(g.roles, '{}'))
         order by 1
       ) end as inherited,
       case when l.login is not null
         then jsonb_build_object('principal_id', l.principal_id, 'roles', l.roles)
       end as registered,
       coalesce(p.kind = 'agent', false) as agent,
       s.login is not null as used,
       coalesce(s.worked, false) as worked,
       coalesce(s.agents, '{}') as agents
     from pg_roles r
     left join granted g on g.member = r.oid
     full join writ.login l on l.login = r.rolname
     full join seen s on s.login = coalesce(r.rolname, l.login)
     left join writ.principal p on p.principal_id = l.principal_id
     where (coalesce(r.rolcanlogin, true) and g.roles is not null)
       or l.login is not null or s.login is not null
     order by 1`,
    [known],
  );

const name = (text: string) => pg.escapeIdentifier(text);
const revoke = (roles: readonly string[], { login, grantors }: LoginFacts) =>
  roles
    .map(
      (role) =>
        `revoke ${role} from ${name(login)}${grantors[role] ? ` granted by ${name(grantors[role])}` : ''};`,
    )
    .join(' ');

export function judgeLogins(logins: readonly LoginFacts[]): Finding[] {
  // A server may hold other databases, so an unregistered login counts only if logins are
  // registered here, or if it was used here.
  const registering = logins.some(({ registered }) => registered !== null);
  const findings = logins.flatMap((facts) => judge(facts, registering));
  if (findings.length > 0) return findings;
  const many = logins.filter(({ registered }) => registered !== null).length;
  const says =
    many === 0
      ? 'No login is registered, and none is used beyond its role'
      : `${plural(many, 'login')} registered, with only the roles that the registered use needs`;
  return [well('logins', says, { registered: many })];
}

function judge(facts: LoginFacts, registering: boolean): Trouble[] {
  const { login, granted, registered } = facts;
  const check = 'logins';
  if (!facts.there) {
    const says = `${login} is registered, but PostgreSQL has no such login`;
    return registered
      ? [{ check, level: 'warning', code: 'login_gone', facts: { login }, says }]
      : [];
  }
  const found: Trouble[] = [];
  if (facts.worked && (facts.superuser || facts.owner)) {
    found.push({
      check,
      level: 'warning',
      code: 'worker_privileged',
      facts: { login },
      says: `A worker logs in as ${login}, ${facts.superuser ? 'a superuser' : 'who owns the schemas'}`,
      means:
        'An attacker who takes over the worker can rewrite every table, because roles do not limit this login.',
    });
  }
  for (const agent of facts.agents) {
    if (registered?.principal_id === agent && !broad(facts)) continue;
    const which = broad(facts) ? `has ${holds(facts)}` : 'is not bound to it';
    found.push({
      check,
      level: 'error',
      code: 'agent_login_broad',
      facts: { agent, login },
      says: `The agent ${agent} acts through ${login}, which ${which}`,
      means: broad(facts)
        ? 'Through this login the agent can call every gate of the login’s roles, for example to claim jobs, finish them or apply changes.'
        : 'Through this login the agent can act for every principal whose key it has.',
    });
  }
  if (registered) return [...found, ...judgeRegistered(facts, registered)];
  if (granted.length > 0 && !facts.superuser && (registering || facts.used)) {
    found.push({
      check,
      level: registering ? 'warning' : 'hint',
      code: 'login_unregistered',
      facts: { login, roles: granted, statement: revoke(granted, facts) },
      says: `${login} has ${granted.join(', ')}, but is not registered`,
    });
  }
  return found;
}

function judgeRegistered(
  facts: LoginFacts,
  { roles, principal_id }: NonNullable<LoginFacts['registered']>,
): Trouble[] {
  const { login, granted, inherited } = facts;
  const check = 'logins';
  const whose = principal_id === null ? '' : ` for ${principal_id}`;
  if (facts.superuser || facts.owner) {
    const is = facts.superuser ? 'a superuser' : 'a member of the owner of the schemas';
    const statement = facts.superuser
      ? `alter role ${name(login)} nosuperuser;`
      : `revoke writ_owner from ${name(login)};`;
    return [
      {
        check,
        level: 'error',
        code: 'login_privileged',
        facts: { login, statement },
        says: `${login} is registered${whose}, but is ${is}`,
        means: 'A registration does not limit such a login.',
      },
    ];
  }
  const level = facts.agent ? 'error' : 'warning';
  const found: Trouble[] = [];
  const needed = singleRoles(roles);
  const more = granted.filter((role) => singleRoles([role]).some((each) => !needed.includes(each)));
  if (more.length > 0) {
    found.push({
      check,
      level,
      code: 'login_roles_unneeded',
      facts: { login, roles: more, statement: revoke(more, facts) },
      says: `${login} has ${more.join(', ')}, which its registered use${whose} does not need`,
    });
  }
  const through = inherited.filter((role) =>
    singleRoles([role]).some((each) => !singleRoles([...roles, ...more]).includes(each)),
  );
  if (through.length > 0) {
    found.push({
      check,
      level,
      code: 'login_roles_inherited',
      facts: { login, roles: through },
      says: `${login} has ${through.join(', ')} through another role, and its registered use does not need that`,
    });
  }
  const has = singleRoles([...granted, ...inherited]);
  const missing = roles.filter((role) => singleRoles([role]).some((each) => !has.includes(each)));
  if (missing.length > 0) {
    const statement = missing.map((role) => `grant ${role} to ${name(login)};`).join(' ');
    found.push({
      check,
      level: 'warning',
      code: 'login_roles_missing',
      facts: { login, roles: missing, statement },
      says: `${login} is registered for ${missing.join(', ')}, but was not granted that`,
    });
  }
  return found;
}

const broad = ({ superuser, owner, granted, inherited }: LoginFacts): boolean =>
  superuser ||
  owner ||
  singleRoles([...granted, ...inherited]).some((role) => role !== 'writ_principal');

const holds = ({ superuser, owner, granted, inherited }: LoginFacts): string =>
  superuser
    ? 'every right of a superuser'
    : owner
      ? 'every right of the owner'
      : [...granted, ...inherited].join(', ');

const logins: Check = async (patient) => {
  try {
    return judgeLogins(await readLogins(patient));
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== 'permission_denied') throw error;
    const says =
      'Not checked: only writ_admin and writ_auditor may read the registrations of logins';
    return [well('logins', says)];
  }
};

/** Settings that make a server write statement parameters into its log. */
const logged = [
  'log_statement',
  'log_min_duration_statement',
  'log_min_duration_sample',
  'log_statement_sample_rate',
  'log_transaction_sample_rate',
  'log_parameter_max_length',
  'log_parameter_max_length_on_error',
  'auto_explain.log_min_duration',
  'auto_explain.log_parameter_max_length',
  'pgaudit.log',
  'pgaudit.log_parameter',
] as const;

export type LogSettings = Readonly<Partial<Record<(typeof logged)[number], string>>>;

/**
 * Reads the settings of this session, then those of roles and of this database, which may differ
 * for other logins.
 */
async function readLogSettings({
  db,
}: Patient): Promise<{ readonly of: string; readonly settings: LogSettings }[]> {
  const [server] = await readRows<{ settings: LogSettings }>(
    db,
    `select coalesce(
       jsonb_object_agg(name, current_setting(name, true))
         filter (where current_setting(name, true) is not null),
       '{}'
     ) as settings
     from unnest($1::text[]) names(name)`,
    [logged],
  );
  const own = await readRows<{ of: string; settings: LogSettings }>(
    db,
    `select
       concat_ws(' in ', 'role ' || quote_ident(pg_get_userbyid(nullif(s.setrole, 0))),
         case when s.setdatabase <> 0 then 'database ' || quote_ident(current_database()) end
       ) as of,
       jsonb_object_agg(split_part(c, '=', 1), substr(c, strpos(c, '=') + 1)) as settings
     from pg_db_role_setting s
     cross join unnest(s.setconfig) c
     where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
       and split_part(c, '=', 1) = any ($1)
       and (s.setrole = 0 or exists (
         select from pg_roles o
         where o.rolname = any ($2) and pg_has_role(s.setrole, o.oid, 'member')))
     group by 1
     order by 1`,
    [logged, known],
  );
  const base = server?.settings ?? {};
  return [
    { of: '', settings: base },
    ...own.map(({ of, settings }) => ({ of, settings: { ...base, ...settings } })),
  ];
}

const atLeast0 = (value: string | undefined) =>
  value !== undefined && value !== '' && !value.startsWith('-');
const notZero = (value: string | undefined) =>
  value !== undefined && value !== '' && !/^0(?:\D|$)/.test(value);

/** The cause of each leak, and the setting and value that stop it. */
function leaksOf(settings: LogSettings): [setting: string, off: string, value: string][] {
  const leaks: [string, string, string][] = [];
  const sampled =
    atLeast0(settings.log_min_duration_sample) &&
    Number(settings.log_statement_sample_rate ?? 1) > 0;
  const cause =
    settings.log_statement === 'all'
      ? 'log_statement is all'
      : atLeast0(settings.log_min_duration_statement)
        ? `log_min_duration_statement is ${settings.log_min_duration_statement}`
        : sampled
          ? `log_min_duration_sample is ${settings.log_min_duration_sample}`
          : Number(settings.log_transaction_sample_rate ?? 0) > 0
            ? `log_transaction_sample_rate is ${settings.log_transaction_sample_rate}`
            : undefined;
  if (cause && notZero(settings.log_parameter_max_length ?? '-1'))
    leaks.push([cause, 'log_parameter_max_length', '0']);
  if (notZero(settings.log_parameter_max_length_on_error)) {
    const length = settings.log_parameter_max_length_on_error;
    leaks.push([
      `log_parameter_max_length_on_error is ${length}`,
      'log_parameter_max_length_on_error',
      '0',
    ]);
  }
  if (
    atLeast0(settings['auto_explain.log_min_duration']) &&
    notZero(settings['auto_explain.log_parameter_max_length'])
  ) {
    const cause = `auto_explain.log_min_duration is ${settings['auto_explain.log_min_duration']}`;
    leaks.push([cause, 'auto_explain.log_parameter_max_length', '0']);
  }
  if (
    settings['pgaudit.log_parameter'] === 'on' &&
    (settings['pgaudit.log'] ?? 'none') !== 'none'
  ) {
    leaks.push(['pgaudit.log_parameter is on', 'pgaudit.log_parameter', 'off']);
  }
  return leaks;
}

export function judgeLog(
  sessions: readonly { readonly of: string; readonly settings: LogSettings }[],
): Finding[] {
  const seen = new Set<string>();
  const findings = sessions.flatMap(({ of, settings }) =>
    leaksOf(settings).flatMap(([cause, setting, value]): Trouble[] => {
      // Fixing the server's own setting also fixes a role or database that only repeats it.
      if (seen.has(`${cause}/${setting}`)) return [];
      seen.add(`${cause}/${setting}`);
      return [
        {
          check: 'log',
          level: 'warning',
          code: 'parameters_logged',
          facts: { of, setting, value },
          says: `The server logs statement parameters, because ${cause}${of === '' ? '' : ` for ${of}`}`,
          means:
            'Calls send the key of a principal as a parameter. A reader of the log can act for that principal, though not approve.',
        },
      ];
    }),
  );
  return findings.length > 0
    ? findings
    : [well('log', 'The server does not log statement parameters')];
}

export const loginChecks: Checks = {
  logins,
  log: async (patient) => judgeLog(await readLogSettings(patient)),
};

/**
 * The PostgreSQL roles that Writ grants to, and what each is for. A gate or view names its callers
 * in its header; only the nine roles and the groups below can stand there. The two composites
 * receive what their parts receive, grant by grant: an installer that may not create roles or
 * memberships can still grant them.
 */

/** Owns every object. Nobody logs in as it. */
export const owner = 'writ_owner';

export const uses = {
  writ_principal: 'one agent, script or person acts, bound to one principal or with its key',
  writ_producer: 'an application enqueues jobs, starts runs, sends signals and reads flags',
  writ_worker: 'a process runs handlers for the jobs that it leases',
  writ_applier: 'a process applies approved changes, with their step types and secrets',
  writ_engine: 'Writ’s own loops run: clockwork, projector, relay, governor driver, probes',
  writ_server: 'the API server acts for principals whose tokens it has checked',
  writ_signer: 'a process signs, archives and rotates the keys of the ledger',
  writ_auditor: 'an auditor reads everything but lease tokens, payloads and credentials',
  writ_admin: 'an administrator changes settings, principals, logins and policies',
} as const;

export type Role = keyof typeof uses;

const single = Object.keys(uses) as Role[];

/** One login for a small team’s own processes, and one login that may do everything. */
export const composites = {
  dot_executor: ['writ_principal', 'writ_producer', 'writ_worker', 'writ_applier', 'writ_engine'],
  workflow_admin: single,
} as const satisfies Record<string, readonly Role[]>;

export const roles: readonly string[] = [...single, ...Object.keys(composites)];

/** Words that stand for several roles in the header of a gate or view. */
const groups: Readonly<Record<string, readonly Role[]>> = {
  processes: ['writ_producer', 'writ_worker', 'writ_applier', 'writ_engine'],
  readers: ['writ_server', 'writ_admin', 'writ_auditor'],
};

/** Every role that may call what has this list of callers in its header, composites included. */
export function callersOf(words: readonly string[]): string[] {
  const named = words.flatMap((word) => groups[word] ?? [word as Role]);
  const unknown = named.find((role) => !single.includes(role));
  if (unknown) throw new Error(`${unknown} is neither a role of Writ nor a group of them`);
  const parts = Object.entries(composites).filter(([, of]) =>
    of.some((role) => named.includes(role)),
  );
  return [...single.filter((role) => named.includes(role)), ...parts.map(([role]) => role)];
}

/** The statements with which an administrator creates roles. */
export const creating = (missing: readonly string[]): string =>
  missing.map((role) => `create role ${role} nologin;`).join(' ');

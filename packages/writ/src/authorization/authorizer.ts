/** Who may do what: the one interface that is asked, and the simple answer to it. */
import { Coalescer } from '../database/coalescer.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';

export interface PermissionQuestion {
  readonly tenant: string;
  readonly principal: string;
  readonly permission: string;
  readonly action_type: string;
  readonly target: string;
}

export interface PermissionAnswer {
  readonly allowed: boolean;
  /**
   * Of everything that the answer was taken from: another answer to the same question comes from
   * another set.
   */
  readonly policy_set_hash: string;
}

/** Rejects when it cannot be asked: that is not a no. */
export interface Authorizer {
  permits(question: PermissionQuestion): Promise<PermissionAnswer>;
}

/** What a principal was given in a tenant, as the gate answers it. */
interface Granted {
  readonly principal: string;
  readonly permissions: readonly string[];
  readonly hash: string;
}

/**
 * A principal may do what its permissions name, exactly. Questions that are asked at the same time
 * about one tenant travel together.
 */
export function grantedPermissions(db: Queryable): Authorizer {
  /** Of those who wait for an answer: the gate is asked about one tenant at a time. */
  const byTenant = new Map<
    string,
    { readonly coalescer: Coalescer<string, Granted>; open: number }
  >();
  const begun = (tenant: string) => ({
    coalescer: new Coalescer<string, Granted>(
      (principals) => askFor(db, tenant, principals),
      (principal) => principal.length,
    ),
    open: 0,
  });
  return {
    async permits({ tenant, principal, permission }) {
      const own = byTenant.get(tenant) ?? begun(tenant);
      byTenant.set(tenant, own);
      own.open += 1;
      try {
        const { permissions, hash } = await own.coalescer.add(principal);
        return { allowed: permissions.includes(permission), policy_set_hash: hash };
      } finally {
        own.open -= 1;
        if (own.open === 0) byTenant.delete(tenant);
      }
    },
  };
}

/**
 * In the order of the principals, each asked for once. Whoever the gate does not name is not known
 * to it, and that is a fault: it answers for everybody.
 */
async function askFor(
  db: Queryable,
  tenant: string,
  principals: readonly string[],
): Promise<Granted[]> {
  const asked = [...new Set(principals)];
  const granted = await gate<Granted[]>(db, 'fn_permissions($1, $2::text::text[])', [
    tenant,
    `{${asked.map((principal) => JSON.stringify(principal)).join(',')}}`,
  ]);
  const byPrincipal = new Map(granted.map((one) => [one.principal, one]));
  return principals.map((principal) => {
    const one = byPrincipal.get(principal);
    if (!one) throw new Error(`fn_permissions did not answer for ${principal}`);
    return one;
  });
}

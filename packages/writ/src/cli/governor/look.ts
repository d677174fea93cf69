/** One look at a governor: its row, its policy, what its tenant is entitled to, and the time of the database. */
import type { InFlight, State } from '../../governor/decision.js';
import type { Governor } from '../../governor/governors.js';
import type { PolicyDocument } from '../../governor/policy-document.js';
import type { Receipt } from '../../ledger/receipt.js';
import { databaseNow } from '../commands/runs/session.js';
import type { Session } from '../connection.js';
import type { Held } from './causes.js';

export interface GovernorRow extends Held {
  readonly governor_id: string;
  readonly tenant_id: string;
  readonly sku_id: string;
  readonly state: State;
  /** Null until it is driven for the first time. */
  readonly state_since: string | null;
  readonly in_flight: InFlight | null;
  readonly queued_actions: number;
  readonly over_threshold: Readonly<
    Record<string, { readonly since: number; readonly value: number }>
  > | null;
  readonly policy_id: string | null;
  readonly policy_version: number | null;
  readonly shadow: boolean | null;
  readonly signals: number;
  readonly buffered: number;
  readonly postponed: number;
  readonly in_mailbox: number;
  readonly mail_since: string | null;
  readonly receipts: number;
  readonly timers: readonly { readonly name: string; readonly due: number | 'now' }[] | null;
  readonly cooling: Readonly<Record<string, number>> | null;
  readonly awaiting_baseline: InFlight | null;
  readonly attempts: number | null;
  readonly crash: string | null;
  readonly created_at: string;
}

export interface EntitlementRow {
  readonly tenant_id: string;
  readonly entitlement_id: string;
  readonly status: string;
  readonly tier: string;
  readonly quota_limit: string | null;
  readonly quota_used: string;
  readonly expires_at: Date | null;
  readonly put_by: string;
  readonly put_at: Date;
}

export interface PolicyRow {
  readonly version: number;
  readonly policy_id: string;
  readonly shadow: boolean;
  readonly hash: string;
  readonly document: PolicyDocument | null;
  readonly published_by: string;
  readonly published_at: string;
}

export interface Look {
  readonly row: GovernorRow;
  /** The newest version; without a document: withdrawn. */
  readonly policy: PolicyRow | undefined;
  readonly entitlement: EntitlementRow | undefined;
  /** The last ones, oldest first. */
  readonly receipts: readonly Receipt[];
  /** By the clock of the database, in milliseconds. */
  readonly now: number;
}

export async function readEntitlement(
  db: Session,
  tenant: string,
): Promise<EntitlementRow | undefined> {
  const [row] = await db.rows<EntitlementRow>(
    'select * from writ.entitlement where tenant_id = $1',
    [tenant],
  );
  return row;
}

/** The newest version of a policy, or undefined where none was ever published. */
export async function newestPolicy(
  db: Session,
  { id }: Pick<Governor, 'id'>,
): Promise<PolicyRow | undefined> {
  const [row] = await db.rows<PolicyRow>(
    `select p.version, p.policy_id, p.shadow, p.hash, p.document, p.published_by, to_json(p.published_at) as published_at
     from writ.governor_policy p where p.governor_id = $1 order by p.version desc limit 1`,
    [id],
  );
  return row;
}

export async function lookAt(
  db: Session,
  governor: Governor,
  receipts: readonly Receipt[],
): Promise<Look> {
  return {
    row: (await governor.get()) as unknown as GovernorRow,
    policy: await newestPolicy(db, governor),
    entitlement: await readEntitlement(db, governor.name.tenant),
    receipts,
    now: await databaseNow(db),
  };
}

/** The last receipts of a governor that has written so many. */
export const lastReceipts = (governor: Governor, written: number, n: number): Promise<Receipt[]> =>
  governor.receipts({ after: Math.max(0, written - n), limit: n });

/** Governors, their policies, entitlements and events, as lists and pages answer them. */
import type { Awaited, Explained } from './causes.js';
import type { InFlight, Level, Refusal, State } from './decision.js';
import type { Entitlement, EntitlementStatus } from './events.js';
import type { GovernorPolicy } from './policy-document.js';

export interface Governor {
  readonly governor_id: string;
  readonly tenant_id: string;
  readonly sku_id: string;
  readonly state: State;
  /** Null until it is driven for the first time. */
  readonly state_since: string | null;
  /** Why it is degraded. */
  readonly causes: readonly string[] | null;
  /** Why it refuses. */
  readonly refusals: readonly Refusal[] | null;
  readonly in_flight: InFlight | null;
  readonly queued_actions: number;
  readonly over_threshold: Readonly<Record<string, Level>> | null;
  /** The entitlement that it has heard of. */
  readonly entitlement: Entitlement | null;
  readonly policy_id: string | null;
  readonly policy_version: number | null;
  readonly shadow: boolean | null;
  readonly signals: number;
  readonly buffered: number;
  readonly postponed: number;
  readonly in_mailbox: number;
  /** When the oldest mail came that it has not read; null: it has read all. */
  readonly mail_since: string | null;
  readonly events: number;
  readonly receipts: number;
  readonly due_at: string | null;
  readonly timers: readonly { readonly name: string; readonly due: number | 'now' }[] | null;
  /** By type of signal: until when no action is asked for. */
  readonly cooling: Readonly<Record<string, number>> | null;
  readonly awaiting_baseline: InFlight | null;
  /** Attempts at an action, at most. */
  readonly attempts: number | null;
  /** How deciding about its next event has failed, the last time. */
  readonly crash: string | null;
  readonly last_at: string | null;
  readonly created_by: string;
  readonly created_at: string;
}

/** A version of a policy, which never changes. */
export interface PublishedVersion {
  readonly tenant_id: string;
  readonly sku_id: string;
  readonly governor_id: string;
  readonly version: number;
  readonly policy_id: string;
  /** It decides and writes receipts, and acts on nothing. */
  readonly shadow: boolean;
  /** SHA-256 of its canonical JSON, in hex. */
  readonly hash: string;
  /** Null: the policy was withdrawn. */
  readonly document: GovernorPolicy | null;
  readonly published_by: string;
  readonly published_at: string;
}

/** What a tenant is entitled to. */
export interface TenantEntitlement {
  readonly tenant_id: string;
  readonly entitlement_id: string;
  readonly status: EntitlementStatus;
  readonly tier: 'free' | 'starter' | 'professional' | 'enterprise';
  /** Actions per UTC month; null: without limit. */
  readonly quota_limit: number | null;
  /** Actions in this month. */
  readonly quota_used: number;
  readonly expires_at: string | null;
  readonly put_by: string;
  readonly put_at: string;
}

/** A governor with what stands around it. */
export interface GovernorDetails extends Omit<Governor, 'entitlement'> {
  /** The newest version of its policy; it may not have heard of it yet. */
  readonly policy: PublishedVersion | null;
  readonly entitlement: TenantEntitlement | null;
  /** What keeps it from acting, with what to do about it. */
  readonly why: readonly Explained[];
  readonly awaits: readonly Awaited[];
}

/** An event that it has handled. */
export interface HandledEvent {
  readonly event_seq: number;
  readonly at: string;
  /** What happened: `signal`, `act`, `result`, `timer`, … */
  readonly kind: string;
  /** Null for its first event. */
  readonly from_state: State | null;
  readonly state: State;
  /** Its place in the mailbox; null: it came from elsewhere. */
  readonly mail_seq: number | null;
  readonly arrived_at: string | null;
  /** Of a signal: its number among the signals of its governor. */
  readonly arrival_seq: number | null;
  /** What was sent; null: it did not come from the mailbox. */
  readonly content: Readonly<Record<string, unknown>> | null;
  /** The rest of what the decision read. */
  readonly added: Readonly<Record<string, unknown>> | null;
}

/**
 * Everything that can happen to a governor. An event carries every input of its decision, so that
 * deciding again gives the same bytes. Times are milliseconds since 1970.
 */
import type { Parameters, PolicyVersion } from './policy-document.js';

export type EntitlementStatus = 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'CANCELLED';

export interface Entitlement {
  readonly status: EntitlementStatus;
  /** From then on it is EXPIRED, whatever its status says. */
  readonly expires_at?: number;
  /** Actions per UTC month; null: without limit. */
  readonly quota_limit: number | null;
}

/** What was used of a month's quota, as it was read: `month` is YYYY-MM in UTC. */
export interface QuotaRead {
  readonly month: string;
  readonly used: number;
  /** The limit, where it was read with it; null: none. */
  readonly limit?: number | null;
}

/** Numbers that a deployment may set; read when a governor boots. */
export interface Bounds {
  readonly boot_ms: number;
  readonly action_ms: number;
  readonly rollback_ms: number;
  readonly attempts: number;
  readonly recheck_ms: number;
  readonly recovery_ms: number;
  readonly recovery_max_ms: number;
  readonly backoff_ms: readonly number[];
  readonly storm_limit: number;
  readonly storm_window_ms: number;
  readonly storm_every_ms: number;
  readonly storm_retry_ms: number;
  readonly capacity: number;
}

export interface Signal {
  readonly arrival_seq: number;
  readonly signal_id: string;
  readonly source: 'monitoring' | 'logging' | 'billing' | 'custom';
  readonly type: string;
  readonly severity: 'CRITICAL' | 'HIGH' | 'MEDIUM' | 'LOW';
  readonly value?: number;
  /** What its sender compares with; the policy's own threshold decides. */
  readonly threshold?: number;
  /** When it was observed, by its sender's clock. */
  readonly observed_at: number;
  readonly correlation_id?: string;
  /** Which of several things of its type it is about: each of them has a level of its own. */
  readonly instance?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /**
   * Signals of its tenant in the window when it arrived, itself included; only where these are more
   * than are taken in.
   */
  readonly storm?: number;
}

/** The answer of whoever decides on permissions. */
export type Permission =
  | { readonly allowed: boolean; readonly policy_set_hash: string }
  /** It could not be asked, or has not answered in time. */
  | { readonly unreachable: string };

/** What is asked before an action is attempted, and again before each further attempt. */
export interface ActAnswers {
  readonly action: Permission;
  readonly inverse: Permission;
  readonly quota: QuotaRead;
  /** Whether anybody carries actions of this type out. */
  readonly known: boolean;
}

/** What is asked when a governor looks whether it may work. */
export interface CheckAnswers {
  /** null: there is none. */
  readonly entitlement: Entitlement | null | { readonly failed: string };
  readonly quota: QuotaRead;
  /** What is missing: the component that failed, and how. Empty: everything is there. */
  readonly failures: readonly Failure[];
  /** The numbers to go by from now on. */
  readonly bounds?: Bounds;
}

export interface Failure {
  readonly cause: 'ledger' | 'iam' | 'policy' | 'slo' | 'entitlement';
  readonly component: string;
  readonly failure_type: string;
  readonly message?: string;
}

export type FailureReason =
  | 'timeout'
  | 'service_error'
  | 'permission_denied'
  | 'unreachable'
  | 'handler_error'
  | 'rejected';

export interface Result {
  readonly action_id: string;
  readonly attempt: number;
  readonly ok: boolean;
  readonly failure_reason?: FailureReason;
  readonly response_code?: number;
  readonly error_message?: string;
  /** Of an action that succeeded: what the policy's probe said. */
  readonly baseline?: 'restored' | 'not_restored' | 'unknown';
  /** What changed, for people. */
  readonly result?: Parameters;
}

/**
 * A wish to act: by a threshold (inserted), by somebody (in the mailbox), or one that had waited
 * (inserted).
 */
export interface Act {
  readonly action_id: string;
  readonly action_type: string;
  readonly parameters: Parameters;
  readonly signal_type?: string;
  readonly signal_id?: string;
  readonly initiated_by?: string;
}

/** What an event says by itself. */
export type Content =
  | {
      readonly kind: 'create';
      readonly sku_id: string;
      readonly tenant_id: string;
      readonly process_id: string;
      readonly bounds: Bounds;
    }
  /** Inserted on boot. */
  | { readonly kind: 'verify' }
  | ({ readonly kind: 'signal' } & Signal)
  | ({ readonly kind: 'act' } & Act)
  | {
      readonly kind: 'acknowledged';
      readonly action_id: string;
      readonly attempt: number;
      readonly reference?: string;
    }
  | ({ readonly kind: 'result' } & Result)
  /** A version was published; null: the policy was withdrawn. */
  | { readonly kind: 'policy'; readonly policy: PolicyVersion | null; readonly actor: string }
  | { readonly kind: 'entitlement'; readonly entitlement: Entitlement; readonly quota: QuotaRead }
  /** What is known of a month's quota was changed: a purchase. */
  | { readonly kind: 'quota'; readonly quota: QuotaRead; readonly limit: number | null }
  | { readonly kind: 'health_failed'; readonly failure: Failure }
  | { readonly kind: 'outage'; readonly from: number; readonly to: number }
  | {
      readonly kind: 'operator_ack';
      readonly cause: string;
      readonly by: string;
      readonly reason: string;
    }
  /** An event that crashed its governor too often is set aside in its place. */
  | {
      readonly kind: 'crash';
      readonly event: string;
      readonly arrival_seq?: number;
      readonly crashes: number;
      readonly window_ms: number;
      readonly error_code?: string;
      readonly error_message: string;
    }
  /** The same event was decided in two ways; nothing of it was done, and it is set aside. */
  | {
      readonly kind: 'mismatch';
      readonly event: string;
      readonly arrival_seq?: number;
      readonly receipt_id: string;
      readonly expected_hash: string;
      readonly actual_hash: string;
    }
  /**
   * The clock of the database was set back, by so much since the last event: who drives has
   * noticed.
   */
  | { readonly kind: 'clock'; readonly back_ms: number }
  | { readonly kind: 'timer'; readonly timer: TimerKind };

/**
 * state: of the state it is in. rollback: an undoing has to be done by then. baseline: an action
 * succeeded and the baseline is awaited. check: is everything there again? recheck: does what made
 * it refuse still stand? storm: release what is buffered. look: at what is over its threshold and
 * not answered yet.
 */
export type TimerKind = 'state' | 'rollback' | 'baseline' | 'check' | 'recheck' | 'storm' | 'look';

/** What was read or asked for this event, where its kind needs it. */
export interface Answers {
  /** For an act, and for a failed result that is tried again. */
  readonly act?: ActAnswers;
  /** For verify, for the timer check, and in boot for entitlement and policy. */
  readonly check?: CheckAnswers;
  /**
   * For the timer recheck, and for policy, entitlement and quota while refusing: what is asked for
   * each action that was denied.
   */
  readonly recheck?: {
    readonly quota: QuotaRead;
    readonly permission?: Permission;
    readonly inverse?: Permission;
    readonly known?: boolean;
  };
  /** For the timer storm: signals of its tenant in the window now. */
  readonly recent?: number;
  /**
   * For the timer state while degraded: the process that drives it now, which the receipt of its
   * new beginning names.
   */
  readonly process_id?: string;
}

/** An event as it is handled, recorded and replayed. */
export interface GovernorEvent {
  readonly event_seq: number;
  /** Never before the one before it. */
  readonly at: number;
  /**
   * The clock of the database, where it is behind `at` because it was set back: timers, quotas and
   * cooldowns go by it.
   */
  readonly clock?: number;
  /**
   * The time in the ids of its jobs, where the clock of the gates is not that of the machine: the
   * queue keeps jobs by the latter. Only writ/testing moves the one without the other.
   */
  readonly ids_at?: number;
  /** host: whoever drives says what it has found out. */
  readonly from: 'mailbox' | 'inserted' | 'postponed' | 'timer' | 'host';
  /** The version of `decide`. */
  readonly decide: number;
  /** Where it stands in the mailbox. */
  readonly mail_seq?: number;
  /** When it was put there. */
  readonly arrived_at?: number;
  /** Of a timer: when it was due. */
  readonly due_at?: number;
  readonly content: Content;
  readonly answers?: Answers;
}

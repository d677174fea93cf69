/** What a governor knows, and what a decision about an event says. */
import type { ContextOf, ReasonName, StatusOf } from '../ledger/reasons/index.js';
import type { GovernorState as State } from '../machines/index.js';
import type { Act, Bounds, Entitlement, QuotaRead } from './events.js';
import type { Doing, Parameters, PolicyVersion } from './policy-document.js';

export { type GovernorState as State, governorStates as states } from '../machines/index.js';

/** What is being done, or undone. One at a time. */
export interface InFlight {
  readonly kind: 'action' | 'rollback';
  readonly action_id: string;
  readonly action_type: string;
  readonly parameters: Parameters;
  readonly target: string;
  /** From 1. */
  readonly attempt: number;
  /** The job of the attempt. In shadow there is none. */
  readonly job_id?: string;
  /** The jobs of the attempts before it, the first one first. */
  readonly earlier?: readonly string[];
  /** When the first attempt, and when this one, was handed over. */
  readonly began_at: number;
  readonly sent_at: number;
  readonly acknowledged?: boolean;
  /** What a contract is known by, or another place where it is carried out. */
  readonly reference?: string;
  readonly signal_type?: string;
  readonly signal_id?: string;
  readonly initiated_by?: string;
  /** How it is undone, by the policy under which it was begun. */
  readonly inverse?: Doing;
  /** How long a contract may take, by the same policy. */
  readonly completion_timeout_ms?: number;
  /** Of a rollback: what it undoes, and why. */
  readonly of?: string;
  readonly reason?: string;
}

/** A signal that waits in the buffer, or has been postponed: it stands in the mailbox. */
export interface Held {
  readonly mail_seq: number;
  readonly arrival_seq: number;
}

export interface Refusal {
  /** One of refusingCauses. */
  readonly cause: string;
  /** What was denied, so that it can be asked again. */
  readonly action_type?: string;
}

/** Something that is over its threshold, or that the policy in force names no threshold for. */
export interface Level {
  readonly since: number;
  readonly value: number;
  /** The signal that it went over with. */
  readonly signal_id?: string;
  /** An action was attempted for its type since then. */
  readonly answered?: true;
}

/** Everything but the state itself and what waits. JSON: it is stored as it is. */
export interface Data {
  readonly sku_id: string;
  readonly tenant_id: string;
  readonly bounds: Bounds;
  readonly since: number;
  readonly policy: PolicyVersion | null;
  /** The last version that was published, also when it was withdrawn since. */
  readonly policy_version: number;
  readonly entitlement: Entitlement | null;
  readonly quota: QuotaRead | null;
  /**
   * What is over, by type of signal, or by type and instance with a blank between them. What is
   * under has no entry.
   */
  readonly over: Readonly<Record<string, Level>>;
  /**
   * In the same way, the last values that are not over and not known to be under: the policy in
   * force does not name their types, or did not when they came. Another policy may.
   */
  readonly seen?: Readonly<Record<string, Level>>;
  /** By type of signal: until when no action is asked for. */
  readonly cooling: Readonly<Record<string, number>>;
  /** Why it is degraded: of degradedCauses, in the order in which they came. */
  readonly causes: readonly string[];
  /** Why it is refusing. */
  readonly refusals: readonly Refusal[];
  readonly in_flight: InFlight | null;
  /** Acts that wait for the slot, first in, first out. */
  readonly queue: readonly Act[];
  /** The action whose baseline is awaited. */
  readonly awaiting_baseline: InFlight | null;
  /**
   * What was last given up, for a result that comes late: when, the rollback that was issued, and
   * whether that has succeeded.
   */
  readonly given_up: {
    readonly action: InFlight;
    readonly at: number;
    readonly rollback_action_id?: string;
    readonly undone?: boolean;
    /**
     * Attempts that have succeeded after all; and that it has to be undone once more for one of
     * them.
     */
    readonly heard?: readonly number[];
    readonly again?: boolean;
  } | null;
  /** A storm: since when; what waits in the buffer, oldest first. */
  readonly storm: { readonly since: number; readonly buffer: readonly Held[] } | null;
  /** How often the check has failed running: which back-off is next. */
  readonly failed_checks: number;
  /** How often recovery has timed out while a person is awaited or the entitlement is missing. */
  readonly recoveries: number;
  readonly degraded_since: number | null;
  /** How far the clock of the database was behind the time of the last event. */
  readonly behind?: number;
  /** What actions have cost in a month. */
  readonly spent: { readonly month: string; readonly cost: number } | null;
}

/** A receipt without what every receipt of the event has: ids, times, stream, hashes. */
export type ReceiptDraft<Name extends ReasonName = ReasonName> = {
  [N in Name]: {
    readonly reason: N;
    readonly status: StatusOf<N>;
    readonly context: Omit<
      ContextOf<N>,
      | 'stream'
      | 'stream_seq'
      | 'event_id'
      | 'inputs_hash'
      | 'policy_version'
      | 'shadow'
      | 'arrival_seq'
      | 'terminal'
    >;
    /** It settles this signal; true: the signals that its arrival_ranges name. */
    readonly settles?: number | true;
    /** It is about this signal, without settling it. */
    readonly about?: number;
  };
}[Name];

/** What happens in the transaction of the decision. */
export type Effect =
  /** An attempt: one job, tried once. */
  | {
      readonly type: 'attempt';
      readonly action_id: string;
      readonly attempt: number;
      readonly job_id: string;
      readonly kind: 'action' | 'rollback';
      readonly doing: Doing;
      /** What it has to be done by: the governor gives up then. */
      readonly due_at: number;
      readonly completion_timeout_ms?: number;
      /** Of a rollback: what it undoes, and where that was carried out. */
      readonly of?: string;
      readonly reference?: string;
      readonly signal_id?: string;
      readonly signal_type?: string;
      readonly initiated_by?: string;
    }
  /** Whoever works on it cannot commit any more. */
  | { readonly type: 'fence'; readonly job_id: string }
  | { readonly type: 'quota'; readonly month: string; readonly limit: number | null }
  /** A person has to look. */
  | { readonly type: 'escalate'; readonly alert: string; readonly details: Parameters }
  | { readonly type: 'calm'; readonly alert: string };

/** What waits: inserted events, timers, and for signals their place in the mailbox. */
export type Waits =
  | { readonly kind: 'verify' }
  | ({ readonly kind: 'act' } & Act)
  | ({ readonly kind: 'held' } & Held)
  | { readonly kind: 'timer'; readonly timer: string };

/**
 * What decides: the governor as it is, the event, the id that its receipts and actions are derived
 * from, and the signals that are postponed, oldest first.
 */
export interface Situation {
  readonly state: State | null;
  readonly data: Data | null;
  readonly event_id: string;
  readonly postponed: readonly Held[];
}

export interface Decision {
  readonly state: State;
  readonly data: Data;
  readonly receipts: readonly ReceiptDraft[];
  readonly postpone?: boolean;
  /** In order, as gen_statem takes them. `ms` from the time of the event. */
  readonly actions: readonly (
    | { readonly type: 'insert'; readonly content: Waits }
    | { readonly type: 'start'; readonly name: 'state' | `named:${string}`; readonly ms: number }
    | { readonly type: 'cancel'; readonly name: 'state' | `named:${string}` }
  )[];
  /** Postponed signals that are dropped: the oldest. */
  readonly dropped?: readonly Held[];
  readonly effects: readonly Effect[];
}

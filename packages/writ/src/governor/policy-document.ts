/**
 * A governor policy as it is stored, hashed and decided by: plain JSON, without anything left out
 * that has a default.
 */

/** What may be given to an action besides its target. */
export type Parameters = Readonly<Record<string, string | number | boolean>>;

/** What is allowed: numbers from `min` to `max`, or one of `in`. */
export type ParameterBounds =
  | { readonly min: number; readonly max: number }
  | { readonly in: readonly (string | number | boolean)[] };

/** When a type of signal is over, and when it is under again. In between it stays what it was. */
export interface Threshold {
  /** `above`: a value over `limit` is over. `below`: a value under it is. */
  readonly direction: 'above' | 'below';
  readonly limit: number;
  /**
   * With `above`, a value under this clears it; with `below`, one over this. Equal to `limit` where
   * there is no hysteresis.
   */
  readonly clear: number;
  /**
   * After an action was asked for because of this type, no other one is for so long. 0: each signal
   * that is over asks.
   */
  readonly cooldown_ms: number;
  /** The type of action that answers; none: it is only observed. */
  readonly action?: string;
}

/** How something is carried out. */
export type Actuator =
  | { readonly kind: 'handler' }
  /** `signed_with`: the name of the secret that requests are signed with. */
  | { readonly kind: 'webhook'; readonly url: string; readonly signed_with?: string }
  /**
   * An instance of an approved template. As an inverse, without a template: the contract of the
   * action itself is stopped, or undone.
   */
  | { readonly kind: 'contract'; readonly template_id?: string };

/** One thing that can be carried out. */
export interface Doing {
  readonly action_type: string;
  readonly actuator: Actuator;
  /** What carries it out, for people. */
  readonly service: string;
  readonly target: string;
  readonly permission: string;
  readonly parameters: Parameters;
}

export interface ActionRule extends Doing {
  /** Of the parameters; one that has no bounds may only have the value that the policy gives it. */
  readonly bounds: Readonly<Record<string, ParameterBounds>>;
  readonly inverse: Doing;
  /** How long a contract may take after it was acknowledged. */
  readonly completion_timeout_ms: number;
  /**
   * What becomes of an action that succeeded, when the baseline is not back after `baseline_ms`.
   */
  readonly not_restored: 'keep' | 'rollback';
  readonly baseline_ms: number;
  /** What it costs of the budget. */
  readonly cost: number;
  /**
   * Is asked after a success whether the baseline is back; the actuator's own answer counts where
   * there is none.
   */
  readonly probe?: { readonly url: string };
}

export interface GovernorPolicy {
  readonly policy_id: string;
  /** Who acts: the principal whose permissions are asked. */
  readonly principal: string;
  /** By type of signal. */
  readonly when: Readonly<Record<string, Threshold>>;
  /** By type of action. */
  readonly actions: Readonly<Record<string, ActionRule>>;
  /** What actions may cost in a UTC month; null: without limit. */
  readonly budget: number | null;
}

/** A version of it, which never changes. */
export interface PolicyVersion {
  readonly version: number;
  /** SHA-256 of its canonical JSON, in hex. */
  readonly hash: string;
  /** It decides and writes receipts, and acts on nothing. */
  readonly shadow: boolean;
  readonly document: GovernorPolicy;
}

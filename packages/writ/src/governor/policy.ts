/**
 * Governor policies: written with `definePolicy`, or in a file. Either way what comes out is the
 * same document, with nothing left to guess.
 */
import { createHash } from 'node:crypto';
import { canonicalize } from '../ledger/canonical.js';
import type { Duration } from '../queue/duration.js';
import { normalPolicy } from './policies/normal.js';
import type { Actuator, GovernorPolicy, ParameterBounds, Parameters } from './policy-document.js';

/** When a type of signal is over, and when it is under again. */
export type ThresholdOptions = (
  | {
      /** A value over this is over. */ readonly above: number /** A value under this clears it; `above` unless given. */;
      readonly clearBelow?: number;
    }
  | {
      /** A value under this is over. */ readonly below: number /** A value over this clears it; `below` unless given. */;
      readonly clearAbove?: number;
    }
) & {
  /**
   * For so long after an action no other is asked for because of this type; a minute unless given.
   */
  readonly cooldown?: Duration;
  /** The type of action that answers, or false for none; the policy's only action unless given. */
  readonly then?: string | false;
};

interface AnyActionOptions {
  /** What carries it out, for people. */
  readonly service?: string;
  /**
   * The permission that it needs, where its type has none by its name; that of the policy unless
   * given.
   */
  readonly requires?: string;
  readonly parameters?: Parameters;
  /** Of parameters; one that has none may only have the value that the policy gives it. */
  readonly bounds?: Readonly<Record<string, ParameterBounds>>;
  /**
   * What becomes of it when it succeeded and the baseline is not back in time: `keep` unless given.
   */
  readonly notRestored?: 'keep' | 'rollback';
  /** How long the baseline is awaited; a minute unless given. */
  readonly baselineWithin?: Duration;
  /** What it costs of the budget; nothing unless given. */
  readonly cost?: number;
  /**
   * Is asked over HTTP after a success whether the baseline is back: any 2xx says so, unless its
   * JSON says `{"restored": false}`.
   */
  readonly probe?: { readonly url: string };
}

/** How an action is undone; what is left out is as the action itself has it. */
export interface InverseOptions {
  readonly type?: string;
  readonly target?: string;
  readonly requires?: string;
  readonly parameters?: Parameters;
  readonly actuator?: Actuator;
  readonly service?: string;
}

export interface HandlerOptions extends AnyActionOptions {
  readonly target: string;
  /** The type that undoes it, where the type itself has none by its name. */
  readonly inverse?: string | InverseOptions;
}

export interface WebhookActionOptions extends HandlerOptions {
  readonly url: string;
  /** The name of the secret that requests are signed with, as our other webhooks are. */
  readonly signedWith?: string;
}

type TemplateId = string | { readonly id: string };

export interface ContractActionOptions extends AnyActionOptions {
  /** The name of the type of action; `activate_template` unless given. */
  readonly type?: string;
  readonly target?: string;
  /**
   * The template that undoes it, or `stop`, which is the default: the contract is stopped and
   * rolled back while it is not completed, and a completed one is not undone.
   */
  readonly inverse?:
    | 'stop'
    | TemplateId
    | {
        readonly template: TemplateId;
        readonly parameters?: Parameters;
        readonly requires?: string;
      };
  /** How long it may take; 15 minutes unless given. */
  readonly completeWithin?: Duration;
}

/** An action of a policy, as `action.handler`, `action.webhook` and `action.contract` make it. */
export interface PolicyAction {
  readonly action_type: string;
  readonly actuator: Actuator;
}

/** A type of action, by its name or as `defineAction` made it. */
export type ActionName = string | { readonly type: string; readonly inverse?: string };

const named = (type: ActionName) =>
  typeof type === 'string'
    ? { action_type: type }
    : {
        action_type: type.type,
        ...(type.inverse !== undefined && { inverse: type.inverse }),
      };

/** An action that a handler of yours carries out: `defineAction` has it. */
export const handler = (type: ActionName, options: HandlerOptions): PolicyAction => ({
  ...named(type),
  actuator: { kind: 'handler' },
  ...options,
});

/** An action that is asked for over HTTP. */
export const webhook = (
  type: string,
  { url, signedWith, ...options }: WebhookActionOptions,
): PolicyAction => ({
  action_type: type,
  actuator: { kind: 'webhook', url, ...(signedWith !== undefined && { signed_with: signedWith }) },
  ...options,
});

const idOf = (template: TemplateId) => (typeof template === 'string' ? template : template.id);

/** An action that is an instance of an approved template. */
export function contract(
  template: TemplateId,
  { type = 'activate_template', inverse = 'stop', ...options }: ContractActionOptions = {},
): PolicyAction {
  const full = typeof inverse === 'object' && 'template' in inverse ? inverse : undefined;
  const { template: undoing, ...more } = full ?? { template: inverse as TemplateId };
  const written = undoing === 'stop' ? 'stop' : { template_id: idOf(undoing), ...more };
  const made = {
    action_type: type,
    actuator: { kind: 'contract', template_id: idOf(template) } as const,
    inverse: written,
  };
  return { ...made, ...options };
}

/** The actions of a policy, by how they are carried out. */
export const action = { handler, webhook, contract } as const;

export interface PolicyOptions {
  /** By type of signal. */
  readonly when: Readonly<Record<string, ThresholdOptions>>;
  /** What can be done about it. Without any it is only observed. */
  readonly then?: PolicyAction | readonly PolicyAction[];
  /** The permission of actions whose type has none by its name, and that say none themselves. */
  readonly requires?: string;
  /** The principal whose permissions are asked; `governor` unless given. */
  readonly as?: string;
  /** What actions may cost in a UTC month; without limit unless given. */
  readonly budget?: number;
}

/**
 * Defines a governor policy. Refuses with `invalid_policy` or `action_without_inverse`, which name
 * the place.
 */
export const definePolicy = (id: string, options: PolicyOptions): GovernorPolicy =>
  normalPolicy({ ...options, policy_id: id });

/** A policy as it was stored, or as somebody wrote it into a file; with the same refusals. */
export const validatePolicy = (value: unknown): GovernorPolicy => normalPolicy(value);

/** SHA-256 of its canonical JSON, in hex. */
export const policyHash = (document: GovernorPolicy): string =>
  createHash('sha256').update(canonicalize(document)).digest('hex');

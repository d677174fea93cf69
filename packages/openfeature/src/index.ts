/**
 * Capabilities and configuration as flags of OpenFeature, so that an application asks for them as
 * it asks for any other, and sees an approved change as soon as it is made.
 */
import {
  ErrorCode,
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
  StandardResolutionReasons,
} from '@openfeature/server-sdk';
import type { Flags, FollowFlagsOptions, Writ } from 'writ';

/**
 * With `tenant`: whose flags they are, where the context of an evaluation has no attribute
 * `tenant`.
 */
export type WritProviderOptions = Pick<FollowFlagsOptions, 'tenant' | 'poll'>;

type Kind = 'boolean' | 'string' | 'number' | 'object';

/**
 * A provider for OpenFeature's server SDK. A capability by its name is a boolean; `scope#key` is a
 * value of any type.
 */
export class WritProvider implements Provider {
  readonly metadata = { name: 'writ' };
  readonly runsOn = 'server';
  readonly events = new OpenFeatureEventEmitter();
  readonly #flags: Flags;
  /** The SDK itself says what became of `initialize`. */
  #initialized = false;

  constructor(writ: Pick<Writ, 'flags'>, options: WritProviderOptions = {}) {
    this.#flags = writ.flags({
      ...options,
      onChanged: (tenant, flagsChanged) =>
        this.events.emit(ProviderEvents.ConfigurationChanged, {
          flagsChanged: [...flagsChanged],
          metadata: { tenant },
        }),
      onAway: (error) =>
        this.#initialized && this.events.emit(ProviderEvents.Stale, { message: error.message }),
      onBack: () => this.#initialized && this.events.emit(ProviderEvents.Ready),
    });
  }

  async initialize(): Promise<void> {
    try {
      await this.#flags.start();
    } finally {
      this.#initialized = true;
    }
  }

  onClose(): Promise<void> {
    return this.#flags.stop();
  }

  resolveBooleanEvaluation(
    key: string,
    value: boolean,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<boolean>> {
    return this.#resolve('boolean', key, value, context);
  }

  resolveStringEvaluation(
    key: string,
    value: string,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    return this.#resolve('string', key, value, context);
  }

  resolveNumberEvaluation(
    key: string,
    value: number,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<number>> {
    return this.#resolve('number', key, value, context);
  }

  resolveObjectEvaluation<T extends JsonValue>(
    key: string,
    value: T,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<T>> {
    return this.#resolve('object', key, value, context);
  }

  async #resolve<T>(
    kind: Kind,
    key: string,
    fallback: T,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<T>> {
    const error = (errorCode: ErrorCode, errorMessage: string): ResolutionDetails<T> => ({
      value: fallback,
      reason: StandardResolutionReasons.ERROR,
      errorCode,
      errorMessage,
    });
    const asked = context.tenant;
    if (asked !== undefined && typeof asked !== 'string')
      return error(ErrorCode.INVALID_CONTEXT, 'The attribute tenant is not a text.');
    const tenant = asked ?? this.#flags.tenant;
    const flag = await this.#flags.get(key, tenant);
    if (!flag)
      return error(
        ErrorCode.FLAG_NOT_FOUND,
        `Tenant ${tenant} has no capability and no value ${key}.`,
      );
    // A name of a capability has no #.
    const isCapability = !key.includes('#');
    const value = isCapability ? flag.value !== 'DISABLED' : flag.value;
    if (typeof value !== kind) {
      const what = isCapability ? 'a capability, on or off' : `of type ${typeof value}`;
      return error(ErrorCode.TYPE_MISMATCH, `${key} is ${what}; asked for was a ${kind}.`);
    }
    const { STALE, STATIC, TARGETING_MATCH } = StandardResolutionReasons;
    return {
      value: value as T,
      reason: this.#flags.away ? STALE : asked === undefined ? STATIC : TARGETING_MATCH,
      ...(isCapability && { variant: String(flag.value) }),
      flagMetadata: { tenant, version: flag.version },
    };
  }
}

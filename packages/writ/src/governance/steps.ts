/**
 * What a contract can be made of: changes of capabilities and configuration, soaks, signals, and
 * types of your own.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { WritRefusal } from '../errors/index.js';
import { type Duration, milliseconds } from '../queue/duration.js';
import { type JobKind, type JobOptions, ownJob } from '../queue/job.js';
import { parseWith } from '../queue/schema.js';

export { filled } from './filled.js';

/** A step as a contract holds it. */
export interface ChangeStep {
  readonly step_type: string;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type Lifecycle = 'PREVIEW' | 'LAUNCHED' | 'DEPRECATED';

/** Enables a capability. */
export const enable = (capability: string, lifecycle: Lifecycle = 'LAUNCHED'): ChangeStep => ({
  step_type: 'capability_enable',
  target: capability,
  parameters: { target_lifecycle: lifecycle },
});

/** Disables a capability. */
export const disable = (capability: string, reason: string): ChangeStep => ({
  step_type: 'capability_disable',
  target: capability,
  parameters: { reason },
});

/**
 * Sets a value of a configuration; null takes it away. With `old`, what has to stand there before,
 * or null for nothing: if something else does, the contract is refused.
 */
export const configure = (
  scope: string,
  key: string,
  value: unknown,
  { old }: { readonly old?: unknown } = {},
): ChangeStep => ({
  step_type: 'config_update',
  target: scope,
  parameters: { key, ...(old !== undefined && { old_value: old }), new_value: value },
});

/** What a step puts into its slot, as writ_data.slots has it. */
export function putBy({ step_type, parameters }: ChangeStep): unknown {
  if (step_type === 'capability_enable') return parameters.target_lifecycle ?? 'LAUNCHED';
  if (step_type === 'capability_disable') return 'DISABLED';
  return step_type === 'config_update' ? parameters.new_value : parameters.value;
}

/** A parameter of a template, in place of a value. */
export const param = (name: string): { readonly $param: string } => ({ $param: name });

/**
 * Watches the health of everything that the contract affects for so long. If it fails, everything
 * is undone.
 */
export const soak = (duration: Duration): ChangeStep => ({
  step_type: 'soak',
  target: 'SYSTEM',
  parameters: { duration_ms: Math.max(1, Math.round(milliseconds(duration))) },
});

/** Writes down a governance signal. */
export const recordSignal = (signalType: string, reason?: string): ChangeStep => ({
  step_type: 'signal_record',
  target: 'SYSTEM',
  parameters: {
    signal_type: signalType,
    decision: 'EXECUTING',
    ...(reason !== undefined && { reason }),
  },
});

/** What a step type of your own is given. */
export interface ChangeContext {
  readonly tenant: string;
  /**
   * The same in every attempt of this step, and another for its undoing: give it to services that
   * know idempotency keys.
   */
  readonly effectKey: string;
  readonly signal: AbortSignal;
  /** A secret by its name, from where the worker looks for them; it stays in memory. */
  secret(name: string): Promise<string>;
}

export interface StepTypeOptions<Input> {
  /** A Standard Schema of what is to stand there. */
  readonly input?: StandardSchemaV1<unknown, Input>;
  /**
   * The name of what is changed, as a scope names it: `flag:checkout`. It follows from the input
   * alone, and is compared before each effect.
   */
  target(input: Input): string;
  /**
   * What stands there now. It is hashed, sealed and compared: answer what matters, and nothing that
   * changes by itself.
   */
  read(
    input: Input,
    context: Pick<ChangeContext, 'tenant' | 'signal' | 'secret'>,
  ): Promise<unknown>;
  /**
   * Puts it there. May be called again after a crash: use the effectKey, or make it so that a
   * second time does no harm.
   */
  apply(input: Input, context: ChangeContext): Promise<unknown>;
  /** Puts back what was found. */
  revert(found: unknown, input: Input, context: ChangeContext): Promise<unknown>;
  /** How often it is tried and how long it may take. */
  readonly retry?: JobOptions['retry'];
  readonly timeout?: Duration;
}

export interface StepType<Input> extends StepTypeOptions<Input> {
  (input: Input): ChangeStep;
  readonly type: string;
  readonly job: JobKind<never, unknown>;
  /** The input in the parameters of a step. */
  inputOf(step: ChangeStep): Promise<Input>;
}

/** A step type of any input, as workers and previews take it. */
export interface AnyStepType extends Omit<StepType<never>, 'input' | 'inputOf'> {
  readonly input?: StandardSchemaV1<unknown, unknown>;
  inputOf(step: ChangeStep): Promise<unknown>;
}

/** Names have one form, so that they can be compared byte for byte. Gates refuse any other. */
export const nameOf = (name: string): string => name.normalize('NFC');

/** A step with its names in that form. */
export function named(step: ChangeStep): ChangeStep {
  const { target, parameters } = step;
  const names = ['key', 'scope', 'signal_type'].filter(
    (name) => typeof parameters?.[name] === 'string',
  );
  return {
    ...step,
    ...(typeof target === 'string' && { target: nameOf(target) }),
    ...(names.length > 0 && {
      parameters: {
        ...parameters,
        ...Object.fromEntries(names.map((name) => [name, nameOf(String(parameters[name]))])),
      },
    }),
  };
}

/** What a step touches, by its type: the target that the type has for the step's input. */
export async function touchedBy(type: StepType<unknown>, step: ChangeStep): Promise<string> {
  return nameOf(type.target(await type.inputOf(step)));
}

/** The input of a step, if the step touches its target and nothing else. */
export async function inputInScope(type: StepType<unknown>, step: ChangeStep): Promise<unknown> {
  const input = await type.inputOf(step);
  const touched = nameOf(type.target(input));
  if (touched !== step.target)
    throw new WritRefusal(
      'scope_violation',
      `a step of type ${type.type} says ${step.target} and touches ${touched}`,
    );
  return input;
}

/**
 * What stands where a step would change something. It goes into the database, which cannot hold
 * every text that a program can.
 */
export async function readBy(
  type: StepType<unknown>,
  step: ChangeStep,
  context: Pick<ChangeContext, 'tenant' | 'signal' | 'secret'>,
): Promise<unknown> {
  const value = (await type.read(await inputInScope(type, step), context)) ?? null;
  const storable = (text: string) => text.isWellFormed() && !text.includes('\0');
  JSON.stringify(value, (key, part: unknown) => {
    if (storable(key) && (typeof part !== 'string' || storable(part))) return part;
    throw new WritRefusal('invalid_text', `what the type ${type.type} has read at ${step.target}`);
  });
  return value;
}

/**
 * Steps of these types that follow one another are done together, in one transaction, by one job of
 * the queue.
 */
export const inDatabase = [
  'capability_enable',
  'capability_disable',
  'config_update',
  'signal_record',
];

/** Whether a step is of a user's type, and so changes something outside the database. */
export const isOutside = ({ step_type }: ChangeStep): boolean =>
  !inDatabase.includes(step_type) && step_type !== 'soak';

/** The kind of the jobs of the queue that do steps of a type. */
export const kindOf = (type: string) => `governance.${inDatabase.includes(type) ? 'change' : type}`;

const builtIn = [...inDatabase, 'soak', 'change', 'audit', 'ended', 'verify'];

/**
 * Defines a type of step: something outside, or in your own tables, that is read, changed and put
 * back under the same rules as everything else.
 */
export function defineStep<Input>(type: string, options: StepTypeOptions<Input>): StepType<Input> {
  if (builtIn.includes(type))
    throw new WritRefusal('unknown_step_type', `${type} is a step type of Writ itself`);
  if (!/^[a-z][a-z0-9_]{0,49}$/.test(type)) {
    throw new WritRefusal('unknown_step_type', `${type} is not a name for a type of step`);
  }
  const step = (input: Input): ChangeStep => ({
    step_type: type,
    target: nameOf(options.target(input)),
    parameters: { value: input },
  });
  const { retry, timeout = '5m' } = options;
  const job = ownJob(`governance.${type}`, {
    retry: retry ?? { attempts: 5, base: '200ms', cap: '30s' },
    timeout,
  });
  const inputOf = async ({ parameters: { value } }: ChangeStep) =>
    (options.input ? await parseWith(options.input, value, type) : value) as Input;
  return Object.assign(step, { ...options, type, job, inputOf });
}

/**
 * What a change of each type may say; what it must, first. A key that nobody reads is a mistake in
 * the spelling of one that matters.
 */
const fields: Readonly<Record<string, readonly [must: readonly string[], may: readonly string[]]>> =
  {
    capability_enable: [['capability_name'], ['target_lifecycle', 'qualifier_override']],
    capability_disable: [['capability_name', 'reason'], []],
    configuration_update: [['scope', 'key', 'new_value'], ['old_value']],
    parameter_change: [['scope', 'parameters'], []],
    soak: [['duration'], []],
    signal_record: [['signal_type'], ['reason']],
  };

function checkFields(change: Record<string, unknown>, n: number): void {
  const [must, may] = fields[String(change.type)] ?? [];
  const wrong = (what: string) =>
    new WritRefusal('invalid_contract', `Change ${n + 1}, ${String(change.type)}: ${what}`);
  if (!must || !may)
    throw new WritRefusal(
      'invalid_contract',
      `Change ${n + 1} has no type that is one: ${String(change.type)}. Types are ${Object.keys(fields).join(', ')}`,
    );
  const missing = must.find((name) => change[name] === undefined);
  if (missing !== undefined) throw wrong(`it has no ${missing}`);
  const unread = Object.keys(change).find(
    (name) => name !== 'type' && !must.includes(name) && !may.includes(name),
  );
  if (unread !== undefined)
    throw wrong(`nobody reads ${unread}; it may say ${[...must, ...may].join(', ')}`);
  if ((change.qualifier_override ?? false) !== false)
    throw wrong('qualifier_override is false; no contract overrides a qualifier');
}

/**
 * Changes as the contract's specification names them, and parameter changes of many keys, as steps.
 */
export function stepsOf(changes: readonly Record<string, unknown>[]): ChangeStep[] {
  return changes.flatMap((change, n): ChangeStep[] => {
    if (typeof change.step_type === 'string') return [change as unknown as ChangeStep];
    checkFields(change, n);
    const { type, scope, capability_name: capability } = change as Record<string, string>;
    switch (type) {
      case 'capability_enable':
        return [enable(String(capability), (change.target_lifecycle ?? 'LAUNCHED') as Lifecycle)];
      case 'capability_disable':
        return [disable(String(capability), String(change.reason ?? ''))];
      case 'configuration_update':
        return [
          configure(String(scope), String(change.key), change.new_value, { old: change.old_value }),
        ];
      case 'parameter_change':
        return Object.entries((change.parameters ?? {}) as Record<string, unknown>).map(
          ([key, value]) => configure(String(scope), key, value),
        );
      case 'soak':
        return [soak(change.duration as Duration)];
      default:
        return [
          recordSignal(
            String(change.signal_type),
            change.reason === undefined ? undefined : String(change.reason),
          ),
        ];
    }
  });
}

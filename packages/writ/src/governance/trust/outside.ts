/** Reading what stands outside the database, as an auditor does. */
import type { SecretsProvider } from '../../secrets/provider.js';
import { Secrets } from '../../secrets/secrets.js';
import { type AnyStepType, readBy, type StepType } from '../steps.js';
import type { AuditOptions } from './audit.js';

const readWithinMs = 30_000;
const secretsKeptMs = 60_000;

/** Reads by the auditor's own step types and secrets. A step of another type is not read. */
export function readingOutside(
  types: readonly AnyStepType[],
  provider?: SecretsProvider,
): NonNullable<AuditOptions['outside']> {
  const secrets = new Secrets(provider, secretsKeptMs);
  return (tenant, step) => {
    const type = types.find((each) => each.type === step.step_type);
    if (!type) return undefined;
    const context = { tenantId: tenant, environmentId: 'default' };
    const secret = async (name: string) =>
      (await secrets.resolve([name], context)).get(name) as string;
    const signal = AbortSignal.timeout(readWithinMs);
    return readBy(type as unknown as StepType<unknown>, step, { tenant, signal, secret });
  };
}

/** What Writ asks of whoever keeps the secrets. */

/** The name of a secret, which may stand in a plan; the secret itself may not. */
export interface SecretRef {
  readonly $secret: string;
}

/** Whom a secret is for. */
export interface SecretContext {
  readonly tenantId: string;
  /** That of the run; `default` for a job that is no step of one. */
  readonly environmentId: string;
}

export interface SecretsProvider {
  /**
   * The values by name. A name that is not there is left out of the answer; whatever else goes
   * wrong is thrown, without a value in its words. Called once for all that a step needs and that
   * is not in the cache.
   */
  resolve(refs: readonly SecretRef[], context: SecretContext): Promise<Record<string, string>>;
  /**
   * What is in memory anyway: kept out of records from the beginning, and not only once somebody
   * has asked for it.
   */
  held?(): Iterable<readonly [name: string, value: string]>;
}

/** As in a plan: 1 to 200 letters, digits and _ . : / - beginning with a letter or digit. */
export const isSecretName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$/.test(name);

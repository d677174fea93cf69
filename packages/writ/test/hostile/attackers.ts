/** Logins that attack a governed database: each ends with its test. */
import { afterEach } from 'vitest';
import type { Scene } from '../governance/scene.js';
import { type Binding, type Login, login } from './logins.js';

export function attackers(
  s: Scene,
): (roles: readonly string[], binding?: Binding) => Promise<Login> {
  const opened: Login[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.end();
  });
  return async (roles, binding) => {
    const entered = await login(s.db, roles, binding);
    opened.push(entered);
    return entered;
  };
}

/** Claims a job of a reserved kind as an applier: what a hostile one can do as well. */
export async function claimed(
  applier: Login,
  kind: string,
): Promise<{ readonly job: string; readonly token: string }> {
  const { lease_token, jobs } = (await applier.call('fn_job_claim_many', {
    kinds: [kind],
    executor: 'external_worker',
    lease_holder: 'mallory',
    limit: 1,
    start: 1,
  })) as { lease_token: string; jobs: [string][] };
  return { job: String(jobs[0]?.[0]), token: lease_token };
}

/** Answers the only read of the type flag that is open with these values: JSON, or a list. */
export async function storeRead(
  applier: Login,
  values: string | readonly object[],
): Promise<Record<string, unknown>> {
  const { job, token } = await claimed(applier, 'governance.read.flag');
  return applier.call('fn_contract_read_done', {
    job_id: job,
    lease_token: token,
    values: typeof values === 'string' ? values : JSON.stringify(values),
    actor: 'mallory',
  });
}

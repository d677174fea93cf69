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

/**
 * A database with somebody who may operate, a policy in a file, and the commands of governors, run
 * as people run them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { parse } from 'yaml';
import type { GovernorHandle, Writ } from '../../../src/index.js';
import { type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import { patient } from '../../governor/patient.js';
import { type Ended, eventually, json, type Running, start, writ } from '../run.js';

export const policy = `
policy_id: error-budget
when:
  error_rate: { above: 0.05, clearBelow: 0.01, cooldown: 1h }
  cpu_utilization: { above: 75, then: false }
then:
  type: disable_flag
  actuator: { kind: handler }
  target: checkout
  requires: flags:write
  inverse: enable_flag
  parameters: { percent: 50 }
  bounds: { percent: { min: 0, max: 100 } }
`;

export interface Scene {
  readonly db: TestDatabase;
  readonly app: Writ;
  readonly env: Record<string, string>;
  readonly folder: string;
  readonly key: string;
  file(name: string, text: string): string;
  /** As olga, who is a person and may operate. */
  run(...args: string[]): Promise<Ended>;
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>;
  start(...args: string[]): Running;
  /**
   * The governor of acme, entitled, with the policy above and a principal that may do what it does;
   * driven by this process until it is stable.
   */
  governed(): Promise<GovernorHandle>;
}

export function scene(): Scene {
  let db: TestDatabase;
  let app: Writ;
  let folder: string;
  let key: string;
  let running: Running[];
  const env = () => ({ DATABASE_URL: db.connectionString, WRIT_KEY: key });
  const begun = (args: readonly string[]) => {
    const one = start(args, { env: env() });
    running.push(one);
    return one;
  };
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  beforeEach(async () => {
    db = await testDatabase();
    app = await db.connect();
    folder = mkdtempSync(join(tmpdir(), 'writ-governor-'));
    running = [];
    key = await app.principals.add({ id: 'olga', kind: 'person', rights: ['operate'] });
    await patient(db);
  });
  afterEach(async () => {
    for (const each of running) each.kill('SIGKILL');
    await Promise.all(running.map((each) => each.ended));
    rmSync(folder, { recursive: true, force: true });
    await db.drop();
  });
  return {
    get db() {
      return db;
    },
    get app() {
      return app;
    },
    get env() {
      return env();
    },
    get folder() {
      return folder;
    },
    get key() {
      return key;
    },
    file,
    run: (...args) => writ(args, { env: env() }),
    json: (...args) => json(args, { env: env() }),
    start: (...args) => begun(args),
    async governed() {
      await app.principals.add({
        id: 'governor',
        kind: 'service',
        permissions: ['flags:write'],
      });
      const governor = await app.governor({ tenant: 'acme' });
      await app.governors.entitlements.put({ tier: 'starter' }, { tenant: 'acme', as: key });
      await governor.publish(parse(policy), { as: key });
      await app.drive();
      await eventually(
        async () =>
          (await governor.get()).state === 'stable' && (await governor.get()).policy_version === 1,
      );
      return governor;
    },
  };
}

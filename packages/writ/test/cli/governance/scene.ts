/** A database, a folder for keys and files, and commands that are run by somebody. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { parse } from 'yaml';
import { type Contract, principal, type Writ } from '../../../src/index.js';
import { type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import { verifying } from '../../governance/verifying.js';
import { type Ended, json, type Running, start, writ } from '../run.js';

export type Who = 'ops' | 'ada' | 'bob' | 'robo' | 'deployer';

export interface Scene {
  readonly db: TestDatabase;
  readonly env: Record<string, string>;
  readonly folder: string;
  readonly keyOf: (who: Who) => string;
  /** Starts what verifies approvals. */
  verifying(): Promise<unknown>;
  /** Makes ops, ada, bob, robo (who acts for ops) and deployer, and checkout, search and limits. */
  people(): Promise<void>;
  /**
   * What robo has proposed, for ops: the launch of checkout. Past the command line, for tests that
   * are about what comes after.
   */
  proposed(): Promise<Contract>;
  /** The same, approved by ada and bob. */
  approved(): Promise<Contract>;
  file(name: string, text: string): string;
  as(who: Who, ...args: string[]): Promise<Ended>;
  jsonAs<T = Record<string, unknown>>(who: Who, ...args: string[]): Promise<T>;
  /** A worker, until the test is over. */
  work(...args: string[]): Promise<Running>;
}

export const launch = `
title: Launch checkout
description: After the tests of last week.
risk: high
scope: [checkout, limits]
steps:
  - { type: capability_enable, capability_name: checkout, target_lifecycle: PREVIEW }
  - { type: configuration_update, scope: limits, key: max, old_value: 100, new_value: 200 }
  - { type: parameter_change, scope: limits, parameters: { burst: 5 } }
  - { type: soak, duration: 200ms }
  - { type: capability_enable, capability_name: checkout }
`;

export const things = `
- { capability_name: checkout, domain: shop }
- { capability_name: search, domain: shop, lifecycle: LAUNCHED }
- { scope: limits, owner_capability: checkout, values: { max: 100 } }
`;

export function scene(): Scene {
  let db: TestDatabase;
  let app: Writ;
  let folder: string;
  let env: Record<string, string>;
  let running: Running[];
  beforeEach(async () => {
    db = await testDatabase();
    app = await db.connect();
    folder = mkdtempSync(join(tmpdir(), 'writ-governance-'));
    env = { DATABASE_URL: db.connectionString, FLAGS: folder };
    running = [];
  });
  afterEach(async () => {
    for (const each of running) each.kill('SIGKILL');
    await Promise.all(running.map((each) => each.ended));
    rmSync(folder, { recursive: true, force: true });
    await db.drop();
  });
  const keyOf = (who: Who) => join(folder, `${who}.key`);
  const who = (id: Who) => principal(readFileSync(keyOf(id), 'utf8').trim());
  const proposed = () => app.contracts.propose(parse(launch), { as: who('robo') });
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  return {
    get db() {
      return db;
    },
    get env() {
      return env;
    },
    get folder() {
      return folder;
    },
    keyOf,
    file,
    verifying: () => verifying(app),
    async people() {
      await verifying(app); // from here on a worker verifies approvals
      const add = async (id: Who, kind: 'person' | 'service' | 'agent', more: object = {}) =>
        writeFileSync(keyOf(id), await app.principals.add({ id, kind, ...more }), {
          mode: 0o600,
        });
      await add('ops', 'person', {
        rights: ['propose', 'approve', 'activate', 'operate', 'break_glass'],
      });
      await Promise.all([
        add('ada', 'person'),
        add('bob', 'person'),
        add('deployer', 'service'),
        add('robo', 'agent', { onBehalfOf: 'ops' }),
      ]);
      await app.capabilities.put(parse(things), { as: who('ops') });
    },
    proposed,
    async approved() {
      const contract = await proposed();
      const { hash } = await contract.preview({ as: who('ada') });
      for (const each of ['ada', 'bob'] as const) await contract.approve({ as: who(each), hash });
      return contract;
    },
    as: (who, ...args) => writ_([...args, '--key-file', keyOf(who)]),
    jsonAs: (who, ...args) => json([...args, '--key-file', keyOf(who)], { env }),
    async work(...args) {
      const worker = start(['worker', ...args], { env });
      running.push(worker);
      await worker.saying(/Working on/);
      return worker;
    },
  };

  function writ_(args: readonly string[]): Promise<Ended> {
    return writ(args, { env });
  }
}

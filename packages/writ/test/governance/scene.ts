/** A database with people, agents and things to change, and a worker that does what is approved. */
import { afterEach, beforeEach } from 'vitest';
import type { Change, GovernanceJob } from '../../src/governance/changes.js';
import type { Contract } from '../../src/governance/contracts.js';
import { configure, enable } from '../../src/governance/steps.js';
import type { AnyStepType, ChangeStep, Proposal, Worker, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { reading, verifying } from './verifying.js';

export interface Scene {
  readonly db: TestDatabase;
  readonly writ: Writ;
  /** Keys by name. */
  readonly keys: Record<'ops' | 'ada' | 'bob' | 'agent' | 'service', string>;
  work(types?: readonly AnyStepType[]): Promise<Worker>;
  /** Step types for proposals, and an applier that reads with them for previews. */
  use(...types: readonly AnyStepType[]): Promise<void>;
  propose(proposal?: Partial<Proposal>, as?: string): Promise<Contract>;
  /** Proposed by the agent, approved by ada, and by bob where two are asked for. */
  approved(proposal?: Partial<Proposal>): Promise<Contract>;
  approve(contract: Contract): Promise<void>;
  /** Approved, activated and at rest. */
  done(
    proposal?: Partial<Proposal>,
  ): Promise<{ contract: Contract; job: GovernanceJob; end: Change }>;
  /** Looks as this person, ops unless named, and breaks the glass for what was shown. */
  breakGlass(contract: Contract, reason: string, as?: string): Promise<GovernanceJob>;
  /** What applications see. */
  state(): Promise<Record<string, unknown>>;
  sql<Row = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
  setting(key: string, value: unknown): Promise<void>;
  alerts(): Promise<string[]>;
}

/** Five steps on two targets. */
export const five: readonly ChangeStep[] = [
  enable('checkout', 'PREVIEW'),
  configure('limits', 'max', 200),
  configure('limits', 'burst', 5),
  configure('limits', 'max', 300),
  enable('checkout'),
];

export function scene(): Scene {
  let db: TestDatabase;
  let writ: Writ;
  let keys: Scene['keys'];
  beforeEach(async () => {
    db = await testDatabase();
    writ = await db.connect();
    const add = (id: string, kind: 'person' | 'service' | 'agent', more: object = {}) =>
      writ.principals.add({ id, kind, ...more });
    const ops = await add('ops', 'person', {
      rights: ['propose', 'approve', 'activate', 'operate', 'break_glass'],
    });
    keys = {
      ops,
      ada: await add('ada', 'person'),
      bob: await add('bob', 'person'),
      service: await add('deployer', 'service'),
      agent: await add('agent', 'agent', { onBehalfOf: 'ops' }),
    };
    await writ.capabilities.put(
      [
        { capability_name: 'checkout', domain: 'shop' },
        { capability_name: 'search', domain: 'shop', lifecycle: 'LAUNCHED' },
        { scope: 'limits', owner_capability: 'checkout', values: { max: 100 } },
      ],
      { as: keys.ops },
    );
  });
  afterEach(() => db.drop());

  const propose: Scene['propose'] = (proposal = {}, as = keys.agent) =>
    writ.contracts.propose(
      { title: 'Raise the limits', scope: ['checkout', 'limits'], steps: five, ...proposal },
      { as },
    );
  const approve: Scene['approve'] = async (contract) => {
    await verifying(writ);
    const { hash, approvals_needed } = await contract.preview({ as: keys.ada });
    await contract.approve({ as: keys.ada, hash });
    if (approvals_needed > 1) await contract.approve({ as: keys.bob, hash });
  };
  const approved: Scene['approved'] = async (proposal) => {
    const contract = await propose(proposal);
    await approve(contract);
    return contract;
  };
  const sql: Scene['sql'] = async (text, params) => (await db.query(text, params)) as never;
  return {
    get db() {
      return db;
    },
    get writ() {
      return writ;
    },
    get keys() {
      return keys;
    },
    work: (types) =>
      writ.work([], { governance: types ?? true, probes: { allowPrivate: true }, concurrency: 10 }),
    use: async (...types) => {
      writ.contracts.use(...types);
      await reading(writ);
    },
    propose,
    approve,
    approved,
    async breakGlass(contract, breakGlass, as = keys.ops) {
      const preview = await contract.preview({ as });
      const { hash } = await contract.breakingGlass(preview, breakGlass);
      return contract.activate({ as, breakGlass, hash });
    },
    async done(proposal) {
      const contract = await approved(proposal);
      const job = await contract.activate({ as: keys.service });
      return { contract, job, end: await job.finished({ timeoutMs: 20_000 }) };
    },
    async state() {
      const capabilities = await sql(
        'select capability_name as name, lifecycle as value from writ.capability',
      );
      const values = await sql(`select scope || '#' || key as name, value from writ.configuration`);
      return Object.fromEntries(
        [...capabilities, ...values].map(({ name, value }) => [name, value]),
      );
    },
    sql,
    setting: async (key, value) => {
      await db.query(`select writ.fn_setting_set($1, $2::jsonb, 'test')`, [
        key,
        JSON.stringify(value),
      ]);
    },
    alerts: async () =>
      (await sql('select code from writ.alert where cleared_at is null')).map(({ code }) =>
        String(code),
      ),
  };
}

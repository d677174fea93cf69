/** A shop's plan and its handlers, for the tests of `writ runs`. */
import { expect } from 'vitest';
import {
  defineJob,
  definePlan,
  type HandledJob,
  type PlanDocument,
  type RunHandle,
  type Writ,
} from '../../../src/index.js';
import { type TestDatabase, testDatabase } from '../../../src/testing/index.js';

interface Order {
  readonly id: string;
  readonly fails?: boolean;
  readonly parcels?: readonly string[];
}

const one = { retry: { attempts: 1 } };
export const reserve = defineJob<Order>('reserve', one);
export const release = defineJob<Order>('release', one);
export const charge = defineJob<Order>('charge', one);
export const pack = defineJob<string>('pack', one);
export const ship = defineJob<Order>('ship', one);

/** reserve, then charge, which may fail; what was reserved is released. */
export const saga = definePlan<Order>('saga', { version: '1.0.0' }, (p) => {
  const reserved = p.step('reserve', reserve, { compensate: release });
  const charged = p.step('charge', charge, { after: reserved });
  p.step('ship', ship, { after: charged });
});

/** Waits for a person, packs each parcel, and ships. */
export const parcels = definePlan<Order>('parcels', { version: '1.0.0' }, (p) => {
  const reserved = p.step('reserve', reserve, { compensate: release });
  const approved = p.waitFor('approval', { after: reserved, timeout: '48h' });
  const packed = p.each('pack', pack, {
    over: p.input.parcels as never,
    parallel: 2,
    after: approved,
  });
  p.step('ship', ship, { after: packed });
});

export const handlers: readonly HandledJob[] = [
  reserve.handle(() => ({ reservation: 'r-1' })),
  release.handle(() => undefined),
  charge.handle(({ input }) => {
    if (input.fails) throw new Error('card declined\n\u001b[2J');
    return { paid: true };
  }),
  pack.handle(({ input }) => ({ packed: input })),
  ship.handle(() => undefined),
];

export interface Scene {
  readonly db: TestDatabase;
  readonly writ: Writ;
  readonly env: { readonly DATABASE_URL: string };
  /** Starts a worker that goes on until the database is dropped. */
  work(handled?: readonly HandledJob[]): Promise<void>;
  failed(): Promise<RunHandle>;
  completed(): Promise<RunHandle>;
  /** A run that waits for its approval. */
  waiting(): Promise<RunHandle>;
}

export async function scene(): Promise<Scene> {
  const db = await testDatabase();
  const writ = await db.connect();
  const work = async (handled = handlers) => {
    await writ.work(handled, { poll: '20ms', onError: () => undefined });
  };
  return {
    db,
    writ,
    env: { DATABASE_URL: db.connectionString },
    work,
    failed: async () => {
      const run = await writ.start(saga, { id: 'o-1', fails: true });
      expect((await run.finished({ timeoutMs: 20_000 })).status).toBe('FAILED');
      return run;
    },
    completed: async () => {
      const run = await writ.start(saga, { id: 'o-2' });
      expect((await run.finished({ timeoutMs: 20_000 })).status).toBe('COMPLETED');
      return run;
    },
    waiting: async () => {
      const run = await writ.start(parcels, { id: 'o-3', parcels: ['a', 'b', 'c'] });
      await until(async () => (await writ.runs.snapshot(run.runId)).counts.waiting === 1);
      return run;
    },
  };
}

export async function until(holds: () => Promise<boolean>, withinMs = 25_000): Promise<void> {
  for (const giveUpAt = Date.now() + withinMs; !(await holds()); ) {
    if (Date.now() > giveUpAt) throw new Error('it did not come to that');
    await new Promise((resume) => setTimeout(resume, 25));
  }
}

export const documentOf = (plan: { readonly document: PlanDocument }): PlanDocument =>
  JSON.parse(JSON.stringify(plan.document));

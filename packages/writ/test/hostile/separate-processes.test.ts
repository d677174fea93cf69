/**
 * Each process can hold the one role that it needs: nothing asks for more than its own loops use.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { defineJob, Writ } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { login } from './logins.js';

const governed = scene();
const opened: { end(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.end();
});

async function process(roles: readonly string[]): Promise<{ writ: Writ; troubles: unknown[] }> {
  const entered = await login(governed.db, roles);
  opened.push(entered);
  const writ = await Writ.connect({ connectionString: entered.connectionString });
  opened.push({ end: () => writ.close() });
  return { writ, troubles: [] };
}

test('a producer, a worker and an engine do jobs together, each with its own role', async () => {
  const done: string[] = [];
  const chore = defineJob<{ n: string }>('chore', {
    retry: { attempts: 2, base: '1ms', cap: '1ms' },
  });
  const producer = await process(['writ_producer']);
  const worker = await process(['writ_worker']);
  const engine = await process(['writ_engine', 'writ_worker']);
  const tries = new Map<string, number>();
  await worker.writ.work(
    [
      chore.handle(async ({ input }) => {
        tries.set(input.n, (tries.get(input.n) ?? 0) + 1);
        if (input.n === 'twice' && tries.get(input.n) === 1) throw new Error('once more');
        done.push(input.n);
      }),
    ],
    { poll: '50ms', onError: (error, job) => void (job || worker.troubles.push(error)) },
  );
  await engine.writ.work([], {
    poll: '50ms',
    onError: (error) => void engine.troubles.push(error),
  });
  await producer.writ.enqueue(chore, { n: 'now' });
  await producer.writ.enqueue(chore, { n: 'later' }, { delay: '100ms' });
  await producer.writ.enqueue(chore, { n: 'twice' });
  await vi.waitFor(() => expect([...done].sort()).toEqual(['later', 'now', 'twice']), {
    timeout: 20_000,
  });
  expect(worker.troubles).toEqual([]);
  expect(engine.troubles).toEqual([]);
});

test('an applier applies an approved change while an engine turns the clockwork', async () => {
  const applier = await process(['writ_applier']);
  const engine = await process(['writ_engine']);
  const watched = (one: typeof applier) => ({
    poll: '50ms' as const,
    onError: (error: unknown) => void one.troubles.push(error),
  });
  await applier.writ.work([], { governance: true, ...watched(applier) });
  await engine.writ.work([], { governance: true, governor: true, ...watched(engine) });
  const { end } = await governed.done();
  expect(end.status).toBe('COMPLETED');
  expect(applier.troubles).toEqual([]);
  expect(engine.troubles).toEqual([]);
});

test('a process that is to apply changes without writ_applier gets an error that names the role', async () => {
  const worker = await process(['writ_worker']);
  await expect(worker.writ.work([], { governance: true })).rejects.toMatchObject({
    code: 'role_required',
    message: expect.stringContaining('writ_applier'),
  });
});

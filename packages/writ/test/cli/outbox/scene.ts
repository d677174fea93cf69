/**
 * A shop whose runs are told to a receiver, for the tests of `writ events`, `writ webhooks` and
 * `writ relay`.
 */
import { onTestFinished } from 'vitest';
import type { Writ } from '../../../src/index.js';
import { type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import { type Receiver, startReceiver } from '../../outbox/receiver.js';
import { type Running, start } from '../run.js';
import { handlers, saga } from '../runs/scene.js';

export interface OutboxScene {
  readonly db: TestDatabase;
  readonly writ: Writ;
  readonly receiver: Receiver;
  /** The environment of a command that knows the secret `shop`. */
  readonly env: Record<string, string>;
  /** A run that completes, and its id. Its log has eight events. */
  completed(): Promise<string>;
  /** A relay that has begun; it ends with the test. */
  relay(...args: string[]): Promise<Running>;
}

export const eventsOfRun = 8;

export async function scene(): Promise<OutboxScene> {
  const db = await testDatabase();
  const receiver = await startReceiver();
  const writ = await db.connect();
  onTestFinished(async () => {
    await db.drop();
    await receiver[Symbol.asyncDispose]();
  });
  let working: Promise<unknown> | undefined;
  const env = { DATABASE_URL: db.connectionString, WRIT_WEBHOOK_SECRET_SHOP: receiver.secret };
  return {
    db,
    writ,
    receiver,
    env,
    completed: async () => {
      working ??= writ.work(handlers, { poll: '20ms', onError: () => undefined });
      await working;
      const run = await writ.start(saga, { id: 'o-1' });
      await run.finished({ timeoutMs: 20_000 });
      return run.runId;
    },
    relay: async (...args) => {
      const relay = start(
        [
          'relay',
          '--allow-http',
          '--allow-private',
          '--listen-url',
          db.directConnectionString,
          ...args,
        ],
        { env },
      );
      // Before the database is dropped: hooks of a test are called in the reverse order.
      onTestFinished(async () => {
        relay.kill('SIGKILL');
        await relay.ended;
      });
      await relay.saying(/"relaying"|Relaying as/);
      return relay;
    },
  };
}

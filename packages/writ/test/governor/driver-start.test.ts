import pg from 'pg';
import { expect, test } from 'vitest';
import { grantedPermissions } from '../../src/authorization/authorizer.js';
import { Driver } from '../../src/governor/driver.js';

test('a driver whose connection is cut as it starts says that the database cannot be reached', async () => {
  const db = { query: () => Promise.reject(new Error('Connection terminated unexpectedly')) };
  const driver = new Driver({
    ...{ db, transactions: new pg.Pool(), actor: 'test' },
    authorizer: grantedPermissions(db),
    onError: () => undefined,
  });
  await expect(driver.start()).rejects.toMatchObject({ code: 'database_unreachable' });
});

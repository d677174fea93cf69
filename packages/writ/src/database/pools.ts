/** The connections that are our own. */
import pg from 'pg';
import { PreparedPool } from './prepared.js';

/** Two pools: a handler that waits inside its transaction must not keep the calls waiting that would let it go on. */
export interface Pools {
  readonly transactions: pg.Pool;
  readonly gates: pg.Pool;
  /** Those of `gates`, with named statements. */
  readonly prepared: PreparedPool;
}

/** `max` is how many connections handlers have for their transactions. */
export function openPools(connectionString: string, max = 10): Pools {
  const settings = { connectionString, application_name: 'writ', keepAlive: true };
  const gates = new pg.Pool({ ...settings, max: 4 });
  const pools = {
    transactions: new pg.Pool({ ...settings, max }),
    gates,
    prepared: new PreparedPool(gates),
  };
  // A connection that dies is replaced by the pool; whoever was using it hears of it from its own statement. Without a listener Node
  // would end the process instead.
  for (const pool of [pools.transactions, gates]) {
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
  }
  return pools;
}

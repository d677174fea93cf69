/**
 * The library as a command uses it: one connection, the key and the secrets that its options name.
 */
import type { ConnectOptions } from '../connect-options.js';
import { describeTarget } from '../database/address.js';
import { fromDatabase, WritError, WritRefusal } from '../errors/index.js';
import { secretsAt } from '../secrets/places.js';
import { Writ } from '../writ.js';
import { actor, connectionString } from './connection.js';
import { exitCodes, Failure } from './failure.js';
import { keyOf, noKey } from './governance/session.js';

/** Options that the connection of a command follows. */
interface ConnectionOptions {
  readonly databaseUrl?: string;
  readonly keyFile?: string;
  readonly secrets?: string;
  readonly actor?: string;
  readonly listenUrl?: string;
}

/** With `acts`, the key that --key-file or WRIT_KEY holds says who acts. */
export async function withWrit<T>(
  options: Record<string, unknown>,
  use: (writ: Writ) => Promise<T>,
  { acts = false, connect = {} }: { acts?: boolean; connect?: Partial<ConnectOptions> } = {},
): Promise<T> {
  const { databaseUrl, keyFile, secrets, actor: by, listenUrl } = options as ConnectionOptions;
  const key = acts ? keyOf({ keyFile }) : undefined;
  const url = connectionString(databaseUrl);
  const writ = await Writ.connect({
    connectionString: url,
    max: 1,
    connectTimeout: '10s',
    applicationName: 'writ cli',
    actor: actor(by),
    listenConnectionString: listenUrl,
    key,
    ...(secrets !== undefined && { secrets: secretsAt(secrets) }),
    ...connect,
  } as ConnectOptions).catch((error) => {
    throw unreachable(error, describeTarget(url));
  });
  try {
    if (acts && key === undefined && (await writ.login()).principal_id === null)
      throw noKey(
        'No key is given, and this database login is bound to no principal, so nobody knows who acts.',
      );
    return await use(writ);
  } catch (error) {
    if (!acts || key !== undefined) throw error;
    if (!(error instanceof WritRefusal) || error.code !== 'not_authenticated') throw error;
    throw noKey('No key is given, and this login is bound to no principal: nobody knows who acts.');
  } finally {
    await writ.close();
  }
}

function unreachable(thrown: unknown, target: string): unknown {
  const error = fromDatabase(thrown);
  if (!(error instanceof WritError)) return error;
  if (error.code !== 'connection_refused' && error.code !== 'database_unreachable') return error;
  return new Failure(
    exitCodes.unavailable,
    'database_unreachable',
    `The database ${target} cannot be reached: ${error.detail ?? error.message}`,
    error.code === 'connection_refused'
      ? 'The server answered: check user, password and database name.'
      : 'Check the address and that the server runs; `writ dev` starts an embedded one.',
    { cause: error },
  );
}

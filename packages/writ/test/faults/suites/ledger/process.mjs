// @ts-check
// A process of the ledger's fault run: a writer, a turner of the clockwork or a publisher, by the module that it is given. The parent arms one fault at a time; at its
// passage this process kills itself, or has the server end its connection. A role lives on through lost connections and a server that is down.
import { openSync, writeSync } from 'node:fs';
import pg from 'pg';
import { generator } from '../../plan.mjs';

const { url, record, module, options } = JSON.parse(String(process.env.WRIT_FAULTS_WORKER));
const file = openSync(record, 'a');
const say = (/** @type {object} */ message) =>
  new Promise((done) => process.send?.(message, undefined, undefined, done));
const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/** @typedef {Awaited<ReturnType<typeof tools>>} Tools */
/** @typedef {pg.Client & { processID: number }} Client */

/** @type {(import('../../plan.mjs').Fault & { passages: number }) | undefined} */
let armed;
let stopping = false;

/**
 * Where a fault may happen. `client` is the connection that a cut ends. @param {string} point
 * @param {Client} client
 */
async function passage(point, client) {
  if (armed?.point !== point || ++armed.passages !== armed.nth) return;
  const { action, holdMs } = armed;
  if (action === 'kill') {
    // Blocks the whole thread: what comes in meanwhile stays unread.
    if (holdMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdMs);
    process.kill(process.pid, 'SIGKILL');
    return;
  }
  armed = undefined;
  const other = new pg.Client({ connectionString: url });
  other.on('error', () => undefined);
  try {
    await other.connect();
    await other.query('select pg_terminate_backend($1)', [client.processID]);
  } catch {
    // The server is down: then the connection is cut as well.
  } finally {
    await other.end().catch(() => undefined);
  }
  await say({ type: 'done' });
}

/**
 * A connection that does not end the process when it is lost: its next statement tells. @returns
 * {Promise<Client>}
 */
async function connected() {
  for (;;) {
    const client = new pg.Client({ connectionString: url, application_name: 'writ faults' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return /** @type {Client} */ (client);
    } catch (error) {
      if (!isOutage(error)) throw error;
      await pause(50);
    }
  }
}

/** @param {unknown} error @returns {boolean} */
function isOutage(error) {
  const { code, message, cause } = /** @type {Error & { code?: string }} */ (error);
  if (code === 'database_unreachable' || /^(08...|57P0.|ECONN.*|EPIPE)$/.test(code ?? ''))
    return true;
  return (
    /Connection terminated|not queryable|connection is closed|Connection ended/i.test(message) ||
    (cause instanceof Error && isOutage(cause))
  );
}

/** What a role works with. */
async function tools() {
  return {
    options,
    random: generator(options.seed + process.pid),
    passage,
    pause,
    note: (/** @type {object} */ line) => void writeSync(file, `${JSON.stringify(line)}\n`),
    get stopping() {
      return stopping;
    },
    /**
     * Calls `turn` again and again with a connection, a new one after an outage. @param {(client:
     * Client) => Promise<void>} turn
     */
    async eachTurn(turn) {
      let client = await connected();
      await say({ type: 'ready', workerId: String(process.pid) });
      while (!stopping) {
        try {
          await turn(client);
        } catch (error) {
          if (!isOutage(error)) throw error;
          await client.end().catch(() => undefined);
          client = await connected();
        }
      }
      await client.end().catch(() => undefined);
    },
  };
}

process.on(
  'message',
  (/** @type {{ type: string, fault: import('../../plan.mjs').Fault }} */ order) => {
    if (order.type === 'arm') armed = { ...order.fault, passages: 0 };
    if (order.type === 'stop') stopping = true;
  },
);
// A process without its parent has nobody to stop it; the parent may have gone while this one was
// starting.
process.on('disconnect', () => process.exit(3));
if (!process.connected) process.exit(3);

const { role } = await import(module);
await role(await tools());
process.exit(0);

// @ts-check
// The roles of the ledger suite. Writers append receipts in batches, ours through the ledger and the floor's as rows of a plain table, from the same loops on as many
// connections; the ledger's clock stops when the last receipt is in its log. The others make a ledger to verify, and verify it.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { built } from '../build.mjs';
import { monotonicMs, sleep } from '../harness/figures.mjs';

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */
/** @typedef {{ url: string, receipts: number }} Options */

const BATCH = 100;
const CONNECTIONS = 4;
const WARM_UP = 2_000;
const STREAMS = 10;
/**
 * Between two turns of the clockwork, unless there is more to do or somebody waits. A worker's is a
 * second.
 */
const TURN_MS = 100;
/** Canonical JSON has no line breaks, and nothing to escape on the way. */
const appending = `select writ_data.append_receipts(string_to_array($1, E'\\n'), writ.now())`;
const key = 'bench.example/ledger';

// The build is imported through variables so that type checks of this folder do not need it.

/**
 * Receipts as governors write them most, about 400 bytes each; every connection has a tenant and
 * streams of its own. @param {number} connection @param {number} from @param {number} count
 */
const receiptsOf = (connection, from, count) =>
  Array.from({ length: count }, (_, n) => {
    const at = from + n;
    return {
      receipt_id: randomUUID(),
      timestamp: new Date().toISOString(),
      sku_id: 'acme-catalog-v1',
      tenant_id: `tenant-${connection}`,
      status: 'accept',
      reason: 'signal_received',
      context: {
        stream: `governor:${connection}-${at % STREAMS}`,
        stream_seq: Math.floor(at / STREAMS) + 1,
        signal_type: 'cpu_utilization',
        source: 'monitoring.eu-west-1.example',
        severity: 'MEDIUM',
        value: (at % 1000) / 8,
        threshold: 75,
        exceeds_threshold: at % 1000 > 600,
      },
    };
  });

/**
 * Appends so many in loops, and answers when it began. @param {Options & { from: number }} options
 * @param {(client: pg.Client, batch: ReturnType<typeof receiptsOf>) => Promise<unknown>} append
 */
async function inLoops({ url, receipts, from }, append) {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connected(url)));
  const start = monotonicMs();
  const each = receipts / CONNECTIONS;
  await Promise.all(
    clients.map(async (client, connection) => {
      for (let done = 0; done < each; done += BATCH)
        await append(
          client,
          receiptsOf(connection, from / CONNECTIONS + done, Math.min(BATCH, each - done)),
        );
    }),
  );
  await Promise.all(clients.map((client) => client.end()));
  return start;
}

/** @param {string} url */
async function connected(url) {
  const client = new pg.Client(url);
  await client.connect();
  return client;
}

/**
 * The same columns and keys in a table of a team's own: a receipt is found by its id, and no place
 * in a stream is taken twice. @param {Subject} _ @param {Options} options
 */
export async function plainTable(_, { url }) {
  const client = await connected(url);
  await client.query(
    'create table receipt (id uuid primary key, tenant text not null, stream text not null, seq bigint not null, at timestamptz not null, entry text not null, unique (tenant, stream, seq))',
  );
  await client.end();
}

/** @param {Subject} _ @param {Options} options */
export async function insertReceipts(_, { url, receipts }) {
  const text = `insert into receipt (id, tenant, stream, seq, at, entry)
    select u.id, u.tenant, u.stream, u.seq, now(), u.entry from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[]) u(id, tenant, stream, seq, entry)`;
  const append = (
    /** @type {pg.Client} */ client,
    /** @type {ReturnType<typeof receiptsOf>} */ batch,
  ) =>
    client.query({
      name: 'insert',
      text,
      values: [
        batch.map(({ receipt_id }) => receipt_id),
        batch.map(({ tenant_id }) => tenant_id),
        batch.map(({ context }) => context.stream),
        batch.map(({ context }) => context.stream_seq),
        batch.map((receipt) => JSON.stringify(receipt)),
      ],
    });
  await inLoops({ url, receipts: WARM_UP, from: 0 }, append);
  const start = await inLoops({ url, receipts, from: WARM_UP }, append);
  return { rate: (receipts / (monotonicMs() - start)) * 1000, jobs: receipts + WARM_UP };
}

/** @param {Subject} _ @param {Options} options */
export async function appendReceipts(_, { url, receipts }) {
  const { canonicalize } = await built('ledger/canonical.js');
  const append = (
    /** @type {pg.Client} */ client,
    /** @type {ReturnType<typeof receiptsOf>} */ batch,
  ) =>
    client.query({ name: 'append', text: appending, values: [batch.map(canonicalize).join('\n')] });
  const clockwork = await turning(url);
  await inLoops({ url, receipts: WARM_UP, from: 0 }, append);
  await clockwork.until(WARM_UP);
  const start = await inLoops({ url, receipts, from: WARM_UP }, append);
  const appended = monotonicMs();
  const end = await clockwork.until(WARM_UP + receipts);
  await clockwork.stop();
  return {
    rate: (receipts / (end - start)) * 1000,
    appended: (receipts / (appended - start)) * 1000,
    jobs: receipts + WARM_UP,
  };
}

/** Turns the clockwork on a connection of its own, as a worker does. @param {string} url */
async function turning(url) {
  const client = await connected(url);
  let sequenced = 0;
  let wanted = 0;
  let stopped = false;
  let hurry = () => {};
  const turn = async () => {
    while (!stopped) {
      const { rows } = await client.query({
        name: 'tick',
        text: `select writ.fn_ledger_tick('bench') as answer`,
      });
      sequenced += rows[0].answer.sequenced;
      if (wanted > 0 && sequenced >= wanted) return;
      if (rows[0].answer.more || wanted > 0) continue;
      await Promise.race([
        sleep(TURN_MS),
        new Promise((resume) => (hurry = () => resume(undefined))),
      ]);
    }
  };
  let loop = turn();
  return {
    /** When so many were in their logs. @param {number} receipts */
    async until(receipts) {
      wanted = receipts;
      hurry();
      await loop;
      wanted = 0;
      const at = monotonicMs();
      loop = turn();
      return at;
    },
    async stop() {
      stopped = true;
      hurry();
      await loop;
      await client.end();
    },
  };
}

/**
 * Switches sealing off; the clockwork turns all the same. @param {Subject} _ @param {Options}
 * options
 */
export async function unseal(_, { url }) {
  const client = await connected(url);
  await client.query(`select writ.fn_setting_set('ledger.sealing.enabled', 'false', 'bench')`);
  await client.end();
}

/** How much of the record is sealed by now. @param {Subject} _ @param {Options} options */
export async function sealed(_, { url }) {
  const client = await connected(url);
  const { rows } =
    await client.query(`select count(*)::integer as segments, coalesce(sum(n_rows), 0)::integer as rows,
    (select count(*)::integer from writ_data.event_batch) as batches from writ_data.event_seal`);
  await client.end();
  return rows[0];
}

/** A ledger of so many receipts, signed. @param {Subject} _ @param {Options} options */
export async function fillLedger(_, { url, receipts }) {
  const { canonicalize } = await built('ledger/canonical.js');
  const { keyOfSeed, privateKeyText } = await built('ledger/note.js');
  const { Writ } = await built('index.js');
  await inLoops({ url, receipts, from: 0 }, (client, batch) =>
    client.query({ name: 'append', text: appending, values: [batch.map(canonicalize).join('\n')] }),
  );
  const writ = await Writ.connect({ connectionString: url, actor: 'bench' });
  await writ.ledger.checkpoint({
    key: privateKeyText(keyOfSeed(key, new Uint8Array(32).fill(1))),
    places: [],
  });
  await writ.close();
}

/** @param {Subject} _ @param {Options & { folder: string }} options */
export async function exportLedger(_, { url, folder }) {
  const { Writ } = await built('index.js');
  const writ = await Writ.connect({ connectionString: url, actor: 'bench' });
  const start = monotonicMs();
  const { receipts } = await writ.ledger.export(folder);
  await writ.close();
  return { exportRate: (receipts / (monotonicMs() - start)) * 1000 };
}

/**
 * The check that an auditor runs, in a process that has done nothing else. @param {Subject} _
 * @param {{ folder: string, receipts: number }} options
 */
export async function verifyLedger(_, { folder, receipts }) {
  const { keyOfSeed, publicKeyText } = await built('ledger/note.js');
  const { nodeSha256 } = await built('ledger/sha256.js');
  const { verifyExport } = await built('ledger/verify.js');
  const read = (/** @type {string} */ path) =>
    readFile(join(folder, path)).catch((error) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
  const start = monotonicMs();
  const verdict = await verifyExport(read, {
    keys: [publicKeyText(keyOfSeed(key, new Uint8Array(32).fill(1)))],
    sha256: nodeSha256,
  });
  const ms = monotonicMs() - start;
  const entries = verdict.logs.reduce(
    (/** @type {number} */ sum, /** @type {{ size: number }} */ { size }) => sum + size,
    0,
  );
  const missing = !verdict.ok
    ? `it does not verify: ${verdict.problems[0]?.message}`
    : entries < receipts
      ? `only ${entries} of ${receipts} entries`
      : null;
  return { rate: (entries / ms) * 1000, jobs: entries, ...(missing ? { void: missing } : {}) };
}

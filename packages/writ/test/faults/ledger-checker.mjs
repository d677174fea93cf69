// @ts-check
// Counts what went wrong with the ledger, with SQL, hashing and trees of its own: nothing that the program under test computed is believed. It needs the tables of
// schema `fault` (see `prepareLedger`): the witnesses that transactions left beside their receipts, and what their writers had tried and been told.
import { createHash } from 'node:crypto';

/** @typedef {import('./checker.mjs').Verdict} Verdict */
/**
 * @typedef {{ query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, any>[] }> }}
 * Client
 */
/** @typedef {{ verdict: Verdict, what: string, times: number, rows: unknown[] }} Finding */
/**
 * A tree that somebody has seen signed. @typedef {{ log: string, size: number, root: string, from:
 * string }} Seen
 */

/** @param {Client} client */
export async function prepareLedger(client) {
  await client.query(`
    create schema fault;
    create table fault.written (tx uuid not null);
    create table fault.tried (tx uuid not null, receipt_id uuid not null, log_id text not null, stream text not null, stream_seq bigint not null, answered text not null)`);
}

/** One row per violation. @type {[Verdict, what: string, sql: string][]} */
export const ledgerChecks = [
  [
    'lost',
    'a transaction was answered as committed and is not there',
    `select distinct tx from t where answered = 'committed' and not written`,
  ],
  [
    'lost',
    'a committed receipt is not in its log',
    `select tx, receipt_id, log_id, stream, stream_seq from t where written and not exists (select from e where (e.receipt_id, e.log_id, e.stream, e.stream_seq) = (t.receipt_id, t.log_id, t.stream, t.stream_seq))`,
  ],
  ['lost', 'a row of the record is not sealed', `select batch_id, xid from b where segments = 0`],
  [
    'repeated',
    'a receipt is in its log more than once',
    `select receipt_id, count(*) from e group by receipt_id having count(*) > 1`,
  ],
  [
    'repeated',
    'a number of a stream is there more than once',
    `select log_id, stream, stream_seq, count(*) from e group by 1, 2, 3 having count(*) > 1`,
  ],
  [
    'repeated',
    'a row of the record is sealed more than once',
    `select batch_id, segments from b where segments > 1`,
  ],
  [
    'unreceipted',
    'a segment is not what its receipt in _system says',
    `
    select s.segment from writ_data.event_seal s where not exists (select from e where e.log_id = '_system' and e.reason = 'events_sealed'
      and (e.context ->> 'segment')::bigint = s.segment and e.context ->> 'root' = encode(s.root, 'hex') and (e.context ->> 'rows')::integer = s.n_rows)`,
  ],
  [
    'unreceipted',
    'a receipt of a segment has no segment',
    `
    select e.leaf_index from e where e.reason = 'events_sealed' and not exists (select from writ_data.event_seal s where s.segment = (e.context ->> 'segment')::bigint)`,
  ],
  [
    'unreceipted',
    'a signed tree is not in _system',
    `
    select c.checkpoint_no, c.log_id, c.size from writ_data.ledger_checkpoint c where c.log_id <> '_system' and not exists (select from e where e.log_id = '_system'
      and e.reason = 'log_checkpoint' and e.context ->> 'log' = c.log_id and (e.context ->> 'size')::bigint = c.size and e.context ->> 'root' = encode(c.root, 'hex'))`,
  ],
  [
    'stuck',
    'a receipt has no place in a log',
    `select r.receipt_no, r.log_id from writ_data.receipt r where not exists (select from writ_data.ledger_leaf l where l.receipt_no = r.receipt_no)`,
  ],
  [
    'wrong',
    'a transaction was answered as rolled back and is there',
    `select distinct tx from t where answered = 'rolled_back' and written`,
  ],
  [
    'wrong',
    'a receipt is there without its transaction',
    `select tx, receipt_id from t where not written and exists (select from writ_data.receipt r where r.receipt_id = t.receipt_id)`,
  ],
  [
    'wrong',
    'a receipt that nobody wrote',
    `select receipt_id, log_id, leaf_index from e where log_id <> '_system' and not exists (select from t where t.receipt_id = e.receipt_id)`,
  ],
  [
    'wrong',
    'a log is not dense',
    `
    select l.log_id, l.size, c.leaves, c.last from writ_data.ledger_log l
    cross join lateral (select count(*) as leaves, max(leaf_index) as last from writ_data.ledger_leaf where log_id = l.log_id) c
    where l.size <> c.leaves or c.last is distinct from l.size - 1`,
  ],
  [
    'wrong',
    'a stream is out of order in its log',
    `
    select * from (select log_id, stream, leaf_index, stream_seq, coalesce(lag(stream_seq) over (partition by log_id, stream order by leaf_index), 0) as before from e) s
    where stream_seq <> before + 1`,
  ],
  [
    'wrong',
    'a leaf is not the hash of its entry',
    `select log_id, leaf_index from e where leaf_hash <> sha256('\\x00'::bytea || convert_to(entry, 'UTF8'))`,
  ],
  [
    'wrong',
    'an entry is not what its columns say',
    `
    select log_id, leaf_index from e where (receipt ->> 'tenant_id', receipt ->> 'receipt_id', context ->> 'stream', context ->> 'stream_seq')
      is distinct from (log_id, receipt_id::text, stream, stream_seq::text)`,
  ],
  [
    'wrong',
    'segments have holes, or do not follow each other',
    `
    select * from (
      select
        segment, lag(segment, 1, 0::bigint) over o as before, from_xid, from_id,
        lag(to_xid) over o as xid,
        -- A segment begins behind the last fact of the batch that ends the one before.
        writ_data.fact_id(lag(to_id) over o, 16777215) as id
      from writ_data.event_seal
      window o as (order by segment)
    ) s
    where segment <> before + 1 or (xid is not null and (from_xid, from_id) <> (xid, id))`,
  ],
];

/** What is looked at more than once, computed once. */
const views = `
  create temp table t as select t.*, exists (select from fault.written w where w.tx = t.tx) as written from fault.tried t;
  create temp table e as
    select l.log_id, l.leaf_index, l.leaf_hash, r.receipt_id, r.stream, r.stream_seq, r.entry, r.entry::jsonb as receipt, r.entry::jsonb -> 'context' as context, r.entry::jsonb ->> 'reason' as reason
    from writ_data.ledger_leaf l left join writ_data.receipt r on r.receipt_no = l.receipt_no;
  create temp table b as
    select b.batch_id, b.xid, (select count(*)::integer from writ_data.event_seal s
      where (b.xid, b.batch_id) > (s.from_xid, s.from_id) and (b.xid, b.batch_id) <= (s.to_xid, s.to_id)) as segments
    from writ_data.event_batch b;
  create index on t (receipt_id); create index on e (receipt_id); create index on e (log_id, reason);
  analyze t; analyze e; analyze b;`;

const sha256 = (/** @type {Uint8Array[]} */ ...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/**
 * The roots of a tree at the sizes that are asked for, as RFC 6962 defines them: the complete
 * subtrees so far, joined from the right. @param {Buffer[]} leaves @param {Set<number>} sizes
 */
export function rootsAt(leaves, sizes) {
  /** @type {Map<number, string>} */
  const roots = new Map();
  /** @type {{ width: number, hash: Buffer }[]} */
  const complete = [];
  const keep = (/** @type {number} */ size) => {
    if (!sizes.has(size)) return;
    const [right, ...rest] = complete.map(({ hash }) => hash).reverse();
    const root = rest.reduce(
      (joined, left) => sha256(Buffer.of(1), left, joined),
      right ?? sha256(),
    );
    roots.set(size, root.toString('hex'));
  };
  keep(0);
  leaves.forEach((leaf, n) => {
    let last = { width: 1, hash: leaf };
    while (complete.at(-1)?.width === last.width) {
      const left = /** @type {{ width: number, hash: Buffer }} */ (complete.pop());
      last = { width: 2 * last.width, hash: sha256(Buffer.of(1), left.hash, last.hash) };
    }
    complete.push(last);
    keep(n + 1);
  });
  return roots;
}

/**
 * What a signed note says; whose signature it has is for the verification to tell. @param {string}
 * note @param {string} from @returns {Seen}
 */
export function seenIn(note, from) {
  const [origin = '', size, root = ''] = note.split('\n');
  const log = decodeURIComponent(origin.split('/').at(-2) ?? '');
  return { log, size: Number(size), root: Buffer.from(root, 'base64').toString('hex'), from };
}

/**
 * Trees: every root that was ever seen, in the database or outside, is that of a beginning of the
 *        entries. @param {Client} client @param {Seen[]} seen @returns {Promise<Finding[]>}
 */
async function treesOf(client, seen) {
  /** @type {Finding[]} */
  const findings = [];
  const { rows: logs } = await client.query(
    `select log_id from writ_data.ledger_log union select log_id from writ_data.ledger_checkpoint`,
  );
  const { rows: signed } = await client.query(
    `select log_id as log, size::integer as size, encode(root, 'hex') as root, 'checkpoint ' || checkpoint_no as from from writ_data.ledger_checkpoint
     union all select log_id, size::integer, encode(writ_data.tree_root(frontier), 'hex'), 'the log itself' from writ_data.ledger_log`,
  );
  const all = /** @type {Seen[]} */ ([...signed, ...seen]);
  for (const log of new Set([
    ...logs.map(({ log_id }) => String(log_id)),
    ...seen.map((one) => one.log),
  ])) {
    const { rows } = await client.query(
      'select entry from e where log_id = $1 order by leaf_index',
      [log],
    );
    const own = all.filter((one) => one.log === log);
    const roots = rootsAt(
      rows.map(({ entry }) => sha256(Buffer.of(0), Buffer.from(String(entry)))),
      new Set(own.map(({ size }) => size)),
    );
    const short = own.filter(({ size }) => size > rows.length);
    const other = own.filter(({ size, root }) => size <= rows.length && roots.get(size) !== root);
    if (short.length > 0)
      findings.push({
        verdict: 'lost',
        what: `a signed tree of ${log} was larger`,
        times: short.length,
        rows: short.slice(0, 5),
      });
    if (other.length > 0)
      findings.push({
        verdict: 'wrong',
        what: `a tree of ${log} is not that of its entries`,
        times: other.length,
        rows: other.slice(0, 5),
      });
  }
  return findings;
}

/**
 * Segments: the hashes and the root of each are those of its rows. @param {Client} client @returns
 *           {Promise<Finding[]>}
 */
async function segmentsOf(client) {
  const { rows: seals } = await client.query(
    `select segment, leaves, encode(root, 'hex') as root, n_rows from writ_data.event_seal order by segment`,
  );
  const bad = [];
  for (const { segment, leaves, root, n_rows } of seals) {
    const { rows } = await client.query(
      `select b.actor, to_char(b.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, b.batch_id, b.command, b.details::text as details,
         (select coalesce(json_agg(json_build_array(f.type, f.first, f.last) order by f.n), '[]') from unnest(b.types, b.first, b.last) with ordinality f(type, first, last, n)) as facts,
         b.login, b.note, b.subjects::text[] as subjects
       from writ_data.event_batch b join writ_data.event_seal s on (b.xid, b.batch_id) > (s.from_xid, s.from_id) and (b.xid, b.batch_id) <= (s.to_xid, s.to_id)
       where s.segment = $1 order by b.xid, b.batch_id`,
      [segment],
    );
    const hashes = rows.map((row) => sha256(Buffer.of(0), Buffer.from(JSON.stringify(row))));
    if (
      rows.length !== n_rows ||
      !Buffer.concat(hashes).equals(leaves) ||
      rootsAt(hashes, new Set([n_rows])).get(n_rows) !== root
    )
      bad.push({ segment, rows: rows.length, sealed: n_rows });
  }
  return bad.length > 0
    ? [
        {
          verdict: 'wrong',
          what: 'a segment is not that of its rows',
          times: bad.length,
          rows: bad.slice(0, 5),
        },
      ]
    : [];
}

/**
 * @param {Client} client one session: it makes temporary tables @param {string[]} published every
 * note that was ever put somewhere outside @returns {Promise<Finding[]>}
 */
export async function checkLedger(client, published) {
  await client.query(views);
  /** @type {Finding[]} */
  const findings = [];
  for (const [verdict, what, sql] of ledgerChecks) {
    const { rows } = await client.query(sql);
    if (rows.length > 0)
      findings.push({ verdict, what, times: rows.length, rows: rows.slice(0, 5) });
  }
  findings.push(
    ...(await treesOf(
      client,
      published.map((note) => seenIn(note, 'outside')),
    )),
    ...(await segmentsOf(client)),
  );
  await client.query('drop table t, e, b');
  return findings;
}

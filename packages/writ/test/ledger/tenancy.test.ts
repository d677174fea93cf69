/**
 * Tenants. What is signed, archived or accepted is so for all of them, and a segment of the record
 * holds events of all: with `set local writ.tenant`, the first is refused and the second is not
 * there. A tenant has its own log, and sees no other.
 */
import { describe, expect, test } from 'vitest';
import { readSchemaObjects } from '../../src/database/schema.js';
import { keyOfSeed, privateKeyText, publicKeyText, signCheckpoint } from '../../src/ledger/note.js';
import { sharedGates } from '../queue/gates/harness.js';
import { session } from '../races/sessions.js';
import { append, entryOf } from './receipts.js';
import { sealEverything } from './sealing.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const signature = `${'A'.repeat(86)}==`;
const signed = `(select max(size) from writ.ledger_checkpoint where log_id = '_system')`;
const next = keyOfSeed('acme.example/test', new Uint8Array(32).fill(8));

/** Two tenants whose logs have grown since they were signed, and a record that is sealed. */
const gates = sharedGates(async (fresh) => {
  const { db } = fresh;
  await fresh.register();
  await fresh.enqueue({ tenant: 'acme' });
  await fresh.enqueue({ tenant: 'globex' });
  const receipts = (tenant: string, first: number, count: number) =>
    append(
      db,
      Array.from({ length: count }, (_, n) => entryOf(tenant, 'governor:1', first + n)),
    );
  await receipts('acme', 1, 300);
  await receipts('globex', 1, 300);
  await sealEverything(db);
  const writ = await db.connect();
  await writ.ledger.checkpoint({ key: privateKeyText(signer), places: [] });
  await receipts('acme', 301, 2);
  await receipts('globex', 301, 2);
  await db.query(`select writ.fn_ledger_tick('test')`);
  // a month that can be archived
  await db.query(`select writ_data.make_receipt_partition('2020-01-15')`);
});

/** One statement in a transaction of its own, bound to a tenant, or to none: ''. */
async function as(
  tenant: string,
  sql: string,
  params: unknown[] = [],
  end: 'commit' | 'rollback' = 'commit',
) {
  const on = await session(gates.db);
  try {
    await on.query('begin');
    await on.query(`select set_config('writ.tenant', $1, true)`, [tenant]);
    const rows = await on.query(sql, params);
    await on.query(end);
    return rows;
  } finally {
    await on.end();
  }
}

/** The tree of acme as it is, which is not kept yet. */
const unkept = async () => {
  const [head] = await gates.db.query(
    `select log_id as log, epoch, size::int as size, root from writ.ledger_log where log_id = 'acme'`,
  );
  const origin = { deployment: signer.name, log: 'acme', epoch: Number(head?.epoch) };
  const note = signCheckpoint(origin, Number(head?.size), Buffer.from(String(head?.root), 'hex'), [
    signer,
  ]);
  return JSON.stringify([{ ...head, note }]);
};

describe('with writ.tenant set, even to the tenant that it concerns', () => {
  test.each<[string, string, () => unknown[] | Promise<unknown[]>]>([
    ['what there is to sign', 'fn_ledger_heads($1)', () => ['ada']],
    [
      'going on with a restored database',
      `fn_ledger_accept_restore(null, null, null, $1, $2, 2, 0, encode(sha256(''), 'hex'), $3)`,
      () => ['The disk was lost on Sunday.', 'ada', signature],
    ],
    [
      'another key',
      `fn_ledger_key_add($1, $2, 'new', 'old', $3)`,
      () => [publicKeyText(next), publicKeyText(signer), 'ada'],
    ],
    [
      'that a month is archived',
      `fn_ledger_archived('2020-01-15', 'here', $1, ${signed}, $2)`,
      () => ['ada', signature],
    ],
    [
      'keeping a checkpoint',
      'fn_ledger_checkpoint_record($1::text::jsonb, $2)',
      async () => [await unkept(), 'ada'],
    ],
  ])('%s is refused, and nothing changes', async (_, call, parameters) => {
    const sql = `select writ.${call} as answer`;
    const given = await parameters();
    for (const tenant of ['acme', 'initech', '_system']) {
      const [row] = await gates.unchanged(() => as(tenant, sql, given));
      expect(row?.answer).toMatchObject({ refused: true, reason: 'tenant_forbidden' });
    }
    const [free] = await as('', sql, given, 'rollback');
    expect(free?.answer).not.toHaveProperty('refused');
  });

  test('the sealed record, which is of all tenants, shows nothing', async () => {
    const [event] = await gates.db.query(
      `select id from writ.event_outbox where tenant_id = 'acme' and event_type = 'dot.job.enqueued'`,
    );
    const questions: [string, unknown[]][] = [
      ['select segment from writ.event_seal', []],
      [
        'select batch_id from writ.event_seal s cross join lateral writ.fn_ledger_segment(s.segment)',
        [],
      ],
      [
        'select batch_id from generate_series(1, 9) segment cross join lateral writ.fn_ledger_segment(segment)',
        [],
      ],
      [
        'select segment from writ.fn_ledger_segment_of($1) segment where segment is not null',
        [event?.id],
      ],
    ];
    for (const [sql, params] of questions) {
      expect((await as('', sql, params)).length, sql).toBeGreaterThan(0);
      expect(await as('acme', sql, params), sql).toEqual([]);
    }
  });

  test('the tree of one’s own log is told, and nothing of another', async () => {
    const tree = async (tenant: string, call: string) =>
      (await as(tenant, `select writ.fn_ledger_root_at(${call}) as tree`))[0]?.tree;
    for (const call of [`'acme'`, `'acme', 0`, `'acme', 300`])
      expect(await tree('acme', call)).toEqual(await tree('', call));
    expect(await tree('acme', `'acme', 300`)).toMatchObject({
      epoch: 1,
      size: 302,
      root: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    for (const call of [
      `'globex'`,
      `'globex', 0`,
      `'globex', 300`,
      `'_system'`,
      `'_system', 1, 1`,
      `'nobody'`,
    ]) {
      expect(await tree('acme', call), call).toEqual({
        epoch: 1,
        size: 0,
        root: null,
        accepted: false,
      });
    }
  });

  const views = readSchemaObjects().filter(
    ({ type, sql }) => type === 'view' && /\blog_id\b/.test(sql),
  );
  test.each(views.map(({ name }) => name))('%s shows no log of another', async (view) => {
    const logs = `select distinct log_id from ${view} order by 1`;
    expect(await as('acme', logs)).toEqual([{ log_id: 'acme' }]);
    expect(await as('', logs)).toEqual(
      expect.arrayContaining([{ log_id: 'acme' }, { log_id: 'globex' }]),
    );
  });

  test('what a receipt of another keeps out of line cannot be erased', async () => {
    const [receipt] = await gates.db.query(
      `select receipt_id from writ.receipt where log_id = 'globex' limit 1`,
    );
    const erase = `select writ.fn_receipt_erase($1, 'Somebody asked for it.', 'ada') as answer`;
    const [row] = await gates.unchanged(() => as('acme', erase, [receipt?.receipt_id]));
    expect(row?.answer).toMatchObject({ refused: true, reason: 'receipt_not_found' });
    expect((await as('globex', erase, [receipt?.receipt_id]))[0]?.answer).toEqual({ erased: 0 });
  });
});

test('nobody but the deployment itself writes into its log', async () => {
  const foreign = entryOf('_system', 'governor:1', 1);
  const own = foreign.replace('"sku_id":"acme-catalog-v1"', '"sku_id":"writ"');
  await gates.raises('WR001', 'invalid_receipt', () => append(gates.db, [foreign]));
  await gates.raises('WR001', 'invalid_receipt', () =>
    append(gates.db, [entryOf('acme', 'governor:2', 1), foreign]),
  );
  expect(own).not.toBe(foreign);
  await append(gates.db, [own]);
  expect(
    await gates.db.query(
      `select sku from (select receipt ->> 'sku_id' as sku from writ.receipt where log_id = '_system') s group by 1`,
    ),
  ).toEqual([{ sku: 'writ' }]);
});

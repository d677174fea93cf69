/** `writ ledger status`, and what `writ doctor` finds in the ledger. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Finding, type Level, worst } from '../../../src/doctor/finding.js';
import {
  type LedgerFacts,
  judgeLedger as ledgerJudge,
  judgePlace as placeJudge,
} from '../../../src/doctor/ledger.js';
import { WritError } from '../../../src/errors/index.js';
import { advises, advisesOne } from '../../doctor/advised.js';
import { sealEverything } from '../../ledger/sealing.js';
import { session } from '../../races/sessions.js';
import { writ } from '../run.js';
import { Scene } from './scene.js';

const judgeLedger = advises(ledgerJudge);
const judgePlace = advisesOne(placeJudge);

describe('the database', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.make();
    await sealEverything(scene.db); // the record of the installation
  });
  afterEach(() => scene.end());

  const doctor = async (env: Record<string, string> = {}): Promise<Finding[]> => {
    const { stdout } = await writ(['doctor', '--json'], {
      ...scene.options,
      env: { ...scene.env, ...env },
    });
    return (JSON.parse(stdout) as { findings: Finding[] }).findings.filter(({ check }) =>
      ['ledger', 'checkpoints', 'places'].includes(check),
    );
  };

  test('an empty ledger says what to do, and is no fault', async () => {
    const { code, stdout } = await scene.ledger(['status']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/writ ledger keygen[\s\S]*writ ledger checkpoint/),
    ]);
    expect(await doctor()).toMatchObject([
      { check: 'ledger', level: 'ok' },
      { check: 'checkpoints', level: 'hint' },
    ]);
  });

  test('logs, sizes, what is signed, what waits, and the key', async () => {
    const key = await scene.key();
    await scene.receipts('acme', 1, 3);
    await scene.sign();
    await scene.receipts('acme', 4, 2);
    const { stdout } = await scene.ledger(['status']);
    expect(stdout).toMatch(
      /LOG +EPOCH +RECEIPTS +SIGNED +SIGNED AT\n_system .*\nacme +1 +3 +3 +[\d.]+ m?s ago\n/,
    );
    expect(stdout).toContain(`signing key        ${key}`);
    expect(stdout).toMatch(/not sequenced +2 receipts, the oldest for/);
    expect(stdout).toMatch(/months made until +\d{4}-\d\d-01/);
    expect(await scene.json(['status'])).toMatchObject({
      key,
      waiting: 2,
      sealing: true,
      logs: [{ log: '_system' }, { log: 'acme', size: 3, signed: 3 }],
    });
  });

  test('places that are configured are compared, and the doctor says where the database falls short of them', async () => {
    const key = await scene.key();
    await scene.sign();
    expect(await doctor()).toMatchObject([
      { level: 'ok' },
      { check: 'checkpoints', level: 'ok' },
      { check: 'places', level: 'hint' },
    ]);
    const env = { WRIT_LEDGER_PLACES: 'checkpoint,empty', WRIT_LEDGER_PUBLIC_KEYS: key };
    expect((await doctor(env)).slice(2)).toMatchObject([
      { check: 'places', level: 'ok', says: expect.stringMatching(/everything is here/) },
      {
        check: 'places',
        level: 'warning',
        says: expect.stringMatching(/empty knows 0 of the \d+ receipts/),
      },
    ]);
    const other = await Scene.make();
    try {
      const { stdout, code } = await writ(['doctor'], {
        cwd: scene.folder,
        env: { ...env, ...other.env },
      });
      expect([code, stdout]).toEqual([1, expect.stringMatching(/✗ places .*\n?.*missing/)]);
    } finally {
      await other.end();
    }
  });

  /** Somebody with one role of ours, and no other right. */
  const having = async (role: string): Promise<Record<string, string>> => {
    const user = `cli_ledger_${role}`;
    await scene.db.query(
      `do $$ begin create role ${user} login password 'o8ntw3'; exception when duplicate_object or unique_violation then null; end $$`,
    );
    await scene.db.query(`grant ${role} to ${user}`);
    const url = new URL(scene.db.connectionString);
    url.username = user;
    url.password = 'o8ntw3';
    return { DATABASE_URL: url.href };
  };

  test('an auditor looks, exports, verifies and proves, and signs nothing; a worker’s role can be examined too', async () => {
    const key = await scene.key();
    await scene.receipts('acme', 1, 3);
    await scene.sign();
    const auditor = await having('writ_auditor');
    const [receipt] = await scene.db.query(
      `select receipt_id from writ.receipt where log_id = 'acme' limit 1`,
    );
    for (const args of [
      ['status'],
      ['verify', '--key', key, '--checkpoint', 'checkpoint'],
      ['export', 'export'],
      ['prove', '--receipt', String(receipt?.receipt_id)],
    ]) {
      const { code, stderr } = await scene.ledger(args, auditor);
      expect([args[0], code, stderr]).toEqual([args[0], 0, '']);
    }
    const refused = await scene.ledger(
      ['checkpoint', '--key', 'key', '--to', 'checkpoint'],
      auditor,
    );
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/may not do this[\s\S]*workflow_admin/),
    ]);
    const places = { WRIT_LEDGER_PLACES: 'checkpoint', WRIT_LEDGER_PUBLIC_KEYS: key };
    expect(await doctor({ ...(await having('dot_executor')), ...places })).toMatchObject([
      { level: 'ok' },
      { level: 'ok' },
      { check: 'places', level: 'ok' },
    ]);
  });

  test('receipts that wait, a record that is not sealed and what holds it, and months that end are found', async () => {
    const holder = await session(scene.db);
    await holder.query('begin');
    await holder.query('select pg_current_xact_id()');
    await scene.receipts('acme', 1, 1);
    await scene.db.connect().then((connected) => connected.workers.setWeight('acme', 2));
    await scene.db.clock.advance('2m');
    const found = await doctor();
    expect(found).toMatchObject([
      {
        check: 'ledger',
        level: 'warning',
        says: expect.stringMatching(/^Not in their logs yet: 1 receipt, the oldest for 2 min|12\d/),
      },
      {
        check: 'ledger',
        level: 'warning',
        says: expect.stringMatching(/^Not sealed yet/),
        means: expect.stringMatching(/process \d+ of /),
      },
      { check: 'checkpoints', level: 'hint' },
    ]);
    await holder.query('rollback');
    await holder.end();
    await sealEverything(scene.db);
    expect((await doctor())[0]).toMatchObject({ check: 'ledger', level: 'ok' });
    await scene.db.clock.advance(`${70 * 24}h`);
    expect((await doctor()).find(({ says }) => /month/.test(says))).toMatchObject({
      level: expect.stringMatching(/warning|error/),
    });
  });
});

describe('what the doctor makes of it', () => {
  const facts: LedgerFacts = {
    waiting: 0,
    waiting_s: null,
    sealing: true,
    segments: 3,
    unsealed: 0,
    unsealed_s: null,
    signed_epoch: 1,
    signed_size: 40,
    signed_at: '2026-01-01T00:00:00Z',
    signed_s: 5,
    key: 'acme.example/test+00000000+AAAA',
    months_until: '2026-04-01',
    months_s: 60 * 86_400,
    holder: null,
  };
  const level = (more: Partial<LedgerFacts>): Level =>
    worst(...judgeLedger({ ...facts, ...more }).map((finding) => finding.level));

  test('all is well', () => {
    expect(judgeLedger(facts).map(({ check, level }) => [check, level])).toEqual([
      ['ledger', 'ok'],
      ['checkpoints', 'ok'],
    ]);
  });

  test('receipts may wait for ten seconds, the record for a minute, a checkpoint for an hour, and a month is made ahead', () => {
    expect([10, 10.1].map((waiting_s) => level({ waiting: 1, waiting_s }))).toEqual([
      'ok',
      'warning',
    ]);
    expect([60, 60.1].map((unsealed_s) => level({ unsealed: 1, unsealed_s }))).toEqual([
      'ok',
      'warning',
    ]);
    expect([3_600, 3_601].map((signed_s) => level({ signed_s }))).toEqual(['ok', 'warning']);
    expect([30 * 86_400, 30 * 86_400 - 1, 0].map((months_s) => level({ months_s }))).toEqual([
      'ok',
      'warning',
      'error',
    ]);
  });

  test('what is not configured, or switched off, is a hint', () => {
    expect([
      level({ key: null, signed_s: null }),
      level({ sealing: false, unsealed: 5, unsealed_s: 9_999 }),
    ]).toEqual(['hint', 'hint']);
  });

  test('whoever holds up sealing is named', () => {
    const holder = { name: 'process 4711', who: 'ada', database: 'shop', age_s: 600 };
    const [finding] = judgeLedger({ ...facts, unsealed: 7, unsealed_s: 90, holder });
    expect(finding).toMatchObject({
      level: 'warning',
      means: expect.stringContaining('process 4711 of ada, in shop, open for 10 min'),
    });
    const [nobody] = judgeLedger({ ...facts, unsealed: 7, unsealed_s: 90 });
    expect(nobody?.remedy).toMatch(/Start a worker/);
  });

  test('a place is judged by what it knows', () => {
    const compared = {
      place: 'there',
      log: '_system',
      epoch: 1,
      hereEpoch: 1,
      known: 40,
      here: 50,
      outcome: 'same',
    } as const;
    expect(judgePlace('there', compared, 40).level).toBe('ok');
    expect(judgePlace('there', { ...compared, known: 39 }, 40).level).toBe('warning');
    expect(judgePlace('there', null, 40).level).toBe('warning');
    expect(
      judgePlace('there', new WritError('checkpoint_place_unreachable', 'there'), 40).level,
    ).toBe('warning');
    expect(judgePlace('there', { ...compared, here: 10, outcome: 'shorter' }, 40)).toMatchObject({
      level: 'error',
      says: expect.stringMatching(/30 receipts missing/),
    });
    expect(judgePlace('there', { ...compared, outcome: 'different' }, 40)).toMatchObject({
      level: 'error',
      remedy: expect.stringMatching(/writ ledger verify/),
    });
  });
});

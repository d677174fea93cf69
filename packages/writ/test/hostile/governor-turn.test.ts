/**
 * A login with writ_engine alone writes turns. Whatever it hands in, the gate frames it: nothing
 * lands outside the governor that it holds.
 */
import { randomUUID as uuidv4 } from 'node:crypto';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { decide, decideVersion } from '../../src/governor/decide.js';
import type { GovernorEvent } from '../../src/governor/events.js';
import type { GovernorHandle } from '../../src/governor/governors.js';
import { jobId as jobIdOf } from '../../src/governor/ids.js';
import { step } from '../../src/governor/machine.js';
import {
  fromStored,
  type StoredMail,
  type TakenGovernor,
  takenFrom,
} from '../../src/governor/stored.js';
import { rowsOf, type TurnRows } from '../../src/governor/turn.js';
import { defineJob } from '../../src/index.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { governorScene, scaling } from '../governor/scene.js';
import { apply, decidedTurn } from '../governor/turns.js';
import { login } from './logins.js';

const s = governorScene();
const nothing: TurnRows = { governors: [], events: [], receipts: [], effects: [], wakes: [] };
let engine: Awaited<ReturnType<typeof login>>;
let acme: GovernorHandle;
let globex: GovernorHandle;

beforeEach(async () => {
  const worker = await s.work();
  acme = await s.stable(
    scaling(
      {},
      {
        parameters: { replicas_delta: 3, zone: 'a' },
        bounds: { replicas_delta: { min: 1, max: 5 }, zone: { in: ['a', 'b'] } },
      },
    ),
  );
  globex = await s.stable(undefined, { tenant: 'globex' });
  await worker.stop();
  await signal(acme);
  engine = await login(s.db, ['writ_engine']);
});
afterEach(() => engine.end());

/** What stands of a deployment: whatever is refused changes none of it. */
const everything = async () =>
  s.sql(`select (select count(*) from writ_data.receipt) as receipts, (select count(*) from writ_data.governor_event) as events,
    (select count(*) from writ_data.governor_settled) as settled, (select count(*) from writ_data.job) as jobs, (select count(*) from writ_data.alert) as alerts,
    (select jsonb_agg(q order by q.tenant_id) from writ_data.governor_quota q) as quota,
    (select jsonb_agg(jsonb_build_array(g.governor_id, g.events, g.receipts, g.state, g.data, g.waiting) order by g.governor_id) from writ_data.governor g) as governors`);

/** Hands a turn in and answers the error, if it was not written. */
async function handIn(turn: object): Promise<string> {
  const before = await everything();
  try {
    await engine.query('begin');
    await engine.query(apply, [JSON.stringify(turn), 'mallory']);
    await engine.query('commit');
    return 'written';
  } catch (error) {
    await engine.query('rollback');
    expect(await everything()).toEqual(before);
    return String((error as pg.DatabaseError).message);
  }
}

const signal = (governor: GovernorHandle, value = 1) =>
  governor.signal({ type: 'error_rate', value: value / 1_000 });

type Receipt = {
  receipt_id: string;
  tenant_id: string;
  sku_id: string;
  timestamp: string;
  reason: string;
  context: Record<string, unknown>;
};
type Doc = Record<string, unknown> & { content: Record<string, unknown> };

/** A turn about one signal of acme, changed. */
async function changed(change: (turn: TurnRows) => TurnRows): Promise<string> {
  await engine.query('begin');
  const turn = await decidedTurn(engine, { ids: [acme.id], policy: await policy() });
  expect(turn).toMatchObject({
    governors: [{ id: acme.id }],
    events: [{ g: 1 }],
    receipts: [{ e: 1 }],
  });
  const before = await everything();
  try {
    await engine.query(apply, [JSON.stringify(change(turn)), 'mallory']);
    await engine.query('commit');
    return 'written';
  } catch (error) {
    await engine.query('rollback');
    expect(await everything()).toEqual(before);
    return String((error as pg.DatabaseError).message);
  }
}

/** Each of these turns is refused, and nothing of it is written. */
async function refused(turns: [string, (turn: TurnRows) => TurnRows][]): Promise<void> {
  for (const [name, change] of turns)
    expect({ name, answer: await changed(change) }).toEqual({ name, answer: 'invalid_turn' });
}

const policy = async () => {
  const { version, hash, shadow, document } = await acme.policy();
  return document && { version, hash, shadow, document };
};
const receipt = (change: (receipt: Receipt) => object) => (turn: TurnRows) => ({
  ...turn,
  receipts: turn.receipts.map(({ e, r }) => ({
    e,
    r: canonicalize(change(JSON.parse(r) as Receipt)),
  })),
});
const context = (fields: object) =>
  receipt((one) => ({ ...one, context: { ...one.context, ...fields } }));
const event = (change: (doc: Doc) => object, state?: string) => (turn: TurnRows) => ({
  ...turn,
  events: turn.events.map((one) => ({
    ...one,
    doc: canonicalize(change(JSON.parse(String(one.doc)) as Doc)),
    ...(state && { state }),
  })),
});
const data = async (change: (data: Record<string, unknown>) => object) => {
  const [row] = await s.sql<{ data: Record<string, unknown> }>(
    'select data from writ_data.governor where governor_id = $1',
    [acme.id],
  );
  const given = change(row?.data ?? {});
  return (turn: TurnRows) => ({
    ...turn,
    governors: turn.governors.map((one) => ({ ...one, data: given })),
  });
};

test('an honest turn is written', async () => {
  expect(await changed((turn) => turn)).toBe('written');
  expect(await s.reasons(acme)).toContain('signal_received');
});

describe('a receipt', () => {
  test('without an event of a locked governor is refused, be it an approval, a verdict, a checkpoint or a planted number', async () => {
    const made = (tenant_id: string, reason: string, more: object) => ({
      e: 1,
      r: canonicalize({
        ...{
          receipt_id: uuidv7(),
          timestamp: new Date().toISOString(),
          sku_id: 'writ',
          tenant_id,
          status: 'accept',
          reason,
        },
        context: { stream: 'controls', stream_seq: 1, ...more },
      }),
    });
    const planted = [
      made('acme', 'contract_reviewed', { by: 'alice' }),
      made('acme', 'audit_verdict', { verdict: 'PASS' }),
      made('_system', 'log_checkpoint', { root: '0'.repeat(64) }),
      made('_system', 'events_sealed', { stream: 'events', stream_seq: 1 }),
    ];
    for (const one of planted)
      expect(await handIn({ ...nothing, receipts: [one] })).toBe('invalid_turn');
    // The form of earlier versions, in which the driver sent whole entries.
    await handIn({ ...nothing, settled: [], entries: planted.map(({ r }) => r) });
    const [{ n }] = (await s.sql(
      "select count(*)::int as n from writ_data.receipt where entry like '%mallory%' or entry like '%alice%'",
    )) as [{ n: number }];
    expect(n).toBe(0);
  });

  test('is refused in every form but the honest one', async () => {
    await refused([
      ['of another tenant', receipt((one) => ({ ...one, tenant_id: 'globex' }))],
      ['of the deployment', receipt((one) => ({ ...one, tenant_id: '_system', sku_id: 'writ' }))],
      ['of another product', receipt((one) => ({ ...one, sku_id: 'other' }))],
      ['under an id of its own', receipt((one) => ({ ...one, receipt_id: uuidv7() }))],
      ['of another time', receipt((one) => ({ ...one, timestamp: '2020-01-01T00:00:00.000Z' }))],
      ['with a field of its own', receipt((one) => ({ ...one, more: 1 }))],
      ['of another stream', context({ stream: 'governor:other' })],
      ['with a planted number', context({ stream_seq: 9_000 })],
      ['of another event', context({ event_id: uuidv7() })],
      ['of other inputs', context({ inputs_hash: '0'.repeat(64) })],
      ['that governance writes', receipt((one) => ({ ...one, reason: 'contract_reviewed' }))],
      ['that the ledger writes', receipt((one) => ({ ...one, reason: 'log_checkpoint' }))],
      ['that settles no signal', context({ terminal: false })],
      ['that settles another signal', context({ arrival_seq: 2 })],
      [
        'that settles signals for all time',
        context({ terminal: true, arrival_ranges: [[1, Number.MAX_SAFE_INTEGER]] }),
      ],
      ['that is missing', (turn) => ({ ...turn, receipts: [] })],
      [
        'that is written twice',
        (turn) => ({ ...turn, receipts: [...turn.receipts, ...turn.receipts] }),
      ],
    ]);
  });
});

describe('an event', () => {
  test('is refused in every form but the honest one', async () => {
    await refused([
      ['with another number', event((doc) => ({ ...doc, event_seq: 900 }))],
      ['before the one before it', event((doc) => ({ ...doc, at: 1 }))],
      ['of a time that has not come', event((doc) => ({ ...doc, at: Number(doc.at) + 3_600_000 }))],
      ['of mail that does not exist', event((doc) => ({ ...doc, mail_seq: 900 }))],
      ['that skips mail', event((doc) => ({ ...doc, mail_seq: Number(doc.mail_seq) + 1 }))],
      [
        'that says something else than its mail',
        event((doc) => ({ ...doc, content: { ...doc.content, value: 99 } })),
      ],
      ['that arrived at another time', event((doc) => ({ ...doc, arrived_at: 5 }))],
      [
        'that nobody sent',
        event(({ mail_seq: _, arrived_at: __, ...doc }) => ({
          ...doc,
          from: 'host',
          content: { kind: 'policy', policy: null },
        })),
      ],
      [
        'that sets a good signal aside',
        event((doc) => ({ ...doc, content: { kind: 'crash', event: 'signal', arrival_seq: 1 } })),
      ],
      ['with more than an event has', event((doc) => ({ ...doc, by: 'alice' }))],
      ['that moves where the table does not', event((doc) => doc, 'intervening')],
      [
        'that moves nowhere',
        (turn) => ({ ...turn, events: turn.events.map((one) => ({ ...one, state: 'asleep' })) }),
      ],
      [
        'of a governor that is not there',
        (turn) => ({ ...turn, events: turn.events.map((one) => ({ ...one, g: 7 })) }),
      ],
      ['that is missing', (turn) => ({ ...turn, events: [], receipts: [] })],
    ]);
  });

  test('of a governor that has moved since is refused', async () => {
    const older = (turn: TurnRows) => ({
      ...turn,
      governors: turn.governors.map((one) => ({ ...one, rev: Number(one.rev) - 1 })),
    });
    expect(await changed(older)).toBe('governor_moved');
  });

  test('of one governor twice in a turn is refused', async () => {
    expect(
      await changed((turn) => ({ ...turn, governors: [...turn.governors, ...turn.governors] })),
    ).toBe('invalid_turn');
  });
});

describe('the data of a governor', () => {
  test('is refused with another tenant, product or policy, or with signals that never arrived', async () => {
    const wrong: [string, (data: Record<string, unknown>) => object][] = [
      ['is of its own tenant', (known) => ({ ...known, tenant_id: 'globex' })],
      ['is of its own product', (known) => ({ ...known, sku_id: 'other' })],
      [
        'has the policy that was published',
        (known) => ({ ...known, policy: { ...(known.policy as object), version: 2 } }),
      ],
      [
        'has a policy that is no shadow',
        (known) => ({ ...known, policy: { ...(known.policy as object), shadow: true } }),
      ],
      ['has a policy at all', (known) => ({ ...known, policy: null })],
      [
        'holds signals that have arrived',
        (known) => ({ ...known, storm: { since: 1, buffer: [[1, 1, 1_000_000]] } }),
      ],
    ];
    for (const [name, change] of wrong)
      expect({ name, answer: await changed(await data(change)) }).toEqual({
        name,
        answer: 'invalid_turn',
      });
  });
});

describe('an action that a governor knows', () => {
  test('is one that it has sent, so no later turn fences the job of somebody else', async () => {
    const { jobId } = await s.writ.enqueue(defineJob('chore'), undefined, { tenant: 'globex' });
    const action = { kind: 'action', action_id: uuidv7(), attempt: 1, job_id: jobId };
    const { job_id: _, ...unsent } = action;
    for (const known of [
      { in_flight: action },
      { in_flight: unsent },
      { in_flight: {} },
      { awaiting_baseline: action },
      { given_up: { action, at: 1 } },
    ])
      expect({
        known,
        answer: await changed(await data((rest) => ({ ...rest, ...known }))),
      }).toEqual({ known, answer: 'invalid_turn' });
  });
});

describe('an effect', () => {
  const effect = (one: object) => (turn: TurnRows) => ({ ...turn, effects: [{ e: 1, ...one }] });
  const doing = async (changes: object = {}) => {
    const {
      bounds: _,
      inverse: __,
      completion_timeout_ms: ___,
      not_restored: ____,
      baseline_ms: _____,
      cost: ______,
      probe: _______,
      ...rule
    } = (await policy())?.document.actions.scale_up_cloud_run ?? ({} as never);
    return { ...rule, ...changes };
  };
  const attempt = {
    type: 'attempt',
    kind: 'action',
    action_id: uuidv7(),
    attempt: 1,
    job_id: uuidv7(),
    due_at: Date.now() + 1_000,
  };

  test('fences no job but the one in flight', async () => {
    const { jobId } = await s.writ.enqueue(defineJob('chore'));
    expect(await changed(effect({ type: 'fence', job_id: jobId }))).toBe('invalid_turn');
  });

  test('attempts no action that differs from the policy, exceeds its bounds or is not the next attempt', async () => {
    for (const changes of [
      { action_type: 'delete_everything' },
      { parameters: { replicas_delta: 500 } },
      { parameters: { region: 'us' } },
      { target: 'payments' },
      { actuator: { kind: 'webhook', url: 'https://mallory.example/' } },
      { permission: 'none' },
    ])
      expect(await changed(effect({ ...attempt, doing: await doing(changes) }))).toBe(
        'invalid_turn',
      );
    for (const more of [
      { attempt: 2 },
      { kind: 'rollback', of: uuidv7() },
      { initiated_by: 'alice' },
      { job_id: uuidv7() },
      { due_at: 9e15 },
    ])
      expect(await changed(effect({ ...attempt, doing: await doing(), ...more }))).toBe(
        'invalid_turn',
      );
  });

  /** An attempt that begins an action, as a driver would send it. */
  const beginning = (attempt: unknown, rule: object) => (turn: TurnRows) => {
    const doc = JSON.parse(String(turn.events[0]?.doc)) as Doc;
    const [at, due_at] = [Number(doc.ids_at ?? doc.clock ?? doc.at), Number(doc.at) + 500];
    const action_id = uuidv4();
    return effect({
      type: 'attempt',
      kind: 'action',
      action_id,
      attempt,
      job_id: jobIdOf(action_id, 1, at),
      due_at,
      doing: rule,
    })(turn);
  };

  test('begins no action that differs from the policy or exceeds its bounds, and begins one that does neither', async () => {
    const parameters = { replicas_delta: 3, zone: 'a' };
    for (const changes of [
      { action_type: 'delete_everything' },
      { target: 'payments' },
      { actuator: { kind: 'webhook', url: 'https://mallory.example/' } },
      { permission: 'none' },
      { parameters: { ...parameters, replicas_delta: 500 } },
      { parameters: { ...parameters, region: 'us' } },
      { parameters: { ...parameters, zone: 'c' } },
      { parameters: { zone: 'a' } },
      { parameters: {} },
      { parameters: undefined },
      // jsonb counts an array as contained in every array that has its elements.
      { parameters: { ...parameters, zone: [] } },
      { parameters: { ...parameters, zone: ['a', 'b'] } },
    ])
      expect({ changes, answer: await changed(beginning(1, await doing(changes))) }).toEqual({
        changes,
        answer: 'invalid_turn',
      });
    const within = await doing({ parameters: { replicas_delta: 5, zone: 'b' } });
    expect(await changed(beginning(1, within))).toBe('written');
  });

  test('uses up quota with the first attempt at an action, however its number is written', async () => {
    await s.sql("update writ_data.entitlement set quota_limit = 0 where tenant_id = 'acme'");
    const rule = await doing();
    for (const attempt of [1, '1', '01', '+1'])
      expect({ attempt, answer: await changed(beginning(attempt, rule)) }).toEqual({
        attempt,
        answer: 'governor_moved',
      });
    await s.sql("update writ_data.entitlement set quota_limit = 1 where tenant_id = 'acme'");
    expect(await changed(beginning(1, rule))).toBe('written');
  });

  test('raises and clears only a governor’s own alerts, and has a known type', async () => {
    for (const one of [
      { type: 'escalate', alert: 'LEDGER_BEHIND', details: {} },
      { type: 'calm', alert: 'LEDGER_BEHIND' },
      { type: 'quota', month: '2026-01', limit: null },
      { type: 'unheard of' },
    ])
      expect(await changed(effect(one))).toBe('invalid_turn');
  });
});

test('one governor that cannot be written does not stop the others', async () => {
  // What it knows is broken: whatever is decided about it cannot be written.
  await s.sql(
    `update writ_data.governor set data = data || '{"tenant_id": "globex", "entitlement": null}' where governor_id = $1`,
    [acme.id],
  );
  await s.work();
  await s.decided(globex, { type: 'error_rate', value: 0 });
  expect(await s.reasons(globex)).toContain('signal_received');
});

test('a login of one tenant takes and writes no governor of another', async () => {
  await engine.query("select set_config('writ.tenant', 'globex', false)");
  await engine.query('begin');
  expect((await decidedTurn(engine, { ids: [acme.id] })).governors).toEqual([]);
  await engine.query('rollback');
  expect(await handIn({ ...nothing, governors: [{ id: acme.id, rev: 3 }] })).toBe('governor_moved');
});

describe('a wake-up', () => {
  const due = async () =>
    (
      await s.sql<{ id: string }>(
        'select id::text from writ.fn_governors_take(200, 64) where id is not null',
      )
    ).map(({ id }) => id);

  test('stays when a driver takes the governor and writes nothing', async () => {
    await engine.query('begin');
    expect((await decidedTurn(engine, { policy: await policy() })).governors).toMatchObject([
      { id: acme.id },
    ]);
    await engine.query('commit');
    expect(await due()).toContain(acme.id);
  });

  test('stays while there is something to do, even if a driver says otherwise', async () => {
    for (const wakes of [[], [{ id: acme.id }], [{ id: acme.id }, { id: acme.id }]]) {
      await handIn({ ...nothing, wakes });
      expect(await due()).toContain(acme.id);
    }
    // The first of two signals is decided, and the second one is passed over in silence.
    await signal(acme, 2);
    await engine.query('begin');
    const { governors, events, receipts } = await decidedTurn(engine, { policy: await policy() });
    const first = {
      ...nothing,
      governors,
      events: events.slice(0, 1),
      receipts: receipts.filter(({ e }) => e === 1),
    };
    await engine.query(apply, [JSON.stringify({ ...first, wakes: [{ id: acme.id }] }), 'mallory']);
    await engine.query('commit');
    expect(await due()).toContain(acme.id);
    expect(await changed((turn) => turn)).toBe('written');
    expect(await due()).not.toContain(acme.id);
  });

  test('goes when a driver looks and there is nothing to do', async () => {
    expect(await changed((turn) => turn)).toBe('written');
    await s.sql(
      'insert into writ_data.governor_due (due_at, governor_id) values (writ.now() - make_interval(secs => 1), $1)',
      [acme.id],
    );
    expect(await due()).toContain(acme.id);
    await handIn({ ...nothing, wakes: [{ id: acme.id }] });
    expect(await due()).not.toContain(acme.id);
  });

  test('cannot be postponed by more than a second while there is something to do', async () => {
    await handIn({ ...nothing, wakes: [{ id: acme.id, at: Date.now() + 3_600_000 }] });
    expect(await due()).not.toContain(acme.id);
    await s.db.clock.advance('1100ms');
    expect(await due()).toContain(acme.id);
  });

  /** Postpones acme as often as it comes due, for so many seconds. */
  async function postpone(seconds: number): Promise<void> {
    for (let waited = 0; waited < seconds; waited++) {
      await handIn({ ...nothing, wakes: [{ id: acme.id, at: Date.now() + 3_600_000 }] });
      await s.db.clock.advance('1s');
    }
  }

  test('cannot be postponed again and again for more than ten seconds', async () => {
    await postpone(12);
    for (let n = 0; n < 3; n++) {
      await handIn({ ...nothing, wakes: [{ id: acme.id, at: Date.now() + 3_600_000 }] });
      expect(await due()).toContain(acme.id);
    }
  });

  test('can be postponed anew after an event of its governor', async () => {
    await postpone(12);
    expect(await changed((turn) => turn)).toBe('written');
    await signal(acme, 3);
    await handIn({ ...nothing, wakes: [{ id: acme.id, at: Date.now() + 3_600_000 }] });
    expect(await due()).not.toContain(acme.id);
  });
});

test('a good signal that a driver sets aside as undecidable leaves a receipt and an alert, even if the driver omits them', async () => {
  await engine.query('begin');
  const { governors, now } = takenFrom(
    await engine.query(
      "select * from writ.fn_governors_take(1, 64, '-infinity', $1::text::uuid[])",
      [`{${acme.id}}`],
    ),
  );
  const taken = governors[0] as TakenGovernor;
  const [mailSeq, arrivedAt, arrivalSeq] = (taken.mails as StoredMail[])[0] as StoredMail;
  const before = fromStored(taken, await policy());
  const hash = '0'.repeat(64);
  const event: GovernorEvent = {
    ...{
      event_seq: before.events + 1,
      at: Math.max(now, before.last),
      decide: decideVersion,
      from: 'mailbox',
    },
    ...{ mail_seq: mailSeq, arrived_at: arrivedAt },
    content: {
      ...{ kind: 'mismatch', event: 'signal', arrival_seq: Number(arrivalSeq) },
      ...{
        receipt_id: '00000000-0000-4000-8000-000000000000',
        expected_hash: hash,
        actual_hash: hash,
      },
    },
  };
  const stepped = step(before, event, before.waiting, decide);
  const turned = {
    taken,
    before,
    governor: stepped.governor,
    steps: [[event, stepped] as const],
    mailDone: mailSeq,
    mailAt: arrivedAt,
  };
  const turn = rowsOf([{ ...turned, more: false, question: undefined, crash: undefined }], []);
  expect(turn.effects).toMatchObject([{ type: 'escalate' }]);
  await engine.query(apply, [JSON.stringify({ ...turn, effects: [] }), 'mallory']);
  await engine.query('commit');
  expect(await s.reasons(acme)).toEqual(
    expect.arrayContaining(['nondeterminism_detected', 'event_failed']),
  );
  expect(await s.sql('select code, subject from writ_data.alert')).toEqual([
    { code: 'GOVERNOR_NONDETERMINISM', subject: `governor/${acme.id}` },
  ]);
});

/**
 * What a database has written down about a governor is what was hashed: an export of it is decided
 * again, byte for byte, without the database.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decide } from '../../src/governor/decide.js';
import { ExportedEvents, type ExportedEventsOptions } from '../../src/governor/exported.js';
import type { GovernorHandle } from '../../src/governor/governors.js';
import { inputsHash } from '../../src/governor/machine.js';
import { folderReader } from '../../src/ledger/exports.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../src/ledger/note.js';
import { nodeSha256 } from '../../src/ledger/sha256.js';
import { verifyExport } from '../../src/ledger/verify.js';
import { until } from '../races/sessions.js';
import { governorScene, scaling } from './scene.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const keys = [publicKeyText(signer)];
const s = governorScene();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-replay-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const over = (value = 90) => ({ type: 'cpu_utilization', value, source: 'monitoring' as const });
const fail = () => {
  throw Object.assign(new Error('broken\u0007 “so”'), { status: 500 });
};

/** Signs what there is, and exports it. */
async function exported(): Promise<void> {
  await s.sql(`select writ.fn_ledger_tick('test')`);
  await s.writ.ledger.checkpoint({ key: privateKeyText(signer), places: [] });
  await s.writ.ledger.export(folder);
}

async function replayed(options: ExportedEventsOptions = {}) {
  const reader = folderReader(folder);
  const replays = await ExportedEvents.of(reader, options);
  const verdict = await verifyExport(reader, {
    keys,
    sha256: nodeSha256,
    onReceipt: (log, receipt, entry) => replays.hear(log, receipt, entry),
  });
  return { verdict, ...replays.close() };
}

/** Everything that can happen to one, in a few seconds. */
async function busy(): Promise<GovernorHandle> {
  for (const [name, ms] of Object.entries({
    recheck_ms: 100,
    storm_every_ms: 100,
    storm_window_ms: 2_000,
  }))
    await s.setting(`governor.${name}`, ms);
  await s.setting('governor.backoff_ms', [50, 100]);
  await s.setting('governor.storm_limit', 30);
  await s.setting('governor.capacity', 20);
  await s.setting('governor.crashes', 2);
  let broken = false;
  const worker = await s.work({
    // The first event of a kind that nobody sends otherwise crashes its governor until it is set
    // aside.
    decide: (situation, event) => {
      if (!broken && event.content.kind === 'signal' && event.content.type === 'poison')
        throw new TypeError('poisoned');
      return decide(situation, event);
    },
  });
  const governor = await s.stable(scaling());
  s.answers.push(() => ({ baseline: 'restored', previous_replicas: 5, new_replicas: 8, é: 0.1 }));
  await governor.signal({
    ...over(),
    metadata: { 10: 'b', 9: ['ü', 1e-7, null], nested: { z: 1, a: -0 } },
  });
  await s.receipt(governor, 'action_succeeded');
  // Retries, then a rollback; signals wait meanwhile.
  await s.writ.governors.entitlements.put(
    { tier: 'starter', quota: 50 },
    { tenant: 'acme', as: s.key },
  );
  s.answers.push(
    async () => {
      await Promise.all(
        [50, 51, 52].map((value) => governor.signal({ ...over(value), id: `waits-${value}` })),
      );
      fail();
    },
    fail,
    fail,
  );
  await governor.act('scale_up_cloud_run', { replicas_delta: 2 }, { as: s.key });
  await s.receipt(governor, 'action_rollback_issued');
  await until(
    async () => (await governor.get()).in_flight === null && (await governor.get()).postponed === 0,
  );
  // Out of bounds, and another policy.
  await governor.act('scale_up_cloud_run', { replicas_delta: 20 }, { as: s.key });
  await s.inState(governor, 'refusing');
  await governor.signal(over(20));
  await governor.publish(scaling({ budget: 100 }), { as: s.key });
  await s.inState(governor, 'stable');
  // A storm.
  await Promise.all(
    Array.from({ length: 80 }, (_, n) =>
      governor.signal({ ...over(30 + n / 7), id: `storm-${n}` }),
    ),
  );
  await until(
    async () =>
      Number((await governor.get()).buffered) === 0 &&
      Number((await governor.get()).in_mailbox) === 0,
  );
  // What crashes it is set aside, and a person sees to it.
  await governor.signal({ type: 'poison', value: 1 });
  await s.receipt(governor, 'event_failed');
  broken = true;
  await governor.acknowledge('crash', { reason: 'it was seen to', as: s.key });
  await s.inState(governor, 'stable');
  await governor.publish(scaling(), { as: s.key, shadow: true });
  await governor.signal(over(99));
  await governor.withdraw({ as: s.key });
  await until(async () => (await governor.get()).policy_version === null);
  await s.writ.governors.entitlements.put({ status: 'CANCELLED' }, { tenant: 'acme', as: s.key });
  await governor.signal(over(98));
  await s.inState(governor, 'refusing');
  await until(async () => Number((await governor.get()).in_mailbox) === 0);
  await worker.stop(); // while it refuses, it looks again and again
  return governor;
}

test('a busy governor is decided again from its export, with the very bytes that were hashed', {
  timeout: 60_000,
}, async () => {
  const governor = await busy();
  await exported();
  const result = await replayed();
  expect(result.governors.flatMap(({ differences }) => differences)).toEqual([]);
  expect(result).toMatchObject({ ok: true, verdict: { ok: true }, undecided: [] });
  const { events, receipts } = await governor.get();
  expect(result.governors).toMatchObject([
    { tenant: 'acme', sku: 'default', governor_id: governor.id, receipts },
  ]);
  expect((result.governors[0]?.events ?? 0) + (result.governors[0]?.behind ?? 0)).toBe(events);
  expect(new Set(result.governors[0]?.states)).toEqual(
    new Set(['boot', 'stable', 'warning', 'intervening', 'refusing', 'degraded']),
  );
  // Also without this code: the lines are what the governor's hash is over.
  const lines = linesOf().slice(1);
  const [row] = await s.sql<{ hash: string }>(
    `select encode(inputs_hash, 'hex') as hash from writ_data.governor`,
  );
  expect(lines.reduce(inputsHash, '0'.repeat(64))).toBe(row?.hash);
  const seen = new Set(
    lines.map((line) => (({ from, content }) => `${from} ${content.kind}`)(JSON.parse(line))),
  );
  for (const kind of [
    'postponed signal',
    'inserted signal',
    'inserted act',
    'mailbox act',
    'mailbox crash',
    'timer timer',
    'mailbox policy',
  ])
    expect(seen).toContain(kind);
});

const fileIn = () =>
  join(
    folder,
    'governors/acme/default',
    readdirSync(join(folder, 'governors/acme/default'))[0] as string,
  );
const linesOf = () => readFileSync(fileIn(), 'utf8').trimEnd().split('\n');

test('an export that is brought up to date has what is new, in files that do not change any more', {
  timeout: 60_000,
}, async () => {
  await s.work();
  await s.setting('governor.storm_limit', 100_000);
  const governor = await s.stable(scaling());
  const send = async (n: number) => {
    await Promise.all(Array.from({ length: n }, () => governor.signal({ ...over(20) })));
    await until(async () => Number((await governor.get()).in_mailbox) === 0);
  };
  await send(600);
  await exported();
  expect(await replayed()).toMatchObject({ ok: true, governors: [{ behind: 0 }] });
  await send(600);
  // Events whose receipts no checkpoint covers yet do no harm.
  await s.writ.ledger.export(folder);
  expect(await replayed()).toMatchObject({ ok: true, governors: [{ behind: 600 }] });
  await exported();
  const result = await replayed();
  expect(result).toMatchObject({
    ok: true,
    governors: [{ behind: 0, events: (await governor.get()).events }],
  });
  expect(readdirSync(join(folder, 'governors/acme/default')).sort()).toEqual([
    '000000001.jsonl',
    '000000001.partial.jsonl',
    '000000002.partial.jsonl',
  ]);
  // The database is read in the same way.
  const reader = folderReader(folder);
  expect(await s.writ.ledger.verify({ keys, archive: folder })).toMatchObject({ ok: true });
  expect((await reader('governors/acme/default/000000001.jsonl'))?.length).toBeGreaterThan(100_000);
});

test('what was changed in an export is named, and receipts without events are not passed over in silence', {
  timeout: 60_000,
}, async () => {
  await s.work();
  const governor = await s.stable(scaling());
  await governor.signal(over(20));
  await governor.signal(over(21));
  await s.stable(scaling(), { tenant: 'other' });
  await exported();
  const path = fileIn();
  const lines = linesOf();
  const at = lines.findIndex((line) => line.includes('"value":20'));
  writeFileSync(
    path,
    `${lines.map((line, n) => (n === at ? line.replace('"value":20', '"value":22') : line)).join('\n')}\n`,
  );
  const changed = await replayed();
  expect(changed).toMatchObject({ ok: false, verdict: { ok: true } });
  expect(
    changed.governors.map(({ tenant, ok, differences }) => [tenant, ok, differences[0]?.kind]),
  ).toEqual([
    ['acme', false, 'event_changed'],
    ['other', true, undefined],
  ]);
  expect(changed.governors[0]?.differences).toMatchObject([{ event_seq: at }]);
  expect(await replayed({ governor: { tenant: 'other', sku: 'default' } })).toMatchObject({
    ok: true,
    governors: [{ tenant: 'other' }],
  });
  writeFileSync(
    path,
    `${lines.toSpliced(0, 1, lines[0]?.replace('acme', 'acne') as string).join('\n')}\n`,
  );
  expect((await replayed()).governors[0]?.differences).toMatchObject([{ kind: 'governor' }]);
  rmSync(path);
  expect((await replayed()).governors[0]?.differences).toMatchObject([
    { kind: 'event_missing', message: expect.stringContaining('is missing') },
  ]);
  const manifest = join(folder, 'export.json');
  writeFileSync(
    manifest,
    JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), governors: null }),
  );
  expect((await replayed()).undecided.map(({ tenant }) => tenant)).toEqual(['acme', 'other']);
});

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Failure } from '../../src/cli/failure.js';
import { Output } from '../../src/cli/output.js';
import { isAlive } from '../../src/database/dev-servers.js';
import type { Figures } from '../../src/demo/figures.js';
import { Stage } from '../../src/demo/stage.js';
import { conclude } from '../../src/demo/verdict.js';
import { eventually, start, writ } from '../cli/run.js';

const folders: string[] = [];
/**
 * Everything temporary of a demo goes there; PostgreSQL may run as another user and has to get in.
 */
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'writ-of-demo-'));
  folders.push(made);
  chmodSync(made, 0o755);
  return made;
}
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

test('an agent is refused what was not approved; what was is done once, undone when it harms, and proved', async () => {
  const { code, stdout, stderr } = await writ(['demo', '--json']);
  const told = JSON.parse(stdout || '{}') as Figures & { good: boolean; totalSeconds: number };
  expect(told, stderr).toMatchObject({
    good: true,
    // Two writes and a claim.
    directWrites: { tried: 3, denied: 3 },
    forgeries: [
      { what: 'a receipt', by: 'PostgreSQL', code: '42501', receipts: 0 },
      { what: 'a health report, as a worker', by: 'PostgreSQL', code: '42501', receipts: 0 },
      { what: 'a health report', by: 'fn_probe_report', code: 'agents_only_propose', receipts: 1 },
      { what: 'a decision of the governor', by: 'PostgreSQL', code: '42501', receipts: 0 },
      { what: 'a verdict on a signature', by: 'PostgreSQL', code: '42501', receipts: 0 },
      {
        what: 'a decision about health',
        by: 'fn_signal_record',
        code: 'agents_only_propose',
        receipts: 1,
      },
      { what: 'an approval, as a row', by: 'PostgreSQL', code: '42501', receipts: 0 },
      { what: 'an approval', by: 'fn_contract_review', code: 'agents_only_propose', receipts: 1 },
    ],
    // The last with somebody else's key: a bound login acts for nobody else.
    overreach: {
      tried: 4,
      refused: ['agents_only_propose', 'own_contract', 'agents_only_propose', 'not_authenticated'],
    },
    edited: 'approval_void',
    untouched: true,
    // The kill was real, and over a step that stands.
    killed: {
      signal: 'SIGKILL',
      point: expect.stringMatching(/^(change_sent|after_commit)$/),
      effects: 1,
      receipts: 1,
      events: 1,
    },
    completed: { status: 'COMPLETED', audit: 'PASS', checks: 7 },
    restored: { status: 'ROLLED_BACK' },
    governed: { signals: 302, storms: 1, changes: 1 },
    // Three of the first contract; two of the second, and their undoing; one of the governor.
    changes: {
      effects: 8,
      receipts: 8,
      events: 8,
      twice: 0,
      unapproved: 0,
      approvals: 4,
      signed: 4,
    },
    ledger: { verified: true },
  });
  const { stateBefore, stateBetween, stateAfter } = told.restored;
  expect(stateAfter).toBe(stateBefore);
  expect(stateBetween).not.toBe(stateBefore);
  expect(told.ledger.found).toBe(told.ledger.edited);
  expect(told.ledger.receipts).toBeGreaterThan(told.changes.receipts);
  expect(code).toBe(0);
}, 90_000);

const byPostgres = { what: 'a receipt', by: 'PostgreSQL', code: '42501', receipts: 0 };
const byGate = {
  what: 'an approval',
  by: 'fn_contract_review',
  code: 'agents_only_propose',
  receipts: 1,
};
const kept: Figures = {
  directWrites: { tried: 1, denied: 1 },
  forgeries: [byPostgres, byGate],
  overreach: { tried: 1, refused: ['agents_only_propose'] },
  edited: 'approval_void',
  untouched: true,
  killed: { signal: 'SIGKILL', point: 'change_sent', effects: 1, receipts: 1, events: 1 },
  completed: { status: 'COMPLETED', audit: 'PASS', checks: 7 },
  restored: { status: 'ROLLED_BACK', stateBefore: 'a', stateBetween: 'b', stateAfter: 'a' },
  governed: {
    signals: 302,
    decided: 100,
    waiting: 202,
    settled: 100,
    storms: 1,
    changes: 1,
    ms: 900,
  },
  changes: { effects: 8, receipts: 8, events: 8, twice: 0, unapproved: 0, approvals: 4, signed: 4 },
  ledger: { receipts: 50, verified: true, edited: 5, found: 5 },
};

test.each<[fault: string, figures: object]>([
  ['a direct write is allowed', { directWrites: { tried: 1, denied: 0 } }],
  ['a forgery is allowed', { forgeries: [{ ...byPostgres, by: null, code: 'allowed' }] }],
  ['no forgery is tried', { forgeries: [] }],
  [
    'a gate leaves no receipt of a forgery',
    { forgeries: [byPostgres, { ...byGate, receipts: 0 }] },
  ],
  ['PostgreSQL leaves a receipt', { forgeries: [{ ...byPostgres, receipts: 1 }, byGate] }],
  ['the agent approves itself', { overreach: { tried: 1, refused: [] } }],
  ['an edited contract is done', { edited: 'allowed' }],
  ['a refusal has changed something', { untouched: false }],
  ['the worker was not killed', { killed: { ...kept.killed, signal: 'null', point: '' } }],
  ['a step is done twice', { killed: { ...kept.killed, effects: 2 } }],
  ['a step is lost', { killed: { ...kept.killed, effects: 0 } }],
  ['a step has two receipts', { killed: { ...kept.killed, receipts: 2 } }],
  ['the audit does not pass', { completed: { ...kept.completed, audit: 'FAIL' } }],
  ['nothing was put back', { restored: { ...kept.restored, stateAfter: 'b' } }],
  ['there was nothing to put back', { restored: { ...kept.restored, stateBetween: 'a' } }],
  ['a storm has the change made again', { governed: { ...kept.governed, changes: 2 } }],
  ['a signal is lost', { governed: { ...kept.governed, settled: 99 } }],
  ['a write has no receipt', { changes: { ...kept.changes, receipts: 6 } }],
  ['a write has no event', { changes: { ...kept.changes, events: 6 } }],
  ['something was done twice', { changes: { ...kept.changes, twice: 1 } }],
  ['nobody had signed it', { changes: { ...kept.changes, unapproved: 1 } }],
  ['a signature is wrong', { changes: { ...kept.changes, signed: 2 } }],
  ['the export does not verify', { ledger: { ...kept.ledger, verified: false } }],
  ['a forgery is not found', { ledger: { ...kept.ledger, found: null } }],
  ['a forgery is found elsewhere', { ledger: { ...kept.ledger, found: 4 } }],
])('the demo fails when %s', (_, fault) => {
  const output = new Output({ json: true });
  let good: boolean | undefined;
  output.data = (value) => {
    good = (value as { good: boolean }).good;
  };
  const judge = (figures: Figures) => conclude(output, new Stage(output), figures, 1);
  expect(() => judge(kept)).not.toThrow();
  expect(good).toBe(true);
  expect(() => judge({ ...kept, ...fault })).toThrow(Failure);
  expect(good).toBe(false);
});

test('a demo that is broken off while its server is being made leaves no files behind', async () => {
  const temporary = folder();
  const demo = start(['demo'], { env: { TMPDIR: temporary } });
  await demo.saying(/measured/);
  await eventually(async () => readdirSync(temporary).length > 0);
  demo.kill('SIGINT');
  const { code, stderr } = await demo.ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
  expect(readdirSync(temporary)).toEqual([]);
}, 90_000);

test('a demo that is broken off leaves neither processes nor files behind', async () => {
  const temporary = folder();
  const demo = start(['demo'], { env: { TMPDIR: temporary } });
  const [, worker] = await demo.saying(/worker B \(process (\d+)\)/);
  const [made] = readdirSync(temporary);
  const [server] = readFileSync(
    join(temporary, String(made), 'data', 'postmaster.pid'),
    'utf8',
  ).split('\n');
  expect([worker, server].map((pid) => isAlive(Number(pid)))).toEqual([true, true]);
  demo.kill('SIGINT');
  const { code, stdout, stderr } = await demo.ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
  expect(stdout).not.toContain('8  The figures');
  expect([worker, server].map((pid) => isAlive(Number(pid)))).toEqual([false, false]);
  expect(readdirSync(temporary)).toEqual([]);
}, 90_000);

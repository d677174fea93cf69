/**
 * Events of runs are sealed through the row of the record that was written with them: proven one by
 * one, and found when somebody changes them.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, definePlan, type Writ } from '../../src/index.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../src/ledger/note.js';
import { verifyEventProof } from '../../src/ledger/proofs.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { direct, session } from '../races/sessions.js';

let db: TestDatabase;
let writ: Writ;
const signer = keyOfSeed('test.example/writ', new Uint8Array(32).fill(7));
const keys = { privateKey: privateKeyText(signer), publicKey: publicKeyText(signer) };
const step = defineJob('step');
const plan = definePlan('sealed', { version: '1' }, (p) => {
  p.step('second', step, { after: p.step('first', step) });
});

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  await writ.work([step.handle(() => ({ ok: true }))]);
});
afterEach(() => db.drop());

async function sealedRun(): Promise<string> {
  const run = await writ.start(plan);
  await run.finished();
  await expect
    .poll(
      async () =>
        Number(
          (
            await db.query(
              'select count(*) from writ_data.event_seal s, writ_data.run_event e where e.batch_id <= s.upto and e.run_id = $1',
              [run.runId],
            )
          )[0]?.count,
        ),
      { timeout: 20_000 },
    )
    .toBeGreaterThanOrEqual(6);
  await writ.ledger.checkpoint({ key: keys.privateKey, places: [] });
  return run.runId;
}

test('an event of a run is proven with the public key alone', async () => {
  const runId = await sealedRun();
  const events = (await writ.runs.events(runId)).items;
  for (const { runSeq, eventType, stepId } of events) {
    const proof = await writ.ledger.proveEvent(`${runId}/${runSeq}`);
    const { runEvent } = verifyEventProof(JSON.parse(JSON.stringify(proof)), {
      keys: [keys.publicKey],
    });
    expect(runEvent?.slice(0, 4)).toEqual([runId, runSeq, eventType, stepId]);
    const bent = {
      ...proof,
      runEvent: String(proof.runEvent).replace('Step', 'Stop').replace('Run', 'Ran'),
    };
    expect(() => verifyEventProof(bent, { keys: [keys.publicKey] })).toThrow('does not seal');
  }
  await expect(writ.ledger.proveEvent(`${runId}/99`)).rejects.toThrow('not sealed');
});

test.each([
  [
    'changed',
    `update writ_data.run_event set data = '{"artifacts": [], "x": 1}' where run_id = $1 and run_seq = 3`,
  ],
  ['removed', `delete from writ_data.run_event where run_id = $1 and run_seq = 3`],
])('an event of a run that was %s as superuser is found and named', async (_, sql) => {
  const runId = await sealedRun();
  const before = await writ.ledger.verify({ keys: [keys.publicKey], events: true });
  expect(before.problems).toEqual([]);
  const superuser = await session(direct(db));
  await superuser.query('set session_replication_role = replica');
  await superuser.query(sql, [runId]);
  await superuser.end();
  const { problems } = await writ.ledger.verify({ keys: [keys.publicKey], events: true });
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringContaining(`event 3 of run ${runId} is not the one that was sealed`),
  ]);
});

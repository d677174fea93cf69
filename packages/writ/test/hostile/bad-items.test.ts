/** One item of a batch that raises stops no other item of the call. */
import { expect, test } from 'vitest';
import { defineJob, definePlan, emptySnapshot, enable, reduce } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';

const s = scene();
const chore = defineJob<{ n: number }>('chore', { retry: { attempts: 1 } });
const answerOf = async <Answer>(sql: string, params: unknown[]) =>
  (await s.sql<{ answer: Answer }>(`select ${sql} as answer`, params))[0]?.answer as Answer;

/** Makes every write of this row raise, as a row does that a fault damaged. */
const poison = (table: string, when: string) =>
  s.sql(`create function writ_data.poisoned() returns trigger language plpgsql as $$
      begin raise exception 'This row is damaged.'; end $$;
    create trigger poisoned before insert or update on writ_data.${table}
      for each row when (${when}) execute function writ_data.poisoned()`);

test('requeueMany requeues every other dead letter when one raises', async () => {
  const worker = await s.writ.work(
    [
      chore.handle(() => {
        throw new Error('No.');
      }),
    ],
    { poll: '50ms', onError: () => undefined },
  );
  const jobs = await s.writ.enqueueMany(
    chore,
    [1, 2, 3].map((n) => ({ input: { n } })),
  );
  const ids = jobs.map((job) => (job as { jobId: string }).jobId);
  await until(
    async () =>
      (await s.sql(`select from writ.job_queue where status = 'dead_letter'`)).length === 3,
  );
  await worker.stop();
  await poison('job', `new.parent_job_id = '${ids[1]}'`);
  expect(await s.writ.jobs.requeueMany(ids, { reason: 'It works now.' })).toEqual([
    { job_id: expect.any(String), parent_job_id: ids[0] },
    {
      parent_job_id: ids[1],
      reason: 'invalid_job',
      message: expect.stringContaining('This row is damaged.'),
    },
    { job_id: expect.any(String), parent_job_id: ids[2] },
  ]);
});

test('fn_run_project stores every other snapshot when one cannot be written', async () => {
  const plan = definePlan('one', { version: '1' }, (p) => {
    p.step('act', chore, { input: { n: 1 } });
  });
  const runs = [await s.writ.start(plan), await s.writ.start(plan), await s.writ.start(plan)];
  const ids = runs.map((run) => run.runId);
  await poison('run_snapshot', `new.run_id = '${ids[1]}'`);

  let turn = '';
  await until(async () => {
    const changes = await answerOf<{ turn?: string; runs: unknown[] }>(
      `writ.fn_run_changes('projector')`,
      [],
    );
    turn = changes.turn ?? '';
    return changes.runs.length === 3;
  });
  const snapshots = await Promise.all(
    ids.map(async (id) =>
      reduce(emptySnapshot(id, 'default'), (await s.writ.runs.events(id)).items),
    ),
  );
  expect(
    await answerOf('writ.fn_run_project($1, $2::json)', [turn, JSON.stringify(snapshots)]),
  ).toEqual({ projected: 2, skipped: 1 });
  expect(await s.alerts()).toEqual(['PROJECTOR_RUN_SKIPPED']);
  const stored = await s.sql<{ run_id: string }>('select run_id from writ_data.run_snapshot');
  expect(stored.map((row) => row.run_id).sort()).toEqual([ids[0], ids[2]].sort());
});

test('fn_signatures_verified stores every other verdict when one raises', async () => {
  const signed = async (name: string) => {
    const contract = await s.propose({ scope: [name], steps: [enable(name)] });
    const { hash } = await contract.preview({ as: s.keys.ada });
    expect(await codeOf(contract.approve({ as: s.keys.ada, hash }))).toBeUndefined();
    return contract;
  };
  await s.writ.capabilities.put([{ capability_name: 'export' }], { as: s.keys.ops });
  const contracts = [await signed('checkout'), await signed('search'), await signed('export')];
  const claimed = await answerOf<{ lease_token: string; jobs: [string, ...unknown[]][] }>(
    `writ.fn_job_claim_many('{governance.verify}', 'external_worker', 'w', 60, 10, 10)`,
    [],
  );
  await poison('contract_verdict', `new.contract_id = '${contracts[1]?.id}'`);
  const items = claimed.jobs.map(([job]) => ({
    job,
    token: claimed.lease_token,
    trust: 'database',
    verdicts: [{ review_no: 1, verdict: 'valid' }],
  }));
  const answers = await answerOf<object[]>(`writ.fn_signatures_verified($1::jsonb, 'w')`, [
    JSON.stringify(items),
  ]);
  expect(answers.filter((answer) => 'reason' in answer)).toEqual([
    { reason: 'invalid_argument', detail: 'This row is damaged.' },
  ]);
  const [first, bad, last] = await Promise.all(contracts.map((one) => one.get()));
  expect([first?.status, bad?.status, last?.status]).toEqual(['APPROVED', 'ELIGIBLE', 'APPROVED']);
});

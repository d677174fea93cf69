/**
 * The status of a workflow is nowhere stored: it is what its jobs have come to, whatever brought
 * them there.
 */
import { expect, test } from 'vitest';
import { type Answer, rolledBackGates } from '../gates/harness.js';

const gates = rolledBackGates();
type End = 'succeeded' | 'dead_letter' | 'cancelled' | 'open';

const emit = async (count: number): Promise<{ id: string; jobs: string[] }> => {
  await gates.register();
  const jobs = JSON.stringify(Array.from({ length: count }, () => ({ kind: 'chore' })));
  const answer: Answer = await gates.call('fn_mot_graph_emit', {
    workflow: { kind: 'w', generator: 'g' },
    jobs,
    actor: 'test',
  });
  return { id: answer.workflow_id, jobs: answer.job_ids };
};

/** Brings a job that is first in the queue to an end. */
async function end(job_id: string, as: End): Promise<void> {
  if (as === 'open') return;
  if (as === 'cancelled') {
    await gates.call('fn_job_cancel', { job_id, reason: 'r', actor: 'test' });
    return;
  }
  const { token, ids } = await gates.claim({ start: 1 });
  expect(ids).toEqual([job_id]);
  const call = { job_id, lease_token: token, actor: 'w1' };
  if (as === 'succeeded') await gates.call('fn_job_succeed', { ...call, result_ref: null });
  else await gates.call('fn_job_fail_permanent', { ...call, error_code: 'e', error_message: 'm' });
}

const read = async (id: string): Promise<Answer> =>
  (await gates.db.query('select * from writ.job_workflow where workflow_id = $1', [id]))[0];

test.each<[string, End[]]>([
  ['active', ['open', 'open']],
  ['active', ['succeeded', 'open']],
  ['active', ['dead_letter', 'open']],
  ['active', ['cancelled', 'open']],
  ['succeeded', ['succeeded', 'succeeded']],
  ['failed', ['dead_letter', 'dead_letter']],
  ['failed', ['dead_letter', 'cancelled']],
  ['partially_failed', ['succeeded', 'dead_letter']],
  ['partially_failed', ['succeeded', 'cancelled', 'dead_letter']],
  ['cancelled', ['cancelled', 'cancelled']],
  ['cancelled', ['succeeded', 'cancelled']],
])('%s: %j', async (status, ends) => {
  const { id, jobs } = await emit(ends.length);
  for (const [n, as] of ends.entries()) await end(jobs[n] as string, as);
  const workflow = await read(id);
  expect(workflow.status).toBe(status);
  const count = (as: End) => String(ends.filter((one) => one === as).length);
  expect(workflow).toMatchObject({
    jobs: String(ends.length),
    open: count('open'),
    succeeded: count('succeeded'),
  });
  expect(workflow).toMatchObject({ dead: count('dead_letter'), cancelled: count('cancelled') });
  const last = await gates.db.query(
    'select max(finished_at) as at from writ.job_queue where workflow_id = $1',
    [id],
  );
  expect(workflow.finished_at).toEqual(status === 'active' ? null : last[0]?.at);
});

test('a job that runs, has committed, or waits for its retry keeps the workflow active', async () => {
  const { id, jobs } = await emit(1);
  const { token } = await gates.claim({ start: 1 });
  expect((await read(id)).status).toBe('active');
  const failure = {
    job_id: jobs[0],
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  };
  await gates.call('fn_job_fail_transient', failure);
  expect(await gates.statusOf(jobs[0] as string)).toBe('retry_waiting');
  expect((await read(id)).status).toBe('active');
  await gates.db.clock.advance('1h');
  await gates.call('fn_job_tick', { actor: 'test' });
  const again = await gates.claim({ start: 1 });
  await gates.call('fn_job_commit', { job_id: jobs[0], lease_token: again.token });
  expect((await read(id)).status).toBe('active');
});

test('a dead letter that is replayed opens its workflow again, and its successor decides', async () => {
  const { id, jobs } = await emit(2);
  await end(jobs[0] as string, 'succeeded');
  await end(jobs[1] as string, 'dead_letter');
  expect((await read(id)).status).toBe('partially_failed');
  const replay = await gates.call('fn_job_dead_letter_replay', {
    job_id: jobs[1],
    triage: 'fixed',
    actor: 'test',
  });
  expect(await read(id)).toMatchObject({
    status: 'active',
    finished_at: null,
    jobs: '2',
    open: '1',
  });
  await end(replay.job_id, 'succeeded');
  expect(await read(id)).toMatchObject({ status: 'succeeded', jobs: '2', dead: '0' });
});

test('a workflow keeps its status when its jobs are cleaned', async () => {
  const { id, jobs } = await emit(2);
  await end(jobs[0] as string, 'succeeded');
  await end(jobs[1] as string, 'cancelled');
  await gates.db.clock.advance('1000h');
  expect(await gates.call('fn_job_cleanup_sweep')).toEqual({ cleaned: 2 });
  expect((await read(id)).status).toBe('cancelled');
});

test('a job that is enqueued into a workflow later counts as well', async () => {
  const { id, jobs } = await emit(1);
  await end(jobs[0] as string, 'succeeded');
  await gates.enqueue({ workflow_id: id });
  expect((await read(id)).status).toBe('active');
});

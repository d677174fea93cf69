import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { freshGates, rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();

test('the commit of this lease is answered as committed', async () => {
  const { id, token } = await gates.held();
  const { xid } = await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  expect(
    await gates.unchanged(() =>
      gates.call('fn_job_commit_status', { job_id: id, lease_token: token, xid }),
    ),
  ).toEqual({
    outcome: 'committed',
    committed: true,
  });
});

test('a commit that has become DONE is still answered as committed', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_succeed', {
    job_id: id,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  expect(await gates.call('fn_job_commit_status', { job_id: id, lease_token: token })).toEqual({
    outcome: 'committed',
    committed: true,
  });
});

test('somebody else having committed is told apart from this lease having done so', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  expect(await gates.call('fn_job_commit_status', { job_id: id, lease_token: stranger })).toEqual({
    outcome: 'aborted',
    committed: true,
  });
});

test('a job that never committed is answered as aborted', async () => {
  const { id, token } = await gates.held();
  expect(await gates.call('fn_job_commit_status', { job_id: id, lease_token: token })).toEqual({
    outcome: 'aborted',
    committed: false,
  });
});

test('a transaction id from before a crash, which the server has not given out again, does not raise', async () => {
  const { id, token } = await gates.held();
  expect(
    await gates.call('fn_job_commit_status', {
      job_id: id,
      lease_token: token,
      xid: '99999999999',
    }),
  ).toEqual({
    outcome: 'aborted',
    committed: false,
  });
});

test('a job that does not exist is answered as aborted', async () => {
  expect(
    await gates.call('fn_job_commit_status', { job_id: stranger, lease_token: stranger }),
  ).toEqual({
    outcome: 'aborted',
    committed: false,
  });
});

describe('beside another connection', () => {
  const apart = freshGates();

  test('a transaction that is still open is answered as in_progress, and as aborted after its rollback', async () => {
    const { id, token } = await apart.held();
    const client = new pg.Client({ connectionString: apart.db.connectionString });
    await client.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query('select writ.fn_job_commit($1, $2) as answer', [
        id,
        token,
      ]);
      const { xid } = rows[0].answer;
      expect(
        await apart.call('fn_job_commit_status', { job_id: id, lease_token: token, xid }),
      ).toEqual({
        outcome: 'in_progress',
        committed: false,
      });
      await client.query('rollback');
      expect(
        await apart.call('fn_job_commit_status', { job_id: id, lease_token: token, xid }),
      ).toEqual({
        outcome: 'aborted',
        committed: false,
      });
    } finally {
      await client.end();
    }
  });
});

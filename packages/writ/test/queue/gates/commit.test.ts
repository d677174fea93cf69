import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { freshGates, rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();

test('a commit marks the execution COMMITTED and answers its transaction', async () => {
  const { id, token } = await gates.held();
  const answer = await gates.call('fn_job_commit', { job_id: id, lease_token: token, actor: 'w1' });
  expect(answer).toEqual({ committed: true, xid: expect.stringMatching(/^\d+$/) });
  expect(await gates.executions(id)).toMatchObject([
    { status: 'COMMITTED', attempt: 1, execution_no: 1, committed_at: expect.any(Date) },
  ]);
  expect(await gates.statusOf(id)).toBe('in_progress');
  expect(await gates.history(id)).toEqual(['enqueued', 'leased', 'started', 'committed']);
});

test('a second commit raises already_committed', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  await gates.raises('WR001', /^already_committed$/, () =>
    gates.call('fn_job_commit', { job_id: id, lease_token: token }),
  );
});

test('a commit after the job has succeeded raises already_committed', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_succeed', {
    job_id: id,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  await gates.raises('WR001', /^already_committed$/, () =>
    gates.call('fn_job_commit', { job_id: id, lease_token: token }),
  );
});

test('a token that does not hold the job raises lease_lost', async () => {
  const { id } = await gates.held();
  await gates.raises('WR001', /^lease_lost$/, () =>
    gates.call('fn_job_commit', { job_id: id, lease_token: stranger }),
  );
});

test('a token of another lease raises lease_lost', async () => {
  const { id } = await gates.held();
  await gates.enqueue();
  const other = await gates.claim({ start: 1 });
  await gates.raises('WR001', /^lease_lost$/, () =>
    gates.call('fn_job_commit', { job_id: id, lease_token: other.token }),
  );
});

test('a token whose lease was reaped raises lease_lost', async () => {
  const { id, token } = await gates.held();
  await gates.db.clock.advance('31s');
  await gates.call('fn_job_lease_reaper');
  await gates.raises('WR001', /^lease_lost$/, () =>
    gates.call('fn_job_commit', { job_id: id, lease_token: token }),
  );
});

test('an execution that has ended in a lease that lives on raises lease_lost', async () => {
  await gates.register();
  const first = await gates.enqueue();
  await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  await gates.call('fn_job_fail_transient', {
    job_id: first,
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  await gates.raises('WR001', /^lease_lost$/, () =>
    gates.call('fn_job_commit', { job_id: first, lease_token: token }),
  );
});

test('a job that was not started raises job_not_started', async () => {
  const { id, token } = await gates.held({ started: false });
  await gates.raises('WR001', /^job_not_started$/, () =>
    gates.call('fn_job_commit', { job_id: id, lease_token: token }),
  );
});

test('nothing to commit raises lease_lost', async () => {
  await gates.raises('WR001', /^lease_lost$/, () =>
    gates.call('fn_job_commit', { job_id: null, lease_token: null }),
  );
});

test('an expired lease that nobody has taken back still commits: the token fences, not the clock', async () => {
  const { id, token } = await gates.held({ ttl: 1 });
  await gates.db.clock.advance('1h');
  expect(await gates.call('fn_job_commit', { job_id: id, lease_token: token })).toMatchObject({
    committed: true,
  });
});

describe('beside another connection', () => {
  const apart = freshGates();

  test('effect and mark stand or fall together', async () => {
    const { id, token } = await apart.held();
    await apart.db.query('create table effect (job uuid)');
    const client = new pg.Client({ connectionString: apart.db.connectionString });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('insert into effect values ($1)', [id]);
      await client.query('select writ.fn_job_commit($1, $2)', [id, token]);
      await client.query('rollback');
      expect(await apart.db.query('select from effect')).toHaveLength(0);
      expect(await apart.executions(id)).toMatchObject([{ status: 'IN_PROGRESS' }]);
      await client.query('begin');
      await client.query('insert into effect values ($1)', [id]);
      await client.query('select writ.fn_job_commit($1, $2)', [id, token]);
      await client.query('commit');
    } finally {
      await client.end();
    }
    expect(await apart.db.query('select from effect')).toHaveLength(1);
    expect(await apart.executions(id)).toMatchObject([{ status: 'COMMITTED' }]);
  });

  test('the reaper leaves a lease alone that a transaction holds for its commit', async () => {
    const { id, token } = await apart.held({ ttl: 1 });
    const client = new pg.Client({ connectionString: apart.db.connectionString });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('select writ.fn_job_commit($1, $2)', [id, token]);
      await apart.db.clock.advance('1h');
      expect(await apart.call('fn_job_lease_reaper')).toMatchObject({ leases: 0 });
      await client.query('commit');
    } finally {
      await client.end();
    }
    expect(await apart.call('fn_job_lease_reaper')).toMatchObject({ leases: 1, succeeded: 1 });
    expect(await apart.statusOf(id)).toBe('succeeded');
  });
});

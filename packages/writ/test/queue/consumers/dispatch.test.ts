import { describe, expect, test } from 'vitest';
import { session } from '../../races/sessions.js';
import {
  type Answer,
  freshGates,
  type Gates,
  rolledBackGates,
  stranger,
} from '../gates/harness.js';

const put = (gates: Gates, consumer: string, change: object = {}) =>
  gates.call('fn_consumer_register', {
    consumer,
    event_type: 'dot.job.enqueued',
    job_kind: 'audit',
    options: {},
    actor: 'test',
    ...change,
  });

describe('one event', () => {
  const gates = rolledBackGates();
  const eventOf = async (jobId: string, type = 'dot.job.enqueued'): Promise<string> => {
    const [row] = await gates.db.query(
      'select id from writ.event_outbox where event_subject_ref = $1 and event_type = $2',
      [jobId, type],
    );
    return String(row?.id);
  };
  const dispatch = (event_id: unknown, rest: object = {}): Promise<Answer> =>
    gates.call('fn_consumer_dispatch', { event_id, actor: 'ada', ...rest });

  test('becomes one job per consumer, which knows its cause and carries a reference, not data', async () => {
    await gates.register('chore');
    await gates.register('audit');
    await gates.register('mirror');
    const subject = await gates.enqueue({
      tenant: 'acme',
      correlation_id: 'order-7',
      input: { big: 'x'.repeat(1000) },
    });
    const event = await eventOf(subject);
    await put(gates, 'auditor', { options: { priority: 3, delay_ms: 60_000, max_attempts: 2 } });
    await put(gates, 'mirror', { job_kind: 'mirror' });
    await put(gates, 'later', { event_type: 'dot.job.succeeded' });
    const answer = await dispatch(event);
    expect(answer).toMatchObject({ event_id: event, enqueued: 2 });
    expect(answer.jobs.map((job: Answer) => [job.consumer, job.duplicate])).toEqual([
      ['auditor', false],
      ['mirror', false],
    ]);
    const job = await gates.job(answer.jobs[0].job_id);
    expect(job).toMatchObject({
      job_kind: 'audit',
      tenant_id: 'acme',
      idempotency_key: `consumer:auditor:${event}`,
      causation_event_id: event,
      correlation_id: 'order-7',
      source_ref: `job/${subject}`,
      priority: 3,
      max_attempts: 2,
      enqueued_by: 'ada',
      status: 'queued',
    });
    expect(job.process_after.getTime() - job.enqueued_at.getTime()).toBe(60_000);
    expect(await gates.call('fn_job_payload', { job_id: job.job_id, tenant_id: 'acme' })).toEqual({
      input: { eventId: event, eventType: 'dot.job.enqueued', subject },
    });
  });

  test('that is dispatched again enqueues nothing, and says so', async () => {
    await gates.register('chore');
    await gates.register('audit');
    await put(gates, 'auditor');
    const event = await eventOf(await gates.enqueue());
    const first = await dispatch(event);
    const again = await gates.unchanged(() => dispatch(event));
    expect(again).toEqual({
      event_id: event,
      enqueued: 0,
      jobs: [{ ...first.jobs[0], duplicate: true }],
    });
  });

  test('is found by its id wherever it stands in its batch', async () => {
    await gates.register('chore');
    await gates.register('audit');
    await gates.register('begun');
    await put(gates, 'auditor');
    await put(gates, 'begun', { event_type: 'dot.job.started', job_kind: 'begun' });
    for (let n = 0; n < 3; n++) await gates.enqueue();
    await gates.claim({ limit: 3, start: 2 }); // one batch: leased 1..3, started 1..2
    const facts = await gates.db.query(
      `select id, event_type, event_subject_ref from writ.event_outbox where event_type in ('dot.job.enqueued', 'dot.job.started') order by id`,
    );
    expect(facts).toHaveLength(5);
    for (const fact of facts) {
      const answer = await dispatch(fact.id);
      expect(answer.enqueued).toBe(1);
      const job = await gates.job(answer.jobs[0].job_id);
      expect(job.source_ref).toBe(`job/${fact.event_subject_ref}`);
      expect(job.job_kind).toBe(fact.event_type === 'dot.job.started' ? 'begun' : 'audit');
    }
  });

  test('about a worker becomes a job of the default tenant that names the worker', async () => {
    await gates.register('audit');
    await put(gates, 'silence', { event_type: 'system.queue_worker_silent' });
    const beat = { executor_kind: 'external_worker', domain_scope: ['dot'], cadence_seconds: 10 };
    for (const executor_id of ['w1', 'w2'])
      await gates.call('fn_queue_heartbeat', { executor_id, ...beat });
    await gates.db.clock.advance('1h');
    await gates.call('fn_job_tick', { actor: 'test' });
    const facts = await gates.db.query(
      `select id, event_subject_ref from writ.event_outbox where event_type = 'system.queue_worker_silent'`,
    );
    expect(facts.map((fact) => fact.event_subject_ref).sort()).toEqual(['w1', 'w2']);
    for (const fact of facts) {
      const job = await gates.job((await dispatch(fact.id)).jobs[0].job_id);
      expect(job.tenant_id).toBe('default');
      expect(
        await gates.call('fn_job_payload', { job_id: job.job_id, tenant_id: 'default' }),
      ).toMatchObject({
        input: { subject: fact.event_subject_ref },
      });
    }
  });

  test('is for consumers of its kind and domain only', async () => {
    await gates.register('chore', { event_domain: 'iu' });
    await gates.register('other');
    await gates.register('audit');
    await put(gates, 'kind', { options: { subject_kind: 'chore' } });
    await put(gates, 'domain', { options: { subject_domain: 'iu' } });
    const of = async (kind: string) =>
      (await dispatch(await eventOf(await gates.enqueue({ kind })))).jobs.map(
        (job: Answer) => job.consumer,
      );
    expect(await of('chore')).toEqual(['domain', 'kind']);
    expect(await of('other')).toEqual([]);
  });

  test('about a job of the kind that the consumer enqueues is left out: nothing feeds itself', async () => {
    await gates.register('audit');
    await put(gates, 'auditor');
    const event = await eventOf(await gates.enqueue({ kind: 'audit' }));
    expect(await gates.unchanged(() => dispatch(event))).toEqual({
      event_id: event,
      enqueued: 0,
      jobs: [],
    });
  });

  test('that does not exist, or is of another tenant, is not found', async () => {
    await gates.register('chore');
    await gates.register('audit');
    await put(gates, 'auditor');
    const event = await eventOf(await gates.enqueue({ tenant: 'acme' }));
    const gate = 'fn_consumer_dispatch';
    await gates.refuses('event_not_found', gate, { event_id: stranger });
    await gates.refuses('event_not_found', gate, { event_id: null });
    await gates.refuses('event_not_found', gate, { event_id: `${event.slice(0, 30)}000002` });
    await gates.refuses('event_not_found', gate, { event_id: `${event.slice(0, 30)}000000` });
    await gates.refuses('event_not_found', gate, { event_id: event, tenant_id: 'globex' });
    await gates.refuses('actor_required', gate, { event_id: event, actor: '' });
    await gates.db.query(`select set_config('writ.tenant', 'globex', true)`);
    await gates.refuses('event_not_found', gate, { event_id: event });
  });

  test('whose jobs the queue refuses for one consumer is dispatched to none', async () => {
    await gates.register('chore');
    await gates.register('audit');
    const event = await eventOf(await gates.enqueue());
    await put(gates, 'first');
    await put(gates, 'second');
    await gates.set('queue.job_substrate.enabled', false);
    await gates.refuses('job_substrate_disabled', 'fn_consumer_dispatch', { event_id: event });
    await gates.set('queue.job_substrate.enabled', true);
    await gates.set('queue.payload.max_bytes', 10);
    await gates.refuses('payload_too_large', 'fn_consumer_dispatch', { event_id: event });
  });
});

describe('eight sessions at once', () => {
  const gates = freshGates();

  test('dispatch one event to one job per consumer, and each is told which', async () => {
    await gates.register('chore');
    await gates.register('audit');
    for (const name of ['a', 'b', 'c']) await put(gates, name);
    const subject = await gates.enqueue();
    const [event] = await gates.db.query(
      'select id from writ.event_outbox where event_subject_ref = $1',
      [subject],
    );
    const sessions = await Promise.all(Array.from({ length: 8 }, () => session(gates.db)));
    const answers: Answer[] = await Promise.all(
      sessions.map((s) => s.gate('fn_consumer_dispatch($1)', [event?.id])),
    );
    await Promise.all(sessions.map((s) => s.end()));
    expect(answers.reduce((sum, answer) => sum + answer.enqueued, 0)).toBe(3);
    const jobs = await gates.db.query(
      `select job_id from writ.job_queue where job_kind = 'audit' order by idempotency_key`,
    );
    expect(jobs).toHaveLength(3);
    for (const answer of answers)
      expect(answer.jobs.map((job: Answer) => ({ job_id: job.job_id }))).toEqual(jobs);
  });
});

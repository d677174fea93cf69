/**
 * Every (state, event) pair of every machine, tried on a real job that was brought into the state
 * through the gates. What the machine allows leads to one of the states it declares; what it does
 * not allow is refused, or does nothing where the clock calls it, and then every table is as it
 * was. Where a state can be reached in several ways that the machine tells apart (`when`), each way
 * is tried.
 */
import { describe, expect, test } from 'vitest';
import {
  type ExecutionEvent,
  type ExecutionState,
  execution,
  executionEvents,
  executionStates,
} from '../../src/machines/execution.js';
import { type JobEvent, type JobState, job, jobEvents, jobStates } from '../../src/machines/job.js';
import { nextStates } from '../../src/machines/machine.js';
import {
  type Answer,
  changes,
  contents,
  type DatabaseError,
  rolledBackGates,
  stranger,
} from '../queue/gates/harness.js';

const gates = rolledBackGates();
const failure = { error_code: 'e', error_message: 'm', actor: 'test' };

/** A job on the way: its id, and the token of the lease that holds it or held it last. */
interface Subject {
  readonly id: string;
  readonly token: string;
}

/** Ways into each state. A job rests in all of them but `failed`, which is a fact on the way. */
const ways: Record<string, { state: JobState; reach: () => Promise<Subject> }> = {
  queued: { state: 'queued', reach: async () => ({ id: await queued(), token: stranger }) },
  'queued for later': {
    state: 'queued',
    reach: async () => ({ id: await queued({ delay_ms: 1000 }), token: stranger }),
  },
  'queued after a release': {
    state: 'queued',
    reach: async () => end(await held(), 'fn_job_release', { actor: 'test' }),
  },
  'queued after a crash': { state: 'queued', reach: async () => due(await crashed()) },
  leased: { state: 'leased', reach: () => held({ started: false }) },
  'leased, asked to stop': {
    state: 'leased',
    reach: async () => asked(await held({ started: false })),
  },
  'leased on the last attempt': {
    state: 'leased',
    reach: () => held({ started: false, attempts: 1 }),
  },
  in_progress: { state: 'in_progress', reach: () => held() },
  'in_progress, asked to stop': { state: 'in_progress', reach: async () => asked(await held()) },
  'in_progress where one crash is too many': {
    state: 'in_progress',
    reach: async () => {
      await gates.set('queue.poison.crashes', 1);
      const { id } = await due(await crashed());
      return { id, token: (await gates.claim({ start: 1, alone: true })).token };
    },
  },
  'in_progress on the last attempt': { state: 'in_progress', reach: () => held({ attempts: 1 }) },
  'in_progress and committed': {
    state: 'in_progress',
    reach: async () => end(await held(), 'fn_job_commit', {}),
  },
  succeeded: {
    state: 'succeeded',
    reach: async () => end(await held(), 'fn_job_succeed', { result_ref: null, actor: 'test' }),
  },
  retry_waiting: {
    state: 'retry_waiting',
    reach: async () => end(await held(), 'fn_job_fail_transient', failure),
  },
  dead_letter: {
    state: 'dead_letter',
    reach: async () => end(await held(), 'fn_job_fail_permanent', failure),
  },
  'dead_letter of last year': {
    state: 'dead_letter',
    reach: async () => {
      const subject = await end(await held(), 'fn_job_fail_permanent', failure);
      await gates.db.clock.advance('340d');
      return subject;
    },
  },
  cancelled: {
    state: 'cancelled',
    reach: async () => end(await asked(await held()), 'fn_job_release', { actor: 'test' }),
  },
  'cancelled before it ran': {
    state: 'cancelled',
    reach: async () => asked({ id: await queued(), token: stranger }),
  },
  'cleaned after a success': {
    state: 'cleaned',
    reach: async () => {
      const subject = await end(await held(), 'fn_job_succeed', {
        result_ref: null,
        actor: 'test',
      });
      await gates.db.clock.advance('31d');
      await gates.call('fn_job_cleanup_sweep');
      return subject;
    },
  },
};

async function queued(change: Record<string, unknown> = {}): Promise<string> {
  await gates.register();
  return gates.enqueue({ deadline_ms: 86_400_000, ...change });
}
async function held({ started = true, attempts = 5 } = {}): Promise<Subject> {
  return gates.held({ started, job: { deadline_ms: 86_400_000, max_attempts: attempts } });
}
async function asked(subject: Subject): Promise<Subject> {
  expect(
    await gates.call('fn_job_cancel', { job_id: subject.id, reason: 'r', actor: 'test' }),
  ).not.toHaveProperty('refused');
  return subject;
}
async function end(
  subject: Subject,
  gate: string,
  rest: Record<string, unknown>,
): Promise<Subject> {
  expect(
    await gates.call(gate, { job_id: subject.id, lease_token: subject.token, ...rest }),
  ).not.toHaveProperty('refused');
  return subject;
}

/** Its worker has died in it: from now on it runs alone. */
async function crashed(): Promise<Subject> {
  const subject = await held();
  await after('31s', 'fn_job_lease_reaper');
  return subject;
}
async function due(subject: Subject): Promise<Subject> {
  await after('1h', 'fn_job_tick', { actor: 'test' });
  return subject;
}

/**
 * How each event is brought about. Those of the clock come by moving it, and are a no-op where they
 * do not apply.
 */
const causes: Record<JobEvent, { byClock: boolean; cause: (subject: Subject) => Promise<Answer> }> =
  {
    enqueue: { byClock: false, cause: ({ id }) => gates.enqueueMany([{ id, kind: 'chore' }]) },
    claim: { byClock: true, cause: () => gates.claim({ alone: true }) },
    progress: {
      byClock: false,
      cause: (s) => call('fn_job_progress', s, { status_signal_only: null, actor: 'test' }),
    },
    commit: { byClock: false, cause: (s) => call('fn_job_commit', s, {}) },
    succeed: {
      byClock: false,
      cause: (s) => call('fn_job_succeed', s, { result_ref: null, actor: 'test' }),
    },
    fail_transient: { byClock: false, cause: (s) => call('fn_job_fail_transient', s, failure) },
    fail_permanent: { byClock: false, cause: (s) => call('fn_job_fail_permanent', s, failure) },
    release: { byClock: false, cause: (s) => call('fn_job_release', s, { actor: 'test' }) },
    cancel: {
      byClock: false,
      cause: ({ id }) => gates.call('fn_job_cancel', { job_id: id, reason: 'r', actor: 'test' }),
    },
    replay: {
      byClock: false,
      cause: ({ id }) =>
        gates.call('fn_job_dead_letter_replay', { job_id: id, triage: 't', actor: 'test' }),
    },
    lease_expired: { byClock: true, cause: () => after('31s', 'fn_job_lease_reaper') },
    deadline: { byClock: true, cause: () => after('25h', 'fn_job_tick', { actor: 'test' }) },
    due: { byClock: true, cause: () => after('2h', 'fn_job_tick', { actor: 'test' }) },
    sweep: { byClock: true, cause: () => after('31d', 'fn_job_cleanup_sweep') },
  };

const call = (gate: string, { id, token }: Subject, rest: Record<string, unknown>) =>
  gates.call(gate, { job_id: id, lease_token: token, ...rest });

async function after(
  time: '31s' | '1h' | '2h' | '25h' | '31d',
  gate: string,
  parameters: Record<string, unknown> = {},
): Promise<Answer> {
  await gates.db.clock.advance(time);
  return gates.call(gate, parameters);
}

/**
 * A tick does everything that is due; to see one of its events alone, the others are switched off
 * or out of reach.
 */
async function isolate(event: JobEvent): Promise<void> {
  if (event !== 'due' && event !== 'deadline') return;
  // A setting has a receipt, and the test clock may stand in a month that has no partition yet.
  await gates.db.query(
    `select writ_data.make_receipt_partition((writ.now() at time zone 'UTC')::date)`,
  );
  await gates.set('queue.lease.reaper_enabled', false);
}

describe.each(Object.entries(ways))('a job that is %s', (_, { state, reach }) => {
  test('is in that state', async () => {
    const { id } = await reach();
    expect(await gates.statusOf(id)).toBe(state);
  });

  test.each(jobEvents)('%s', async (event) => {
    const subject = await reach();
    await isolate(event);
    const before = await contents(gates.db);
    const { byClock, cause } = causes[event];
    const answer = await cause(subject).catch((error: DatabaseError) => error);
    const now = await gates.statusOf(subject.id);
    const changed = changes(before, await contents(gates.db));
    const allowed = nextStates(job, state, event);
    const refused = answer.refused === true || answer.code === 'WR001';
    if (allowed.length === 0 || refused) {
      // Refused, or nothing to do: in a state that allows the event this can happen too, for a
      // reason the machine does not draw.
      expect(now).toBe(state);
      expect(changed).toEqual({});
    }
    if (allowed.length === 0 && !byClock && event !== 'enqueue') expect(refused).toBe(true);
    if (allowed.length > 0 && !refused)
      expect(
        byClock && Object.keys(changed).length === 0 ? [state, ...allowed] : allowed,
      ).toContain(now);
  });
});

/**
 * The exact outcome of each declared transition: the event, the way into the state, and where it
 * ends.
 */
const outcomes: [way: string, event: JobEvent, to: JobState][] = [
  ['queued', 'claim', 'leased'],
  ['queued after a release', 'claim', 'leased'],
  ['queued after a crash', 'claim', 'leased'],
  ['retry_waiting', 'due', 'queued'],
  ['leased', 'progress', 'in_progress'],
  ['in_progress', 'progress', 'in_progress'],
  ['in_progress', 'commit', 'in_progress'],
  ['in_progress', 'succeed', 'succeeded'],
  ['in_progress and committed', 'succeed', 'succeeded'],
  ['leased', 'fail_transient', 'retry_waiting'],
  ['leased on the last attempt', 'fail_transient', 'dead_letter'],
  ['leased, asked to stop', 'fail_transient', 'cancelled'],
  ['in_progress', 'fail_transient', 'retry_waiting'],
  ['in_progress on the last attempt', 'fail_transient', 'dead_letter'],
  ['in_progress, asked to stop', 'fail_transient', 'cancelled'],
  ['leased', 'fail_permanent', 'dead_letter'],
  ['leased, asked to stop', 'fail_permanent', 'cancelled'],
  ['in_progress', 'fail_permanent', 'dead_letter'],
  ['in_progress, asked to stop', 'fail_permanent', 'cancelled'],
  ['leased', 'release', 'queued'],
  ['leased, asked to stop', 'release', 'cancelled'],
  ['in_progress', 'release', 'queued'],
  ['in_progress, asked to stop', 'release', 'cancelled'],
  ['queued', 'cancel', 'cancelled'],
  ['queued for later', 'due', 'queued'],
  ['queued for later', 'cancel', 'cancelled'],
  ['retry_waiting', 'cancel', 'cancelled'],
  ['leased', 'cancel', 'leased'],
  ['in_progress', 'cancel', 'in_progress'],
  ['leased', 'lease_expired', 'queued'],
  ['leased, asked to stop', 'lease_expired', 'cancelled'],
  ['in_progress', 'lease_expired', 'retry_waiting'],
  ['in_progress on the last attempt', 'lease_expired', 'retry_waiting'],
  ['in_progress where one crash is too many', 'lease_expired', 'dead_letter'],
  ['in_progress and committed', 'lease_expired', 'succeeded'],
  ['in_progress, asked to stop', 'lease_expired', 'cancelled'],
  ['queued', 'deadline', 'cancelled'],
  ['queued for later', 'deadline', 'cancelled'],
  ['retry_waiting', 'deadline', 'cancelled'],
  ['dead_letter', 'replay', 'cleaned'],
  ['dead_letter of last year', 'sweep', 'cleaned'],
  ['succeeded', 'sweep', 'cleaned'],
  ['cancelled', 'sweep', 'cleaned'],
  ['cancelled before it ran', 'sweep', 'cleaned'],
];

test.each(outcomes)('%s, %s → %s, and the machine declares it', async (name, event, to) => {
  const way = ways[name] as (typeof ways)[string];
  const subject = await way.reach();
  await causes[event].cause(subject);
  expect(await gates.statusOf(subject.id)).toBe(to);
  expect(nextStates(job, way.state, event)).toContain(to);
});

test('every transition that the machine declares is among these', () => {
  const tried = new Set(outcomes.map(([way, event, to]) => `${ways[way]?.state} ${event} ${to}`));
  const declared = job.transitions
    .filter((t) => t.from !== '')
    .map((t) => `${t.from} ${t.event} ${t.to}`);
  expect(declared.filter((transition) => !tried.has(transition))).toEqual([]);
});

test('a job rests in every state but failed, and is tried in each', () => {
  const reached = new Set(Object.values(ways).map((way) => way.state));
  expect(jobStates.filter((state) => !reached.has(state))).toEqual(['failed']);
});

/** The same for executions: where they are open they are places in a lease, afterwards rows. */
const executionWays: Record<ExecutionState, () => Promise<Subject>> = {
  LEASED: () => held({ started: false }),
  IN_PROGRESS: () => held(),
  COMMITTED: async () => end(await held(), 'fn_job_commit', {}),
  DONE: async () => end(await held(), 'fn_job_succeed', { result_ref: null, actor: 'test' }),
  ABORTED: async () => end(await held(), 'fn_job_fail_permanent', failure),
};
const executionCauses: Record<
  ExecutionEvent,
  { byClock: boolean; cause: (subject: Subject) => Promise<Answer> }
> = {
  claim: causes.claim,
  start: {
    byClock: true,
    cause: ({ token }) => gates.call('fn_job_start_many', { lease_token: token, upto: 1 }),
  },
  commit: causes.commit,
  succeed: causes.succeed,
  abort: causes.fail_permanent,
  reap: causes.lease_expired,
};

describe.each(executionStates)('an execution that is %s', (state) => {
  test.each(executionEvents)('%s', async (event) => {
    const subject = await executionWays[state]();
    const statusOf = async () => (await gates.executions(subject.id))[0]?.status;
    expect(await statusOf()).toBe(state);
    const before = await contents(gates.db);
    const { byClock, cause } = executionCauses[event];
    const answer = await cause(subject).catch((error: DatabaseError) => error);
    const allowed = nextStates(execution, state, event);
    if (allowed.length > 0) {
      expect(allowed).toContain(await statusOf());
    } else {
      expect(changes(before, await contents(gates.db))).toEqual({});
      if (!byClock) expect(answer.refused === true || answer.code === 'WR001').toBe(true);
    }
  });
});

test.each([
  ['LEASED', 'reap', 'ABORTED'],
  ['IN_PROGRESS', 'reap', 'ABORTED'],
  ['COMMITTED', 'reap', 'DONE'],
  ['IN_PROGRESS', 'commit', 'COMMITTED'],
  ['IN_PROGRESS', 'succeed', 'DONE'],
  ['COMMITTED', 'succeed', 'DONE'],
  ['LEASED', 'abort', 'ABORTED'],
  ['IN_PROGRESS', 'abort', 'ABORTED'],
  ['LEASED', 'start', 'IN_PROGRESS'],
] as const)('an execution: %s, %s → %s', async (from, event, to) => {
  const subject = await executionWays[from]();
  await executionCauses[event].cause(subject);
  expect((await gates.executions(subject.id))[0]).toMatchObject({ status: to });
});

import type { PreparedPool } from '../../database/prepared.js';
import { refusalIn } from '../../errors/index.js';
import { count } from '../../telemetry/meter.js';
import { pass } from './fault-points.js';
import type { Lease, Reported } from './lease.js';

export interface Reporter {
  readonly gates: PreparedPool;
  readonly workerId: string;
  /** How long the database may take before a report counts as unanswered. */
  readonly writeBudgetMs: number;
}

interface GateAnswer {
  started_upto: number;
  retry_waiting?: number;
  refused: { position: number; reason: string; detail?: string | null }[];
  /** Of steps: runs that have ended, whether something follows, and when a timer is due. */
  runs_ended?: string[];
  followed?: boolean;
  next_due_ms?: number;
}

export interface Told {
  /** The database no longer knows the lease. */
  readonly lost: boolean;
  readonly startedUpto: number;
  /** Jobs that wait for another attempt. */
  readonly retries: number;
  readonly runsEnded?: readonly string[] | undefined;
  /** Something can be claimed that could not before. */
  readonly followed?: boolean | undefined;
  /** Something may be due before the next look. */
  readonly dueMs?: number | undefined;
}

/** Why the database does not accept a success. No repetition changes it, so the job fails. */
const unsuccessful = new Map([
  ['payload_too_large', 'The result is larger than queue.payload.max_bytes.'],
  ['invalid_result', 'The result is not JSON that a database can hold.'],
  [
    'reserved_job_kind',
    'The handler returned, and the gate of this reserved kind has not committed the job.',
  ],
]);

/**
 * Tells the database what became of jobs of one lease, and moves its start mark, in one call for
 * successes and one for the rest. Sent again after an answer that was lost, or did not come within
 * the write budget, it does no harm: what has ended already is refused by itself. A failure that is
 * refused because the effect stands (its COMMIT went through unanswered) is reported as the success
 * it is.
 */
export async function report(
  reporter: Reporter,
  lease: Lease,
  outcomes: readonly Reported[],
  startUpto: number,
): Promise<Told> {
  const failures = outcomes.filter(({ outcome }) => outcome.type !== 'succeeded');
  const successes = outcomes.filter(({ outcome }) => outcome.type === 'succeeded');
  let startedUpto = 0;
  let retries = 0;

  if (failures.length > 0) {
    const answer = await call(
      reporter,
      'fn_job_abort_many($1, $2::int[], $3::text[], $4::text[], $5::text[], $6, $7, $8::text[])',
      [
        lease.token,
        failures.map(({ position }) => position),
        failures.map(({ outcome }) => outcome.type),
        failures.map(({ outcome }) => ('code' in outcome ? outcome.code : null)),
        failures.map(({ outcome }) => ('message' in outcome ? outcome.message : null)),
        startUpto,
        reporter.workerId,
        failures.map(({ outcome }) => ('stack' in outcome ? outcome.stack : null)),
      ],
    );
    if (!answer) return { lost: true, startedUpto, retries };
    startedUpto = answer.started_upto;
    retries = answer.retry_waiting ?? 0;
    for (const { position, reason } of answer.refused) {
      if (reason.startsWith('committed_cannot'))
        successes.push({ position, outcome: { type: 'succeeded', result: undefined } });
    }
    if (successes.length === 0) return { lost: false, startedUpto, retries };
  }

  const results = successes.map(({ outcome }) =>
    outcome.type === 'succeeded' ? outcome.result : undefined,
  );
  const answer = await call(reporter, 'fn_job_succeed_many($1, $2::int[], $3::text[], $4, $5)', [
    lease.token,
    successes.map(({ position }) => position),
    results.some((result) => result !== undefined) ? results.map((result) => result ?? null) : null,
    startUpto,
    reporter.workerId,
  ]);
  if (!answer) return { lost: true, startedUpto, retries };
  if (lease.traced)
    for (const { position } of successes) lease.items[position - 1]?.execution?.told();
  const failed = answer.refused.flatMap(({ position, reason, detail }) => {
    const message = unsuccessful.get(reason);
    if (message === undefined) return [];
    return [
      {
        position,
        outcome: { type: 'permanent', code: reason, message: detail ?? message } as const,
      },
    ];
  });
  if (failed.length > 0) return report(reporter, lease, failed, startUpto);
  return {
    lost: false,
    startedUpto: Math.max(startedUpto, answer.started_upto),
    retries,
    runsEnded: answer.runs_ended,
    followed: answer.followed,
    dueMs: answer.next_due_ms,
  };
}

async function call(
  { gates, writeBudgetMs }: Reporter,
  gate: string,
  params: unknown[],
): Promise<GateAnswer | undefined> {
  const sent = gates.ask(writeBudgetMs, gate, params);
  sent.catch(() => undefined); // looked at below; a fault point may wait in between
  await pass('finish_sent');
  const { rows } = await sent;
  const answer = rows[0].answer as GateAnswer;
  count('writ.reports', 1);
  const refusal = refusalIn(answer);
  if (refusal && refusal.code !== 'lease_lost') throw refusal;
  return refusal ? undefined : answer;
}

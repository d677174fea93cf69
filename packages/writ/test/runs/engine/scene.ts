/**
 * A database, a connection and workers for one test of the engine. When the test has ended, the
 * logs of all its runs are held against the rules of their plans by the independent check, and no
 * worker may have had trouble: a test that looks at one thing still fails if another went wrong.
 */
import { afterEach, beforeEach, expect } from 'vitest';
import type { HandledJob, RunSnapshot, Worker, WorkerOptions, Writ } from '../../../src/index.js';
import { checkLog, type Fault } from '../../../src/runs/check-log.js';
import type { RunEvent } from '../../../src/runs/events.js';
import type { PlanDocument } from '../../../src/runs/plans/document.js';
import { onFaultPoint, type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import { until } from '../../races/sessions.js';

export interface Scene {
  readonly db: TestDatabase;
  readonly writ: Writ;
  /** A worker that looks often, so that nothing waits for a second to pass. */
  work(handlers: readonly HandledJob[], options?: WorkerOptions): Promise<Worker>;
  /** The log in words: `StepStarted charge`. */
  log(runId: string): Promise<string[]>;
  /** Resolves when the log has this line. */
  untilLog(runId: string, line: string): Promise<void>;
  untilStatus(runId: string, status: string): Promise<void>;
  /** The snapshot of a run when it has ended. */
  ended(runId: string): Promise<RunSnapshot>;
  /** For a test that breaks a log on purpose. */
  unchecked(): void;
}

/**
 * In words, with the attempt where it is not the first. Numbers of pauses and ids of signals are
 * left out.
 */
export function line({ eventType, stepId, logicalAttemptId, eventData }: RunEvent): string {
  if (stepId === 'RUN')
    return eventType.startsWith('Signal')
      ? `${eventType} ${(eventData as { type: string }).type}`
      : eventType;
  return `${eventType} ${stepId}${logicalAttemptId === '1' ? '' : ` #${logicalAttemptId}`}`;
}

export async function allEvents(writ: Writ, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const more = (await writ.runs.events(runId, { afterSeq: events.length })).items;
    events.push(...more);
    if (more.length < 1000) return events;
  }
}

/**
 * The outputs of the steps of a run, as the executions have them; that of a step over a list is the
 * list of its elements'.
 */
export async function outputsOf(
  db: TestDatabase,
  runId: string,
): Promise<(stepId: string) => unknown> {
  const rows = await db.query(
    `select s.step_id, i.item, e.result from writ_data.job j join writ_data.run r on r.run_id = j.run_id
     join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = j.step_no
     join writ_data.job_execution e on e.job_id = j.job_id and e.status in ('COMMITTED', 'DONE')
     left join writ_data.run_item i on i.run_id = j.run_id and i.step_no = j.step_no and i.attempt = j.logical_attempt and i.place = j.place
     where j.run_id = $1 and j.undo is null order by s.step_no, i.item`,
    [runId],
  );
  const outputs = new Map<string, unknown>();
  for (const { step_id, item, result } of rows) {
    const id = String(step_id);
    if (item === null) outputs.set(id, result);
    else outputs.set(id, [...((outputs.get(id) as unknown[]) ?? []), result]);
  }
  return (stepId) => outputs.get(stepId);
}

/** What the independent check finds wrong in the log of a run. */
export async function faultsOf(db: TestDatabase, writ: Writ, runId: string): Promise<Fault[]> {
  const [row] = await db.query(
    'select p.document, r.input from writ_data.run r join writ_data.plan p on p.plan_no = r.plan_no where r.run_id = $1',
    [runId],
  );
  const plan = JSON.parse(String(row?.document)) as PlanDocument;
  return checkLog(plan, await allEvents(writ, runId), {
    input: row?.input ?? undefined,
    outputs: await outputsOf(db, runId),
  });
}

/** What is refused, by its code. */
export const codeOf = (attempt: Promise<unknown>): Promise<string | undefined> =>
  attempt.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );

export function scene(): Scene {
  let db: TestDatabase;
  let writ: Writ;
  let checked = true;
  /** What went wrong in workers themselves, and not in a handler. */
  let troubles: string[] = [];
  beforeEach(async () => {
    db = await testDatabase();
    writ = await db.connect();
    checked = true;
    troubles = [];
  });
  afterEach(async () => {
    onFaultPoint(undefined);
    const faults: unknown[] = [];
    try {
      for (const { run_id } of checked ? await db.query('select run_id from writ_data.run') : []) {
        const found = await faultsOf(db, writ, String(run_id));
        if (found.length > 0)
          faults.push({ found, log: (await allEvents(writ, String(run_id))).map(line) });
      }
    } finally {
      await db.drop();
    }
    expect({ faults, troubles }).toEqual({ faults: [], troubles: [] });
  });
  const log = async (runId: string) => (await allEvents(writ, runId)).map(line);
  return {
    get db() {
      return db;
    },
    get writ() {
      return writ;
    },
    work: (handlers, options) =>
      writ.work(handlers, {
        poll: '20ms',
        onError: (error, job) => job ?? troubles.push(String(error)),
        ...options,
      }),
    log,
    untilLog: (runId, wanted) => until(async () => (await log(runId)).includes(wanted)),
    untilStatus: (runId, status) =>
      until(
        async () =>
          (
            await db.query('select from writ.run where run_id = $1 and status = $2', [
              runId,
              status,
            ])
          ).length > 0,
      ),
    ended: (runId) => writ.runs.finished(runId, { timeoutMs: 15_000 }),
    unchecked: () => {
      checked = false;
    },
  };
}

/**
 * What every engine promises, whatever executes the steps. `makeEngine` gives an engine that works,
 * the database of its log, and a way to let the plan's only step end: it runs until then.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import type {
  EngineRunRef,
  Plan,
  RunContext,
  RunSignal,
  WorkflowEngine,
  Writ,
} from '../../src/index.js';
import { checkLog } from '../../src/runs/check-log.js';
import { until } from '../races/sessions.js';

export interface Conformer {
  readonly engine: WorkflowEngine;
  /** Where the log of its runs is read. */
  readonly writ: Writ;
  /** A plan of steps in a row, `first` and `second`; the first runs until `finish`. */
  readonly plan: Plan<unknown>;
  finish(): void;
  close(): Promise<void>;
}

const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );

export function conformance(name: string, makeEngine: () => Promise<Conformer>): void {
  describe(`the engine ${name}`, () => {
    let c: Conformer;
    beforeEach(async () => {
      c = await makeEngine();
    });
    afterEach(() => c.close());
    const context = (more: Partial<RunContext> = {}): RunContext => ({
      tenantId: 'acme',
      projectId: 'shop',
      environmentId: 'test',
      runId: uuidv7(),
      targetAdapter: name,
      ...more,
    });
    const status = async (run: EngineRunRef) => (await c.engine.getRunStatus(run)).status;
    const reaches = (run: EngineRunRef, wanted: string) =>
      until(async () => (await status(run)) === wanted, 20_000);
    const begun = (run: EngineRunRef) =>
      until(
        async () =>
          (await c.writ.runs.events(run.runId)).items.some(
            ({ eventType, stepId }) => eventType === 'StepStarted' && stepId === 'first',
          ),
        20_000,
      );
    const faults = async (run: EngineRunRef, input?: unknown) =>
      checkLog(c.plan.document, (await c.writ.runs.events(run.runId)).items, { input });

    test('is called what runs name it by', () => {
      expect(c.engine.name).toBe(name);
    });

    test('starts a run of a plan that is what its reference says, and sees it through', async () => {
      const wanted = context();
      const run = await c.engine.startRun(c.plan.ref, wanted, { order: 1 });
      expect(run).toMatchObject({ engine: name, runId: wanted.runId });
      await begun(run);
      expect(await c.engine.getRunStatus(run)).toMatchObject({
        runId: wanted.runId,
        status: 'RUNNING',
        startedAt: expect.any(String),
      });
      c.finish();
      await reaches(run, 'COMPLETED');
      expect(await c.engine.getRunStatus(run)).toMatchObject({
        status: 'COMPLETED',
        completedAt: expect.any(String),
      });
      expect(await faults(run, { order: 1 })).toEqual([]);
      const snapshot = await c.writ.runs.snapshot(run.runId);
      expect(snapshot).toMatchObject({
        planId: c.plan.id,
        planVersion: c.plan.version,
        engine: name,
        tenantId: 'acme',
        counts: { succeeded: 2 },
      });
    });

    test('starts a run once, however often it is asked to with the same id', async () => {
      const wanted = context();
      const runs = await Promise.all([1, 2, 3].map(() => c.engine.startRun(c.plan.ref, wanted)));
      for (const run of runs) expect(run.runId).toBe(wanted.runId);
      c.finish();
      await reaches(runs[0] as EngineRunRef, 'COMPLETED');
      const events = (await c.writ.runs.events(wanted.runId)).items;
      expect(events.filter(({ eventType }) => eventType === 'RunStarted')).toHaveLength(1);
      expect(await faults(runs[0] as EngineRunRef)).toEqual([]);
    });

    test('starts nothing whose plan is not what its reference says', async () => {
      const wanted = context();
      expect(
        await codeOf(c.engine.startRun({ ...c.plan.ref, sha256: 'ab'.repeat(32) }, wanted)),
      ).toBe('PLAN_INTEGRITY_VALIDATION_FAILED');
      expect(await codeOf(c.writ.runs.snapshot(wanted.runId))).toBe('RUN_NOT_FOUND');
    });

    test('starts nothing that is meant for another engine', async () => {
      const wanted = context({ targetAdapter: 'another' });
      expect(await codeOf(c.engine.startRun(c.plan.ref, wanted))).toBe(
        'CAPABILITIES_NOT_SUPPORTED',
      );
      expect(await codeOf(c.writ.runs.snapshot(wanted.runId))).toBe('RUN_NOT_FOUND');
    });

    test('cancels a run, with the reason on the record', async () => {
      const run = await c.engine.startRun(c.plan.ref, context());
      await begun(run);
      await c.engine.cancelRun(run, 'changed my mind');
      await reaches(run, 'CANCELLED');
      expect(await c.engine.getRunStatus(run)).toMatchObject({
        status: 'CANCELLED',
        message: 'changed my mind',
      });
      expect(await faults(run)).toEqual([]);
    });

    test('pauses and goes on', async () => {
      const run = await c.engine.startRun(c.plan.ref, context());
      await begun(run);
      await c.engine.signal(run, { type: 'PAUSE' });
      await reaches(run, 'PAUSED');
      c.finish();
      await until(
        async () => (await c.writ.runs.snapshot(run.runId)).counts.succeeded === 1,
        20_000,
      );
      expect(await status(run)).toBe('PAUSED');
      await c.engine.signal(run, { type: 'RESUME' });
      await reaches(run, 'COMPLETED');
      expect(await faults(run)).toEqual([]);
    });

    test('applies a signal once', async () => {
      const run = await c.engine.startRun(c.plan.ref, context());
      await begun(run);
      const signal: RunSignal = { type: 'PAUSE', signalId: randomUUID() };
      expect(await c.engine.signal(run, signal)).toMatchObject({ duplicate: false });
      await reaches(run, 'PAUSED');
      await c.engine.signal(run, { type: 'RESUME' });
      await reaches(run, 'RUNNING');
      expect(await c.engine.signal(run, signal)).toMatchObject({
        signalId: signal.signalId,
        duplicate: true,
      });
      expect(await status(run)).toBe('RUNNING');
      c.finish();
      await reaches(run, 'COMPLETED');
    });

    test('refuses signals to a run that has ended', async () => {
      const run = await c.engine.startRun(c.plan.ref, context());
      c.finish();
      await reaches(run, 'COMPLETED');
      const before = (await c.writ.runs.events(run.runId)).items;
      expect(await codeOf(c.engine.signal(run, { type: 'PAUSE' }))).toBe('RUN_TERMINAL');
      expect(await codeOf(c.engine.cancelRun(run))).toBe('RUN_TERMINAL');
      expect((await c.writ.runs.events(run.runId)).items).toEqual(before);
    });

    test('knows no run that it has not started', async () => {
      const run = { ...(await c.engine.startRun(c.plan.ref, context())), runId: uuidv7() };
      expect(await codeOf(c.engine.getRunStatus(run))).toBe('RUN_NOT_FOUND');
      expect(await codeOf(c.engine.signal(run, { type: 'PAUSE' }))).toBe('RUN_NOT_FOUND');
      expect(await codeOf(c.engine.cancelRun(run))).toBe('RUN_NOT_FOUND');
    });
  });
}

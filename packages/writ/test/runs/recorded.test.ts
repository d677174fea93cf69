/** Logs that earlier releases wrote mean today what they meant then. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkLog } from '../../src/runs/check-log.js';
import type { RunEvent } from '../../src/runs/events.js';
import type { PlanDocument } from '../../src/runs/plans/document.js';
import { validatePlan } from '../../src/runs/plans/validate.js';
import { emptySnapshot, type RunSnapshot, reduce } from '../../src/runs/snapshot.js';

interface History {
  readonly plan: PlanDocument;
  readonly input?: unknown;
  readonly outputs: Record<string, unknown>;
  readonly events: RunEvent[];
  readonly snapshot: RunSnapshot;
}

const folder = new URL('./histories/', import.meta.url);
const releases = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const recorded = releases.flatMap((release) =>
  readdirSync(new URL(`${release}/`, folder)).map((file) => `${release}/${file}`),
);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, folder), 'utf8')) as History;
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

test('there are histories of every release since runs exist', () => {
  expect(releases).toContain('0.8.0');
  expect(recorded.length).toBeGreaterThanOrEqual(20);
});

test.each(recorded)('%s reduces to the snapshot that was recorded', (path) => {
  const { events, snapshot } = read(path);
  const { runId, tenantId } = snapshot;
  expect(asJson(reduce(emptySnapshot(runId, tenantId), events))).toEqual(snapshot);
});

test.each(recorded)(
  '%s reduces to the same from every snapshot on its way, as it is kept',
  (path) => {
    const { events, snapshot } = read(path);
    let kept = asJson(emptySnapshot(snapshot.runId, snapshot.tenantId)) as RunSnapshot;
    for (const event of events) kept = asJson(reduce(kept, [event])) as RunSnapshot;
    expect(kept).toEqual(snapshot);
  },
);

test.each(recorded)('%s is what the rules of its plan allow', (path) => {
  const { plan, input, outputs, events } = read(path);
  expect(validatePlan(plan)).toEqual(plan);
  expect(
    checkLog(plan, events, { input, outputs: (stepId) => outputs[stepId], atRest: true }),
  ).toEqual([]);
});

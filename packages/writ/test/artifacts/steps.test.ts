/** What a step put is in the event of its end, in its snapshot, and in that of its run. */
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import {
  type ArtifactRef,
  defineJob,
  definePlan,
  emptySnapshot,
  type JobContext,
  reduce,
} from '../../src/index.js';
import { scene } from './scene.js';

const s = scene();

const build = defineJob<unknown>('build', { retry: { attempts: 2, base: '1ms' } });
const after = defineJob<unknown>('after');
const plan = definePlan('pipeline', { version: '1.0.0' }, (p) => {
  const built = p.step('build', build);
  p.step('after', after, { after: built });
});

async function done(handler: (context: JobContext<unknown>) => Promise<unknown>) {
  await s.writ.work([build.handle(handler), after.handle(() => 'ok')], { poll: '20ms' });
  const run = await s.writ.start(plan);
  const snapshot = await run.finished();
  return {
    runId: run.runId,
    snapshot,
    of: (stepId: string) => snapshot.steps.find((step) => step.stepId === stepId)?.artifacts,
  };
}

type Put = () => Promise<void>;
const endings: [string, (put: Put, context: JobContext<unknown>) => Promise<unknown>][] = [
  ['returns', (put) => put().then(() => ({ ok: true }))],
  ['commits', (put, { commit }) => put().then(() => commit(() => ({ ok: true })))],
  ['returns nothing', (put) => put()],
];

describe.each(endings)('a step that %s', (name, ends) => {
  test('has what it put behind its output, and the bytes can be had by it', async () => {
    const refs: ArtifactRef[] = [];
    const { of, snapshot, runId } = await done((context) =>
      ends(async () => {
        refs.push(
          await context.artifacts.put('log', { kind: 'log-bundle' }),
          await context.artifacts.put('report', { kind: 'report' }),
        );
      }, context),
    );
    expect(snapshot.status).toBe('COMPLETED');
    const output = name === 'returns nothing' ? [] : [expect.objectContaining({ kind: 'output' })];
    expect(of('build')).toEqual([...output, ...refs]);
    expect(of('after')).toEqual([expect.objectContaining({ kind: 'output' })]);
    expect(refs[0]?.uri).toContain(runId);
    const [found] = (of('build') ?? []).filter(({ kind }) => kind === 'report');
    expect(await text(await s.store.get(found as ArtifactRef))).toBe('report');
    expect(await s.db.query('select status from writ.job_queue')).toEqual([
      { status: 'succeeded' },
      { status: 'succeeded' },
    ]);
  });
});

test('what a failed attempt put is not in the log', async () => {
  const { of } = await done(async ({ artifacts, job }) => {
    await artifacts.put(`attempt ${job.attempt}`, { kind: 'report' });
    if (job.attempt === 1) throw new Error('again');
  });
  expect(
    await Promise.all((of('build') ?? []).map(async (ref) => text(await s.store.get(ref)))),
  ).toEqual(['attempt 2']);
});

test('the log says it all: it reduces to the same references', async () => {
  const { runId, snapshot } = await done(({ artifacts }) => artifacts.put('x', { kind: 'report' }));
  const replayed = reduce(emptySnapshot(runId), (await s.writ.runs.events(runId)).items);
  expect(replayed.artifacts).toEqual(snapshot.artifacts);
  expect(replayed.artifacts.map(({ kind }) => kind)).toEqual(['output', 'report', 'output']);
});

test('more references than an event should hold are refused, in words', async () => {
  let refused: unknown;
  await done(async ({ artifacts }) => {
    for (let n = 0; n < 100; n++) await artifacts.put('x', { kind: 'report' });
    refused = await artifacts.put('x', { kind: 'report' }).catch((error: unknown) => error);
  });
  expect(refused).toMatchObject({
    code: 'invalid_artifact',
    message: expect.stringContaining('100'),
  });
});

test('the gate takes references only', async () => {
  const commit = (artifacts: string) => (context: JobContext<unknown>) =>
    context.commit(async (tx) => {
      const { rows } = await tx.query(
        'select lease_token from writ_data.job_execution where job_id = $1',
        [context.job.id],
      );
      await tx.query('select writ.fn_run_step_commit($1, $2, null, $3, $4::text::jsonb)', [
        context.job.id,
        rows[0].lease_token,
        'test',
        artifacts,
      ]);
    });
  const wrong = [
    '[{"uri":"data:,x","kind":"x"}]',
    '[{"uri":"s3://b/k","kind":"x","body":"y"}]',
    '{"uri":"s3://b/k"}',
    '["x"]',
  ];
  const codes: unknown[] = [];
  await done(async (context) => {
    for (const artifacts of wrong)
      codes.push(
        await commit(artifacts)(context).then(
          () => 'taken',
          ({ code }: { code: string }) => code,
        ),
      );
  });
  expect(codes).toEqual(wrong.map(() => 'ARTIFACT_BODY_NOT_ALLOWED'));
});

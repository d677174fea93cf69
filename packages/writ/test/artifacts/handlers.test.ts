/**
 * Artifacts in the hands of handlers: the bytes go to the store, and the database has references
 * only.
 */
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type ArtifactRef, defineJob, definePlan } from '../../src/index.js';
import { runUntilIdle } from '../../src/testing/index.js';
import { scene } from './scene.js';

const s = scene();

const make = defineJob<unknown>('make', { retry: { attempts: 1 } });
const use = defineJob<ArtifactRef>('use', { retry: { attempts: 1 } });
const makeAndUse = definePlan('make-and-use', { version: '1.0.0' }, (p) => {
  const made = p.step('make', make);
  p.step('use', use, { input: made.output as never });
});

test('a step puts, the next one gets, and no table holds what was put', async () => {
  const body = `only in the store ${randomBytes(20).toString('hex')}`;
  let got = '';
  const run = await s.writ.start(makeAndUse);
  await s.writ.work(
    [
      make.handle(({ artifacts }) => artifacts.put(body, { kind: 'report' })),
      use.handle(async ({ input, artifacts }) => {
        got = await text(await artifacts.get(input));
      }),
    ],
    { poll: '20ms' },
  );
  expect((await run.finished()).status).toBe('COMPLETED');
  expect(got).toBe(body);
  const tables = await s.db.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname like 'writ%'`,
  );
  for (const { name } of tables) {
    const [found] = await s.db.query(
      `select count(*)::int as rows from ${name} t where t::text like $1`,
      [`%${body}%`],
    );
    expect({ name, ...found }).toEqual({ name, rows: 0 });
  }
});

test('a handler cannot read what belongs to another tenant', async () => {
  const ref = await s.store.put('secret', { kind: 'report', tenant: 'acme' });
  await s.writ.enqueue(use, ref, { tenant: 'acme' });
  await s.writ.enqueue(use, ref, { tenant: 'evil' });
  const seen: string[] = [];
  await runUntilIdle(s.writ, [
    use.handle(
      async ({ input, artifacts, job }) =>
        void seen.push(job.tenant, await text(await artifacts.get(input))),
    ),
  ]);
  expect(seen).toEqual(['acme', 'secret']);
  expect(
    await s.db.query(`select tenant_id, status, last_error_code from writ.job_queue order by 1`),
  ).toMatchObject([
    { tenant_id: 'acme', status: 'succeeded' },
    { tenant_id: 'evil', status: 'dead_letter', last_error_code: 'artifact_of_another_tenant' },
  ]);
});

test('what a handler puts is its own tenant’s and its run’s, whatever it says', async () => {
  let ref: ArtifactRef | undefined;
  await s.writ.enqueue(make, {}, { tenant: 'acme' });
  await runUntilIdle(s.writ, [
    make.handle(async ({ artifacts }) => {
      ref = await artifacts.put('x', { kind: 'report', tenant: 'evil' } as never);
      return ref;
    }),
  ]);
  expect(ref?.uri).toMatch(/^writ-file:\/\/files\/acme\//);
});

test('a put is stopped with its job', async () => {
  const { jobId } = await s.writ.enqueue(make, {});
  let stopped: unknown;
  async function* endless() {
    for (;;) {
      yield 'x';
      if (stopped === undefined) stopped = await s.writ.jobs.cancel(jobId);
      await new Promise((turn) => setImmediate(turn));
    }
  }
  await runUntilIdle(s.writ, [
    make.handle(({ artifacts }) => artifacts.put(endless(), { kind: 'report' })),
  ]);
  expect(stopped).toMatchObject({ status: 'cancel_requested' });
  expect(await s.db.query('select status from writ.job_queue')).toEqual([{ status: 'cancelled' }]);
});

test('without a store, an error says how to give one', async () => {
  const bare = await s.db.connect();
  const errors: unknown[] = [];
  await bare.enqueue(make, {});
  await runUntilIdle(
    bare,
    [make.handle(({ artifacts }) => artifacts.put('x', { kind: 'report' }))],
    {
      onError: (error) => void errors.push(error),
    },
  );
  expect(errors).toMatchObject([
    { code: 'artifacts_not_configured', remedy: expect.stringContaining('fileArtifacts') },
  ]);
});

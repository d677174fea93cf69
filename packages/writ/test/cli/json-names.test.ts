/** With --json an object has the same field names in every command that answers it. */
import { expect, test } from 'vitest';
import { defineJob, definePlan } from '../../src/index.js';
import { scene } from './governance/scene.js';
import { fixture, json, start } from './run.js';

const s = scene();
type Row = Record<string, unknown>;

const row = (...args: string[]) => json<Row>(args, { env: s.env });
const first = async (...args: string[]) => (await json<Row[]>(args, { env: s.env }))[0] as Row;

/** What one command names and the other does not. */
const unknownTo = (whole: Row, part: Row) =>
  Object.keys(part).filter((name) => !Object.hasOwn(whole, name));

test('a job, a run, a contract, a governance job, a governor, a webhook and a setting have one set of names', async () => {
  await s.people();
  const writ = await s.db.connect();
  const act = defineJob<{ n: number }>('act');
  const { jobId } = await writ.enqueue(act, { n: 1 });
  const plan = definePlan<unknown>(
    'one',
    { version: '1' },
    (p) => void p.step('act', act as never),
  );
  const { runId } = await writ.start(plan, { n: 1 }, { requestId: 'r-1' });
  const contract = await s.approved();
  await writ.governor({ tenant: 'acme' });
  await writ.destinations.put('shop', {
    bus: 'webhook',
    config: { url: 'https://shop.example/hook', secrets: ['shop'] },
  });

  const job = (await row('queue', 'show', jobId)).job as Row;
  expect(
    unknownTo(job, await first('queue', 'list', '--kind', 'act', '--status', 'queued')),
  ).toEqual([]);
  expect(unknownTo(job, await row('queue', 'cancel', jobId, '--reason', 'a mistake'))).toEqual([]);

  const run = (await row('runs', 'show', runId)).run as Row;
  const listed = await first('runs', 'list');
  expect(unknownTo(run, listed)).toEqual([]);
  expect(run).toMatchObject(listed);

  const shown = await row('contracts', 'show', contract.id);
  expect(unknownTo(shown, await first('contracts', 'list'))).toEqual([]);
  const preview = await s.jsonAs('ada', 'contracts', 'preview', contract.id);
  expect(
    unknownTo(
      { ...shown, hash: 1, approvals_needed: 1, document: 1, unverified: 1, outside: 1 },
      preview,
    ),
  ).toEqual([]);
  const activated = await s.jsonAs('deployer', 'contracts', 'activate', contract.id, '--yes');
  expect(unknownTo({ ...shown, activated: 1 }, activated)).toEqual([]);

  const governed = await row('changes', 'show', String(activated.job_id));
  expect(unknownTo(governed, await first('changes', 'list'))).toEqual([]);
  const reason = ['--reason', 'not today'];
  expect(
    unknownTo(
      governed,
      await s.jsonAs('ada', 'changes', 'cancel', String(activated.job_id), ...reason),
    ),
  ).toEqual([]);

  expect(unknownTo(await row('governor', 'show', 'acme'), await first('governor', 'list'))).toEqual(
    [],
  );
  expect(unknownTo(await row('webhooks', 'show', 'shop'), await first('webhooks', 'list'))).toEqual(
    [],
  );
  expect(unknownTo(await row('settings', 'queue.worker.enabled'), await first('settings'))).toEqual(
    [],
  );

  const frozen = await s.jsonAs('ops', 'freeze', 'on', 'a holiday');
  expect(unknownTo(await first('freeze', 'list'), frozen)).toEqual([]);
  const opened = await s.jsonAs('ops', 'incidents', 'open', 'the index is gone');
  expect(unknownTo(await first('incidents', 'list'), opened)).toEqual([]);
  const said = await s.jsonAs('ops', 'signals', 'record', 'search', 'WARN', '--reason', 'slow');
  expect(unknownTo(await first('signals', 'list'), said)).toEqual([]);
  expect(
    unknownTo(await first('principals', 'list'), await row('principals', 'disable', 'bob')),
  ).toEqual(['disabled']);
}, 180_000);

test('a schedule, a consumer, a weight, a webhook, an entitlement and a signal have one set of names', async () => {
  await s.people();
  const writ = await s.db.connect();
  await writ.enqueue(defineJob<object>('act'), {});
  const put = await row('schedules', 'put', 'nightly', '--cron', '@daily', '--kind', 'act');
  expect(unknownTo(await first('schedules', 'list'), put)).toEqual(['changed']);
  const fired = await row('schedules', 'run', 'nightly');
  const job = (await row('queue', 'show', String(fired.jobId))).job as Row;
  expect(fired).toEqual({ name: 'nightly', jobId: job.job_id });

  const consumer = await row(
    'consumers',
    'put',
    'alarm',
    '--on',
    'dot.job.dead_letter',
    '--job',
    'act',
  );
  const listed = await first('consumers', 'list');
  expect(listed).toMatchObject(consumer);
  expect(unknownTo(listed, await row('consumers', 'remove', 'alarm'))).toEqual(['removed']);
  const weight = await row('queue', 'weight', 'set', 'acme', '2');
  expect(await first('queue', 'weight', 'list')).toMatchObject(weight);
  const { created: _, ...webhook } = await row(
    'webhooks',
    'add',
    'shop',
    'https://shop.example/hook',
    '--secret',
    'shop',
  );
  expect(await first('webhooks', 'list')).toMatchObject(webhook);

  const { capabilities } = await row('capabilities', 'list');
  const [known] = capabilities as Row[];
  const [healthy] = (await row('health')).capabilities as Row[];
  expect(unknownTo(known as Row, healthy as Row)).toEqual(['why', 'status']);

  await writ.governor({ tenant: 'acme' });
  const entitled = await s.jsonAs(
    'ops',
    'governor',
    'entitlement',
    'set',
    'acme',
    '--tier',
    'starter',
  );
  expect(entitled).toEqual(await row('governor', 'entitlement', 'show', 'acme'));
  expect((await row('governor', 'show', 'acme')).entitlement).toEqual(entitled);
  // As its receipt counts it.
  const signalled = await row(
    'governor',
    'signal',
    'acme',
    '--type',
    'error_rate',
    '--value',
    '0.1',
  );
  expect(signalled).toMatchObject({ arrival_seq: 1, status: 'accepted' });
}, 180_000);

test('a failed attempt of a worker has the names of its job and of its execution', async () => {
  const writ = await s.db.connect();
  const { jobId } = await writ.enqueue(defineJob<object>('greet', { retry: { attempts: 1 } }), {
    fail: true,
  });
  const worker = start(['worker', fixture('jobs.mjs'), '--json'], { env: s.env });
  const [line] = await worker.saying(/^.*"event":"failed".*$/m);
  worker.kill('SIGTERM');
  await worker.ended;
  const { job, executions } = (await row('queue', 'show', jobId)) as {
    job: Row;
    executions: Row[];
  };
  expect(unknownTo({ ...job, ...executions[0] }, JSON.parse(line))).toEqual([
    'at',
    'event',
    'code',
    'message',
  ]);
});

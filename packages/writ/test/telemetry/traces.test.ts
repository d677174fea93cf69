/** One trace from whoever enqueues to whoever is told, through the database and two connections. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type CloudEvent,
  defineJob,
  definePlan,
  type EventReference,
  PermanentFailure,
  type Writ,
  webhooks,
} from '../../src/index.js';
import { newWebhookSecret } from '../../src/outbox/webhooks.js';
import { spans } from '../../src/telemetry/metrics.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { registerTraces, tree } from './sdk.js';

const traces = registerTraces();
const application = trace.getTracer('application');
let db: TestDatabase;
/** Of whoever enqueues. */
let writ: Writ;
/** Of whoever works. */
let other: Writ;

beforeEach(async () => {
  db = await testDatabase();
  [writ, other] = await Promise.all([db.connect(), db.connect()]);
  traces.sample = true;
  traces.clear();
});
afterEach(() => db.drop());

/** Does something in a span of the application's, and answers its trace. */
async function inRequest(name: string, act: () => Promise<unknown>): Promise<string> {
  return application.startActiveSpan(name, { root: true }, async (span) => {
    await act();
    span.end();
    return span.spanContext().traceId;
  });
}

const spansOf = (traceId: string) =>
  traces.spans.filter((span) => span.spanContext().traceId === traceId);
const treeOf = (traceId: string) => tree(spansOf(traceId), SpanKind);
const named = (name: string) => traces.spans.filter((span) => span.name === name);
const ping = defineJob<{ n: number }>('ping', { retry: { attempts: 2, base: '1ms', cap: '1ms' } });
const kept = () =>
  db.query('select traceparent from writ_data.job union all select traceparent from writ_data.run');

const order = definePlan('order', { version: '1' }, (p) => {
  const reserve = p.step('reserve', defineJob('reserve'));
  const pack = p.step('pack', defineJob('pack'), { after: reserve });
  const bill = p.step('bill', defineJob('bill'), { after: reserve });
  p.step('ship', defineJob('ship'), { after: [pack, bill] });
});

test('enqueue, process, what the handler does, and the commit are one trace', async () => {
  const handler = ping.handle(async ({ commit }) => {
    await application.startActiveSpan('own', async (span) => {
      await commit((tx) => tx.query('select 1'));
      span.end();
    });
  });
  const id = await inRequest('request', () => writ.enqueue(ping, { n: 1 }));
  await runUntilIdle(other, [handler]);
  expect(treeOf(id)).toEqual([
    'INTERNAL request',
    'INTERNAL request > PRODUCER enqueue ping',
    'INTERNAL request > PRODUCER enqueue ping > CONSUMER process ping',
    'INTERNAL request > PRODUCER enqueue ping > CONSUMER process ping > INTERNAL own',
    'INTERNAL request > PRODUCER enqueue ping > CONSUMER process ping > INTERNAL own > INTERNAL commit',
  ]);
  const [job] = await db.query('select job_id, traceparent from writ.job_queue');
  const [sent] = named('enqueue ping');
  expect(job?.traceparent).toBe(`00-${id}-${sent?.spanContext().spanId}-01`);
  const [process] = named('process ping');
  expect(process?.attributes).toMatchObject({
    'messaging.system': 'writ',
    'messaging.destination.name': 'ping',
    'writ.job.id': job?.job_id,
    'writ.attempt': 1,
    'writ.outcome': 'succeeded',
  });
  expect(process?.attributes['writ.queue_ms']).toBeGreaterThanOrEqual(0);
  expect(process?.status.code).toBe(SpanStatusCode.UNSET);
});

test('a handler that only returns has a commit from its end until its report is durable', async () => {
  const id = await inRequest('request', () => writ.enqueue(ping, { n: 1 }));
  await runUntilIdle(other, [ping.handle(() => undefined)]);
  expect(treeOf(id)).toContain(
    'INTERNAL request > PRODUCER enqueue ping > CONSUMER process ping > INTERNAL commit',
  );
  const [process] = named('process ping');
  const [commit] = named('commit');
  expect(commit?.endTime[0]).toBeGreaterThanOrEqual(process?.endTime[0] as number);
});

test('many at once are one span with their number, and each job has its place', async () => {
  const id = await inRequest('request', () =>
    writ.enqueueMany(ping, [
      { input: { n: 1 } },
      { input: { n: 2 }, key: 'two' },
      { input: { n: 3 }, delay: 1 },
    ]),
  );
  await runUntilIdle(other, [ping.handle(() => undefined)], { skipTime: db });
  expect(named('enqueue ping')).toHaveLength(1);
  expect(named('enqueue ping')[0]?.attributes['messaging.batch.message_count']).toBe(3);
  expect(treeOf(id).filter((line) => line.endsWith('CONSUMER process ping'))).toHaveLength(3);
});

test('calls of many requests that travel together keep their own traces', async () => {
  const requests = Array.from({ length: 20 }, (_, n) =>
    inRequest(`request ${n}`, () => writ.enqueue(ping, { n })),
  );
  const plain = context.with(ROOT_CONTEXT, () => writ.enqueue(ping, { n: 100 }));
  const ids = await Promise.all(requests);
  await plain;
  await runUntilIdle(other, [ping.handle(() => undefined)]);
  for (const [n, id] of ids.entries())
    expect(treeOf(id)).toContain(
      `INTERNAL request ${n} > PRODUCER enqueue ping > CONSUMER process ping`,
    );
  expect(new Set(ids).size).toBe(20);
});

test('what a handler enqueues goes on with its trace, and so does a graph', async () => {
  const pong = defineJob<{ n: number }>('pong');
  const handlers = [
    ping.handle(({ input }) => writ.enqueue(pong, input).then(() => undefined)),
    pong.handle(() => undefined),
  ];
  const id = await inRequest('request', () =>
    writ.emitGraph({ kind: 'group', generator: 'test' }, [{ job: ping, input: { n: 1 } }]),
  );
  await runUntilIdle(other, handlers);
  expect(treeOf(id)).toContain(
    'INTERNAL request > PRODUCER enqueue group > CONSUMER process ping > PRODUCER enqueue pong > CONSUMER process pong',
  );
});

test('a retry is another span in the same trace, and a failure is told by its code', async () => {
  let tries = 0;
  const handler = ping.handle(() => {
    tries++;
    throw Object.assign(new Error('what the database said'), {
      code: tries === 1 ? 'E_TRY_AGAIN' : undefined,
    });
  });
  const id = await inRequest('request', () => writ.enqueue(ping, { n: 1 }));
  await runUntilIdle(other, [handler], { skipTime: db });
  const tried = spansOf(id).filter((span) => span.name === 'process ping');
  expect(
    tried.map(({ attributes, status }) => [
      attributes['writ.attempt'],
      attributes['writ.outcome'],
      attributes['error.type'],
      status,
    ]),
  ).toEqual([
    [1, 'transient', 'E_TRY_AGAIN', { code: SpanStatusCode.ERROR, message: 'E_TRY_AGAIN' }],
    [2, 'transient', 'handler_error', { code: SpanStatusCode.ERROR, message: 'handler_error' }],
  ]);
  expect(
    JSON.stringify(tried.map(({ attributes, status, events }) => [attributes, status, events])),
  ).not.toContain('what the database said');
});

test('a refusal fails the span of the call, and a permanent failure that of the job', async () => {
  const id = await inRequest('request', async () => {
    await expect(writ.enqueue(ping, { n: 1 }, { attempts: 0 })).rejects.toMatchObject({
      code: 'invalid_max_attempts',
    });
    expect(await writ.tryEnqueue(ping, { n: 1 }, { attempts: 0 })).toMatchObject({
      code: 'invalid_max_attempts',
    });
    await writ.enqueue(ping, { n: 2 });
  });
  const handler = ping.handle(() => {
    throw new PermanentFailure('never', { code: 'NEVER' });
  });
  await runUntilIdle(other, [handler]);
  expect(
    spansOf(id).filter((span) => span.attributes['error.type'] === 'invalid_max_attempts'),
  ).toHaveLength(2);
  expect(named('process ping')[0]?.attributes).toMatchObject({
    'writ.outcome': 'permanent',
    'error.type': 'NEVER',
  });
});

test('a commit that fails says why by its code', async () => {
  const handler = ping.handle(({ commit }) => commit((tx) => tx.query('select 1 / 0')));
  const id = await inRequest('request', () => writ.enqueue(ping, { n: 1 }, { attempts: 1 }));
  await runUntilIdle(other, [handler]);
  const commit = spansOf(id).find((span) => span.name === 'commit');
  expect(commit?.attributes['error.type']).toBe('22012');
});

test('what is not sampled where it was enqueued is not recorded where it is done, and the decision is kept', async () => {
  traces.sample = false;
  const places: (string | undefined)[] = [];
  const id = await inRequest('request', () => writ.enqueue(ping, { n: 1 }));
  traces.sample = true;
  const handler = ping.handle(() => {
    const place = trace.getActiveSpan()?.spanContext();
    places.push(place && `${place.traceId} ${place.traceFlags}`);
  });
  await runUntilIdle(other, [handler]);
  expect((await kept()).map((row) => String(row.traceparent).slice(-3))).toEqual(['-00']);
  expect(places).toEqual([`${id} 0`]);
  expect(spansOf(id)).toEqual([]);
});

test('a job that nobody traced has a trace of its own, whatever the worker was started in', async () => {
  await db.query(`select writ.fn_job_kind_register('ping', '{}', 'test')`);
  await db.query(
    `select writ.fn_job_enqueue_alike('ping', array[writ_data.uuidv7()], null, 'test')`,
  );
  const id = await inRequest('start', () => runUntilIdle(other, [ping.handle(() => undefined)]));
  expect(await kept()).toEqual([{ traceparent: null }]);
  const [process] = named('process ping');
  expect(process?.parentSpanContext).toBeUndefined();
  expect(process?.spanContext().traceId).not.toBe(id);
});

test('what is no place in a trace is refused by itself, and no table takes it', async () => {
  await db.query(`select writ.fn_job_kind_register('ping', '{}', 'test')`);
  const good = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
  const enqueue = (trace: string) =>
    db.query(
      `select writ.fn_job_enqueue_many(jsonb_build_array(jsonb_build_object('id', writ_data.uuidv7(), 'kind', 'ping', 'traceparent', $1::text)), 'test') as answer`,
      [trace],
    );
  const alike = (traces: string[]) =>
    db.query(
      `select writ.fn_job_enqueue_alike('ping', array[writ_data.uuidv7(), writ_data.uuidv7()], null, 'test', p_traces => $1::text[]) as answer`,
      [traces],
    );
  for (const bad of [
    '',
    'x',
    good.slice(1),
    good.toUpperCase(),
    `${good}-1`,
    good.replace('00-', 'ff-'),
    good.replace('ab', '-b'),
    good.replace('ab', 'xb'),
    `${good}\n`,
  ]) {
    expect((await enqueue(bad))[0]?.answer, bad).toMatchObject({
      enqueued: 0,
      refused: [{ reason: 'invalid_traceparent' }],
    });
    expect((await alike([good, bad]))[0]?.answer, bad).toMatchObject({
      enqueued: 1,
      refused: [{ index: 1, reason: 'invalid_traceparent' }],
    });
  }
  await writ.start(order, undefined);
  expect((await alike([good]))[0]?.answer).toMatchObject({ refused: true, reason: 'invalid_jobs' });
  for (const table of ['job', 'run']) {
    await expect(
      db.query(`select writ_data.make_partition('${table}', current_date + 20);
        insert into writ_data.${table} select (jsonb_populate_record(x, jsonb_build_object('${table}_id', writ_data.day_floor(current_date + 20), 'traceparent', 'x'))).* from writ_data.${table} x limit 1`),
      table,
    ).rejects.toThrow('traceparent_is_a_place_in_a_trace');
  }
});

/** A receiver of webhooks on loopback that keeps the headers and the events. */
async function receiver() {
  const got: { headers: IncomingHttpHeaders; event: CloudEvent }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({ headers: request.headers, event: JSON.parse(Buffer.concat(chunks).toString()) });
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    got,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.close(),
  };
}

test('a run, its steps and the webhooks about it are one trace, and the receiver can go on with it', async () => {
  const hook = await receiver();
  const secret = newWebhookSecret();
  await writ.destinations.put('shop', {
    bus: 'webhook',
    types: ['dot.run.*', 'dot.job.succeeded'],
    config: { url: hook.url, secrets: ['s'] },
  });
  const names = ['reserve', 'pack', 'bill', 'ship'];
  const worker = await other.work(names.map((name) => defineJob(name).handle(() => name)));
  const relay = await other.relay({
    buses: { webhook: webhooks({ secretOf: () => secret, allowPrivate: true, allowHttp: true }) },
  });
  const id = await inRequest('request', async () => {
    const run = await writ.start(order, undefined);
    await run.finished();
  });
  await vi.waitFor(
    () => expect(hook.got.map(({ event }) => event.type)).toContain('dot.run.RunCompleted'),
    { timeout: 20_000 },
  );
  await Promise.all([worker.stop(), relay.stop()]);
  hook.close();

  const lines = treeOf(id);
  const start = 'INTERNAL request > PRODUCER start order';
  for (const name of names) expect(lines).toContain(`${start} > CONSUMER step order/${name}`);
  for (const name of names)
    expect(
      lines.filter((line) => line === `${start} > CONSUMER step order/${name} > INTERNAL commit`),
    ).toHaveLength(1);
  expect(lines).toContain(`${start} > CLIENT post shop`);
  const [run] = await db.query('select run_id, traceparent from writ.run');
  expect(new Set((await kept()).map((row) => row.traceparent))).toEqual(
    new Set([run?.traceparent]),
  );
  for (const { headers, event } of hook.got) {
    expect(event.traceparent, event.type).toBe(run?.traceparent);
    const [, trace, span, flags] = String(headers.traceparent).split('-');
    expect([trace, flags]).toEqual([id, '01']);
    expect(spansOf(id).find((one) => one.spanContext().spanId === span)?.name).toBe('post shop');
  }
  const [step] = named('step order/reserve');
  expect(step?.attributes).toMatchObject({
    'writ.run.id': run?.run_id,
    'writ.step.id': 'reserve',
    'writ.plan.id': 'order',
  });
  const [delivered] = named('deliver shop');
  expect(delivered?.kind).toBe(SpanKind.PRODUCER);
  expect(delivered?.links.map((link) => link.context.traceId)).toEqual([id]);

  // Spans are those of the table, with its kinds and no attributes but its own.
  await writ.enqueueMany(ping, [{ input: { n: 1 } }]);
  await runUntilIdle(other, [ping.handle(() => undefined)]);
  const ours = traces.spans.filter((span) => span.instrumentationScope.name === 'writ');
  const word = (name: string) => name.split(' ')[0];
  expect(new Set(ours.map((span) => word(span.name)))).toEqual(
    new Set(spans.map((span) => word(span.name))),
  );
  for (const span of ours) {
    const entry = spans.find((one) => word(one.name) === word(span.name));
    expect(SpanKind[span.kind], span.name).toBe(entry?.kind);
    expect(entry?.attributes, span.name).toEqual(
      expect.arrayContaining(Object.keys(span.attributes)),
    );
  }
  for (const { name, attributes } of spans) {
    const seen = ours
      .filter((span) => word(span.name) === word(name))
      .flatMap((span) => Object.keys(span.attributes));
    expect(
      [...attributes].filter((attribute) => !seen.includes(attribute)),
      name,
    ).toEqual([]);
  }
});

test('steps of a list, steps after a wait and compensations are in the trace of their run', async () => {
  type Input = { list: number[] };
  const first = defineJob<Input>('first');
  const back = defineJob<Input>('back');
  const one = defineJob<number>('one');
  const last = defineJob<Input>('last');
  const plan = definePlan<Input>('list', { version: '1' }, (p) => {
    const begin = p.step('begin', first, { compensate: back });
    const each = p.each('each', one, { over: p.input.list, after: begin });
    const go = p.waitFor('go', { after: each });
    p.step('last', last, { after: go, retry: { attempts: 1 } });
  });
  const handlers = [
    first.handle(() => undefined),
    back.handle(() => undefined),
    one.handle(() => undefined),
  ];
  const fails = last.handle(() => {
    throw new PermanentFailure('no');
  });
  const worker = await other.work([...handlers, fails], { poll: '20ms', onError: () => undefined });
  const id = await inRequest('request', async () => {
    const run = await writ.start(plan, { list: [1, 2] });
    await writ.runs.deliver(run.runId, 'go');
    await run.finished();
    // Done again, it is the same story.
    const { runId } = await writ.runs.signal(run.runId, { type: 'RETRY_RUN' });
    await writ.runs.deliver(String(runId), 'go');
    await writ.runs.finished(String(runId));
  });
  await worker.stop();
  const start = 'INTERNAL request > PRODUCER start list > CONSUMER step list/';
  const steps = treeOf(id).filter((line) => line.startsWith(start) && !line.endsWith('commit'));
  expect(steps.map((line) => line.slice(start.length))).toEqual([
    'begin',
    'begin',
    'each',
    'each',
    'each',
    'each',
    'last',
    'last',
    'undo:begin',
    'undo:begin',
  ]);
});

test('what follows from a fact goes on with the trace of the job that it is about', async () => {
  const audit = defineJob<EventReference>('audit');
  await db.query(`select writ.fn_job_kind_register('ping', '{}', 'test')`);
  await writ.consumers.put('auditor', { on: 'dot.job.succeeded', subjectKind: 'ping', job: audit });
  const id = await inRequest('request', () => writ.enqueue(ping, { n: 1 }));
  const worker = await other.work([ping.handle(() => undefined), audit.handle(() => undefined)], {
    poll: '20ms',
  });
  await vi.waitFor(
    () =>
      expect(treeOf(id)).toContain(
        'INTERNAL request > PRODUCER enqueue ping > CONSUMER process audit',
      ),
    {
      timeout: 20_000,
    },
  );
  await worker.stop();
});

// @ts-check
// The roles of the outbox suite: one fills a record with the events of runs, the others get them out of it, and count.

import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { built } from '../build.mjs';
import { monotonicMs, percentile, sleep } from '../harness/figures.mjs';
import { stepNames } from '../subjects/subject.mjs';

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */

/** The start and the end of a run, and of each of its steps. */
const perRun = 2 + 2 * stepNames.length;

/** @param {any} product */
function tenSteps({ defineJob, definePlan }) {
  const step = defineJob('step');
  const plan = definePlan('ten-steps', { version: '1.0.0' }, (/** @type {any} */ p) => {
    let before;
    for (const name of stepNames) before = p.step(name, step, before ? { after: before } : {});
  });
  return { step, plan };
}

/** @param {Subject} _ @param {{ url: string, runs: number }} options */
export async function fillRecord(_, { url, runs }) {
  const product = await built('index.js');
  const { step, plan } = tenSteps(product);
  const writ = await product.Writ.connect({ connectionString: url });
  await writ.work([step.handle(async () => ({ ok: true }))], { concurrency: 200 });
  let next = 0;
  const loop = async () => {
    while (next < runs) await (await writ.start(plan, { i: next++ })).finished();
  };
  await Promise.all(Array.from({ length: 200 }, loop));
  await writ.close();
  return {};
}

/** @param {Subject} _ @param {{ url: string, runs: number }} options */
export async function streamed(_, { url, runs }) {
  const { Writ } = await built('index.js');
  const writ = await Writ.connect({ connectionString: url });
  const wanted = runs * perRun;
  const ids = new Set();
  const start = monotonicMs();
  for await (const { event } of writ.events({
    types: ['dot.run.*'],
    after: 'beginning',
    untilNow: true,
  }))
    ids.add(event.id);
  const ms = monotonicMs() - start;
  await writ.close();
  return {
    rate: (wanted / ms) * 1000,
    jobs: wanted,
    ...(ids.size === wanted ? {} : { void: `${ids.size} events came instead of ${wanted}` }),
  };
}

/** A receiver in a thread of its own: it reads, answers 204, and counts. */
const receiver = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const ids = new Set();
  const server = createServer({ keepAliveTimeout: 60000 }, (request, response) => {
    request.resume();
    request.on('end', () => { ids.add(request.headers['webhook-id']); response.writeHead(204).end(); });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }));
  parentPort.on('message', () => parentPort.postMessage({ ids: ids.size }));
`;

/** @param {Subject} _ @param {{ url: string, runs: number }} options */
export async function posted(_, { url, runs }) {
  const { Writ, webhooks } = await built('index.js');
  const thread = new Worker(receiver, { eval: true });
  const answer = () => new Promise((resolve) => thread.once('message', resolve));
  const { port } = /** @type {{ port: number }} */ (await answer());
  const writ = await Writ.connect({ connectionString: url });
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await writ.destinations.put('bench', {
    bus: 'webhook',
    types: ['dot.run.*'],
    config: { url: `http://127.0.0.1:${port}/`, secrets: ['bench'] },
    since: new Date(0),
  });
  const wanted = runs * perRun;
  const start = monotonicMs();
  const relay = await writ.relay({
    buses: { webhook: webhooks({ secretOf: () => secret, allowHttp: true, allowPrivate: true }) },
  });
  let ids = 0;
  while (ids < wanted && monotonicMs() - start < 120_000) {
    await sleep(20);
    thread.postMessage('count');
    ({ ids } = /** @type {{ ids: number }} */ (await answer()));
  }
  const ms = monotonicMs() - start;
  await relay.stop();
  await writ.close();
  await thread.terminate();
  return {
    rate: (wanted / ms) * 1000,
    jobs: wanted,
    ...(ids === wanted ? {} : { void: `${ids} events came instead of ${wanted}` }),
  };
}

/**
 * From COMMIT to the loop that reads the stream, one at a time, with pauses in between. @param
 * {Subject} _ @param {{ url: string, samples: number }} options
 */
export async function toldWithin(_, { url, samples }) {
  const product = await built('index.js');
  const { plan } = tenSteps(product);
  const writ = await product.Writ.connect({ connectionString: url });
  const reader = await product.Writ.connect({ connectionString: url });
  /** When the event of a run came. @type {Map<string, number>} */
  const came = new Map();
  const stop = new AbortController();
  const reading = (async () => {
    for await (const { event } of reader.events({
      types: ['dot.run.RunStarted'],
      signal: stop.signal,
    }))
      came.set(event.partitionkey, monotonicMs());
  })();
  await sleep(2_000);
  const times = [];
  for (let n = 0; n < samples; n++) {
    const { runId } = await writ.start(plan, { n });
    const committed = monotonicMs();
    while (!came.has(runId) && monotonicMs() - committed < 5_000) await sleep(1);
    times.push(Math.max(0, (came.get(runId) ?? committed + 5_000) - committed));
    await sleep(20 + Math.random() * 60);
  }
  stop.abort();
  await reading;
  await Promise.all([writ.close(), reader.close()]);
  return { p50: percentile(times, 50), p99: percentile(times, 99), jobs: samples };
}

/** A destination that nobody relays to. @param {Subject} _ @param {{ url: string }} options */
export async function untold(_, { url }) {
  const { Writ } = await built('index.js');
  const writ = await Writ.connect({ connectionString: url });
  await writ.destinations.put('nowhere', {
    bus: 'webhook',
    types: ['*'],
    config: { url: 'https://nowhere.example/' },
  });
  await writ.close();
  return {};
}

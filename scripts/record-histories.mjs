// @ts-check
// Records runs of every kind, as the engine of this build executes them, for one release: `node scripts/record-histories.mjs 0.8.0`. What is there already is never
// written again: later builds are held against it. See test/runs/histories/README.md.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import {
  all,
  defineJob,
  definePlan,
  is,
  isNot,
  PermanentFailure,
  Plan,
  Writ,
} from '../packages/writ/dist/index.js';
import { checkLog } from '../packages/writ/dist/runs/check-log.js';
import { stopTestServer, testDatabase } from '../packages/writ/dist/testing/index.js';

/** @typedef {import('../packages/writ/dist/index.js').RunSignal} RunSignal */
/** @typedef {{ plan: import('../packages/writ/dist/index.js').Plan<any>, input?: any, meanwhile?: (run: Acting) => Promise<void> }} Story */

const release = process.argv[2] ?? '';
if (!/^\d+\.\d+\.\d+$/.test(release)) {
  console.error('usage: node scripts/record-histories.mjs RELEASE, such as 0.8.0');
  process.exit(2);
}
const folder = new URL(`../packages/writ/test/runs/histories/${release}/`, import.meta.url);

const retry = {
  attempts: 3,
  base: /** @type {const} */ ('5ms'),
  cap: /** @type {const} */ ('10ms'),
};
/** @param {string} kind @returns {import('../packages/writ/dist/index.js').JobKind<any>} */
const job = (kind) => defineJob(kind, { retry });
const work = job('work');
const undo = job('undo');
const stuck = job('undo-that-fails');
const flaky = job('flaky');
const doomed = job('doomed');
const mended = job('mended');
const picky = job('picky');
const slow = job('slow');

const handlers = [
  work.handle(({ input }) => ({ did: input ?? null })),
  undo.handle(({ commit }) => commit(() => ({ undone: true }))),
  stuck.handle(() => {
    throw new PermanentFailure('it cannot be undone');
  }),
  flaky.handle(({ job: { attempt } }) => {
    if (attempt < 2) throw new Error('not yet');
    return { attempt };
  }),
  doomed.handle(() => {
    throw new PermanentFailure('nothing helps', { code: 'out_of_stock' });
  }),
  mended.handle(({ step }) => {
    if (step?.attempt === 1) throw new PermanentFailure('a person has to look at it');
    return { attempt: step?.attempt };
  }),
  picky.handle(({ input, step }) => {
    if (input === 3 && step?.attempt === 1) throw new PermanentFailure('not three');
    return { item: input };
  }),
  slow.handle(async ({ signal }) => {
    for (let n = 0; n < 40 && !signal.aborted; n++)
      await new Promise((resume) => setTimeout(resume, 10));
    return { slow: true };
  }),
];

/** What a person, or the world outside, does to a run. */
class Acting {
  /** @param {Writ} writ @param {string} runId */
  constructor(writ, runId) {
    this.writ = writ;
    this.runId = runId;
  }

  /** @param {RunSignal} signal @param {string} [as] */
  signal(signal, as = 'operator') {
    return this.writ.runs.signal(this.runId, signal, { as });
  }

  /** @param {string} eventType @param {string} [stepId] */
  async until(eventType, stepId = 'RUN') {
    for (let tries = 0; tries < 2000; tries++) {
      if (
        (await this.writ.runs.events(this.runId)).items.some(
          (event) => event.eventType === eventType && event.stepId === stepId,
        )
      )
        return;
      await new Promise((resume) => setTimeout(resume, 5));
    }
    throw new Error(`run ${this.runId}: ${eventType} of ${stepId} did not come`);
  }
}

const version = { version: '1.0.0' };
/** @type {(id: string, build: (p: any) => void, options?: object) => import('../packages/writ/dist/index.js').Plan<any>} */
const plan = (id, build, options = {}) => definePlan(id, { ...version, ...options }, build);
const pausing = { onFailure: 'pause' };
const slowRow = plan('slow-row', (p) => {
  const first = p.step('first', slow, { compensate: undo });
  const second = p.step('second', slow, { after: first, compensate: undo });
  p.step('third', work, { after: second });
});
const waiting = (/** @type {object} */ options) =>
  plan('waiting', (p) => {
    const word = p.waitFor('approval', options);
    p.step('go', work, { input: { word: word.output } });
  });
const failing = plan(
  'failing',
  (p) => {
    const before = p.step('before', work);
    const mend = p.step('mend', mended, { after: before });
    p.step('after', work, { after: mend });
  },
  pausing,
);

/** @type {Record<string, Story>} */
const stories = {
  'ten-steps': {
    plan: plan('ten-steps', (p) => {
      let before;
      for (let n = 1; n <= 10; n++) before = p.step(`s${n}`, work, before ? { after: before } : {});
    }),
    input: { order: 7 },
  },
  'diamond-with-conditions': {
    plan: plan('diamond', (p) => {
      const first = p.step('first', work, { input: { kind: p.input.kind } });
      const left = p.step('left', work, { input: {}, when: is(first.output.did.kind, 'express') });
      const right = p.step('right', work, {
        input: {},
        when: isNot(first.output.did.kind, 'express'),
      });
      p.step('join', work, {
        after: [left, right],
        when: all(is(p.input.kind, 'express'), isNot(p.input.none, 1)),
      });
    }),
    input: { kind: 'express' },
  },
  'attempts-of-the-engine': { plan: plan('attempts', (p) => p.step('again', flaky)) },
  list: {
    plan: plan('list', (p) => {
      const all = p.each('item', work, { over: p.input.items, parallel: 3 });
      p.step('last', work, { after: all });
    }),
    input: { items: [1, 2, 3, 4, 5, 6, 7, 8] },
  },
  'empty-list': {
    plan: plan('list', (p) => p.each('item', work, { over: p.input.items })),
    input: { items: [] },
  },
  'what-is-no-list': {
    plan: plan('list', (p) => p.each('item', work, { over: p.input.items })),
    input: { items: 'many' },
  },
  'list-undone': {
    plan: plan('list', (p) => {
      const first = p.step('first', work, { input: {}, compensate: undo });
      p.each('item', picky, { over: p.input.items, parallel: 2, after: first, compensate: undo });
    }),
    input: { items: [1, 2, 3, 4, 5] },
  },
  'list-retried': {
    plan: plan('list', (p) => p.each('item', picky, { over: p.input.items, parallel: 2 }), pausing),
    input: { items: [1, 2, 3, 4, 5] },
    meanwhile: async (run) => {
      await run.until('RunPaused');
      await run.signal({ type: 'RETRY_STEP', stepId: 'item', reason: 'three is right' });
    },
  },
  'saga-undone': {
    plan: plan('saga', (p) => {
      const reserve = p.step('reserve', work, { input: { n: 1 }, compensate: undo });
      const charge = p.step('charge', flaky, {
        after: reserve,
        compensate: { job: undo, input: { what: 'the charge' } },
      });
      p.step('ship', doomed, { after: charge });
    }),
  },
  'saga-that-cannot-be-undone': {
    plan: plan('saga', (p) => {
      const reserve = p.step('reserve', work, { input: { n: 1 }, compensate: undo });
      const charge = p.step('charge', work, { input: { n: 2 }, after: reserve, compensate: stuck });
      p.step('ship', doomed, { after: charge });
    }),
  },
  'optional-failure': {
    plan: plan('optional', (p) => {
      const extra = p.step('extra', doomed, { optional: true });
      const more = p.step('more', work, { after: extra });
      p.step('rest', work, { after: more });
      p.step('other', work);
    }),
  },
  timer: {
    plan: plan('timer', (p) => {
      const rest = p.sleep('rest', '50ms');
      p.step('go', work, { after: rest });
    }),
  },
  'wait-delivered': {
    plan: waiting({}),
    meanwhile: async (run) => {
      await run.until('StepStarted', 'approval');
      await run.writ.runs.deliver(run.runId, 'approval', { by: 'somebody' }, { id: 'delivery-1' });
    },
  },
  'wait-too-long-skipped': { plan: waiting({ timeout: '30ms', onTimeout: 'skip' }) },
  'wait-too-long-failed': { plan: waiting({ timeout: '30ms' }) },
  'wait-cancelled': {
    plan: waiting({}),
    meanwhile: async (run) => {
      await run.until('StepStarted', 'approval');
      await run.signal({ type: 'CANCEL', reason: 'nobody will come' });
    },
  },
  'paused-and-resumed': {
    plan: slowRow,
    meanwhile: async (run) => {
      await run.until('StepStarted', 'first');
      await run.signal({ type: 'PAUSE', reason: 'a look at it' });
      await run.until('StepCompleted', 'first');
      await run.signal({ type: 'RESUME' });
    },
  },
  cancelled: {
    plan: slowRow,
    meanwhile: async (run) => {
      await run.until('StepStarted', 'second');
      await run.signal({ type: 'CANCEL', reason: 'changed our mind' });
    },
  },
  stopped: {
    plan: slowRow,
    meanwhile: async (run) => {
      await run.until('StepStarted', 'second');
      await run.signal({ type: 'EMERGENCY_STOP', reason: 'fire' });
    },
  },
  'step-retried': {
    plan: failing,
    meanwhile: async (run) => {
      await run.until('RunPaused');
      await run.signal({ type: 'RETRY_STEP', stepId: 'mend', reason: 'mended' });
    },
  },
  'step-skipped': {
    plan: failing,
    meanwhile: async (run) => {
      await run.until('RunPaused');
      await run.signal({ type: 'SKIP_STEP', stepId: 'mend', reason: 'not needed' });
    },
  },
  'params-updated-and-a-signal-denied': {
    plan: slowRow,
    input: { speed: 1 },
    meanwhile: async (run) => {
      await run.until('StepStarted', 'first');
      await run.signal({ type: 'CANCEL' }, 'stranger').catch((error) => {
        if (error.code !== 'AUTHZ_DENIED') throw error;
      });
      await run.signal({ type: 'UPDATE_PARAMS', params: { speed: 2 } });
    },
  },
};

const db = await testDatabase();
const writ = await Writ.connect({
  connectionString: db.connectionString,
  actor: 'recorder',
  authorizeSignal: ({ principal }) =>
    principal === 'stranger' ? { denied: 'AUTHZ_DENIED' } : true,
});
try {
  const worker = await writ.work(handlers, {
    poll: '20ms',
    name: 'worker-1',
    onError: () => undefined,
  });
  mkdirSync(folder, { recursive: true });
  for (const [name, { plan: one, input, meanwhile }] of Object.entries(stories)) {
    const file = new URL(`${name}.json`, folder);
    if (existsSync(file)) {
      console.log(`${name}: is there already`);
      continue;
    }
    // Plans of one name differ from story to story: each has a version of its own.
    const own = new Plan(
      { ...one.document, planVersion: `1.0.0+${name}` },
      { jobs: /** @type {any} */ (one.kinds) },
    );
    const { runId, finished } = await writ.start(own, input);
    await meanwhile?.(new Acting(writ, runId));
    const snapshot = await finished({ timeoutMs: 20_000 });
    const events = (await writ.runs.events(runId)).items;
    const outputs = await outputsOf(runId);
    const faults = checkLog(own.document, events, { input, outputs: (stepId) => outputs[stepId] });
    if (faults.length > 0)
      throw new Error(
        `${name}: ${JSON.stringify(faults, null, 2)}\n${JSON.stringify(events, null, 1)}`,
      );
    writeFileSync(
      file,
      `${JSON.stringify({ release, name, plan: own.document, input, outputs, events, snapshot }, null, 2)}\n`,
    );
    console.log(`${name}: ${events.length} events, ${snapshot.status}`);
  }
  await worker.stop();
} finally {
  await writ.close();
  await db.drop();
  await stopTestServer();
}

/** The outputs of the steps that succeeded, for conditions. @param {string} runId @returns {Promise<Record<string, unknown>>} */
async function outputsOf(runId) {
  const rows = await db.query(
    `select s.step_id, e.result from writ_data.job j join writ_data.run r on r.run_id = j.run_id join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = j.step_no
     join writ_data.job_execution e on e.job_id = j.job_id and e.status in ('COMMITTED', 'DONE') where j.run_id = $1 and j.undo is null and j.place is null order by j.logical_attempt`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ step_id, result }) => [String(step_id), result]));
}

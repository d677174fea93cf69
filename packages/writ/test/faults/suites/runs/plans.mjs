// @ts-check
// The plans of the runs' fault run, about ten steps each, and the handlers of their jobs. Whoever starts runs, the workers and the checker import this file, so all mean
// the same. Kinds that write owe one row in fault.effect, in the transaction that ends the step; kinds that tell return, and owe a line outside of the database, at least
// once. Every step adds up the numbers of its input, and one: so the last output tells whether each got what the others gave.
import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, definePlan, PermanentFailure, when } from '../../../../dist/index.js';

/** @typedef {Record<string, unknown>} Input */
/** @typedef {{ n: number, items: number[] }} RunInput */

// Jobs are killed again and again by chance.
const patient = {
  attempts: 60,
  base: /** @type {const} */ ('50ms'),
  cap: /** @type {const} */ ('500ms'),
};

/** @param {string} kind @returns {import('../../../../dist/index.js').JobKind<any>} */
const job = (kind) => defineJob(`fault.${kind}`, { retry: patient });

export const kinds = {
  /** Writes its effect in the commit, and its output with it. */
  write: job('write'),
  /** Returns its output; what it does outside may happen more than once. */
  tell: job('tell'),
  /** Writes, but not at its first attempt. */
  flaky: job('flaky'),
  /** Writes, and then fails: the effect stands. */
  late: job('late'),
  /** Undoes what a step wrote, by a row of its own. */
  undo: job('undo'),
  /** Fails for good. */
  doomed: job('doomed'),
  /** Writes, but fails for good with one of its inputs. */
  picky: job('picky'),
  /** Fails for good until a person has it tried again. */
  mended: job('mended'),
};
/** Every list has it, in the middle. */
const bitter = 5;
export const items = [1, 2, 3, 4, bitter, 6, 7, 8];
/** The kinds that owe a row. */
export const writing = [
  'fault.write',
  'fault.flaky',
  'fault.late',
  'fault.picky',
  'fault.undo',
  'fault.mended',
];

/** The sum of all numbers in a value. @param {unknown} value @returns {number} */
function total(value) {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum, member) => sum + total(member), 0);
}

const version = { version: '1.0.0' };
const { write, tell, flaky, late, picky, undo, doomed, mended } = kinds;
/** @typedef {import('../../../../dist/index.js').PlanBuilder<RunInput>} Builder */

/**
 * Steps one after the other, each with what the one before gave. @param {Builder} p @param
 * {[string, typeof write][]} steps @param {any} first @param {object} [options]
 */
function chain(p, steps, first, options = {}) {
  let given = first;
  for (const [id, kind] of steps) given = p.step(id, kind, { input: { given }, ...options }).output;
  return given;
}

const row = definePlan('row', version, (/** @type {Builder} */ p) => {
  const order = [write, tell, tell, flaky, tell, write, late, tell, tell, write];
  chain(
    p,
    order.map((kind, n) => [`s${n + 1}`, kind]),
    p.input.n,
  );
});

/**
 * What most runs look like, and what the database therefore does in one statement: every step
 * returns, and is given the input of the run.
 */
const plain = definePlan('plain', version, (/** @type {Builder} */ p) => {
  let before;
  for (let n = 1; n <= 10; n++) before = p.step(`s${n}`, tell, before ? { after: before } : {});
});

const diamond = definePlan('diamond', version, (/** @type {Builder} */ p) => {
  const first = chain(p, [['first', write]], p.input.n);
  const sides = [write, tell, flaky].map((kind, n) =>
    chain(
      p,
      [
        [`side${n}`, kind],
        [`next${n}`, n === 1 ? write : tell],
      ],
      first,
    ),
  );
  const join = p.step('join', write, { input: { sides } });
  const rare = p.step('rare', tell, {
    input: { given: join.output },
    when: when.above(join.output.sum, 100),
  });
  p.step('last', tell, { input: { given: join.output }, after: rare });
});

const list = definePlan('list', version, (/** @type {Builder} */ p) => {
  const first = p.step('first', tell, { input: { given: p.input.n } });
  const all = p.each('item', write, {
    over: p.input.items,
    parallel: 3,
    after: first,
    input: (item) => ({ item }),
  });
  p.step('last', write, { input: { given: first.output }, after: all });
});

const saga = definePlan('saga', version, (/** @type {Builder} */ p) => {
  const given = chain(
    p,
    [
      ['hold1', write],
      ['hold2', tell],
      ['hold3', late],
      ['hold4', flaky],
    ],
    p.input.n,
    { compensate: undo },
  );
  const plain = p.step('plain', write, { input: { given } });
  p.step('doomed', doomed, { input: { given: plain.output } });
});

/** One element stops its list: those that are done are undone. */
const broken = definePlan('broken', version, (/** @type {Builder} */ p) => {
  const first = p.step('hold', write, { input: { given: p.input.n }, compensate: undo });
  const all = p.each('held', picky, {
    over: p.input.items,
    parallel: 3,
    after: first,
    input: (item) => ({ item }),
    compensate: undo,
  });
  p.step('never', write, { input: {}, after: all });
});

const waiting = definePlan('waiting', version, (/** @type {Builder} */ p) => {
  const first = chain(
    p,
    [
      ['s1', write],
      ['s2', tell],
    ],
    p.input.n,
  );
  const word = p.waitFor('word', { after: { id: 's2' } });
  const rest = p.sleep('rest', '200ms', { after: { id: 's2' } });
  const both = p.step('both', write, { input: { first, word: word.output }, after: rest });
  chain(
    p,
    [
      ['s3', tell],
      ['s4', flaky],
      ['s5', tell],
    ],
    both.output,
  );
});

/**
 * A person has to see to it twice: one step is tried again, and a list that an element has stopped
 * is passed over.
 */
const paused = definePlan(
  'paused',
  { ...version, onFailure: 'pause' },
  (/** @type {Builder} */ p) => {
    const given = chain(
      p,
      [
        ['s1', tell],
        ['s2', write],
        ['s3', mended],
      ],
      p.input.n,
    );
    const some = p.each('some', picky, {
      over: p.input.items,
      parallel: 3,
      after: { id: 's3' },
      input: (item) => ({ item }),
    });
    const s4 = p.step('s4', tell, { input: { given }, after: some });
    p.step('s5', write, { input: { given: s4.output } });
  },
);

/** What a delivery carries. */
export const word = { given: 1000 };

/**
 * Each plan, how many of a hundred runs are of it, how a run of it ends, and with what its last
 * step, if it ends well.
 * @type {Record<string, { plan: import('../../../../dist/index.js').Plan<any>, share: number, ends:
 * 'COMPLETED' | 'FAILED', last?: string, sum?: (input: RunInput) => number }>}
 */
export const plans = {
  plain: {
    plan: plain,
    share: 17,
    ends: 'COMPLETED',
    last: 's10',
    sum: (input) => total(input) + 1,
  },
  row: { plan: row, share: 17, ends: 'COMPLETED', last: 's10', sum: ({ n }) => n + 10 },
  diamond: {
    plan: diamond,
    share: 18,
    ends: 'COMPLETED',
    last: 'last',
    sum: ({ n }) => 3 * (n + 3) + 2,
  },
  list: { plan: list, share: 16, ends: 'COMPLETED', last: 'last', sum: ({ n }) => n + 2 },
  saga: { plan: saga, share: 14, ends: 'FAILED' },
  broken: { plan: broken, share: 4, ends: 'FAILED' },
  waiting: {
    plan: waiting,
    share: 8,
    ends: 'COMPLETED',
    last: 's5',
    sum: ({ n }) => n + 2 + word.given + 4,
  },
  paused: { plan: paused, share: 6, ends: 'COMPLETED', last: 's5', sum: ({ n }) => n + 5 },
};

/** @param {import('../../../../dist/index.js').Writ} _writ @param {(line: string) => void} note */
export function handlers(_writ, note) {
  /** @typedef {import('../../../../dist/index.js').JobContext<Input>} Context */
  /** @param {Context} context */
  const stepOf = ({ step }) => {
    if (!step) throw new PermanentFailure('this job is no step');
    return step;
  };
  /** @param {Context} context */
  // up to 16 ms, the same in every attempt
  const work = async ({ job }) => pause(Number.parseInt(job.id.slice(-2), 16) / 16);
  /** @param {Context} context */
  const effect = async (context) => {
    const { runId, stepId, attempt } = stepOf(context);
    await work(context);
    return context.commit(async (tx) => {
      await tx.query(
        'insert into fault.effect (run_id, step_id, attempt, job_id, execution_no, worker) values ($1, $2, $3, $4, $5, $6)',
        [runId, stepId, attempt, context.job.id, context.job.executionNo, process.pid],
      );
      return { sum: total(context.input) + 1 };
    });
  };
  return [
    kinds.write.handle(effect),
    kinds.undo.handle(effect),
    kinds.tell.handle(async (context) => {
      const { runId, stepId, attempt } = stepOf(context);
      await work(context);
      note(`outside ${runId} ${stepId} ${attempt}`);
      return { sum: total(context.input) + 1 };
    }),
    kinds.flaky.handle(async (context) => {
      if (context.job.attempt <= 1) throw new Error('not yet');
      return effect(context);
    }),
    kinds.late.handle(async (context) => {
      await effect(context);
      throw new Error('after the commit');
    }),
    kinds.doomed.handle(async (context) => {
      await work(context);
      throw new PermanentFailure('nothing helps');
    }),
    kinds.picky.handle(async (context) => {
      if (context.input.item === bitter) throw new PermanentFailure(`not ${bitter}`);
      return effect(context);
    }),
    kinds.mended.handle(async (context) => {
      if (stepOf(context).attempt < 2) throw new PermanentFailure('a person has to look at it');
      return effect(context);
    }),
  ];
}

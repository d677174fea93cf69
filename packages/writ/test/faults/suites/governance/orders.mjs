// @ts-check
// The kinds of changes of governance's fault run: each on targets of its own, with how it may end, and what stands there before and after.
import { configure, enable, recordSignal, soak } from '../../../../dist/index.js';
import { flag } from './steps.mjs';

/** @typedef {import('../../../../dist/index.js').ChangeStep} ChangeStep */
/**
 * What is done to it besides: a probe that is asked, health that falls or flaps, a stop, a
 * cancellation, another hand, a verdict that is withheld, a rollback that is stuck.
 */
/**
 * @typedef {'probe' | 'falls' | 'flaps' | 'stop' | 'cancel' | 'meddle' | 'withhold' | 'stuck'}
 * Trouble
 */
/**
 * @typedef {{ share: number, ends: string[], trouble?: Trouble, person?: true, maxDuration?: '1s',
 * outside?: 'lost' | 'flaky' | 'plain', steps: (n: number) => ChangeStep[] }} Kind
 */

const at = (/** @type {number} */ n) => ({ cap: `cap-${n}`, conf: `conf-${n}` });
const change = (/** @type {number} */ n) => {
  const { cap, conf } = at(n);
  return [
    enable(cap, 'PREVIEW'),
    configure(conf, 'max', n + 1),
    configure(conf, 'burst', 5),
    configure(conf, 'gone', null),
    enable(cap),
  ];
};
const put = (/** @type {string} */ key, /** @type {unknown} */ value) => flag({ key, value });

/** @type {Record<string, Kind>} */
export const kinds = {
  plain: { share: 22, ends: ['COMPLETED'], steps: change },
  signalled: {
    share: 6,
    ends: ['COMPLETED'],
    steps: (n) => [
      recordSignal(`FAULTS_${n}`),
      ...change(n),
      soak('200ms'),
      configure(at(n).conf, 'max', n + 2),
    ],
  },
  outside: {
    share: 12,
    ends: ['COMPLETED'],
    steps: (n) => [
      enable(at(n).cap),
      put(`plain-${n}`, 10),
      configure(at(n).conf, 'max', n + 1),
      put(`plain-${n}`, 50),
    ],
  },
  troubled: {
    share: 8,
    ends: ['COMPLETED'],
    steps: (n) => [
      put(`flaky-${n}`, 10),
      put(`lost-${n}`, 50),
      configure(at(n).conf, 'gone', null),
    ],
  },
  probed: {
    share: 5,
    ends: ['COMPLETED'],
    trouble: 'probe',
    steps: (n) => [...change(n), soak('300ms')],
  },
  refused: {
    share: 10,
    ends: ['ROLLED_BACK'],
    steps: (n) => [...change(n), put(`lost-${n}`, 50), put(`refused-${n}`, 1)],
  },
  half: {
    share: 5,
    ends: ['ROLLED_BACK'],
    steps: (n) => [...change(n), put(`half-${n}`, 1), configure(at(n).conf, 'never', 1)],
  },
  sick: {
    share: 5,
    ends: ['ROLLED_BACK'],
    trouble: 'probe',
    steps: (n) => [...change(n), put(`${n}`, 'sick'), soak('20s')],
  },
  falls: {
    share: 5,
    ends: ['ROLLED_BACK'],
    trouble: 'falls',
    steps: (n) => [...change(n), soak('20s')],
  },
  flaps: {
    share: 5,
    ends: ['COMPLETED', 'ROLLED_BACK'],
    trouble: 'flaps',
    steps: (n) => [...change(n), put(`plain-${n}`, 3), soak('200ms')],
  },
  stopped: {
    share: 5,
    ends: ['COMPLETED', 'ROLLED_BACK'],
    trouble: 'stop',
    steps: (n) => [put(`plain-${n}`, 3), ...change(n), soak('600ms')],
  },
  cancelled: { share: 3, ends: ['COMPLETED', 'CANCELLED'], trouble: 'cancel', steps: change },
  overdue: {
    share: 3,
    ends: ['ROLLED_BACK'],
    maxDuration: '1s',
    steps: (n) => [...change(n), put(`slow-${n}`, 3)],
  },
  meddled: {
    share: 2,
    ends: ['ROLLBACK_FAILED', 'ROLLED_BACK', 'COMPLETED'],
    trouble: 'meddle',
    person: true,
    steps: (n) => [
      enable(at(n).cap),
      configure(at(n).conf, 'max', n + 1),
      soak('1500ms'),
      configure(at(n).conf, 'max', n + 2),
    ],
  },
  withheld: {
    share: 4,
    ends: ['AUDIT_PENDING', 'COMPLETED', 'ROLLED_BACK'],
    trouble: 'withhold',
    person: true,
    steps: change,
  },
  stuck: {
    share: 4,
    ends: ['ROLLBACK_FAILED'],
    trouble: 'stuck',
    person: true,
    steps: (n) => [
      configure(at(n).conf, 'max', n + 1),
      put(`stuck-${n}`, 1),
      configure(at(n).conf, 'max', n + 2),
      put(`plain-${n}`, 1),
      put(`refused-${n}`, 1),
    ],
  },
  // A boundary after each of them: those in the database that follow one another have none.
  parted: {
    share: 22,
    ends: ['COMPLETED'],
    steps: (n) => change(n).flatMap((step) => [step, soak('5ms')]),
  },
};

const bag = Object.entries(kinds).flatMap(([name, { share }]) => Array(share).fill(name));
const all = Object.keys(kinds);
const well = bag.filter(
  (name) => kinds[name]?.ends.length === 1 && kinds[name]?.ends[0] === 'COMPLETED',
);

/**
 * @typedef {{ n: number, name: string, kind: Kind, steps: ChangeStep[], scope: string[], before:
 * Record<string, unknown>, after: Record<string, unknown>, afterMs: number, resolve: 'PASS' |
 * 'FAIL' | undefined, twoApprove: boolean }} Order
 */

/** What stands at the targets before. @param {number} n */
const beforeOf = (n) => ({
  [`cap-${n}`]: 'DISABLED',
  [`conf-${n}#max`]: n,
  [`conf-${n}#gone`]: 'x',
});

/**
 * First each kind once, and one that ends well after each; then by their shares. @param
 * {ReturnType<import('../../plan.mjs').generator>} random @param {number} n @returns {Order}
 */
export function orderOf(random, n) {
  const name =
    n > 2 * all.length ? random.pick(bag) : n % 2 ? String(all[(n - 1) / 2]) : random.pick(well);
  const kind = /** @type {Kind} */ (kinds[name]);
  const steps = kind.steps(n);
  /** @type {Record<string, unknown>} */
  const after = { ...beforeOf(n) };
  for (const { step_type, target, parameters } of steps) {
    if (step_type === 'capability_enable') after[target] = parameters.target_lifecycle;
    if (step_type === 'config_update') after[`${target}#${parameters.key}`] = parameters.new_value;
    if (step_type === 'flag')
      after[target] = /** @type {{ value: unknown }} */ (parameters.value).value;
  }
  for (const [slot, value] of Object.entries(after)) if (value === null) delete after[slot];
  const scope = [...new Set(steps.map(({ target }) => target))].filter(
    (target) => target !== 'SYSTEM',
  );
  return {
    ...{ n, name, kind, steps, scope, before: beforeOf(n), after },
    afterMs: random.between(0, kind.trouble === 'cancel' ? 20 : 900),
    resolve: random.pick(/** @type {const} */ (['PASS', 'FAIL', undefined])),
    twoApprove: random.next() < 0.2,
  };
}

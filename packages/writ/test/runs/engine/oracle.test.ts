/**
 * Random plans with random failures and random commands, executed by the database; then every log
 * is held against the rules of its plan by the independent check, and every snapshot of the
 * projector against a fresh reduction. WRIT_TEST_SEED begins elsewhere, WRIT_TEST_RUNS makes more.
 */
import { expect, test } from 'vitest';
import {
  defineJob,
  type JobKind,
  PermanentFailure,
  Plan,
  type PlanStep,
  WritRefusal,
} from '../../../src/index.js';
import { emptySnapshot, reduce } from '../../../src/runs/snapshot.js';
import { until } from '../../races/sessions.js';
import { Dice, randomPlan } from '../histories.js';
import { allEvents, faultsOf, line, scene } from './scene.js';

const s = scene();
const firstSeed = Number(process.env.WRIT_TEST_SEED ?? 1);
const count = Number(process.env.WRIT_TEST_RUNS ?? 60);

const retry = { attempts: 2, base: '1ms', cap: '1ms' } as const;
const work = defineJob<unknown>('work', { retry });

interface Play {
  readonly seed: number;
  readonly plan: Plan;
  readonly dice: Dice;
  readonly runId: string;
}

/** The same answer for the same step of the same plan. */
const chance = (text: string, of: number) =>
  new Dice([...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) >>> 0, 7)).chance(of);

/**
 * Sends what a person might. What the state of the run does not allow is refused, and that is right
 * too.
 */
async function command({ plan, dice, runId }: Play): Promise<void> {
  const { runs } = s.writ;
  const stepId = dice.pick(plan.document.steps).id;
  const waits = plan.document.steps.filter((step) => step.type === 'wait');
  const signal = (type: Parameters<typeof runs.signal>[1]['type'], more: object = {}) =>
    runs.signal(runId, { type, ...more });
  const choices: (() => Promise<unknown>)[] = [
    () => signal('PAUSE'),
    () => signal('RESUME'),
    () => signal('RETRY_STEP', { stepId }),
    () => signal('RETRY_STEP', { stepId }),
    () => signal('SKIP_STEP', { stepId }),
    () => signal('UPDATE_PARAMS', { params: { speed: dice.upTo(9) } }),
    ...(dice.chance(0.1) ? [() => signal('CANCEL', { reason: 'enough' })] : []),
    ...(dice.chance(0.05) ? [() => signal('EMERGENCY_STOP', { reason: 'fire' })] : []),
    ...(waits.length > 0 ? [() => runs.deliver(runId, dice.pick(waits).id, { ok: true })] : []),
  ];
  await dice
    .pick(choices)()
    .catch((error: unknown) => {
      if (!(error instanceof WritRefusal)) throw error;
    });
}

test(`the logs of ${count} random plans from seed ${firstSeed} have no fault, and every run ends`, {
  timeout: 300_000,
}, async () => {
  const seeds = Array.from({ length: count }, (_, index) => firstSeed + index);
  const plans = seeds.map((seed) => {
    const drawn = randomPlan(new Dice(seed));
    const mute = drawn.steps
      .filter(({ type }) => type === 'each' || type === 'timer')
      .map(({ id }) => `"steps.${id}.output`);
    // Only jobs and waits have an output that a condition can look at.
    const steps = drawn.steps.map(({ when, ...step }) =>
      when && !mute.some((ref) => JSON.stringify(when).includes(ref)) ? { ...step, when } : step,
    );
    const document = { ...drawn, planId: `random-${seed}`, steps: steps as PlanStep[] };
    const kinds = new Set(
      document.steps.flatMap((step) =>
        'compensate' in step && step.compensate ? [step.compensate.kind] : [],
      ),
    );
    const jobs = new Map<string, JobKind<never, unknown>>(
      [...kinds].map((kind) => [kind, defineJob(kind, { retry }) as never]),
    );
    return new Plan(document, { jobs: jobs.set('work', work as never) });
  });
  const undos = new Map(
    plans.flatMap((plan) => [...plan.kinds]).filter(([kind]) => kind !== 'work'),
  );
  const handlers = [
    work.handle(({ step, job }) => {
      const name = `${step?.planId}/${step?.stepId}#${step?.attempt}`;
      if (job.attempt === 1 && chance(`${name} stumbles`, 0.2)) throw new Error('stumbled');
      if (chance(name, 0.12)) throw new PermanentFailure('no luck');
      return { ok: chance(`${name} ok`, 0.7) };
    }),
    ...[...undos.values()].map((job) =>
      (job as unknown as JobKind<unknown>).handle(({ step }) => {
        if (chance(`${step?.planId}/${step?.stepId}`, 0.15))
          throw new PermanentFailure('cannot be undone');
      }),
    ),
  ];
  const plays: Play[] = [];
  for (const [index, plan] of plans.entries()) {
    const dice = new Dice((seeds[index] as number) * 7919);
    const input = {
      list: Array.from({ length: dice.upTo(5) }, (_, n) => n),
      flag: dice.chance(0.6),
    };
    const { runId } = await s.writ.start(plan, input);
    plays.push({ seed: seeds[index] as number, plan, dice, runId });
  }
  await s.work(handlers, { concurrency: 8 });
  await s.work(handlers, { concurrency: 3, batch: 4 });
  const conductor = new Dice(firstSeed);
  for (let turn = 0; turn < count * 4; turn++) await command(conductor.pick(plays));
  // From now on people only help: what is paused goes on, what failed is tried again or skipped,
  // what is waited for comes.
  const open = async () =>
    new Set(
      (await s.db.query('select run_id from writ.run where ended_at is null')).map(({ run_id }) =>
        String(run_id),
      ),
    );
  await s.db.query(`select writ.fn_setting_set('runs.signal.per_minute', '6000', 'test')`);
  const giveUpAt = Date.now() + 60_000 + count * 500;
  for (let left = await open(); left.size > 0; left = await open()) {
    await s.db.clock.advance('2s');
    for (const play of plays.filter(({ runId }) => left.has(runId))) await help(play);
    if (Date.now() > giveUpAt) {
      const stuck = plays.filter(({ runId }) => left.has(runId));
      expect(
        await Promise.all(
          stuck.map(async ({ seed, runId }) => ({ seed, runId, log: await s.log(runId) })),
        ),
      ).toEqual([]);
    }
  }

  const wrong: unknown[] = [];
  for (const { seed, runId } of plays) {
    const faults = await faultsOf(s.db, s.writ, runId);
    if (faults.length > 0)
      wrong.push({
        seed,
        faults,
        log: (await allEvents(s.writ, runId)).map((event) => `${event.runSeq} ${line(event)}`),
      });
  }
  expect(wrong).toEqual([]);

  // Which of them were cancelled in time depends on the machine.
  const [ended] = await s.db.query('select array_agg(distinct status) as how from writ.run');
  expect(ended?.how).toEqual(expect.arrayContaining(['COMPLETED', 'FAILED']));
  await until(
    async () =>
      (
        await s.db.query(
          'select from writ.run_snapshots s join writ.run r using (run_id) where s.status = r.status',
        )
      ).length === count,
  );
  for (const { runId } of plays) {
    const [row] = await s.db.query(
      'select snapshot, tenant_id from writ.run_snapshots where run_id = $1',
      [runId],
    );
    expect(row?.snapshot).toEqual(
      JSON.parse(
        JSON.stringify(reduce(emptySnapshot(runId, 'default'), await allEvents(s.writ, runId))),
      ),
    );
  }
});

async function help({ plan, dice, runId }: Play): Promise<void> {
  const { runs } = s.writ;
  const snapshot = await runs.snapshot(runId);
  const refusable = (attempt: Promise<unknown>) =>
    attempt.catch((error: unknown) => {
      if (!(error instanceof WritRefusal)) throw error;
    });
  if (snapshot.status === 'PAUSED') {
    const failed = snapshot.steps.filter(
      (step) =>
        step.status === 'FAILED' && plan.document.steps.some(({ id }) => id === step.stepId),
    );
    for (const { stepId } of failed)
      await refusable(
        runs.signal(runId, { type: dice.chance(0.5) ? 'RETRY_STEP' : 'SKIP_STEP', stepId }),
      );
    await refusable(runs.signal(runId, { type: 'RESUME' }));
  }
  for (const step of plan.document.steps)
    if (step.type === 'wait' && !step.timeoutMs)
      await refusable(runs.deliver(runId, step.id, { ok: dice.chance(0.5) }, { id: step.id }));
}

import { expect, test } from 'vitest';
import { Stage } from '../../src/cli/demo/stage.js';
import { conclude } from '../../src/cli/demo/story.js';
import { Failure } from '../../src/cli/failure.js';
import { Output } from '../../src/cli/output.js';
import { writ } from './run.js';

interface Told {
  payments: number;
  effects: number;
  lost: number;
  repeated: number;
  unfinished: number;
  executions: number;
  attemptsLost: number;
  good: boolean;
}

test('the demo kills a worker, and nothing is lost or repeated', async () => {
  const { code, stdout } = await writ(['demo', '--json']);
  const told = JSON.parse(stdout) as Told;
  expect(told).toMatchObject({ payments: 2_000, effects: 2_000, lost: 0, repeated: 0, unfinished: 0, good: true });
  // The kill was real: work was lost with it, and done again.
  expect(told.attemptsLost).toBeGreaterThan(0);
  expect(told.executions).toBeGreaterThan(told.payments);
  expect(code).toBe(0);
}, 90_000);

test.each(['lost', 'repeated', 'unfinished'])('the demo fails when a payment is %s', (fault) => {
  const output = new Output({ json: true });
  output.data = () => undefined;
  const figures = {
    payments: 1,
    effects: 1,
    lost: 0,
    repeated: 0,
    unfinished: 0,
    executions: 1,
    attemptsLost: 0,
    givenBack: 0,
    events: 5,
    seconds: 1,
    jobsPerSecond: 1,
  };
  expect(() => conclude(output, new Stage(output), figures, 1)).not.toThrow();
  expect(() => conclude(output, new Stage(output), { ...figures, [fault]: 1 }, 1)).toThrow(Failure);
});

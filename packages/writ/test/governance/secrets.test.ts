import { expect, test } from 'vitest';
import { defineStep } from '../../src/index.js';
import { scene } from './scene.js';

const s = scene();

test('a step type that needs a secret gets it from the applier, for a preview, a step and an audit', async () => {
  const writ = await s.db.connect({
    secrets: {
      resolve: async (refs) =>
        Object.fromEntries(refs.map(({ $secret }) => [$secret, 'open sesame'])),
    },
  });
  const asked: string[] = [];
  let value = 1;
  const vault = defineStep<number>('vault', {
    target: () => 'vault:door',
    read: async (_, { secret }) => {
      asked.push(await secret('door'));
      return value;
    },
    apply: async (wanted, { secret }) => {
      asked.push(await secret('door'));
      value = wanted;
    },
    revert: async (found) => {
      value = Number(found);
    },
  });
  await writ.work([], { governance: [vault] });
  const contract = await writ.contracts.propose(
    { title: 'Open it', scope: ['vault:door'], steps: [vault(2)] },
    { as: s.keys.agent },
  );
  const { hash, steps } = await contract.preview({ as: s.keys.ada });
  expect(steps).toMatchObject([{ before: 1, after: 2 }]);
  expect(asked).toHaveLength(1);
  await contract.approve({ as: s.keys.ada, hash });
  const job = await contract.activate({ as: s.keys.service });
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
  expect(value).toBe(2);
  expect(new Set(asked)).toEqual(new Set(['open sesame']));
  expect(asked).toHaveLength(5); // for the preview; then read, done, read again, audited
});

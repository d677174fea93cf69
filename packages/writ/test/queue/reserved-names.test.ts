/**
 * Names that belong to Writ are refused where they are defined, before anything reaches a database.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type AnyStepType, defineJob, definePlan, defineStep, JobKind } from '../../src/index.js';

const refusal = (define: () => unknown) => {
  try {
    define();
  } catch (error) {
    return error;
  }
  return undefined;
};

test.each(['governance.x', 'governor.handler.x', 'writ.x', 'governance.'])(
  'defineJob refuses the kind %s',
  (kind) => {
    expect(refusal(() => defineJob(kind))).toMatchObject({
      code: 'reserved_job_kind',
      detail: kind,
    });
  },
);

test.each(['governances.x', 'governance', 'governor', 'write.x', 'x.governance.y'])(
  'defineJob takes the kind %s',
  (kind) => {
    expect(defineJob(kind).kind).toBe(kind);
  },
);

test('the beginnings that defineJob refuses are those that the gates refuse', () => {
  const sql = readFileSync(
    new URL('../../sql/queue/internal/reserved_kind.sql', import.meta.url),
    'utf8',
  );
  const beginnings = [...sql.matchAll(/starts_with\(p_kind, '([^']+)'\)/g)].map(
    ([, beginning]) => beginning as string,
  );
  expect(beginnings).toHaveLength(3);
  for (const beginning of beginnings) {
    expect(refusal(() => defineJob(`${beginning}x`))).toMatchObject({ code: 'reserved_job_kind' });
  }
  const source = readFileSync(new URL('../../src/queue/job.ts', import.meta.url), 'utf8');
  expect(source).toContain(
    `const reserved = [${beginnings.map((beginning) => `'${beginning}'`).join(', ')}];`,
  );
});

const options = {
  target: () => 't',
  read: async () => 1,
  apply: async () => 1,
  revert: async () => 1,
};
const builtIn = [
  'capability_enable',
  'capability_disable',
  'config_update',
  'signal_record',
  'soak',
  'change',
  'audit',
  'ended',
  'verify',
];

test.each(builtIn)('defineStep refuses the type %s, which belongs to Writ', (type) => {
  expect(refusal(() => defineStep(type, options))).toMatchObject({
    code: 'unknown_step_type',
    detail: `${type} is a step type of Writ itself`,
  });
});

test('definePlan refuses the plan governed, and steps and compensations of reserved kinds', () => {
  const own = (defineStep('flag', options) as unknown as AnyStepType)
    .job as unknown as JobKind<unknown>;
  const made = new JobKind<unknown>('writ.x', undefined, {});
  const act = defineJob<unknown>('act');
  expect(
    refusal(() => definePlan('governed', { version: '1' }, (p) => void p.step('a', act))),
  ).toMatchObject({
    code: 'reserved_job_kind',
  });
  expect(
    refusal(() => definePlan('mine', { version: '1' }, (p) => void p.step('a', own))),
  ).toMatchObject({
    code: 'reserved_job_kind',
    detail: 'governance.flag',
  });
  expect(
    refusal(() =>
      definePlan('mine', { version: '1' }, (p) => void p.step('a', act, { compensate: made })),
    ),
  ).toMatchObject({
    code: 'reserved_job_kind',
    detail: 'writ.x',
  });
});

/**
 * Plans that are built in TypeScript: what is written is what the document says, and what cannot be
 * run is refused where it is defined.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob } from '../../../src/queue/job.js';
import { definePlan, type PlanBuilder } from '../../../src/runs/plans/builder.js';
import {
  above,
  all,
  any,
  below,
  exists,
  is,
  isNot,
  not,
} from '../../../src/runs/plans/conditions.js';

const Order = z.object({
  id: z.string(),
  total: z.number(),
  images: z.array(z.object({ url: z.string() })),
  note: z.string().optional(),
});
const Approval = z.object({ by: z.string() });
const reserve = defineJob<{ orderId: string }>('reserve');
const release = defineJob<{ orderId: string }>('release');
const resize = defineJob<{ url: string }>('resize');
const ship = defineJob<{ reservation: unknown; tags: readonly string[] }>('ship');
const byId = defineJob<{ id: string }>('by-id');
const nightly = defineJob('nightly');

const fulfil = definePlan('fulfil', { version: '1.2.0', input: Order, onFailure: 'pause' }, (p) => {
  const stock = p.step('reserve', reserve, {
    input: { orderId: p.input.id },
    compensate: release,
    retry: { attempts: 3 },
    timeout: '30s',
  });
  const ok = p.waitFor('approval', Approval, { after: stock, timeout: '48h' });
  const rest = p.sleep('cool-down', '10m', { after: ok });
  const resized = p.each('resize', resize, { over: p.input.images, parallel: 8, after: rest });
  p.step('ship', ship, {
    after: [resized],
    when: is(stock.output.available, true),
    input: { reservation: stock.output, tags: ['sent', p.run.id, ok.output.by] },
  });
});

const stepsOf = (build: (p: PlanBuilder<z.input<typeof Order>>) => void) =>
  definePlan('p', { version: '1', input: Order }, build).document.steps;

test('a plan is the document that it describes', () => {
  expect(fulfil.document).toEqual({
    schemaVersion: 1,
    planId: 'fulfil',
    planVersion: '1.2.0',
    onFailure: 'pause',
    steps: [
      {
        id: 'reserve',
        type: 'job',
        kind: 'reserve',
        input: { orderId: { $ref: 'input.id' } },
        compensate: { kind: 'release' },
        retry: { attempts: 3 },
        timeoutMs: 30_000,
      },
      {
        id: 'approval',
        type: 'wait',
        event: 'approval',
        schema: { type: 'object', properties: { by: { type: 'string' } }, required: ['by'] },
        after: ['reserve'],
        timeoutMs: 172_800_000,
      },
      { id: 'cool-down', type: 'timer', ms: 600_000, after: ['approval'] },
      {
        id: 'resize',
        type: 'each',
        kind: 'resize',
        over: { $ref: 'input.images' },
        parallel: 8,
        after: ['cool-down'],
      },
      {
        id: 'ship',
        type: 'job',
        kind: 'ship',
        after: ['resize', 'reserve', 'approval'],
        when: { ref: 'steps.reserve.output.available', is: true },
        input: {
          reservation: { $ref: 'steps.reserve.output' },
          tags: ['sent', { $ref: 'run.id' }, { $ref: 'steps.approval.output.by' }],
        },
      },
    ],
  });
  expect([fulfil.id, fulfil.version]).toEqual(['fulfil', '1.2.0']);
});

test('the same description is the same hash', () => {
  const build = (p: PlanBuilder<{ id: string }>) => {
    p.step('a', byId, { retry: { attempts: 2 } });
  };
  const one = definePlan('p', { version: '1' }, build);
  expect(definePlan('p', { version: '1' }, build).sha256).toBe(one.sha256);
  expect(definePlan('p', { version: '2' }, build).sha256).not.toBe(one.sha256);
});

test('a plan knows the jobs that it needs, those that undo too, and what its events carry', () => {
  expect([...fulfil.kinds]).toEqual([
    ['reserve', reserve],
    ['release', release],
    ['resize', resize],
    ['ship', ship],
  ]);
  expect([...fulfil.waits]).toEqual([['approval', Approval]]);
});

describe('a reference to an output', () => {
  test('makes a step wait for the other, once, wherever it stands', () => {
    const steps = stepsOf((p) => {
      const a = p.step('a', byId);
      const b = p.waitFor('b');
      const c = p.step('c', byId);
      p.step('input', byId, { input: { id: a.output.id } });
      p.step('both', byId, { input: { id: a.output.id }, when: is(a.output.ok, true), after: a });
      p.step('when', byId, {
        when: any(not(exists(b.output)), all(above(c.output.n, 1), below(c.output.n, 9))),
      });
      p.each('over', resize, { over: a.output.list, after: [c] });
      p.step('undo', byId, { compensate: { job: byId, input: { id: b.output.id } } });
      p.each('items', byId, {
        over: p.input.images,
        input: (image) => ({ id: image.url, of: a.output.id }) as never,
      });
    });
    expect(Object.fromEntries(steps.map(({ id, after }) => [id, after]))).toEqual({
      a: undefined,
      b: undefined,
      c: undefined,
      input: ['a'],
      both: ['a'],
      when: ['b', 'c'],
      over: ['c', 'a'],
      undo: ['b'],
      items: ['a'],
    });
  });

  test('of its own is for undoing it, and is nothing to wait for', () => {
    const [step, each] = stepsOf((p) => {
      p.step('a', byId, {
        compensate: { job: release, input: (own) => ({ orderId: own.id }), retry: { attempts: 9 } },
      });
      p.each('b', resize, {
        over: p.input.images,
        compensate: { job: ship, input: (own, item) => ({ reservation: own, tags: [item.url] }) },
      });
    });
    expect(step).toEqual({
      id: 'a',
      type: 'job',
      kind: 'by-id',
      compensate: {
        kind: 'release',
        input: { orderId: { $ref: 'steps.a.output.id' } },
        retry: { attempts: 9 },
      },
    });
    expect(each).toMatchObject({
      compensate: {
        kind: 'ship',
        input: { reservation: { $ref: 'steps.b.output' }, tags: [{ $ref: 'item.url' }] },
      },
    });
    expect(each).not.toHaveProperty('after');
  });
});

test('every option has its field', () => {
  const steps = stepsOf((p) => {
    p.each('a', byId, {
      over: p.input.images,
      input: (image) => ({ id: image.url }),
      optional: true,
      timeout: 500,
      retry: {},
    });
    p.waitFor('b', { event: 'go', onTimeout: 'skip', timeout: '1s' });
    p.waitFor('c', Approval);
    p.step('d', nightly, { optional: false, after: [] });
  });
  expect(steps).toEqual([
    {
      id: 'a',
      type: 'each',
      kind: 'by-id',
      over: { $ref: 'input.images' },
      parallel: 10,
      input: { id: { $ref: 'item.url' } },
      optional: true,
      timeoutMs: 500,
      retry: {},
    },
    { id: 'b', type: 'wait', event: 'go', onTimeout: 'skip', timeoutMs: 1_000 },
    {
      id: 'c',
      type: 'wait',
      event: 'c',
      schema: { type: 'object', properties: { by: { type: 'string' } }, required: ['by'] },
    },
    { id: 'd', type: 'job', kind: 'nightly' },
  ]);
});

test('every condition has its form', () => {
  const [{ when } = {}] = stepsOf((p) => {
    const { id, total, note } = p.input;
    p.step('a', byId, {
      when: all(
        is(id, 'x'),
        isNot(id, 'y'),
        any(above(total, 1), below(total, 9)),
        exists(note),
        not(is(note, null)),
      ),
    });
  });
  expect(when).toEqual({
    all: [
      { ref: 'input.id', is: 'x' },
      { ref: 'input.id', isNot: 'y' },
      {
        any: [
          { ref: 'input.total', above: 1 },
          { ref: 'input.total', below: 9 },
        ],
      },
      { ref: 'input.note', exists: true },
      { not: { ref: 'input.note', is: null } },
    ],
  });
});

describe('inputs', () => {
  test('are held against the schema, which may be asynchronous, and refused in words', async () => {
    const input = { id: 'o1', total: 7, images: [] };
    await expect(fulfil.parse(input)).resolves.toEqual(input);
    await expect(fulfil.parse({ id: 7 })).rejects.toMatchObject({
      code: 'invalid_input',
      detail: expect.stringMatching(/^fulfil: id: .*; total: /),
    });
    const Later = z.string().refine(async (text) => text === 'yes');
    const later = definePlan('later', { version: '1', input: Later }, (p) => p.sleep('t', '1s'));
    await expect(later.parse('yes')).resolves.toBe('yes');
    await expect(later.parse('no')).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('of a plan without a schema are taken as they are', async () => {
    const plan = definePlan<{ id: string }>('p', { version: '1' }, (p) => p.step('a', byId));
    await expect(plan.parse(7)).resolves.toBe(7);
  });

  test('of events are held against theirs', async () => {
    await expect(fulfil.parseEvent('approval', { by: 'ada' })).resolves.toEqual({ by: 'ada' });
    await expect(fulfil.parseEvent('approval', {})).rejects.toMatchObject({
      code: 'invalid_input',
      detail: expect.stringMatching(/^fulfil, event approval: by: /),
    });
    await expect(fulfil.parseEvent('other', 7)).resolves.toBe(7);
  });
});

describe('a plan that cannot be run is refused where it is defined', () => {
  const wrong: [string, (p: PlanBuilder<z.input<typeof Order>>) => unknown, string][] = [
    ['without steps', () => {}, 'the plan: steps must be a list of steps, of one at least'],
    [
      'with an id twice',
      (p) => [p.step('a', byId), p.sleep('a', '1s')],
      'step a is there twice; every step has an id of its own',
    ],
    [
      'too many at a time',
      (p) => p.each('a', resize, { over: p.input.images, parallel: 2_000 }),
      'step a: parallel must be a whole number from 1 to 1000',
    ],
    [
      'with a secret',
      (p) => p.step('a', byId, { input: { id: 'Bearer abcdefgh' } }),
      'step a: input.id looks like a bearer token',
    ],
    [
      'with what is not JSON',
      (p) => p.step('a', byId, { input: { id: undefined as never } }),
      'step a: input is not JSON: /id: undefined is not JSON',
    ],
    [
      'that waits for a step of another plan',
      (p) => p.step('a', byId, { after: { id: 'elsewhere' } }),
      'step a: after names elsewhere, and the plan has no such step',
    ],
    [
      'that does not sleep',
      (p) => p.sleep('a', 0),
      'step a: ms must be a whole number from 1 to 316224000000',
    ],
    [
      'with two schemas for one event',
      (p) => [p.waitFor('a', Approval), p.waitFor('b', Order, { event: 'a' })],
      'step b: another step waits for a with another schema',
    ],
    [
      'by an async function',
      async (p) => p.step('a', byId),
      'the plan p is built by an async function; steps are described at once, and done later',
    ],
  ];
  test.each(wrong)('%s', (_, build, detail) => {
    expect(() => definePlan('p', { version: '1', input: Order }, build as never)).toThrow(
      expect.objectContaining({ name: 'WritRefusal', detail }),
    );
  });
});

describe('a reference that decides while the plan is described', () => {
  interface Order {
    vip: boolean;
    kind: string;
    lines: { sku: string; gift?: boolean }[];
  }
  const job = defineJob<unknown>('job');
  const undo = defineJob<{ id?: string }>('undo');
  const build = (describe: (p: PlanBuilder<Order>) => void) => () =>
    definePlan<Order>('decides', { version: '1' }, describe);

  test.each<[string, string, (p: PlanBuilder<Order>) => void]>([
    ['an if', 'input.vip', (p) => void (p.input.vip ? p.step('gold', job) : p.step('plain', job))],
    [
      'an if, beside a use elsewhere',
      'input.vip',
      (p) => void (p.input.vip && p.step('gold', job, { input: { vip: p.input.vip } })),
    ],
    [
      'a comparison',
      'input.kind',
      (p) => void p.step((p.input.kind as unknown) === 'x' ? 'a' : 'b', job),
    ],
    ['a negation', 'input.vip', (p) => void p.step(!p.input.vip ? 'a' : 'b', job)],
    [
      'an output',
      'steps.a.output.ok',
      (p) => void (p.step<{ ok: boolean }>('a', job).output.ok && p.step('b', job)),
    ],
    ['the id of the run', 'run.id', (p) => void (p.run.id && p.step('a', job))],
    [
      'an element of a list',
      'item.gift',
      (p) =>
        void p.each('pack', job, {
          over: p.input.lines,
          input: (line) => (line.gift ? { wrap: true } : { sku: line.sku }),
        }),
    ],
    [
      'an undoing',
      'steps.a.output.ok',
      (p) =>
        void p.step<{ ok: boolean; id: string }, { id?: string }>('a', job, {
          compensate: { job: undo, input: ({ ok, id }) => (ok ? { id } : {}) },
        }),
    ],
  ])('is refused in %s', (_, path, describe) => {
    expect(build(describe)).toThrow(`${path} is read, and no step uses it`);
    expect(build(describe)).toThrow('Use when: is(…)');
  });

  test.each<[string, (p: PlanBuilder<Order>) => void]>([
    ['a template', (p) => void p.step('a', job, { input: { vip: p.input.vip, id: p.run.id } })],
    ['a condition', (p) => void p.step('a', job, { when: is(p.input.vip, true) })],
    ['a whole output that is handed on', (p) => void [p.step('a', job).output, p.input]],
    ['a list', (p) => void p.each('a', job, { over: p.input.lines })],
    [
      'a list that it does not use the elements of',
      (p) => void p.each('a', job, { over: p.input.lines, input: () => ({}) }),
    ],
    [
      'a variable',
      (p) => {
        const { vip } = p.input;
        const a = p.step('a', job, { input: { vip } });
        p.step('b', job, { after: a });
      },
    ],
    [
      'JSON',
      (p) => void p.step('a', job, { input: JSON.parse(JSON.stringify({ vip: p.input.vip })) }),
    ],
  ])('is none in %s', (_, describe) => {
    expect(build(describe)).not.toThrow();
  });
});

test('a list is counted from 0, and a plan cannot ask for its end', () => {
  const build = () =>
    definePlan<{ list: string[] }>('end', { version: '1' }, (p) => {
      p.step('a', defineJob<unknown>('job'), { input: { last: p.input.list[-1] } });
    });
  expect(build).toThrow('input.list: a list has no element -1; it is counted from 0');
});

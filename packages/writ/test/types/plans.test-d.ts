/**
 * What the compiler promises about plans. Nothing here runs: every line marked with
 * @ts-expect-error must fail to compile.
 */
import { z } from 'zod';
import { defineJob } from '../../src/queue/job.js';
import { definePlan, type Step, type StepHandle } from '../../src/runs/plans/builder.js';
import { above, all, any, below, exists, is, isNot, not } from '../../src/runs/plans/conditions.js';
import type { Condition, PlanDocument, PlanRef } from '../../src/runs/plans/document.js';
import type { Plan } from '../../src/runs/plans/plan.js';
import type { Reference } from '../../src/runs/plans/typed.js';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when both types are the same. */
function same<A, B>(_yes: Same<A, B>): void {}

const Order = z.object({
  id: z.string(),
  total: z.number(),
  note: z.string().optional(),
  images: z.array(z.object({ url: z.string() })),
  address: z.object({ city: z.string() }).optional(),
});
type Order = z.infer<typeof Order>;
interface Reservation {
  readonly id: string;
  readonly available: boolean;
}

const reserve = defineJob<{ orderId: string; express?: boolean }>('reserve');
const release = defineJob<{ orderId: string }>('release');
const unlock = defineJob<{ reservation: string }>('unlock');
const archive = defineJob<Order>('archive');
const byId = defineJob<{ id: string }>('by-id');
const resize = defineJob('resize', {
  input: z.object({ url: z.string(), width: z.number().default(100) }),
});
const remark = defineJob<{ note: string | null }>('remark');
const tag = defineJob<{ tags: readonly string[] }>('tag');
const nightly = defineJob('nightly');
const Approval = z.object({ by: z.string(), yes: z.boolean() });

const plan = definePlan('fulfil', { version: '1.0.0', input: Order, onFailure: 'pause' }, (p) => {
  // The run's input is what a job gets unless it has one of its own: it has to fit.
  p.step('archive', archive);
  p.step('by-id', byId, { timeout: '30s', retry: { attempts: 3 } });
  p.step('nightly', nightly);
  // @ts-expect-error an order has no orderId
  p.step('reserve', reserve);
  // @ts-expect-error nor with other options
  p.step('reserve', reserve, { timeout: '30s' });

  // With one, each value is of its type, or a reference to such a one.
  const stock: Step<Reservation> = p.step('reserve', reserve, { input: { orderId: p.input.id } });
  p.step('a', reserve, { input: { orderId: 'fixed', express: true } });
  p.step('a', tag, { input: { tags: ['fixed', p.input.id, p.run.id] } });
  // A secret is a text, and stands where any text fits.
  p.step('a', reserve, { input: { orderId: { $secret: 'name' } } });
  p.step('a', tag, { input: { tags: [{ $secret: 'name' }] } });
  // @ts-expect-error it is no boolean
  p.step('a', reserve, { input: { orderId: 'fixed', express: { $secret: 'name' } } });
  // @ts-expect-error and has a name
  p.step('a', reserve, { input: { orderId: { $secret: 1 } } });
  p.step('a', archive, { input: p.input });
  // @ts-expect-error a total is no text
  p.step('a', reserve, { input: { orderId: p.input.total } });
  // @ts-expect-error an order has no such field
  p.step('a', reserve, { input: { orderId: p.input.colour } });
  // @ts-expect-error inputs have the fields of the job
  p.step('a', reserve, { input: { orderId: p.input.id, colour: 'red' } });
  // @ts-expect-error all of those that are required
  p.step('a', reserve, { input: {} });
  // @ts-expect-error a text cannot be calculated out of a reference
  p.step('a', reserve, { input: { orderId: p.input.id.toUpperCase() } });
  // @ts-expect-error options are known
  p.step('a', byId, { colour: 'red' });
  // @ts-expect-error a time has a unit
  p.step('a', byId, { timeout: '30 seconds' });

  // What is not there is null: so is what is optional, and what is in it.
  p.step('a', remark, { input: { note: p.input.note } });
  // @ts-expect-error it may be null
  p.step('a', reserve, { input: { orderId: p.input.note } });
  // @ts-expect-error so may what is in it
  p.step('a', reserve, { input: { orderId: p.input.address.city } });
  p.step('a', remark, { input: { note: p.input.address.city } });
  p.step('a', remark, { input: { note: p.input.images[0]?.url as Reference<string | null> } });

  // The type of an output is known where somebody says it.
  p.step('b', unlock, { input: { reservation: stock.output.id } });
  // @ts-expect-error whether it is available is no text
  p.step('b', unlock, { input: { reservation: stock.output.available } });
  // @ts-expect-error a reservation has no such field
  stock.output.colour;
  const unknown = p.step('c', byId);
  p.step('b', unlock, { input: { reservation: unknown.output.anything.at.all } });

  // Undoing: with the step's input, or with its own.
  p.step('d', reserve, { input: { orderId: p.input.id }, compensate: release });
  p.step('d', reserve, { input: { orderId: p.input.id }, compensate: nightly });
  p.step('d', reserve, {
    input: { orderId: p.input.id },
    compensate: { job: release, retry: { attempts: 9 } },
  });
  p.step('d', reserve, {
    input: { orderId: p.input.id },
    compensate: { job: unlock, input: (own) => ({ reservation: own.id }) },
  });
  p.step('d', reserve, {
    input: { orderId: p.input.id },
    compensate: { job: unlock, input: { reservation: stock.output.id } },
  });
  p.step('d', byId, { compensate: byId });
  p.step('d', byId, { compensate: { job: unlock, input: (own) => ({ reservation: own.id }) } });
  const typed: Step<Reservation> = p.step('d', byId, {
    compensate: { job: unlock, input: (own) => ({ reservation: own.id }) },
  });
  // @ts-expect-error the step's input is no reservation
  p.step('d', reserve, { input: { orderId: p.input.id }, compensate: unlock });
  // @ts-expect-error neither here
  p.step('d', reserve, { input: { orderId: p.input.id }, compensate: { job: unlock } });
  // @ts-expect-error a reservation is a text
  p.step('d', reserve, {
    input: { orderId: p.input.id },
    compensate: { job: unlock, input: { reservation: p.input.total } },
  });

  // One job per element: of what the job takes, or of what its input is made of.
  const resized = p.each('resize', resize, { over: p.input.images, parallel: 8, after: stock });
  same<typeof resized, StepHandle>(true);
  p.each('reserve', reserve, { over: p.input.images, input: (image) => ({ orderId: image.url }) });
  p.each('reserve', reserve, {
    over: p.input.images,
    input: (image) => ({ orderId: image.url }),
    compensate: release,
  });
  p.each('resize', resize, { over: unknown.output.images });
  p.each('nightly', nightly, { over: p.input.images });
  // @ts-expect-error an order is no list
  p.each('resize', resize, { over: p.input });
  // @ts-expect-error images are no orders
  p.each('reserve', reserve, { over: p.input.images });
  p.each('reserve', reserve, {
    over: p.input.images,
    // @ts-expect-error an image has no such field
    input: (image) => ({ orderId: image.colour }),
  });
  // @ts-expect-error there is something to go over
  p.each('resize', resize, { parallel: 8 });
  // @ts-expect-error it has no output
  resized.output;

  // Waiting.
  const approval = p.waitFor('approval', Approval, {
    after: [stock, resized],
    timeout: '48h',
    onTimeout: 'skip',
    event: 'approved',
  });
  same<typeof approval, Step<{ by: string; yes: boolean }>>(true);
  const anything = p.waitFor('anything', { after: approval });
  p.waitFor('bare');
  const rest = p.sleep('cool-down', '10m', { after: anything });
  same<typeof rest, StepHandle>(true);
  // @ts-expect-error there are two ways to end
  p.waitFor('approval', Approval, { onTimeout: 'retry' });
  // @ts-expect-error steps wait for steps
  p.sleep('cool-down', '10m', { after: 'approval' });

  // Conditions compare what can be compared.
  const when: Condition = all(
    is(stock.output.available, true),
    any(isNot(approval.output.by, 'nobody'), not(exists(p.input.note))),
    above(p.input.total, 10),
    below(unknown.output.price, 99),
    is(p.input.address.city, null),
  );
  p.step('e', byId, { when, optional: true });
  // @ts-expect-error it is true or false
  is(stock.output.available, 'yes');
  // @ts-expect-error a text is neither above nor below
  above(p.input.id, 3);
  // @ts-expect-error a value is no reference
  is(true, true);
  return typed;
});

same<typeof plan, Plan<z.input<typeof Order>>>(true);
same<typeof plan.document, PlanDocument>(true);
same<typeof plan.ref, PlanRef>(true);
// @ts-expect-error a plan does not change
plan.document.planId = 'other';

// A plan with a type alone, and one without an input.
const simple = definePlan<{ id: string }>('simple', { version: '1' }, (p) => {
  p.step('by-id', byId);
  // @ts-expect-error it has no order
  p.step('archive', archive);
});
same<typeof simple, Plan<{ id: string }>>(true);
definePlan('none', { version: '1' }, (p) => {
  p.step('nightly', nightly);
  p.step('fixed', byId, { input: { id: 'fixed' } });
  // @ts-expect-error there is no input that would fit
  p.step('by-id', byId);
});
// @ts-expect-error plans have versions
definePlan('none', {}, () => {});

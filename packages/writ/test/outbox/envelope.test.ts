import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cloudEvent,
  encodeEvent,
  type Fact,
  largestEvent,
  sourceOf,
} from '../../src/outbox/envelope.js';

const runId = '01980000-0000-7000-8000-000000000001';
const fact: Fact = {
  id: '01980000-0000-7000-8000-0000000000aa',
  type: 'dot.run.StepCompleted',
  source: sourceOf('run', runId),
  subject: 'charge',
  time: '2026-03-01T10:00:00.123456+00:00',
  tenant: 'acme',
  runId,
  runSeq: 7,
  data: { stepId: 'charge' },
};

/**
 * The rules of the specification for attributes, by themselves: names, types, strings without
 * control characters.
 */
function broken(event: object): string[] {
  return Object.entries(event).flatMap(([name, value]) => {
    if (name === 'data') return [];
    const wrong = [];
    if (!/^[a-z0-9]{1,20}$/.test(name)) wrong.push(`${name} is not a name`);
    if (typeof value !== 'string' || value === '') wrong.push(`${name} is not a text, or empty`);
    else if (
      !value.isWellFormed() ||
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      /[\u0000-\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]/.test(value)
    )
      wrong.push(`${name} has what no text may have`);
    return wrong;
  });
}

describe('an event', () => {
  test('has the attributes of CloudEvents 1.0, and the extensions of order and tenant', () => {
    expect(cloudEvent(fact)).toEqual({
      specversion: '1.0',
      id: fact.id,
      source: `/writ/runs/${runId}`,
      type: 'dot.run.StepCompleted',
      subject: 'charge',
      time: '2026-03-01T10:00:00.123456+00:00',
      tenantid: 'acme',
      partitionkey: runId,
      sequence: '000000000007',
      datacontenttype: 'application/json',
      data: { stepId: 'charge' },
    });
  });

  test('keeps every rule, whatever tenant and subject are called', () => {
    const name = fc.string({ unit: 'binary', minLength: 1 });
    fc.assert(
      fc.property(name, name, fc.nat(), (tenant, subject, runSeq) => {
        const event = cloudEvent({ ...fact, tenant, subject, runSeq, time: new Date() });
        expect(broken(event)).toEqual([]);
      }),
    );
    expect(broken(cloudEvent({ ...fact, tenant: 'a\nb\u0000', subject: '\u009f' }))).toEqual([]);
    expect(broken({ TenantId: 'a', tenant_id: 'a', type: '', subject: 'a\nb' })).toHaveLength(4);
  });

  test('sorts by its sequence as by its number', () => {
    const numbers = [1, 9, 10, 99, 100, 2_147_483_647];
    const texts = numbers.map((runSeq) => cloudEvent({ ...fact, runSeq }).sequence as string);
    expect(texts.toSorted()).toEqual(texts);
  });

  test('that is of no run is in order with what else is about the same thing', () => {
    const {
      runId: _,
      runSeq: __,
      data: ___,
      ...ofJob
    } = { ...fact, source: sourceOf('job', 'a/b') };
    const event = cloudEvent(ofJob);
    expect(event.partitionkey).toBe('/writ/jobs/a%2Fb');
    expect(event).not.toHaveProperty('sequence');
    expect(event).not.toHaveProperty('datacontenttype');
    expect(broken(event)).toEqual([]);
  });

  test('over 64 KB is not sent: nobody on the way has to carry it', () => {
    const around = encodeEvent(cloudEvent({ ...fact, data: '' }))?.length as number;
    expect(
      encodeEvent(cloudEvent({ ...fact, data: 'x'.repeat(largestEvent - around) })),
    ).toHaveLength(largestEvent);
    expect(
      encodeEvent(cloudEvent({ ...fact, data: 'x'.repeat(largestEvent - around + 1) })),
    ).toBeUndefined();
    expect(
      encodeEvent(cloudEvent({ ...fact, data: 'ä'.repeat(largestEvent / 2) })),
    ).toBeUndefined();
  });
});

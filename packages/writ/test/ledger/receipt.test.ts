import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exampleReceipt } from '../../../../scripts/receipts.mjs';
import { WritRefusal } from '../../src/errors/index.js';
import { commitment, erasable } from '../../src/ledger/erasable.js';
import { receipt, receiptId } from '../../src/ledger/receipt.js';
import { validateReceipt } from '../../src/ledger/validate.js';

const fields = {
  receipt_id: 'e6d3a1f0-7b52-4c8e-9a41-2f0d6c5b4a39',
  timestamp: new Date('2026-01-25T14:32:15.123Z'),
  sku_id: 'acme-catalog-v1',
  tenant_id: 'customer-123',
};
const position = { stream: 'governor:acme-catalog-v1', stream_seq: 9 };
const failure = {
  action_id: 'a1',
  action_type: 'scale_up_cloud_run',
  failure_reason: 'timeout',
  retry_countdown: 2,
  max_retries: 3,
  ...position,
} as const;
const signal = exampleReceipt('signal_received');
const detailOf = (value: unknown) => validateReceipt(value)?.detail;

describe('a receipt', () => {
  test('has exactly the seven fields of its container, and the time to the millisecond', () => {
    const made = receipt('action_failed', { ...fields, status: 'error', context: failure });
    expect(made).toEqual({
      receipt: {
        ...fields,
        timestamp: '2026-01-25T14:32:15.123Z',
        status: 'error',
        reason: 'action_failed',
        context: failure,
      },
      erasables: [],
    });
  });

  test('is the same whenever it is made of the same', () => {
    const make = () =>
      JSON.stringify(receipt('action_failed', { ...fields, status: 'error', context: failure }));
    expect(make()).toBe(make());
  });

  test('that does not fit is refused, not made', () => {
    const wrong = { ...failure, retry_countdown: -1 };
    expect(() => receipt('action_failed', { ...fields, status: 'error', context: wrong })).toThrow(
      WritRefusal,
    );
    expect(() =>
      receipt('action_failed', { ...fields, status: 'accept' as never, context: failure }),
    ).toThrow(/status must be one of error/);
    expect(() =>
      receipt('action_failed', {
        ...fields,
        timestamp: new Date(Number.NaN),
        status: 'error',
        context: failure,
      }),
    ).toThrow(/timestamp is not a moment/);
    expect(() =>
      receipt('no_such_reason' as 'action_failed', {
        ...fields,
        status: 'error',
        context: failure,
      }),
    ).toThrow(expect.objectContaining({ code: 'unknown_receipt_reason' }));
  });
});

describe('what is no receipt', () => {
  test.each([null, undefined, 7, 'text', true, () => 1])('%s is refused', (value) => {
    expect(validateReceipt(value)).toMatchObject({
      code: 'invalid_receipt',
      detail: 'it is not an object',
    });
  });

  test.each([[[]], [{}], [{ reason: 7 }], [{ reason: null }]])(
    '%j is refused for want of a reason',
    (value) => {
      expect(validateReceipt(value)).toMatchObject({
        code: 'invalid_receipt',
        detail: expect.stringContaining('/reason'),
      });
    },
  );

  test.each(['no_such_reason', 'toString', '__proto__', 'constructor', ''])(
    'the reason “%s” is not known',
    (reason) => {
      const refusal = validateReceipt({ ...signal, reason });
      expect(refusal).toMatchObject({ code: 'unknown_receipt_reason' });
      if (reason === 'no_such_reason') expect(refusal?.message).not.toContain(reason);
    },
  );

  test('the context of one reason is not that of another', () => {
    expect(validateReceipt({ ...signal, reason: 'boot_start' })).toMatchObject({
      code: 'invalid_receipt',
    });
  });

  test.each([
    ['2026-02-30T00:00:00.000Z', '/timestamp is on no calendar'],
    ['2025-02-29T00:00:00.000Z', '/timestamp is on no calendar'],
    ['2026-04-31T00:00:00.000Z', '/timestamp is on no calendar'],
    ['2026-13-01T00:00:00.000Z', '/timestamp has the wrong form'],
    ['2026-01-25T24:00:00.000Z', '/timestamp has the wrong form'],
    ['2026-01-25T14:32:15Z', '/timestamp has the wrong form'],
    ['2026-01-25T14:32:15.123456Z', '/timestamp has the wrong form'],
    ['2026-01-25T14:32:15.123+00:00', '/timestamp has the wrong form'],
    ['2026-01-25 14:32:15.123Z', '/timestamp has the wrong form'],
    ['2026-01-25T14:32:15.123Z\n', '/timestamp has the wrong form'],
  ])('of the time %j: %s', (timestamp, detail) => {
    expect(detailOf({ ...signal, timestamp })).toBe(detail);
  });

  test('the 29th of February of a leap year is a day', () => {
    expect(validateReceipt({ ...signal, timestamp: '2028-02-29T23:59:59.999Z' })).toBeNull();
  });

  test.each([
    'E6D3A1F0-7B52-4C8E-9A41-2F0D6C5B4A39',
    'e6d3a1f0-7b52-7c8e-9a41-2f0d6c5b4a39',
    'e6d3a1f0-7b52-4c8e-ca41-2f0d6c5b4a39',
    'uuid',
  ])('%s is no id of a receipt', (receipt_id) => {
    expect(detailOf({ ...signal, receipt_id })).toBe('/receipt_id has the wrong form');
  });

  test('a field without a value of its own is refused: the entry would not hold it', () => {
    const inherited = Object.assign(Object.create({ threshold: 75 }), signal.context);
    delete inherited.threshold;
    expect(detailOf({ ...signal, context: { ...signal.context, threshold: undefined } })).toBe(
      '/context/threshold has no value of its own',
    );
    expect(detailOf({ ...signal, context: inherited })).toBe(
      '/context/threshold has no value of its own',
    );
  });

  test('one that settles a signal has to name it', () => {
    const settling = { ...signal, context: { ...signal.context, terminal: true } };
    expect(detailOf(settling)).toMatch(/^\/context\/arrival_seq is missing/);
    expect(
      validateReceipt({ ...settling, context: { ...settling.context, arrival_seq: 1 } }),
    ).toBeNull();
    const dropped = exampleReceipt('signal_dropped');
    expect(
      validateReceipt({ ...dropped, context: { ...dropped.context, terminal: true } }),
    ).toBeNull();
  });

  test('a name that is not a name is not repeated', () => {
    const context = { ...signal.context, 'ada@example.org, 12 Main Street': 1 };
    expect(detailOf({ ...signal, context })).toBe('/context/… is not one of its fields');
    const attempted = exampleReceipt('action_attempted');
    const parameters = { 'ada@example.org': 1 };
    expect(detailOf({ ...attempted, context: { ...attempted.context, parameters } })).toBe(
      '/context/parameters/… has the wrong form',
    );
  });

  test('whatever JSON there is, the answer is a refusal and never a fault', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (container, context) => {
        for (const value of [container, { ...signal, context }])
          expect(validateReceipt(value)).toBeInstanceOf(WritRefusal);
      }),
    );
  });
});

describe('an erasable value', () => {
  const made = (error_message: string) =>
    receipt('action_failed', {
      ...fields,
      status: 'error',
      context: { ...failure, error_message: erasable(error_message) },
    });

  test('is in the receipt as the hash of a salt of 32 bytes and its canonical JSON, and comes back beside it', () => {
    const { receipt: written, erasables } = made('Ada’s card was declined');
    const [stored] = erasables;
    expect(erasables).toHaveLength(1);
    expect(stored?.value).toBe('Ada’s card was declined');
    expect(stored?.salt).toHaveLength(32);
    const expected = createHash('sha256')
      .update(stored?.salt ?? '')
      .update('"Ada’s card was declined"')
      .digest('hex');
    expect(written.context.error_message).toEqual({ erasable: expected });
    expect(stored?.hash).toBe(expected);
    expect(JSON.stringify(written)).not.toContain('Ada');
    expect(validateReceipt(JSON.parse(JSON.stringify(written)))).toBeNull();
  });

  test('says nothing once its salt is gone: the same value never has the same hash twice', () => {
    expect(made('the same').erasables[0]?.hash).not.toBe(made('the same').erasables[0]?.hash);
  });

  test('can be proved by whoever holds salt and value, and by nobody with another value', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string())),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (value, salt) => {
          expect(commitment(salt, value)).toBe(commitment(salt, JSON.parse(JSON.stringify(value))));
          expect(commitment(salt, value)).not.toBe(commitment(salt, [value]));
        },
      ),
    );
  });

  test('may be in a map of plain values, several in one receipt', () => {
    const { receipt: written, erasables } = receipt('action_attempted', {
      ...fields,
      status: 'accept',
      context: {
        ...position,
        action_id: 'a1',
        action_type: 'revoke_permission',
        action_timeout_ms: 500,
        service: 'iam',
        target: 'project-1',
        initiated_by: erasable('ada@example.org'),
        parameters: { member: erasable('grace@example.org'), role: 'editor' },
      },
    });
    expect(erasables.map(({ value }) => value)).toEqual(['ada@example.org', 'grace@example.org']);
    expect(written.context).toMatchObject({
      initiated_by: { erasable: erasables[0]?.hash },
      parameters: { member: { erasable: erasables[1]?.hash }, role: 'editor' },
    });
  });

  test('has to be one that could stand there plainly', () => {
    expect(() => made('x'.repeat(1_001))).toThrow(/\/context\/error_message/);
    expect(() => made('a NUL \0 in it')).toThrow(/\/context\/error_message/);
    expect(() => made(7 as unknown as string)).toThrow(/\/context\/error_message/);
  });

  test('has no place where names of things are wanted', () => {
    const context = { ...failure, action_id: erasable('a1') as unknown as string };
    expect(() => receipt('action_failed', { ...fields, status: 'error', context })).toThrow(
      /\/context\/action_id/,
    );
  });
});

describe('the id of a receipt', () => {
  // printf '019a8a526c0070008000000000000001%08x' 0 | xxd -r -p | sha256sum, its first 16 bytes,
  // with version and variant set.
  test.each([
    [0, '721e6b1e-3fbc-44f0-8d18-cde0b9672178'],
    [1, 'ffac2ecf-e3b9-4f7c-9939-9b3b4818cf8c'],
    [0xffffffff, '22fb9561-1f00-4902-876c-75e2d696f852'],
  ])('follows from the event and the ordinal %i', (ordinal, expected) => {
    expect(receiptId('019a8a52-6c00-7000-8000-000000000001', ordinal)).toBe(expected);
  });

  test('is one that a receipt can have, whatever the event', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat({ max: 0xffffffff }), (event, ordinal) => {
        expect(validateReceipt({ ...signal, receipt_id: receiptId(event, ordinal) })).toBeNull();
        expect(receiptId(event.toUpperCase(), ordinal)).toBe(receiptId(event, ordinal));
      }),
    );
  });

  test('is not made of what is no event or no ordinal', () => {
    expect(() => receiptId('event-1', 0)).toThrow(TypeError);
    for (const ordinal of [-1, 1.5, 2 ** 32, Number.NaN])
      expect(() => receiptId('019a8a52-6c00-7000-8000-000000000001', ordinal)).toThrow(RangeError);
  });
});

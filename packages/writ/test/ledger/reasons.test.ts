/**
 * Every reason keeps what its declaration says. What is tried is worked out from the schemas, so
 * that a reason added later is tried as well.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { exampleReceipt } from '../../../../scripts/receipts.mjs';
import { type ReasonName, reasons, type Status, statuses } from '../../src/ledger/reasons/index.js';
import { receiptSchema, validateReceipt } from '../../src/ledger/validate.js';
import specified from './specified-receipts.json' with { type: 'json' };
import { type Schema, wrongValues } from './wrong-values.js';

const names = Object.keys(reasons) as ReasonName[];
const page = readFileSync(
  new URL('../../../../docs/reference/receipts.md', import.meta.url),
  'utf8',
);

/** A receipt of the reason with another context, or with fields of its context replaced. */
const withContext = (name: ReasonName, changes: Record<string, unknown>) => {
  const example = exampleReceipt(name);
  return { ...example, context: { ...example.context, ...changes } };
};
const without = (object: object, field: string) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== field));

test('the reasons are those of the specification, of governance and of the ledger', () => {
  expect([...names].sort()).toEqual(
    [
      ...[
        'boot_start',
        'state_transition',
        'signal_received',
        'threshold_exceeded',
        'action_attempted',
        'action_succeeded',
        'action_failed',
      ],
      ...[
        'permission_denied',
        'policy_violation',
        'invariant_violation',
        'health_check_failed',
        'entitlement_verified',
      ],
      ...[
        'bootstrap_timeout',
        'signal_cleared',
        'baseline_restored',
        'retry_countdown',
        'action_timeout',
        'policy_updated',
      ],
      ...[
        'violations_cleared',
        'health_check_passed',
        'recovery_timeout',
        'signal_storm_detected',
        'concurrency_limited',
      ],
      ...[
        'nondeterminism_detected',
        'signal_dropped',
        'action_rollback_issued',
        'action_rollback_failed',
      ],
      ...['action_acknowledged', 'late_result', 'event_failed'],
      ...[
        'contract_moved',
        'contract_reviewed',
        'signature_refused',
        'governance_job_moved',
        'change_applied',
        'change_reverted',
        'rollback_conflict',
        'audit_verdict',
        'access_denied',
        'control_changed',
      ],
      ...[
        'deployment_named',
        'events_sealed',
        'log_checkpoint',
        'key_added',
        'epoch_opened',
        'month_archived',
        'data_erased',
        'requests_rejected',
      ],
    ].sort(),
  );
});

test('a signal is settled by its reception, a refusal, its being dropped or its failure, and by nothing else', () => {
  expect(names.filter((name) => reasons[name].terminal).sort()).toEqual(
    [
      'signal_received',
      'invariant_violation',
      'policy_violation',
      'health_check_failed',
      'signal_dropped',
      'event_failed',
    ].sort(),
  );
});

describe.each(names)('%s', (name) => {
  const { when, statuses: possible, terminal, own, context, author } = reasons[name];
  const properties = Object.entries(context.properties) as [string, Schema][];

  test('has an example that is a receipt', () => {
    expect(validateReceipt(exampleReceipt(name))).toBeNull();
  });

  test('is on the reference page with its statuses, every field and its example', () => {
    const start = page.indexOf(`\n### ${name}\n`);
    expect(start).toBeGreaterThan(0);
    const section = page.slice(start, page.indexOf('\n##', start + 5) + 1 || undefined);
    expect(section).toContain(when);
    for (const status of possible) expect(section).toContain(`\`${status}\``);
    for (const field of Object.keys(own)) expect(section).toContain(`| \`${field}\` |`);
    for (const field of properties.map(([key]) => key)) expect(page).toContain(`| \`${field}\` |`);
    expect(section).toContain(JSON.stringify(exampleReceipt(name).context, null, 2));
  });

  test('says when it is written in a sentence, and of every field what it means', () => {
    expect(when).toMatch(/^[A-Z][^.]*\.$/);
    for (const [field, schema] of properties)
      expect(schema.description, field).toMatch(/^[A-Z].*\.$/);
  });

  test('has the statuses that it declares, and no others', () => {
    const accepted = statuses.filter(
      (status) => validateReceipt({ ...exampleReceipt(name), status }) === null,
    );
    expect(accepted.sort()).toEqual([...(possible as readonly Status[])].sort());
    expect(validateReceipt({ ...exampleReceipt(name), status: 'fine' })).toMatchObject({
      code: 'invalid_receipt',
    });
  });

  test.each(['receipt_id', 'timestamp', 'sku_id', 'tenant_id', 'status', 'context'])(
    'is no receipt without %s',
    (field) => {
      expect(validateReceipt(without(exampleReceipt(name), field))).toMatchObject({
        code: 'invalid_receipt',
        detail: `/${field} is missing`,
      });
    },
  );

  test('is no receipt with a further field', () => {
    const refusal = validateReceipt({ ...exampleReceipt(name), colour: 'crimson' });
    expect(refusal).toMatchObject({
      code: 'invalid_receipt',
      detail: '/colour is not one of its fields',
    });
  });

  test('requires each required field of its context', () => {
    expect(context.required).toEqual(expect.arrayContaining(['stream', 'stream_seq']));
    for (const field of context.required as string[]) {
      const receipt = exampleReceipt(name);
      const refusal = validateReceipt({ ...receipt, context: without(receipt.context, field) });
      expect(refusal, field).toMatchObject({
        code: 'invalid_receipt',
        detail: `/context/${field} is missing`,
      });
    }
  });

  test('needs no other field', () => {
    const receipt = exampleReceipt(name);
    const required = Object.entries(receipt.context).filter(([key]) =>
      (context.required as string[]).includes(key),
    );
    expect(validateReceipt({ ...receipt, context: Object.fromEntries(required) })).toBeNull();
  });

  test('refuses a wrong value in any field, says where, and repeats nothing of it', () => {
    for (const [field, schema] of properties) {
      const wrong = wrongValues(schema);
      expect(wrong.length, field).toBeGreaterThan(3);
      for (const value of wrong) {
        const refusal = validateReceipt(withContext(name, { [field]: value }));
        const shown = typeof value === 'string' ? value.slice(0, 40) : String(value);
        expect(refusal, `${field}: ${shown}`).toMatchObject({ code: 'invalid_receipt' });
        expect(refusal?.detail).toMatch(new RegExp(`^/context/${field}\\b`));
        if (typeof value === 'string' && value.length > 8)
          expect(refusal?.message).not.toContain(value);
      }
    }
  });

  test('refuses a field that it does not have, whatever its value', () => {
    for (const value of [null, '', 0, {}, undefined]) {
      expect(validateReceipt(withContext(name, { colour: value }))).toMatchObject({
        detail: '/context/colour is not one of its fields',
      });
    }
  });

  test(terminal ? 'can settle a signal that it names' : 'cannot settle a signal', () => {
    const settling = validateReceipt(withContext(name, { terminal: true, arrival_seq: 7 }));
    if (terminal) expect(settling).toBeNull();
    else expect(settling).toMatchObject({ code: 'invalid_receipt' });
  });

  test(
    author === 'ledger' ? 'belongs to the log _system' : 'belongs to the log of a tenant',
    () => {
      for (const change of [{ tenant_id: 'somebody' }, { sku_id: 'something' }]) {
        const refusal = validateReceipt({ ...exampleReceipt(name), ...change });
        if (author === 'ledger') expect(refusal).toMatchObject({ code: 'invalid_receipt' });
        else expect(refusal).toBeNull();
      }
    },
  );
});

describe('schemas', () => {
  /** Every schema within a schema. */
  function within(schema: Schema): Schema[] {
    const below = [
      ...Object.values(schema.properties ?? {}),
      ...Object.values(schema.patternProperties ?? {}),
      ...(schema.anyOf ?? []),
      ...[schema.items ?? []].flat(),
    ];
    return [schema, ...below.flatMap(within)];
  }
  const all = names.flatMap((name) => within(receiptSchema(name) as Schema));

  test('are closed', () => {
    const objects = all.filter((schema) => schema.type === 'object');
    expect(objects.length).toBeGreaterThan(names.length);
    expect(objects.filter((schema) => schema.additionalProperties !== false)).toEqual([]);
  });

  test('bound every text, list and number', () => {
    const bounded = (schema: Schema) => {
      if (schema.const !== undefined) return true;
      if (schema.type === 'string')
        return schema.maxLength !== undefined || /^\^(?!\.).*\$$/.test(schema.pattern ?? '');
      if (schema.type === 'array')
        return schema.maxItems !== undefined || Array.isArray(schema.items);
      if (schema.type === 'integer' || schema.type === 'number') {
        return (
          (schema.minimum ?? -Infinity) >= Number.MIN_SAFE_INTEGER &&
          (schema.maximum ?? Infinity) <= Number.MAX_SAFE_INTEGER
        );
      }
      return true;
    };
    expect(all.filter((schema) => !bounded(schema))).toEqual([]);
    const patterns = all
      .filter((schema) => schema.pattern !== undefined && schema.maxLength === undefined)
      .map((schema) => schema.pattern);
    expect(patterns.filter((pattern) => /[*+](?!\/)/.test(pattern ?? ''))).toEqual([]);
  });

  test('are JSON: what is written down and read again says the same', () => {
    for (const name of names)
      expect(JSON.parse(JSON.stringify(receiptSchema(name)))).toMatchObject({ type: 'object' });
  });

  test('let whatever names a person, or was written by one, be erasable', () => {
    const commitment = { erasable: 'ab'.repeat(32) };
    const personal = ['actor', 'principal', 'error_message', 'initiated_by', 'remediation'];
    const fields = names.flatMap((name) =>
      Object.keys(reasons[name].own).map((field) => [name, field] as const),
    );
    const found = fields.filter(
      ([name, field]) =>
        personal.includes(field) || (field === 'reason' && reasons[name].author === 'ledger'),
    );
    expect(new Set(found.map(([, field]) => field))).toEqual(new Set([...personal, 'reason']));
    for (const [name, field] of found)
      expect(
        validateReceipt(withContext(name, { [field]: commitment })),
        `${name}.${field}`,
      ).toBeNull();
  });
});

describe('the receipts of the specification, as they stand there', () => {
  /** What the specification leaves open: an id, a time, and one of several words. */
  function* filledIn(receipt: (typeof specified)[number]): Generator<Record<string, unknown>> {
    const { receipt_id: _, timestamp: __, context, ...rest } = receipt;
    const choices = Object.entries(context).map(
      ([field, value]) => [field, typeof value === 'string' ? value.split('|') : [value]] as const,
    );
    const most = Math.max(...choices.map(([, values]) => values.length));
    for (let choice = 0; choice < most; choice++) {
      const chosen = choices.map(([field, values]) => [field, values[choice % values.length]]);
      yield {
        receipt_id: 'e6d3a1f0-7b52-4c8e-9a41-2f0d6c5b4a39',
        timestamp: '2026-01-25T14:32:15.123Z',
        ...rest,
        context: {
          ...Object.fromEntries(chosen),
          stream: 'governor:acme-catalog-v1',
          stream_seq: 1,
        },
      };
    }
  }

  test('are twelve', () => {
    expect(new Set(specified.map(({ reason }) => reason)).size).toBe(12);
  });

  test.each(specified.map((receipt) => [receipt.reason, receipt] as const))(
    '%s is a receipt',
    (_, receipt) => {
      for (const filled of filledIn(receipt)) expect(validateReceipt(filled)).toBeNull();
    },
  );
});

/**
 * What the compiler promises about receipts. Nothing here runs: every line marked with
 * @ts-expect-error must fail to compile.
 */
import { erasable } from '../../src/ledger/erasable.js';
import type { ContextOf, ReasonName, StatusOf } from '../../src/ledger/reasons/index.js';
import { type Receipt, receipt } from '../../src/ledger/receipt.js';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when both types are the same. */
function same<A, B>(_yes: Same<A, B>): void {}

const fields = { receipt_id: '', timestamp: new Date(), sku_id: 's', tenant_id: 't' };
const position = { stream: 'governor:g', stream_seq: 1 };
const checkpoint = {
  stream: 'checkpoint' as const,
  stream_seq: 1,
  log: 'acme',
  epoch: 1,
  size: 1,
  root: '',
};

receipt('log_checkpoint', { ...fields, status: 'accept', context: checkpoint });
// @ts-expect-error reasons are known
receipt('log_chekpoint', { ...fields, status: 'accept', context: checkpoint });
// @ts-expect-error it cannot be refused
receipt('log_checkpoint', { ...fields, status: 'refuse', context: checkpoint });
receipt('log_checkpoint', {
  ...fields,
  status: 'accept',
  // @ts-expect-error it has a stream of its own
  context: { ...checkpoint, stream: 'seal' },
});
// @ts-expect-error the size is a number
receipt('log_checkpoint', { ...fields, status: 'accept', context: { ...checkpoint, size: '1' } });
const { root: _, ...rootless } = checkpoint;
// @ts-expect-error the root is required
receipt('log_checkpoint', { ...fields, status: 'accept', context: rootless });
receipt('log_checkpoint', {
  ...fields,
  status: 'accept',
  // @ts-expect-error contexts are closed
  context: { ...checkpoint, colour: 'red' },
});
receipt('boot_start', {
  ...fields,
  status: 'accept',
  // @ts-expect-error every receipt has a place in its stream
  context: { governor_version: '1', process_id: '1', entitlement_required: true },
});
// @ts-expect-error a time is needed: nothing here reads a clock
receipt('log_checkpoint', {
  receipt_id: '',
  sku_id: 's',
  tenant_id: 't',
  status: 'accept',
  context: checkpoint,
});

const timeout = { ...position, timeout_ms: 1 };
receipt('bootstrap_timeout', {
  ...fields,
  status: 'error',
  context: { ...timeout, terminal: false, causes: ['iam'] },
});
receipt('bootstrap_timeout', {
  ...fields,
  status: 'error',
  // @ts-expect-error it never settles a signal
  context: { ...timeout, terminal: true },
});
receipt('bootstrap_timeout', {
  ...fields,
  status: 'error',
  // @ts-expect-error causes are known
  context: { ...timeout, causes: ['weather'] },
});

// What is about people can be erasable, in its own type; names of things cannot.
const erased = {
  ...position,
  stream: 'erasure' as const,
  receipt_id: '',
  log: 'acme',
  fields: 1,
  reason: 'why',
  actor: 'ada',
};
receipt('data_erased', { ...fields, status: 'accept', context: erased });
receipt('data_erased', {
  ...fields,
  status: 'accept',
  context: { ...erased, actor: erasable('ada') },
});
// @ts-expect-error an actor is a text
receipt('data_erased', { ...fields, status: 'accept', context: { ...erased, actor: erasable(7) } });
receipt('data_erased', {
  ...fields,
  status: 'accept',
  // @ts-expect-error a log is not a person
  context: { ...erased, log: erasable('acme') },
});

// A reason tells receipts apart.
declare const any: Receipt;
if (any.reason === 'retry_countdown') {
  same<typeof any.status, 'accept' | 'error'>(true);
  same<typeof any.context.retry_countdown, number>(true);
}
same<StatusOf<'invariant_violation'>, 'refuse' | 'error'>(true);
same<
  ContextOf<'state_transition'>['from_state'],
  'boot' | 'stable' | 'warning' | 'intervening' | 'refusing' | 'degraded'
>(true);
same<ContextOf<'data_erased'>['actor'], string | { erasable: string }>(true);
same<Receipt<'key_added'>['reason'], 'key_added'>(true);
same<Extract<ReasonName, 'boot_start'>, 'boot_start'>(true);
const made = receipt('log_checkpoint', { ...fields, status: 'accept', context: checkpoint });
same<typeof made.receipt, Receipt<'log_checkpoint'>>(true);

/** Receipts, their logs and what proves them. */
import Type from 'typebox';
import { read } from '../operation.js';
import {
  byId,
  component,
  integer,
  json,
  moment,
  nullable,
  object,
  optional,
  pageOf,
  paging,
  text,
  time,
} from '../schema.js';

const receipt = component('ListedReceipt', {
  receipt: json(),
  log: text(),
  index: nullable(integer()),
});

const status = component('LedgerStatus', {
  waiting: integer(),
  sealing: Type.Boolean(),
  segments: integer(),
  unsealed: integer(),
  signed_epoch: nullable(integer()),
  signed_size: nullable(integer()),
  signed_at: nullable(time()),
  key: nullable(Type.String()),
});

export const ledger = [
  read({
    id: 'ledger.status',
    path: '/ledger',
    summary: 'Shows how far receipts are in their logs, sealed and signed.',
    right: 'audit',
    wide: true,
    output: status,
    run: (writ) => writ.ledger.status(),
  }),
  read({
    id: 'ledger.receipts',
    path: '/ledger/receipts',
    summary: 'Lists receipts of the tenant, the newest first.',
    right: 'audit',
    input: {
      query: object({
        ...paging,
        subject: optional(text(500)),
        person: optional(text(100)),
        reason: optional(text(100)),
        since: optional(moment()),
        until: optional(moment()),
      }),
    },
    output: pageOf(receipt),
    refuses: ['invalid_cursor'],
    run: (writ, { query, caller: { tenant } }) =>
      writ.ledger.receipts({ ...(query as object), tenant }),
  }),
  read({
    id: 'ledger.receipt',
    path: '/ledger/receipts/:id',
    summary: 'Shows a receipt.',
    right: 'audit',
    input: { params: byId },
    output: receipt,
    refuses: ['receipt_not_found'],
    run: (writ, { params: { id }, caller: { tenant } }) => writ.ledger.receipt(id, { tenant }),
  }),
  read({
    id: 'ledger.proof',
    path: '/ledger/receipts/:id/proof',
    summary: 'Proves a receipt: `writ ledger verify` and @writ/verify check the answer offline.',
    right: 'audit',
    input: { params: byId },
    output: Type.Record(Type.String(), json()),
    refuses: ['receipt_not_found', 'not_yet_signed'],
    run: async (writ, { params: { id }, caller: { tenant } }) => {
      await writ.ledger.receipt(id, { tenant });
      return writ.ledger.proveReceipt(id);
    },
  }),
  read({
    id: 'ledger.checkpoints',
    path: '/ledger/checkpoints',
    summary: 'Lists signed checkpoints, the newest first.',
    right: 'audit',
    wide: true,
    input: { query: object({ ...paging, log: optional(text()) }) },
    output: pageOf(
      component('Checkpoint', {
        log: text(),
        epoch: integer(),
        size: integer(),
        root: text(),
        note: Type.String(),
        at: time(),
      }),
    ),
    refuses: ['invalid_cursor'],
    run: (writ, { query }) => writ.ledger.checkpoints(query as object),
  }),
];

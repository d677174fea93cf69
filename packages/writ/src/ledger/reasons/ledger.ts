/** What the ledger writes about itself, in the log _system. */
import Type from '../typebox.js';
import { hash, integer, labels, moment, oneOf, prose, text, uuid } from './fields.js';
import { ledgerFact } from './reason.js';

const log = text('The log, by its tenant.');
const epoch = integer('Its epoch.', 1);
const vkey = (description: string) => text(description, 500);
const signature = (description: string) =>
  Type.String({
    title: 'Ed25519 signature in base64',
    pattern: '^[A-Za-z0-9+/]{86}==$',
    description,
  });
const orNone = <Field extends Type.TSchema>(field: Field, description: string) =>
  Type.Union([field, Type.Null()], { description });

export const ledgerFacts = {
  deployment_named: ledgerFact('deployment', {
    when: 'The first migration gave the deployment its id, or an administrator gave a copy another one.',
    context: {
      deployment: uuid('The id. Approvals are signed for it.'),
      replaces: orNone(uuid('An id.'), 'The id before it; null: the first.'),
      reason: prose('Why.'),
      actor: prose('Who asked for it.'),
      login: text('The database login that called.'),
    },
    example: {
      deployment: '9d0f3c52-4f0e-4f0b-8d38-9d4b1d0c6a11',
      replaces: null,
      reason: 'The first migration.',
      actor: 'migrate',
      login: 'postgres',
    },
  }),
  events_sealed: ledgerFact('seal', {
    when: 'A segment of the record of events was hashed into one tree.',
    context: {
      source: oneOf(['event_outbox'], 'Which record.'),
      segment: integer('The number of the segment, from 1 without a gap.', 1),
      rows: integer('Rows in it: the leaves of its tree.', 1),
      facts: integer('Events in those rows.'),
      first: uuid('The first row.'),
      last: uuid('The last row.'),
      root: hash('The root of its tree.'),
    },
    example: {
      source: 'event_outbox',
      segment: 17,
      rows: 812,
      facts: 40_113,
      first: '019a8a52-6c00-7000-8000-000000000000',
      last: '019a8a52-6fe8-7000-8000-000000000000',
      root: '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    },
  }),
  log_checkpoint: ledgerFact('checkpoint', {
    when: 'The tree of a tenant’s log at some size is noted, so that one signed checkpoint of _system covers it.',
    context: {
      log,
      epoch,
      size: integer('How many receipts it holds.'),
      root: hash('The root of its tree.'),
    },
    example: {
      log: 'acme',
      epoch: 1,
      size: 123,
      root: '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    },
  }),
  key_added: ledgerFact('key', {
    when: 'Checkpoints are signed with a new key from now on.',
    context: {
      name: text('The name of the key: the deployment.'),
      key: vkey('The public key.'),
      replaces: orNone(vkey('A public key.'), 'The public key before it; null: the first.'),
      signature_new: signature('Signature of the change by the new key.'),
      signature_old: orNone(
        signature('A signature.'),
        'Signature of the change by the key before it; null: the first.',
      ),
    },
    example: {
      name: 'acme.example/prod',
      key: 'acme.example/prod+c74f20a3+AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g',
      replaces: null,
      signature_new: `${'A'.repeat(86)}==`,
      signature_old: null,
    },
  }),
  epoch_opened: ledgerFact('epoch', {
    when: 'A database that had been restored was accepted as it is, and its log goes on from there.',
    context: {
      log,
      epoch: integer('The epoch that begins.', 1),
      restored_size: integer('How many receipts the restored log holds.'),
      restored_root: hash('The root of its tree.'),
      known_checkpoint: orNone(
        text('A signed note.', 30_000),
        'The newest signed checkpoint known from before; null: none.',
      ),
      reason: prose('Why it was accepted.'),
      actor: prose('Who accepted it.'),
      signature: signature(
        'Signature of the acceptance by a ledger key: one for the openings of all logs.',
      ),
    },
    example: {
      log: 'acme',
      epoch: 2,
      restored_size: 118,
      restored_root: '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
      known_checkpoint: null,
      reason: 'The disk was lost; restored from the backup of 02:00.',
      actor: 'alice@acme.example',
      signature: `${'A'.repeat(86)}==`,
    },
  }),
  month_archived: ledgerFact('archive', {
    when: 'Receipts of a month are in an archive, and the database may drop them when their retention has passed.',
    context: {
      month: Type.String({
        title: 'YYYY-MM',
        pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
        description: 'The month.',
      }),
      place: text('Where the archive is.', 1_000),
      size: integer('How many receipts of _system the checkpoint of the archive covers.'),
      root: hash('The root of their tree.'),
      actor: prose('Who archived it.'),
      signature: signature('Signature of that by a ledger key.'),
    },
    example: {
      month: '2026-03',
      place: '/archive/ledger',
      size: 118,
      root: '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
      actor: 'ops@acme.example',
      signature: `${'A'.repeat(86)}==`,
    },
  }),
  data_erased: ledgerFact('erasure', {
    when: 'Erasable values of a receipt were removed; their salted hashes stay in it and say nothing any more.',
    context: {
      receipt_id: uuid('The receipt.'),
      log,
      fields: integer('How many values.', 1),
      reason: prose('Why.'),
      actor: prose('Who asked for it.'),
    },
    example: {
      receipt_id: '5a3f4c1e-0a1b-4c2d-8e3f-9a0b1c2d3e4f',
      log: 'acme',
      fields: 2,
      reason: 'The person asked for it.',
      actor: 'privacy@acme.example',
    },
  }),
  requests_rejected: ledgerFact('requests', {
    when: 'A listener has turned requests away that were no signals, unsigned or malformed; they are counted, and nothing of them is kept.',
    context: {
      host: text('The listener.'),
      login: text('The database login that counted them.'),
      from: moment('Since when.'),
      to: moment('Until when.'),
      rejected: integer('How many.', 1),
      codes: labels('How many with which code.'),
    },
    example: {
      host: 'edge-1:4242',
      login: 'writ_listener',
      from: '2026-01-25T14:31:00.000Z',
      to: '2026-01-25T14:32:00.000Z',
      rejected: 13,
      codes: { signature_invalid: 12, body_parse_error: 1 },
    },
  }),
};

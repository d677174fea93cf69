/** Whether what a governor stands on is there. */
import Type from '../typebox.js';
import { degraded } from './causes.js';
import { code, hash, integer, moment, prose, text, uuid } from './fields.js';
import { aside, verdict } from './reason.js';

export const health = {
  health_check_failed: verdict({
    when: 'Something that the governor needs is not there, so it does not act; also the answer to a signal meanwhile.',
    statuses: ['error', 'refuse'],
    context: {
      component: code('What is missing: ledger, iam, policy_cache and the like.'),
      failure_type: code(
        'In which way, such as connection_timeout, read_error or policy_load_failed.',
      ),
      error_message: Type.Optional(prose('What it said.')),
      recovery_action: code('What the governor does.'),
      retry_interval_seconds: Type.Optional(integer('When it looks again.')),
      failures: Type.Optional(integer('How many checks have failed running.', 1)),
      causes: Type.Optional(degraded('Every cause that stands.')),
      outage_from: Type.Optional(moment('Since when the database could not be reached.')),
      outage_to: Type.Optional(moment('Until when.')),
    },
    example: {
      component: 'policy_cache',
      failure_type: 'connection_timeout',
      error_message: 'deadline exceeded after 5 retries',
      recovery_action: 'degrade_to_safe_mode',
      retry_interval_seconds: 10,
    },
  }),
  health_check_passed: aside({
    when: 'Everything that the governor needs is there again.',
    statuses: ['accept'],
    context: {
      component: Type.Optional(code('What came back last.')),
      cleared: Type.Optional(degraded('What had been the causes.')),
      down_ms: Type.Optional(integer('How long it was away.')),
    },
    example: { component: 'ledger', cleared: ['ledger'], down_ms: 41_000 },
  }),
  nondeterminism_detected: aside({
    when: 'The same event was decided in two ways: nothing of it was done, and a person has to look.',
    statuses: ['error'],
    context: {
      receipt_id: uuid('The receipt that differed.'),
      expected_hash: hash('Its hash the first time.'),
      actual_hash: hash('Its hash the second time.'),
      decide_version: Type.Optional(text('The version of what decides.')),
    },
    example: {
      receipt_id: '5a3f4c1e-0a1b-4c2d-8e3f-9a0b1c2d3e4f',
      expected_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      actual_hash: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
    },
  }),
};

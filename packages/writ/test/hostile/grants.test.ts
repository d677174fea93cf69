/**
 * Who may call what: the grants in the database are those of the headers, for every role and for
 * nobody else.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { composites, roles } from '../../src/database/roles.js';
import { readSchemaObjects } from '../../src/database/schema.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Gate, grantsToPublic, readCatalogue, readViews } from './catalogue.mjs';

let db: TestDatabase;
let gates: Gate[];
let views: { name: string; callers: string[] }[];
const files = new Map(readSchemaObjects().map((object) => [object.name, object]));

beforeAll(async () => {
  db = await testDatabase();
  const client = {
    query: async (sql: string, params?: unknown[]) => ({ rows: await db.query(sql, params) }),
  };
  gates = await readCatalogue(client);
  views = await readViews(client);
});
afterAll(() => db.drop());

const granted = (role: string, things: { name: string; callers: string[] }[]) =>
  things
    .filter(({ name, callers }) => callers.includes(role) && files.has(`writ.${name}`))
    .map(({ name }) => name);
const declared = (role: string, type: 'gate' | 'view') =>
  [...files.values()]
    .filter((object) => object.type === type && object.roles.includes(role))
    .map(({ name }) => name.slice(5));

describe.each(roles)('%s', (role) => {
  test('may call exactly the gates whose headers name it', () => {
    expect(granted(role, gates).sort()).toEqual(declared(role, 'gate').sort());
  });

  test('may read exactly the views whose headers name it', () => {
    expect(granted(role, views).sort()).toEqual(declared(role, 'view').sort());
  });
});

test('every gate has a caller', () => {
  expect(gates.filter(({ callers }) => callers.length === 0).map(({ name }) => name)).toEqual([]);
});

test('PUBLIC has no right in our schemas', async () => {
  expect(
    await grantsToPublic({ query: async (sql: string) => ({ rows: await db.query(sql) }) }),
  ).toEqual([]);
});

test('a composite may call what its parts may call and nothing else', () => {
  for (const [composite, parts] of Object.entries(composites)) {
    const ofParts = new Set(parts.flatMap((part) => granted(part, gates)));
    expect(granted(composite, gates).sort()).toEqual([...ofParts].sort());
  }
});

/** Gates that would give a role what TRUST.md says it must never achieve. */
const never: Record<string, RegExp> = {
  writ_principal:
    /^fn_(job_|run_|changes_apply|change_begin|governors_|governor_report|ledger_|setting|principal_put|api_key_put|caller_admit|probes_report)/,
  writ_producer:
    /^fn_(job_(claim|commit(?!_status)|succeed|abort|fail|cancel|start|release|renew)|run_(step|signal|project)|change|contract|governors_|ledger_(tick|key|checkpoint))/,
  writ_worker:
    /^fn_(change|contract|governance_(ended|audits|tick)|governor(s_|_report|_tell)|ledger_(tick|key|checkpoint)|setting|principal_put|run_(project|signal))/,
  writ_engine:
    /^fn_(change|contract|template_activate|job_(claim|commit(?!_status)|succeed)|setting|principal_put|ledger_(key|checkpoint_record))/,
  writ_server:
    /^fn_(change|job_(claim|commit(?!_status)|succeed)|governors_|ledger_(key|checkpoint_record|tick)|setting|principal_put)/,
  writ_signer: /^fn_(?!ledger_|login)/,
  writ_auditor:
    /^fn_.*(_put|_set|_tick|_apply|_take|_many|_report|_record|_register|_remove|_erase|_activate|_propose|_review|payload)$/,
  writ_admin:
    /^fn_(change|contract|template_activate|job_(claim|commit(?!_status)|succeed)|governors_|ledger_(key|checkpoint_record))/,
};

test.each(Object.entries(never))('%s has no gate that belongs to another role', (role, pattern) => {
  const readers = new Set(['fn_run_read_many']);
  expect(granted(role, gates).filter((name) => pattern.test(name) && !readers.has(name))).toEqual(
    [],
  );
});

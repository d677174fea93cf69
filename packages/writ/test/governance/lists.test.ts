/**
 * Lists of governance, over a history of a million rows of each kind in the matrix; a run by hand
 * takes a tenth of them.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page, PageOptions } from '../../src/database/listing.js';
import { PreparedPool } from '../../src/database/prepared.js';
import type { Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { onServerOfItsOwn } from '../own-server.js';

const rows = process.env.CI === 'true' ? 1_000_000 : 100_000;
/** Of the n-th row of one kind, in the order in which they were made. */
const id = (kind: number, n: string) =>
  `('019a0000-0000-700${kind}-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
const idOf = (kind: number, n: number) =>
  `019a0000-0000-700${kind}-8000-${n.toString(16).padStart(12, '0')}`;

let db: TestDatabase;
let writ: Writ;

onServerOfItsOwn();
beforeAll(async () => {
  db = await testDatabase();
  writ = await db.connect();
  for (const statement of [
    `insert into writ_data.contract (
       contract_id, tenant_id, status, source, title, content, scope_hash, scope, steps, risk_level,
       confidence, policy_version, created_by, approved_by, job_id, audit_verdict, template,
       created_at, updated_at, expires_at)
     select ${id(1, 'n')}, 't' || n % 50, case when n % 1000 = 0 then 'ELIGIBLE'
         when n % 3 = 0 then 'FAILED' else 'COMPLETED' end, 'manual', 'c' || n, '{}', sha256('{}'),
       '{}', '[]', 'low', 1, 0, 'p' || n % 200, '{ada}', ${id(2, 'n')}, 'PASS',
       case when n % 5000 = 0 then '{}'::jsonb end, now(), now(), now()
     from generate_series(1, ${rows}) n`,
    `insert into writ_data.governance_job (
       job_id, tenant_id, contract_id, kind, status, run_id, executor_id, total_steps,
       max_duration_ms, scope_hash, state_before, audit_verdict, created_at, updated_at)
     select ${id(2, 'n')}, 't' || n % 50, ${id(1, 'n')}, 'forward',
       case when n % 1000 = 0 then 'RUNNING' when n % 3 = 0 then 'ROLLED_BACK' else 'COMPLETED' end,
       ${id(3, 'n')}, 'w' || n % 20, 1, 1, '', '', 'PASS',
       timestamptz '2026-01-01' + n * interval '1 minute', now()
     from generate_series(1, ${rows}) n`,
    `insert into writ_data.governance_audit (
       audit_id, tenant_id, job_id, contract_id, verdict, verdict_reason, checks, evidence,
       auditor_version, duration_ms, created_at)
     select ${id(4, 'n')}, 't' || n % 50, ${id(2, 'n')}, ${id(1, 'n')},
       case when n % 500 = 0 then 'INCONCLUSIVE' else 'PASS' end, 'x', '[]', '{}', '1', 1, now()
     from generate_series(1, ${rows}) n`,
    `insert into writ_data.governance_signal (
       signal_id, tenant_id, signal_type, scope, decision, reason, recorded_by, recorded_at,
       superseded_at)
     select ${id(5, 'n')}, 't' || n % 50, 'MANUAL', 's' || n % 900, 'WARN', 'x', 'me', now(),
       case when n > 900 then now() end
     from generate_series(1, ${rows}) n`,
    `insert into writ_data.incident (
       incident_id, tenant_id, severity, subject, summary, opened_by, opened_at, resolved_by,
       resolved_at)
     select ${id(6, 'n')}, 't' || n % 50, 'P2', 'x', 'y', 'me', now(),
       case when n % 1000 > 0 then 'me' end, case when n % 1000 > 0 then now() end
     from generate_series(1, ${rows}) n`,
    `insert into writ_data.principal (principal_id, tenant_id, kind, rights, auth_sha256, public_key,
       added_by, added_at)
     select 'p' || n, case when n % 2 = 0 then 't' || n % 50 end, 'person', '{view}', sha256('x'),
       sha256('x'), 'me', now()
     from generate_series(1, ${rows / 10}) n`,
    `insert into writ_data.api_key (key_id, principal_id, tenant_id, label, secret_sha256,
       expires_at, added_by, added_at)
     select lpad(to_hex(n), 16, '0'), 'p' || 1 + n % 2000, 't' || n % 50, '', sha256('x'),
       now() + interval '1 day', 'me', now() - n * interval '1 second'
     from generate_series(1, ${rows}) n`,
    `insert into writ_data.capability (tenant_id, capability_name, domain, updated_by, updated_at)
     select 't' || n % 50, 'c' || n, 'd' || n % 10, 'me', now()
     from generate_series(1, ${rows / 10}) n`,
    `insert into writ_data.configuration_scope (tenant_id, scope, owner_capability)
     select tenant_id, 's' || capability_name, capability_name from writ_data.capability`,
    `insert into writ_data.configuration (tenant_id, scope, key, value, version, updated_by,
       updated_at)
     select tenant_id, scope, 'k' || k, '1', 1, 'me', now()
     from writ_data.configuration_scope, generate_series(1, 10) k`,
    `insert into writ_data.probe (tenant_id, name, capability, type, config, every_ms, timeout_ms,
       put_by, put_at)
     select tenant_id, 'p' || capability_name, capability_name, 'reported', '{}', 1000, 1000, 'me',
       now()
     from writ_data.capability`,
    `insert into writ_data.login (login, roles, put_by, put_at)
     select 'lists-' || n, '{}', 'me', now() from generate_series(1, 1000) n`,
    `insert into writ_data.freeze (freeze_id, tenant_id, reason, begins_at, put_by, lifted_at)
     select ${id(7, 'n')}, 't' || n % 50, 'x', now(), 'me', case when n % 1000 > 0 then now() end
     from generate_series(1, ${rows}) n`,
  ])
    await db.query(statement);
  await db.query('analyze');
}, 900_000);
afterAll(() => db.drop());

type List = (page: PageOptions) => Promise<Page<unknown>>;
const tenant = 't7';
const lists: Record<string, (writ: Writ) => List> = {
  contracts: (w) => (page) => w.contracts.list(page),
  'contracts of a tenant': (w) => (page) => w.contracts.list({ ...page, tenant }),
  'contracts in a common status': (w) => (page) =>
    w.contracts.list({ ...page, status: 'COMPLETED' }),
  'contracts in a rare status': (w) => (page) => w.contracts.list({ ...page, status: 'ELIGIBLE' }),
  'contracts of a tenant in a status': (w) => (page) =>
    w.contracts.list({ ...page, tenant, status: 'FAILED' }),
  'contracts that are open': (w) => (page) => w.contracts.list({ ...page, open: true }),
  'contracts of a proposer': (w) => (page) => w.contracts.list({ ...page, proposer: 'p3' }),
  'instances of a template': (w) => (page) =>
    w.contracts.list({ ...page, template: idOf(1, 5_000) }),
  templates: (w) => (page) => w.contracts.templates(page),
  changes: (w) => (page) => w.changes.list(page),
  'changes of a tenant': (w) => (page) => w.changes.list({ ...page, tenant }),
  'changes in a common status': (w) => (page) => w.changes.list({ ...page, status: 'COMPLETED' }),
  'changes in a rare status': (w) => (page) => w.changes.list({ ...page, status: 'RUNNING' }),
  'changes of a contract': (w) => (page) => w.changes.list({ ...page, contract: idOf(1, 77) }),
  'changes of an executor': (w) => (page) => w.changes.list({ ...page, executor: 'w3' }),
  'changes of an hour': (w) => (page) =>
    w.changes.list({
      ...page,
      since: new Date('2026-02-01T00:00Z'),
      until: new Date('2026-02-01T01:00Z'),
    }),
  'changes since long ago': (w) => (page) =>
    w.changes.list({ ...page, since: new Date('2026-01-02T00:00Z') }),
  audits: (w) => (page) => w.audits.list(page),
  'audits of a tenant': (w) => (page) => w.audits.list({ ...page, tenant }),
  'audits with a verdict': (w) => (page) => w.audits.list({ ...page, verdict: 'INCONCLUSIVE' }),
  'audits of a job': (w) => (page) => w.audits.list({ ...page, job: idOf(2, 77) }),
  'audits of a contract': (w) => (page) => w.audits.list({ ...page, contract: idOf(1, 77) }),
  'signals that stand': (w) => (page) => w.signals.list(page),
  'signals of a tenant that stand': (w) => (page) => w.signals.list({ ...page, tenant }),
  'all signals': (w) => (page) => w.signals.list({ ...page, all: true }),
  'all signals of a tenant': (w) => (page) => w.signals.list({ ...page, all: true, tenant }),
  'all signals of a scope': (w) => (page) => w.signals.list({ ...page, all: true, scope: 's5' }),
  'open incidents': (w) => (page) => w.incidents.list(page),
  'all incidents': (w) => (page) => w.incidents.list({ ...page, all: true }),
  'all incidents of a tenant': (w) => (page) => w.incidents.list({ ...page, all: true, tenant }),
  freezes: (w) => (page) => w.freezes.list(page),
  'freezes of a tenant': (w) => (page) => w.freezes.list({ ...page, tenant }),
  principals: (w) => (page) => w.principals.list(page),
  'principals of a tenant': (w) => (page) => w.principals.list({ ...page, tenant }),
  'API keys': (w) => (page) => w.apiKeys.list(page),
  'API keys of a principal': (w) => (page) => w.apiKeys.list({ ...page, principal: 'p7' }),
  'API keys of a tenant': (w) => (page) => w.apiKeys.list({ ...page, tenant }),
  capabilities: (w) => (page) => w.capabilities.list(page),
  'capabilities of a tenant': (w) => (page) => w.capabilities.list({ ...page, tenant }),
  'capabilities of a domain': (w) => (page) => w.capabilities.list({ ...page, domain: 'd3' }),
  configuration: (w) => (page) => w.configuration.list(page),
  'configuration of a tenant': (w) => (page) => w.configuration.list({ ...page, tenant }),
  'configuration of a scope': (w) => (page) => w.configuration.list({ ...page, scope: 'sc7' }),
  probes: (w) => (page) => w.probes.list(page),
  'probes of a tenant': (w) => (page) => w.probes.list({ ...page, tenant }),
  'probes of a capability': (w) => (page) => w.probes.list({ ...page, capability: 'c7' }),
  logins: (w) => (page) => w.logins.list(page),
};

/**
 * What grows with time. Principals, capabilities, their configuration, probes and logins are what
 * stands now: a page of them may scan and sort those tables.
 */
const history = new RegExp(
  `Seq Scan on (${[
    ...[
      'contract',
      'governance_job',
      'governance_audit',
      'governance_signal',
      'incident',
      'freeze',
    ],
    'api_key',
  ].join('|')})\\b`,
);

/** The plans of what a call reads. */
async function plansOf(call: () => Promise<unknown>): Promise<string[]> {
  const asked: { sql: string; params: unknown[] }[] = [];
  const ask = PreparedPool.prototype.query;
  PreparedPool.prototype.query = function (this: PreparedPool, sql: string, params?: unknown[]) {
    asked.push({ sql, params: params ?? [] });
    return ask.call(this, sql, params) as never;
  } as never;
  try {
    await call();
  } finally {
    PreparedPool.prototype.query = ask;
  }
  return Promise.all(
    asked.map(async ({ sql, params }) =>
      (await db.query(`explain ${sql}`, params)).map((row) => row['QUERY PLAN']).join('\n'),
    ),
  );
}

test.each(Object.entries(lists))('%s: no page scans the history', async (_, of) => {
  const list = of(writ);
  const first = await list({ limit: 5 });
  const plans = await plansOf(async () => {
    await list({ limit: 20 });
    if (first.next) await list({ limit: 20, after: first.next });
  });
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) expect(plan).not.toMatch(history);
});

test('two pages have every row once, the newest first', async () => {
  const first = await writ.changes.list({ limit: 3, tenant });
  const second = await writ.changes.list({ limit: 3, tenant, after: String(first.next) });
  const jobs = [...first.items, ...second.items].map(({ job_id }) => job_id);
  expect(jobs).toEqual([...new Set(jobs)].sort().reverse());
  expect(jobs).toHaveLength(6);
});

/** What is written down of governance: receipts, the record, and what others are told. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { configure, disable, enable, recordSignal } from '../../src/index.js';
import { scene } from './scene.js';

const s = scene();

test('the ledger has what was done, and verifies', async () => {
  await s.work();
  await s.done();
  await s.done({ title: 'Off', scope: ['search'], steps: [disable('search', 'old')] });
  const rows = await s.sql<{ reason: string; stream: string; seq: number }>(
    `select entry::jsonb ->> 'reason' as reason, stream, stream_seq::integer as seq from writ_data.receipt where log_id = 'default' order by stream, stream_seq`,
  );
  expect(rows.filter(({ reason }) => reason === 'change_applied')).toHaveLength(6);
  const streams = Map.groupBy
    ? Map.groupBy(rows, ({ stream }) => stream)
    : new Map(rows.map(({ stream }) => [stream, rows.filter((row) => row.stream === stream)]));
  for (const [, of] of streams) expect(of.map(({ seq }) => seq)).toEqual(of.map((_, n) => n + 1));
});

test('the record says of each fact of governance what it is about and whose it is, and shows it to nobody else', async () => {
  await s.work();
  const { contract, job } = await s.done({ steps: [enable('checkout'), recordSignal('ROLLOUT')] });
  const incident = await s.writ.incidents.open(
    { summary: 'slow since noon', capability: 'search' },
    { as: s.keys.ops },
  );
  const [signal] = (await s.writ.signals.list()).items;
  const about = await s.sql(
    `select distinct event_subject_table as of, event_subject_ref as ref, canonical_address as address, tenant_id as tenant from writ.event_outbox
     where event_type like any ('{governance.%,health.%}') order by 1`,
  );
  expect(about).toEqual([
    { of: 'governance_jobs', ref: job.id, address: `governance_job/${job.id}`, tenant: 'default' },
    {
      of: 'governance_signals',
      ref: signal?.id,
      address: `signal/${signal?.id}`,
      tenant: 'default',
    },
    { of: 'incident', ref: incident, address: `incident/${incident}`, tenant: 'default' },
    {
      of: 'system_contracts',
      ref: contract.id,
      address: `contract/${contract.id}`,
      tenant: 'default',
    },
  ]);
  const seenBy = async (tenant: string, role: string) => {
    const client = new pg.Client({ connectionString: s.db.connectionString });
    await client.connect();
    try {
      await client.query('begin');
      await client.query(`set local role ${role}`);
      await client.query(`select set_config('writ.tenant', $1, true)`, [tenant]);
      const { rows } = await client.query(
        `select count(*)::integer as n from writ.event_outbox where event_type like 'governance.%'`,
      );
      return Number(rows[0].n);
    } finally {
      await client.end();
    }
  };
  for (const role of ['workflow_admin', 'dot_executor', 'writ_auditor']) {
    expect(await seenBy('default', role)).toBeGreaterThan(5);
    expect(await seenBy('acme', role)).toBe(0);
  }
});

test('others are told of it: facts of governance belong to their tenant', async () => {
  await s.work();
  await s.done({ steps: [enable('checkout'), recordSignal('ROLLOUT')] });
  const seen: [string, string | undefined][] = [];
  const sources = new Set<string>();
  // What is told ends below every open transaction of the server, and others test beside this: the
  // last fact may need a moment.
  const told = s.writ.events({
    types: ['governance.*', 'health.*'],
    after: 'beginning',
    tenant: 'default',
  });
  for await (const { event } of told) {
    seen.push([event.type, event.tenantid]);
    sources.add(event.source.replace(/[^/]+$/, ''));
    if (event.type === 'governance.audited') break;
  }
  expect(new Set(seen.map(([type]) => type))).toEqual(
    new Set([
      'governance.contract_moved',
      'governance.contract_reviewed',
      'governance.job_moved',
      'governance.change_applied',
      'governance.audited',
      'health.signal_recorded',
    ]),
  );
  expect(new Set(seen.map(([, tenant]) => tenant))).toEqual(new Set(['default']));
  expect(sources).toEqual(
    new Set(['/writ/contracts/', '/writ/governance-jobs/', '/writ/signals/']),
  );
});

test('every change is on the record with what it was, also where several were written down together', async () => {
  const one = await s.approved({
    title: 'One',
    scope: ['checkout', 'limits'],
    steps: [enable('checkout'), configure('limits', 'max', 7)],
  });
  const other = await s.approved({
    title: 'Other',
    scope: ['search'],
    steps: [disable('search', 'old')],
  });
  const jobs = [
    await one.activate({ as: s.keys.service }),
    await other.activate({ as: s.keys.service }),
  ];
  await s.work();
  for (const job of jobs) await job.finished({ timeoutMs: 20_000 });
  const facts = await s.sql(
    `select safe_payload -> 'steps' as steps, canonical_address from writ.event_outbox where event_type = 'governance.change_applied' order by canonical_address`,
  );
  expect(facts).toEqual([
    {
      steps: [
        { step: 1, step_type: 'capability_enable', target: 'checkout' },
        { step: 2, step_type: 'config_update', target: 'limits' },
      ],
      canonical_address: `governance_job/${jobs[0]?.id}`,
    },
    {
      steps: [{ step: 1, step_type: 'capability_disable', target: 'search' }],
      canonical_address: `governance_job/${jobs[1]?.id}`,
    },
  ]);
  const steps = `event_subject_ref in (select job_id::text from writ_data.job where run_id is not null)`;
  expect(
    await s.sql(
      `select safe_payload as says from writ.event_outbox where event_type = 'dot.job.committed' and ${steps}`,
    ),
  ).toEqual([{ says: {} }, { says: {} }]);
});

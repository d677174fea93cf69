/** The generator reaches behind the first check: every gate of the catalogue does what it is asked to at least once. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import { Writ } from '../../dist/index.js';
import { roles } from '../../src/database/roles.js';
import { testDatabase } from '../../src/testing/index.js';
import { readCatalogue, readViews } from './catalogue.mjs';
import { attackers, dismiss, Estate, mallory, people } from './estate.mjs';
import { move } from './moves.mjs';
import { spy } from './spy.mjs';

/** Gates that need a state which no plausible argument brings about, and where each is shown to work. */
const elsewhere: Record<string, string> = {
  fn_audit_resolve: 'needs two inconclusive audits: test/governance/jobs.test.ts',
  fn_rollback_retry: 'needs a rollback that has failed: test/governance/jobs.test.ts',
  fn_governor_ack: 'needs a cause that only a person can clear: test/governor/driver.test.ts',
  fn_governors_apply:
    'needs what a driver has decided in the same transaction: test/governor/driver.test.ts',
  fn_governance_audits: 'needs a job whose steps are done: test/governance/jobs.test.ts',
  fn_governance_ended:
    'needs a run of a governance job that has failed: test/governance/jobs.test.ts',
  fn_governor_commit: 'needs the job of an action: test/governor/actuators.test.ts',
  fn_governor_report: 'needs an action in flight: test/governor/actuators.test.ts',
  fn_run_steps_succeed: 'needs the places of several leases: test/runs/engine',
};

test('every gate succeeds for a role that may call it', async () => {
  const db = await testDatabase();
  const admin = new pg.Pool({ connectionString: db.connectionString, max: 3 });
  const writ = await Writ.connect({ connectionString: db.connectionString });
  const gates = await readCatalogue(admin);
  const estate = new Estate(writ, admin, await people(writ, mallory, 'm'));
  await estate.prepare();
  const suffix = `_${randomBytes(4).toString('hex')}`;
  const url = db.directConnectionString;
  const all = await attackers({
    admin,
    url,
    gates,
    views: await readViews(admin),
    people: estate.people,
    seed: 7,
    suffix,
    unbound: roles,
  });
  try {
    const left = () => {
      const done = new Set(all.flatMap((one) => [...one.succeeded]));
      return gates
        .filter(({ name }) => !done.has(name) && !(name in elsewhere))
        .map(({ name }) => name);
    };
    for (let round = 0; round < 40 && left().length > 0; round++) {
      await estate.more().catch(() => undefined); // what attackers did to their tenant may stop it
      const pools = await spy(admin, mallory);
      for (const one of all) one.known.learn(pools);
      const missing = new Set([
        ...left(),
        'fn_job_claim_many',
        'fn_contract_preview',
        'fn_ledger_root_at',
        'fn_outbox_take',
        'fn_destination_set',
        'fn_schedule_put',
        'fn_login_put',
      ]);
      await Promise.all(
        all.map(async (one) => {
          for (const gate of one.gates) if (missing.has(gate.name)) await one.call(gate, 0);
          if (one.role !== 'nobody') await move(one);
          await one.send('raw', 'rollback');
          await one.send('raw', 'reset all');
        }),
      );
    }
    expect(left()).toEqual([]);
    expect(all.flatMap(({ findings }) => findings)).toEqual([]);
  } finally {
    for (const one of all) await one.close();
    await dismiss(admin, all);
    await writ.close();
    await admin.end();
    await db.drop();
  }
}, 120_000);

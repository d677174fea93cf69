/**
 * The generator passes the first check: every gate of the catalogue does what it is asked to, for
 * every role that may call it.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import { Writ } from '../../dist/index.js';
import { uses } from '../../src/database/roles.js';
import { testDatabase } from '../../src/testing/index.js';
import { readCatalogue, readViews } from './catalogue.mjs';
import { attackers, dismiss, Estate, mallory, people } from './estate.mjs';
import { attempt, move } from './moves.mjs';
import { spy } from './spy.mjs';

/**
 * Gates that need a state which no plausible argument brings about, and where each is shown to
 * work.
 */
const elsewhere: Record<string, string> = {
  fn_deployment_renew:
    'needs the id of the deployment, and ends what the other gates need: test/hostile/deployment.test.ts',
  fn_audit_resolve: 'needs two inconclusive audits: test/governance/jobs.test.ts',
  fn_rollback_retry: 'needs a rollback that has failed: test/governance/jobs.test.ts',
  fn_contract_read_done: 'needs the lease of a read: test/governance/outside-reads.test.ts',
};

test('every gate succeeds for every role that may call it', async () => {
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
    unbound: Object.keys(uses),
  });
  const unbound = all.flatMap(({ bound, login }) => (bound ? [] : [login]));
  try {
    const owed = gates.flatMap(({ name, callers }) =>
      name in elsewhere
        ? []
        : Object.keys(uses).flatMap((role) =>
            callers.includes(role) ? [`${name} as ${role}`] : [],
          ),
    );
    const left = () => {
      const done = new Set(
        all.flatMap(({ role, succeeded }) => [...succeeded].map((name) => `${name} as ${role}`)),
      );
      return owed.filter((pair) => !done.has(pair));
    };
    // Rounds, not seconds: a slow machine has as many tries as a fast one.
    for (let round = 0; round < 60 && left().length > 0; round++) {
      await estate.more().catch(() => undefined); // what attackers did to their tenant may stop it
      await estate.leave();
      // An administrator that has bound its own login reaches one tenant only.
      await admin.query('delete from writ_data.login where login::text = any ($1)', [unbound]);
      const pools = await spy(admin, mallory);
      for (const one of all) one.known.learn(pools);
      const missing = new Set(left());
      const always = new Set([
        'fn_job_claim_many',
        'fn_job_fail_permanent', // dead letters, for fn_job_dead_letter_replay
        'fn_contract_preview',
        'fn_run_start_many', // some of them with another engine, for fn_run_append
        'fn_ledger_root_at',
        'fn_outbox_take',
        'fn_destination_set',
        'fn_schedule_put',
        'fn_login_put',
      ]);
      await Promise.all(
        all.map(async (one) => {
          for (const gate of one.gates)
            if (missing.has(`${gate.name} as ${one.role}`) || always.has(gate.name))
              await attempt(one, gate, 0);
          if (one.role !== 'nobody') await move(one);
          await one.send('raw', 'rollback');
          await one.send('raw', 'reset all');
        }),
      );
    }
    // What a gate answered instead stands beside it.
    const answered = (pair: string) =>
      all.flatMap(({ role, outcomes }) => {
        const [gate = ''] = pair.split(' as ');
        return pair.endsWith(` as ${role}`) ? [outcomes.get(gate)] : [];
      });
    expect(left().map((pair) => [pair, ...answered(pair)])).toEqual([]);
    expect(all.flatMap(({ findings }) => findings)).toEqual([]);
    // Not only turns in which nothing was decided.
    const decided = all.filter(({ outcomes }) => outcomes.get('fn_governors_apply')?.decided);
    expect(decided.map(({ role }) => role)).toContain('writ_engine');
  } finally {
    for (const one of all) await one.close();
    await dismiss(admin, all);
    await writ.close();
    await admin.end();
    await db.drop();
  }
}, 600_000);

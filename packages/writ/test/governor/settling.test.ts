/** What governors are told when the contracts end that carried out their actions. */
import { expect, test } from 'vitest';
import { configure } from '../../src/index.js';
import { scene } from '../governance/scene.js';

const s = scene();

const tick = async () =>
  (
    await s.sql<{ settled: number }>(
      `select writ.fn_governor_tick('test') ->> 'settled' as settled`,
    )
  ).map(({ settled }) => Number(settled))[0];
const told = async () =>
  (
    await s.sql<{ tenant: string }>(
      `select g.tenant_id as tenant from writ_data.governor_mail m
       join writ_data.governor g using (governor_id)
       where m.content ->> 'kind' = 'result' order by 1`,
    )
  ).map(({ tenant }) => tenant);
const aside = () =>
  s.sql(`select severity, subject from writ.alert
    where code = 'GOVERNANCE_SET_ASIDE' and cleared_at is null`);

test('a governor that cannot be told keeps no other from being told, and is told later', async () => {
  await s.work();
  const jobs: string[] = [];
  for (const [n, tenant] of ['acme', 'bolt', 'corp'].entries()) {
    const { job } = await s.done({
      title: `Limit ${n}`,
      scope: ['limits'],
      steps: [configure('limits', 'max', n)],
    });
    await s.writ.governors.entitlements.put({ tier: 'enterprise' }, { tenant, as: s.keys.ops });
    const governor = await s.writ.governor({ tenant });
    await s.sql(
      `insert into writ_data.governor_contract (job_id, governor_id, action_id, attempt, stops)
       values ($1, $2, 'a', 1, false)`,
      [job.id, governor.id],
    );
    jobs.push(job.id);
  }
  await s.sql(`create function writ_data.damaged() returns trigger language plpgsql as $$
    begin
      if (select tenant_id from writ_data.governor where governor_id = new.governor_id) = 'bolt' then
        raise exception 'This mailbox is damaged.';
      end if;
      return new;
    end $$`);
  await s.sql(`create trigger damaged before insert on writ_data.governor_mail
    for each row execute function writ_data.damaged()`);

  expect(await tick()).toBe(2);
  expect(await told()).toEqual(['acme', 'corp']);
  expect(await aside()).toEqual([{ severity: 'P1', subject: `governance_job/${jobs[1]}` }]);

  await s.sql('drop trigger damaged on writ_data.governor_mail');
  expect(await tick()).toBe(1);
  expect(await told()).toEqual(['acme', 'bolt', 'corp']);
  expect(await aside()).toEqual([]);
});

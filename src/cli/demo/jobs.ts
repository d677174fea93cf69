/** The two kinds of jobs in the demo, with what they do. The ledger has no unique key: nothing but the commit boundary keeps it right. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob } from '../../queue/job.js';

export const tables = `
  create table ledger_entry (kind text not null, payment text not null, cents integer not null, worker text not null);
  create table account (name text primary key)`;

export const pay = defineJob<{ payment: string; cents: number }>('pay', { retry: { attempts: 5, base: '200ms', cap: '1s' } });

/** Fails for as long as its account is not there. */
export const refund = defineJob<{ payment: string; cents: number; account: string }>('refund', {
  retry: { attempts: 3, base: '50ms', cap: '100ms' },
});

const insert = 'insert into ledger_entry (kind, payment, cents, worker) values ($1, $2, $3, $4)';

export const handlers = (worker: string) => [
  pay.handle(async ({ input, commit }) => {
    await sleep(5 + Math.random() * 15); // a bank that takes its time
    await commit((tx) => tx.query(insert, ['pay', input.payment, input.cents, worker]));
  }),
  refund.handle(async ({ input, commit }) => {
    await commit(async (tx) => {
      const { rowCount } = await tx.query('select from account where name = $1', [input.account]);
      if (!rowCount) throw new Error(`there is no account ${input.account}`);
      await tx.query(insert, ['refund', input.payment, input.cents, worker]);
    });
  }),
];

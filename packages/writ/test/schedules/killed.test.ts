/**
 * Scheduler processes that are killed without a word: between finding a tick and firing it, and
 * after sending it without having heard.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { Scheduler } from '../../src/schedules/scheduler.js';
import { testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';

const script = fileURLToPath(new URL('./scheduler-process.mjs', import.meta.url));

test.each(['before', 'after'])(
  'a scheduler that is killed %s it sent the tick: the tick fires once',
  async (when) => {
    const db = await testDatabase();
    const writ = await db.connect();
    await writ.schedules.put('often', defineJob('chore'), { cron: '* * * * *' });
    await db.clock.advance('1m');
    const child = fork(script, {
      env: { ...process.env, DATABASE_URL: db.connectionString, STOP: when },
      execArgv: [],
    });
    const ended = once(child, 'exit');
    const word = await Promise.race([
      once(child, 'message').then(([said]) => said),
      ended.then(() => 'ended'),
    ]);
    expect(word).toBe('stopped');
    child.kill('SIGKILL');
    await ended;
    // What it sent may still be on its way through the server.
    await until(
      async () =>
        (
          await db.query(
            `select count(*)::int as n from pg_stat_activity where application_name = 'killed scheduler'`,
          )
        )[0]?.n === 0,
    );

    const fired = async () =>
      (await db.query('select tick, job_id, fired_by from writ.schedule_tick')) as {
        fired_by: string;
      }[];
    expect((await fired()).map(({ fired_by }) => fired_by)).toEqual(
      when === 'before' ? [] : ['killed'],
    );
    const pool = new pg.Pool({ connectionString: db.connectionString });
    await new Scheduler(pool, 'next').look();
    await pool.end();
    const ticks = await fired();
    expect(ticks.map(({ fired_by }) => fired_by)).toEqual([when === 'before' ? 'next' : 'killed']);
    expect(await db.query('select job_id from writ.job_queue')).toHaveLength(1);
    await db.drop();
  },
);

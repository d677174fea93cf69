// @ts-check
// Plain SQL as the floor: one row per INSERT into the job table a careful team would write itself,
// through named prepared statements. It has no keys, no events and no worker.
import pg from 'pg';

const insertOne = 'insert into job (payload) values ($1) returning id';
const insertMany =
  'insert into job (payload) select input from jsonb_array_elements($1::jsonb) input';

/** @type {import('./subject.mjs').Subject} */
export const subject = {
  name: 'raw',
  version: () => 'pg 8',
  async setup(url) {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`
      create table job (
        id bigint generated always as identity primary key,
        queue text not null default 'default',
        payload jsonb not null,
        state text not null default 'ready',
        created_at timestamptz not null default now(),
        run_at timestamptz not null default now(),
        locked_at timestamptz,
        worker text
      );
      create index job_ready on job (queue, run_at, id) where state = 'ready';
    `);
    await client.end();
  },
  async producer(url, { connections }) {
    const pool = new pg.Pool({ connectionString: url, max: connections });
    /** @param {string} name @param {string} text @param {unknown} value */
    const insert = (name, text, value) =>
      pool.query({ name, text, values: [JSON.stringify(value)] });
    return {
      enqueue: (input) => insert('one', insertOne, input),
      enqueueMany: (inputs) => insert('many', insertMany, inputs),
      close: () => pool.end(),
    };
  },
};

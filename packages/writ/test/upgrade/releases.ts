/**
 * Small releases for tests of upgrades: folders with `package.json` and `sql/`, as a package has
 * them. Release 1.0.0 keeps payments and their sum in whole euros. Release 1.1.0 keeps them in
 * cents: its migration changes both tables, and its gates have other bodies and one more parameter.
 * It no longer has three objects that need each other, and release 1.2.0 removes them.
 *
 * In both releases `fn_pay` writes to one table, pauses, and writes to the other. A call that met
 * the tables of the other release, or another call's half, would fail or break the balance.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { type Release, readRelease } from '../../src/database/schema.js';

type Files = Readonly<Record<string, string>>;

const pay = (parameters: string, column: string, times: number, release: string) => `
-- Adds a payment.
-- Callers: writ_producer
create or replace function writ.fn_pay(${parameters}) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into writ_data.payment (account, ${column}) values (p_account, p_euros * ${times});
  perform pg_sleep(0.005);
  update writ_data.balance set ${column} = ${column} + p_euros * ${times} where account = p_account;
  return jsonb_build_object('release', '${release}');
end $$;
`;

const read = (column: string, per: number, release: string) => `
-- Answers what was paid, in euros, by both tables.
-- Callers: writ_producer
create or replace function writ.fn_read() returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select jsonb_build_object('release', '${release}',
      'payments', (select coalesce(sum(${column}), 0) / ${per} from writ_data.payment),
      'balance', (select sum(${column}) / ${per} from writ_data.balance)));
end $$;
`;

const view = (column: string) => `
-- Payments.
-- Callers: writ_producer
create or replace view writ.payment as select account, ${column} from writ_data.payment;
`;

/** They need each other, and their names do not tell in which order. */
const payers: Files = {
  'sql/payments/views/payer.sql': `
-- Who has paid.
-- Callers: writ_producer
create or replace view writ.payer as select distinct account from writ_data.payment;
`,
  'sql/payments/internal/payers.sql': `
-- How many have paid.
create or replace function writ_data.payers() returns bigint language sql stable
return (select count(*) from writ.payer);
`,
  'sql/payments/views/payer_count.sql': `
-- How many have paid.
-- Callers: writ_producer
create or replace view writ.payer_count as select writ_data.payers() as payers;
`,
};

export const euros: Files = {
  'package.json': '{ "version": "1.0.0" }',
  'sql/migrations/0001_payments.sql': `
create function writ.now() returns timestamptz language sql as 'select clock_timestamp()';
create table writ_data.payment (account text not null, euros bigint not null);
create table writ_data.balance (account text primary key, euros bigint not null);
insert into writ_data.balance values ('a', 0), ('b', 0), ('c', 0), ('d', 0);
`,
  'sql/payments/gates/fn_pay.sql': pay('p_account text, p_euros integer', 'euros', 1, '1.0.0'),
  'sql/payments/gates/fn_read.sql': read('euros', 1, '1.0.0'),
  'sql/payments/views/payment.sql': view('euros'),
  ...payers,
};

const withoutPayers = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !(path in payers)));

/** What a release says of the release before it. */
const predecessor = (files: Files): string => {
  const { version, objects } = release(files);
  return JSON.stringify({ version, objects: objects.map(({ name }) => name) });
};

const toCents = `
drop view writ.payment;
drop function writ.fn_pay(text, integer);
alter table writ_data.payment rename euros to cents;
update writ_data.payment set cents = cents * 100;
alter table writ_data.payment add column note text;
alter table writ_data.balance rename euros to cents;
update writ_data.balance set cents = cents * 100;
`;

export const cents: Files = {
  ...withoutPayers(euros),
  'package.json': '{ "version": "1.1.0" }',
  'sql/predecessor.json': predecessor(euros),
  'sql/migrations/0002_cents.sql': toCents,
  'sql/payments/gates/fn_pay.sql': pay(
    'p_account text, p_euros integer, p_note text default null',
    'cents',
    100,
    '1.1.0',
  ),
  'sql/payments/gates/fn_read.sql': read('cents', 100, '1.1.0'),
  'sql/payments/views/payment.sql': view('cents'),
};

export const centsOnly: Files = {
  ...cents,
  'package.json': '{ "version": "1.2.0" }',
  'sql/predecessor.json': predecessor(cents),
  'sql/migrations/0003_nothing.sql': 'select 1;',
};

/** Writes a release into a folder and reads it as `migrate` reads its own package. */
export function release(files: Files): Release {
  const folder = mkdtempSync(join(tmpdir(), 'writ-release-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    return readRelease(pathToFileURL(`${folder}/`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface EmptyDatabase {
  readonly url: string;
  connect(user?: string): Promise<pg.Client>;
  drop(): Promise<void>;
}

/** A database without Writ, on the server of the tests. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const server = String(process.env.WRIT_TEST_DATABASE_URL);
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const name = `writ_upgrade_${randomBytes(6).toString('hex')}`;
  await admin.query(`create database ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` });
  const opened: pg.Client[] = [];
  return {
    url: url.toString(),
    connect: async (user) => {
      const own = new URL(url);
      if (user) [own.username, own.password] = [user, 'test'];
      const client = new pg.Client({ connectionString: own.toString() });
      client.on('error', () => undefined); // some tests end a session from outside
      await client.connect();
      opened.push(client);
      return client;
    },
    drop: async () => {
      await Promise.all(opened.map((client) => client.end().catch(() => undefined)));
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

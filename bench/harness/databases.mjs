// @ts-check
// Databases of a benchmark run. A subject's schema (and the jobs a case needs beforehand) is made
// once, vacuumed and analysed, and kept as a template; each measurement runs on a fresh copy of it.
// So every round of every subject starts from the same bytes, and never-analysed tables, which
// make some peers plan badly, do not occur.
import pg from 'pg';
import { cpuOfRoles } from './child.mjs';
import { sleep } from './figures.mjs';

/** @typedef {{ wal: number, commits: number, cpuUs: number }} Counters */

export class Databases {
  /** @param {Awaited<ReturnType<typeof import('./server.mjs').startServer>>} server */
  constructor(server) {
    this.server = server;
    /** @type {Map<string, Promise<string>>} */
    this.templates = new Map();
    this.copies = 0;
    this.admin = new pg.Client(server.url('postgres'));
  }

  async connect() {
    await this.admin.connect();
    return (await this.admin.query('show server_version')).rows[0].server_version;
  }

  /**
   * The template of that key, made on first use. `from` is the key of the template to start from.
   * @param {string} key
   * @param {string | null} from
   * @param {(url: string) => Promise<void>} make
   * @returns {Promise<string>}
   */
  template(key, from, make) {
    let ready = this.templates.get(key);
    if (!ready) {
      const name = `t_${key.replaceAll(/[^a-z0-9]+/g, '_')}`;
      ready = this.#makeTemplate(name, from === null ? null : this.templates.get(from), make);
      this.templates.set(key, ready);
    }
    return ready;
  }

  /**
   * @param {string} name
   * @param {Promise<string> | null | undefined} from
   * @param {(url: string) => Promise<void>} make
   */
  async #makeTemplate(name, from, make) {
    await this.admin.query(`create database ${name} template ${from ? await from : 'template1'}`);
    await make(this.server.url(name));
    await this.query(name, 'vacuum analyze');
    await this.quiet(name);
    return name;
  }

  /**
   * A fresh copy of a template, after a checkpoint so that nobody pays for another's dirty pages.
   * @param {string} template
   * @param {boolean} large gigabytes go as files: through the log they would be written twice
   */
  async copy(template, large) {
    this.copies += 1;
    const name = `m_${this.copies}`;
    await this.admin.query(
      `create database ${name} template ${template}${large ? ' strategy file_copy' : ''}`,
    );
    await this.admin.query('checkpoint');
    return name;
  }

  /** @param {string} name */
  async drop(name) {
    await this.admin.query(`drop database if exists ${name} with (force)`);
  }

  /**
   * Rows of one statement in one of the databases, on a connection of its own.
   * @param {string} database
   * @param {string} text
   */
  async query(database, text) {
    const client = new pg.Client(this.server.url(database));
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /**
   * Waits until nobody is connected to a database: a backend adds its counters when it leaves.
   * @param {string} name
   */
  async quiet(name) {
    for (let i = 0; i < 200; i += 1) {
      const { rows } = await this.admin.query(
        "select count(*)::int as n from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
        [name],
      );
      if (rows[0].n === 0) return;
      await sleep(10);
    }
    await this.admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    );
    await sleep(50);
  }

  /**
   * WAL written by the server and commits in this database, since the beginning of time.
   * @param {string} name
   * @returns {Promise<Counters>}
   */
  async counters(name) {
    const { rows } = await this.admin.query(
      `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as wal,
              coalesce((select xact_commit from pg_stat_database where datname = $1), 0)::float8 as commits`,
      [name],
    );
    return { ...rows[0], cpuUs: this.server.cpuUs() + cpuOfRoles() };
  }

  async close() {
    await this.admin.end();
  }
}

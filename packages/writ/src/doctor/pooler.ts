/**
 * What stands between this program and PostgreSQL. A pooler tells a process id of its own when one
 * connects; one in transaction mode gives the same server process to several connections in turn.
 * To see that even when the pooler is idle, a second connection stays in a transaction while the
 * first one asks again: in transaction mode the second has got the first one's process, or the
 * first one is given another.
 */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { readRows } from '../database/gate.js';
import { withClient } from '../database/pools.js';
import { type Checks, type Finding, type Patient, well } from './finding.js';

export interface PathFacts {
  /** The process id told on connecting is that of the server process that answers. */
  readonly direct: boolean;
  /** Another connection was served by this one's process, or this one by another. */
  readonly shared: boolean;
  /** A SET was still there in the next transaction. */
  readonly remembers: boolean;
  /**
   * A NOTIFY reached a connection that listens; null: not tried, because a LISTEN would stay behind
   * in a process that others use.
   */
  readonly heard: boolean | null;
  /** The address to listen on was given apart. */
  readonly listensElsewhere: boolean;
  /** What the pooler calls itself, where it says so. */
  readonly product: string | null;
}

interface Answer {
  readonly pid: number;
  readonly mark: string;
}

/** For connecting and for each statement. */
const withinMs = 5_000;

async function ask(client: pg.Client, sql: string): Promise<Answer> {
  const [answer] = await readRows<Answer>(client, `select pg_backend_pid() as pid, ${sql} as mark`);
  return answer as Answer;
}

const readPath = (url: string, listenUrl: string | undefined): Promise<PathFacts> =>
  withClient(
    url,
    async (client) => {
      const mark = randomBytes(6).toString('hex');
      const recall = `current_setting('writ.doctor', true)`;
      const told = (client as { processID?: number | null }).processID;
      const first = await ask(client, `set_config('writ.doctor', '${mark}', false)`);
      const meanwhile = await withClient(
        url,
        async (second) => {
          await second.query('begin');
          const other = await ask(second, `''`);
          // In a pool of one the first connection would wait here for the second to end; but then
          // they have met already.
          const again = other.pid === first.pid ? undefined : await ask(client, recall);
          await second.query('rollback');
          return { other, again };
        },
        withinMs,
      );
      const { other, again = await ask(client, recall) } = meanwhile;
      const shared = other.pid === first.pid || again.pid !== first.pid;
      const direct = told === first.pid;
      const remembers = again.mark === mark;
      const tried = listenUrl !== undefined || (!shared && remembers);
      return {
        direct,
        shared,
        remembers,
        heard: tried ? await hears(client, listenUrl ?? url) : null,
        listensElsewhere: listenUrl !== undefined,
        product: direct ? null : await productOf(url),
      };
    },
    withinMs,
  );

async function hears(client: pg.Client, listenUrl: string): Promise<boolean> {
  const channel = `writ_doctor_${randomBytes(6).toString('hex')}`;
  return withClient(
    listenUrl,
    async (listener) => {
      const heard = new Promise<boolean>((resolve) => {
        listener.on(
          'notification',
          (notification) => notification.channel === channel && resolve(true),
        );
        setTimeout(resolve, 2_000, false).unref();
      });
      await listener.query(`listen ${channel}`);
      await client.query('select pg_notify($1, $2)', [channel, '']);
      return heard;
    },
    withinMs,
  );
}

/**
 * PgBouncer answers for itself in a database of its own, to those whom its configuration lets in;
 * not being let in is no finding.
 */
async function productOf(url: string): Promise<string | null> {
  const console = new URL(url);
  console.pathname = '/pgbouncer';
  return withClient(
    console.href,
    async (pooler) => {
      const [row] = await readRows<{ version: string }>(pooler, 'show version');
      return row?.version ?? null;
    },
    withinMs,
  ).catch(() => null);
}

export function judgePath(facts: PathFacts): Finding {
  const { direct, shared, remembers, heard, listensElsewhere, product } = facts;
  const check = 'pooler';
  const name = product ?? 'a pooler';
  const inTransactions = shared || !remembers;
  const says = inTransactions
    ? `Through ${name} in transaction mode`
    : direct
      ? 'None in between'
      : `Through ${name} in session mode: a connection keeps its process`;
  const where = listensElsewhere ? ' at the address to listen on' : '';
  if (heard === false) {
    return {
      check,
      level: 'warning',
      code: 'listen_unheard',
      facts: { elsewhere: listensElsewhere },
      says: `${says}; a NOTIFY did not arrive${where} within two seconds`,
      means:
        'Idle workers are not woken by an enqueue; they find jobs when they look, once a second.',
    };
  }
  if (!inTransactions || heard)
    return well(check, `${says}; a NOTIFY arrives${where}`, { ...facts });
  return {
    check,
    level: 'hint',
    code: 'listen_impossible',
    facts: { product },
    says,
    means:
      'Everything works through it but LISTEN: idle workers are not woken by an enqueue, they find jobs when they look, once a second.',
  };
}

export const poolerChecks: Checks = {
  pooler: async ({ connectionString, listenConnectionString }: Patient) =>
    connectionString === undefined
      ? []
      : [judgePath(await readPath(connectionString, listenConnectionString))],
};

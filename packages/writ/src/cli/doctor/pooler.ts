/**
 * What stands between this program and PostgreSQL. A pooler tells a process id of its own when one
 * connects; one in transaction mode gives the same server process to several connections in turn.
 * To see that even when the pooler is idle, a second connection stays in a transaction while the
 * first one asks again: in transaction mode the second has got the first one's process, or the
 * first one is given another.
 */
import { randomBytes } from 'node:crypto';
import type { Session } from '../connection.js';
import type { Check, Finding } from './finding.js';

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

async function readPath(db: Session, listenUrl: string | undefined): Promise<PathFacts> {
  const mark = randomBytes(6).toString('hex');
  const ask = async (session: Session, sql: string) =>
    (await session.rows<Answer>(`select pg_backend_pid() as pid, ${sql} as mark`))[0] as Answer;
  const told = (db.client as { processID?: number | null }).processID;
  const first = await ask(db, `set_config('writ.doctor', '${mark}', false)`);
  const meanwhile = await db.beside(async (second) => {
    await second.rows('begin');
    const other = await ask(second, `''`);
    // In a pool of one the first connection would wait here for the second to end; but then they
    // have met already.
    const again =
      other.pid === first.pid ? undefined : await ask(db, `current_setting('writ.doctor', true)`);
    await second.rows('rollback');
    return { other, again };
  });
  const { other, again = await ask(db, `current_setting('writ.doctor', true)`) } = meanwhile;
  const shared = other.pid === first.pid || again.pid !== first.pid;
  const direct = told === first.pid;
  const remembers = again.mark === mark;
  return {
    direct,
    shared,
    remembers,
    heard: listenUrl !== undefined || (!shared && remembers) ? await hears(db, listenUrl) : null,
    listensElsewhere: listenUrl !== undefined,
    product: direct ? null : await productOf(db),
  };
}

async function hears(db: Session, listenUrl: string | undefined): Promise<boolean> {
  const channel = `writ_doctor_${randomBytes(6).toString('hex')}`;
  return db.beside(async (listener) => {
    const heard = new Promise<boolean>((resolve) => {
      listener.client.on(
        'notification',
        (notification) => notification.channel === channel && resolve(true),
      );
      setTimeout(resolve, 2_000, false).unref();
    });
    await listener.rows(`listen ${channel}`);
    await db.rows('select pg_notify($1, $2)', [channel, '']);
    return heard;
  }, listenUrl);
}

/**
 * PgBouncer answers for itself in a database of its own, to those whom its configuration lets in;
 * not being let in is no finding.
 */
async function productOf(db: Session): Promise<string | null> {
  const console = new URL(db.url);
  console.pathname = '/pgbouncer';
  return db
    .beside(
      async (pooler) =>
        (await pooler.rows<{ version: string }>('show version'))[0]?.version ?? null,
      console.href,
    )
    .catch(() => null);
}

export function judgePath({
  direct,
  shared,
  remembers,
  heard,
  listensElsewhere,
  product,
}: PathFacts): Finding {
  const check = 'pooler';
  const name = product ?? 'a pooler';
  const inTransactions = shared || !remembers;
  const says = inTransactions
    ? `Through ${name} in transaction mode`
    : direct
      ? 'None in between'
      : `Through ${name} in session mode: a connection keeps its process`;
  if (heard === false) {
    return {
      check,
      level: 'warning',
      says: `${says}; a NOTIFY did not arrive${listensElsewhere ? ' at the address to listen on' : ''} within two seconds`,
      means:
        'Idle workers are not woken by an enqueue; they find jobs when they look, once a second.',
      remedy:
        'Give listenConnectionString, or `writ worker --listen-url`, an address that leads straight to the primary of this database.',
    };
  }
  if (!inTransactions || heard)
    return {
      check,
      level: 'ok',
      says: `${says}; a NOTIFY arrives${listensElsewhere ? ' at the address to listen on' : ''}`,
    };
  return {
    check,
    level: 'hint',
    says,
    means:
      'Everything works through it but LISTEN: idle workers are not woken by an enqueue, they find jobs when they look, once a second.',
    remedy:
      'For quicker starts give workers a direct address to listen on: listenConnectionString, or `writ worker --listen-url`; `writ doctor --listen-url` tries it.',
  };
}

export const pooler =
  (listenUrl: string | undefined): Check =>
  async (db) => [judgePath(await readPath(db, listenUrl))];

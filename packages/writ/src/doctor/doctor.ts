/** The doctor of a database: looks at everything that went wrong for somebody before. */
import type pg from 'pg';
import type { Queryable } from '../database/connection.js';
import { readRows } from '../database/gate.js';
import { bounded } from '../database/pools.js';
import { fromDatabase, WritError } from '../errors/index.js';
import type { Outside } from '../ledger/ledger.js';
import { type Duration, milliseconds } from '../queue/duration.js';
import type { Finding } from './finding.js';

export interface DoctorHost {
  readonly db: Queryable;
  /** Connections of our own, on which a statement can be given a limit. */
  readonly pool: pg.Pool | undefined;
  readonly connectionString: string | undefined;
  /** The address that workers listen on, where it differs. */
  readonly listenConnectionString: string | undefined;
}

export interface LookOptions {
  /** Only these checks; all unless given. */
  readonly only?: readonly string[];
  /** How long a statement may take; '30s' unless given. */
  readonly timeout?: Duration;
  /** The folder of a spool of this machine. */
  readonly spool?: string | undefined;
  /** Where checkpoints are kept outside. */
  readonly ledger?: Outside | undefined;
}

export interface Examination {
  /** No finding is an error. */
  readonly ok: boolean;
  /** False: Writ is not there for this login, so only the server was looked at. */
  readonly installed: boolean;
  readonly findings: readonly Finding[];
}

export class Doctor {
  readonly #host: DoctorHost;

  constructor(host: DoctorHost) {
    this.#host = host;
  }

  /** Looks at the server, and if Writ is installed there, at everything of Writ. */
  async look({ only, timeout = '30s', spool, ledger }: LookOptions = {}): Promise<Examination> {
    const { pool, connectionString, listenConnectionString } = this.#host;
    const db = pool ? bounded(pool, milliseconds(timeout)) : this.#host.db;
    const patient = { db, connectionString, listenConnectionString, spool, outside: ledger };
    const { ofServer, ofWrit } = await import('./checks.js');
    const findings: Finding[] = [];
    const run = async (checks: typeof ofServer) => {
      for (const [name, check] of Object.entries(checks)) {
        if (only && !only.includes(name)) continue;
        findings.push(...(await check(patient).catch((error) => [failed(name, error)])));
      }
    };
    await run(ofServer);
    const installed = await isInstalled(db).catch(() => false);
    if (installed) await run(ofWrit);
    return { ok: findings.every(({ level }) => level !== 'error'), installed, findings };
  }
}

async function isInstalled(db: Queryable): Promise<boolean> {
  const [row] = await readRows<{ yes: boolean }>(
    db,
    `select to_regclass('writ.job_queue') is not null as yes`,
  );
  return row?.yes === true;
}

/** A check that cannot look is not a check that found nothing. */
function failed(check: string, thrown: unknown): Finding {
  const error = fromDatabase(thrown);
  const message = error instanceof Error && error.message ? error.message : String(error);
  return {
    check,
    level: 'warning',
    code: 'check_failed',
    facts: { error: error instanceof WritError ? error.code : 'unexpected' },
    says: `Could not be looked at: ${message}`,
  };
}

/**
 * Checks of the ledger: whether receipts get into their logs, the record is sealed, checkpoints are
 * signed, and months are made ahead.
 */

import { remedyOf } from '../../errors/advice/codes.js';
import { WritError } from '../../errors/index.js';
import { type Comparison, compare, fallsShort } from '../../ledger/checkpoints.js';
import { type LedgerStatus, ledgerStatus } from '../../ledger/ledger.js';
import { parsePublicKey } from '../../ledger/note.js';
import { outside, places, said, waiting } from '../commands/ledger/session.js';
import type { Session } from '../connection.js';
import { count, oneLine, plural, span } from '../output.js';
import type { Checks, Finding } from './finding.js';

export interface LedgerFacts extends LedgerStatus {
  /**
   * The oldest transaction on the server that may have written, in any database; null: none is
   * open.
   */
  readonly holder: {
    readonly name: string;
    readonly who: string | null;
    readonly database: string | null;
    readonly age_s: number | null;
  } | null;
}

/**
 * What sealing waits for. Since when it is open is shown to its own user and to pg_monitor only.
 */
const oldestWriter = `
  select h.name, h.who, h.database, h.age_s from (
    select 'process ' || a.pid as name, a.usename::text as who, a.datname::text as database,
      extract(epoch from clock_timestamp() - a.xact_start)::float8 as age_s, age(a.backend_xid) as behind
    from pg_stat_activity a where a.backend_xid is not null and a.pid <> pg_backend_pid()
    union all
    select 'prepared transaction ' || gid, owner::text, database::text, extract(epoch from clock_timestamp() - prepared)::float8, age(transaction)
    from pg_prepared_xacts
  ) h order by h.behind desc limit 1`;

async function readLedger(db: Session): Promise<LedgerFacts> {
  const [holder] = await db.rows<NonNullable<LedgerFacts['holder']>>(oldestWriter);
  return { ...(await ledgerStatus(db.client)), holder: holder ?? null };
}

const lateAfter = { waiting_s: 10, unsealed_s: 60, signed_s: 3_600 };
const month_s = 30 * 86_400;

export function judgeLedger(facts: LedgerFacts): Finding[] {
  const findings = [sequencing(facts), sealing(facts), months(facts)].filter(
    (finding) => finding !== undefined,
  );
  const fine: Finding[] =
    findings.length > 0
      ? []
      : [
          {
            check: 'ledger',
            level: 'ok',
            says: 'Receipts are in their logs, the record is sealed',
          },
        ];
  return [...fine, ...findings, signing(facts)];
}

function sequencing({ waiting: n, waiting_s }: LedgerFacts): Finding | undefined {
  if ((waiting_s ?? 0) <= lateAfter.waiting_s) return undefined;
  return {
    check: 'ledger',
    level: 'warning',
    says: `Not in their logs yet: ${waiting(n, waiting_s, 'receipt')}`,
    means:
      'No worker turns the ledger’s clockwork, or it does not keep up. What waits is safe, but no checkpoint covers it.',
    remedy:
      'Start a worker; if one runs, its log says why it cannot. `writ ledger checkpoint` sequences too.',
  };
}

function sealing({ sealing, unsealed, unsealed_s, holder }: LedgerFacts): Finding | undefined {
  if (!sealing) {
    return {
      check: 'ledger',
      level: 'hint',
      says: 'Sealing is switched off',
      means: 'Who changes the record of the queue is not found out.',
      remedy: 'If that is not wanted: `writ settings set ledger.sealing.enabled true`.',
    };
  }
  if ((unsealed_s ?? 0) <= lateAfter.unsealed_s) return undefined;
  const held =
    holder &&
    `${holder.name} of ${holder.who ?? '?'}, in ${holder.database ?? '?'}${holder.age_s === null ? '' : `, open for ${span(holder.age_s * 1000)}`}`;
  return {
    check: 'ledger',
    level: 'warning',
    says: `Not sealed yet: ${waiting(unsealed, unsealed_s, 'row')} of the record`,
    means: held
      ? oneLine(
          `What is sealed is behind every open transaction that may have written. The oldest: ${held}.`,
        )
      : 'No transaction holds it up, so no worker turns the ledger’s clockwork, or it does not keep up.',
    remedy: held
      ? 'End that transaction where it was begun; sealing then goes on by itself.'
      : 'Start a worker; if one runs, its log says why it cannot.',
  };
}

function months({ months_until, months_s }: LedgerFacts): Finding | undefined {
  if (months_s >= month_s) return undefined;
  return {
    check: 'ledger',
    level: months_s <= 0 ? 'error' : 'warning',
    says:
      months_s <= 0
        ? 'There is no month for receipts of now'
        : `Receipts have a month to go into until ${months_until} only`,
    means:
      months_s <= 0
        ? 'Whatever writes a receipt is refused.'
        : 'Months are made two ahead, so nobody has made any for weeks. After the last one, writing receipts fails.',
    remedy: 'Start a worker, whose clockwork makes them. If one runs, its log says why it cannot.',
  };
}

function signing({ key, signed_s, signed_size }: LedgerFacts): Finding {
  const check = 'checkpoints';
  if (key === null || signed_s === null) {
    return {
      check,
      level: 'hint',
      says: 'None has been signed',
      means:
        'Without one outside, nobody can tell later whether the database is the one that it was.',
      remedy:
        'If you want that: `writ ledger keygen`, then `writ ledger checkpoint --every 60s` (docs/ledger.md).',
    };
  }
  const says = `The newest was signed ${span(Math.max(0, signed_s) * 1000)} ago, over ${signed_size} receipts of _system`;
  if (signed_s <= lateAfter.signed_s) return { check, level: 'ok', says };
  return {
    check,
    level: 'warning',
    says,
    means:
      'What has happened since is not covered: a restore or a change of it would not be noticed.',
    remedy: 'See whether `writ ledger checkpoint --every 60s` runs, and what it says.',
  };
}

/**
 * What the places outside know. Which they are is known where they are configured, and that need
 * not be here.
 */
async function placesOutside(db: Session): Promise<Finding[]> {
  const { key, signed_size } = await ledgerStatus(db.client);
  const { places: texts, keys } = outside(
    { places: undefined, keys: undefined },
    { places: 'WRIT_LEDGER_PLACES', keys: '--ledger-key' },
  );
  if (texts.length === 0) return key === null ? [] : [unconfigured];
  const trusted = keys.map(parsePublicKey);
  const findings: Finding[] = [];
  for (const place of places(texts, 'WRIT_LEDGER_PLACES')) {
    const compared = await compare(db.client, place, trusted).catch((error: unknown) => {
      if (error instanceof WritError) return error;
      throw error;
    });
    findings.push(judgePlace(place.name, compared, signed_size));
  }
  return findings;
}

const unconfigured: Finding = {
  check: 'places',
  level: 'hint',
  says: 'No place that keeps checkpoints is configured here',
  means: 'Whether this database has everything that is known outside was not looked at.',
  remedy: 'Set WRIT_LEDGER_PLACES and WRIT_LEDGER_PUBLIC_KEYS, here and for workers.',
};

export function judgePlace(
  name: string,
  compared: Comparison | WritError | null,
  signed: number | null,
): Finding {
  const check = 'places';
  if (compared instanceof WritError)
    return {
      check,
      level: 'warning',
      says: `${name}: ${compared.message}`,
      remedy: remedyOf(compared),
    };
  if (compared && fallsShort(compared)) {
    const error = new WritError(
      compared.outcome === 'shorter' ? 'database_older_than_checkpoint' : 'ledger_replaced',
    );
    const says = `${name}: ${said[compared.outcome](compared)} (${error.code})`;
    return { check, level: 'error', says, remedy: remedyOf(error) };
  }
  const known = compared?.known ?? 0;
  if (known >= (signed ?? 0))
    return {
      check,
      level: 'ok',
      says: `${name} knows ${plural(known, 'receipt')} of _system: ${compared ? said[compared.outcome](compared) : 'none yet'}`,
    };
  return {
    check,
    level: 'warning',
    says: `${name} knows ${count(known)} of the ${count(signed ?? 0)} receipts of _system that are signed`,
    means: 'It was not told of the newest checkpoint: what came since could be cut off unnoticed.',
    remedy: 'See what `writ ledger checkpoint` says of this place.',
  };
}

export const ledgerChecks: Checks = {
  ledger: async (db) => judgeLedger(await readLedger(db)),
  places: placesOutside,
};

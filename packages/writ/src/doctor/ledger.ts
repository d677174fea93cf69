/**
 * Checks of the ledger: whether receipts get into their logs, the record is sealed, checkpoints are
 * signed, and months are made ahead.
 */
import { readRows } from '../database/gate.js';
import { WritError } from '../errors/index.js';
import { count, plain, plural, span } from '../errors/words.js';
import { type Comparison, compare, fallsShort } from '../ledger/checkpoints.js';
import { type LedgerStatus, ledgerStatus } from '../ledger/ledger.js';
import { parsePublicKey } from '../ledger/note.js';
import { placeOf } from '../ledger/places.js';
import { age, comparisonWords, waitingWords } from '../ledger/words.js';
import { type Checks, type Finding, type Patient, type Trouble, well } from './finding.js';

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
  select h.name, h.who, h.database, h.age_s
  from (
    select 'process ' || a.pid as name, a.usename::text as who, a.datname::text as database,
      extract(epoch from clock_timestamp() - a.xact_start)::float8 as age_s,
      age(a.backend_xid) as behind
    from pg_stat_activity a
    where a.backend_xid is not null and a.pid <> pg_backend_pid()
    union all
    select 'prepared transaction ' || gid, owner::text, database::text,
      extract(epoch from clock_timestamp() - prepared)::float8, age(transaction)
    from pg_prepared_xacts
  ) h
  order by h.behind desc
  limit 1`;

async function readLedger({ db }: Patient): Promise<LedgerFacts> {
  const [holder] = await readRows<NonNullable<LedgerFacts['holder']>>(db, oldestWriter);
  return { ...(await ledgerStatus(db)), holder: holder ?? null };
}

const lateAfter = { waiting_s: 10, unsealed_s: 60, signed_s: 3_600 };
const month_s = 30 * 86_400;

export function judgeLedger(facts: LedgerFacts): Finding[] {
  const findings = [sequencing(facts), sealing(facts), months(facts)].filter(
    (finding) => finding !== undefined,
  );
  if (findings.length > 0) return [...findings, signing(facts)];
  return [well('ledger', 'Receipts are in their logs, the record is sealed'), signing(facts)];
}

function sequencing({ waiting, waiting_s }: LedgerFacts): Trouble | undefined {
  if (waiting_s === null || waiting_s <= lateAfter.waiting_s) return undefined;
  return {
    check: 'ledger',
    level: 'warning',
    code: 'receipts_unsequenced',
    facts: { waiting, waiting_s },
    says: `Not in their logs yet: ${waitingWords(waiting, waiting_s, 'receipt')}`,
    means:
      'No worker turns the ledger’s clockwork, or it does not keep up. What waits is safe, but no checkpoint covers it.',
  };
}

function sealing({ sealing, unsealed, unsealed_s, holder }: LedgerFacts): Trouble | undefined {
  if (!sealing) {
    return {
      check: 'ledger',
      level: 'hint',
      code: 'sealing_off',
      facts: {},
      says: 'Sealing is switched off',
      means: 'Who changes the record of the queue is not found out.',
    };
  }
  if (unsealed_s === null || unsealed_s <= lateAfter.unsealed_s) return undefined;
  const open = holder?.age_s == null ? '' : `, open for ${span(holder.age_s * 1000)}`;
  const held =
    holder && `${holder.name} of ${holder.who ?? '?'}, in ${holder.database ?? '?'}${open}`;
  return {
    check: 'ledger',
    level: 'warning',
    code: 'record_unsealed',
    facts: { unsealed, unsealed_s, held: held !== null },
    says: `Not sealed yet: ${waitingWords(unsealed, unsealed_s, 'row')} of the record`,
    means: held
      ? plain(
          `What is sealed is behind every open transaction that may have written. The oldest: ${held}.`,
        )
      : 'No transaction holds it up, so no worker turns the ledger’s clockwork, or it does not keep up.',
  };
}

function months({ months_until, months_s }: LedgerFacts): Trouble | undefined {
  if (months_s >= month_s) return undefined;
  return {
    check: 'ledger',
    level: months_s <= 0 ? 'error' : 'warning',
    code: 'receipt_months_short',
    facts: { months_until },
    says:
      months_s <= 0
        ? 'There is no month for receipts of now'
        : `Receipts have a month to go into until ${months_until} only`,
    means:
      months_s <= 0
        ? 'Whatever writes a receipt is refused.'
        : 'Months are made two ahead, so nobody has made any for weeks. After the last one, writing receipts fails.',
  };
}

function signing({ key, signed_s, signed_size }: LedgerFacts): Finding {
  const check = 'checkpoints';
  if (key === null || signed_s === null) {
    return {
      check,
      level: 'hint',
      code: 'checkpoint_none',
      facts: {},
      says: 'None has been signed',
      means:
        'Without one outside, nobody can tell later whether the database is the one that it was.',
    };
  }
  const says = `The newest was signed ${age(signed_s)} ago, over ${signed_size} receipts of _system`;
  if (signed_s <= lateAfter.signed_s) return well(check, says, { signed_s, signed_size });
  return {
    check,
    level: 'warning',
    code: 'checkpoint_old',
    facts: { signed_s },
    says,
    means:
      'What has happened since is not covered: a restore or a change of it would not be noticed.',
  };
}

/**
 * What the places outside know. Which they are is known where they are configured, and that need
 * not be here.
 */
async function placesOutside({ db, outside }: Patient): Promise<Finding[]> {
  const { key, signed_size } = await ledgerStatus(db);
  if (!outside || outside.places.length === 0) return key === null ? [] : [unconfigured];
  const trusted = outside.keys.map(parsePublicKey);
  const findings: Finding[] = [];
  for (const place of outside.places.map(placeOf)) {
    const compared = await compare(db, place, trusted).catch((error: unknown) => {
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
  code: 'places_unconfigured',
  facts: {},
  says: 'No place that keeps checkpoints is configured here',
  means: 'Whether this database has everything that is known outside was not looked at.',
};

export function judgePlace(
  place: string,
  compared: Comparison | WritError | null,
  signed: number | null,
): Finding {
  const check = 'places';
  if (compared instanceof WritError) {
    const facts = { error: compared.code };
    const says = `${place}: ${compared.message}`;
    return { check, level: 'warning', code: 'place_unreadable', facts, says };
  }
  const found = compared ? comparisonWords[compared.outcome](compared) : 'none yet';
  if (compared && fallsShort(compared)) {
    const error =
      compared.outcome === 'shorter' ? 'database_older_than_checkpoint' : 'ledger_replaced';
    const says = `${place}: ${found} (${error})`;
    return { check, level: 'error', code: 'ledger_short_of_place', facts: { error }, says };
  }
  const known = compared?.known ?? 0;
  const facts = { place, known, signed: signed ?? 0 };
  if (known >= facts.signed)
    return well(check, `${place} knows ${plural(known, 'receipt')} of _system: ${found}`, facts);
  return {
    check,
    level: 'warning',
    code: 'place_behind',
    facts,
    says: `${place} knows ${count(known)} of the ${count(facts.signed)} receipts of _system that are signed`,
    means: 'It was not told of the newest checkpoint: what came since could be cut off unnoticed.',
  };
}

export const ledgerChecks: Checks = {
  ledger: async (patient) => judgeLedger(await readLedger(patient)),
  places: placesOutside,
};

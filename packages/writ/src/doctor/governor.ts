/**
 * Checks of governors: those that do not act, those that nobody drives, and the months that their
 * mailboxes and events are kept in.
 */

import { readRows } from '../database/gate.js';
import { plain, plural, span } from '../errors/words.js';
import { argumentsOf, isForPersons, whyOf } from '../governor/causes.js';
import { type Checks, type Finding, type Patient, type Trouble, well } from './finding.js';

export interface HeldGovernor {
  readonly tenant_id: string;
  readonly sku_id: string;
  readonly state: 'refusing' | 'degraded';
  readonly causes: readonly string[] | null;
  readonly refusals: readonly { readonly cause: string; readonly action_type?: string }[] | null;
  readonly age_s: number;
}

export interface GovernorFacts {
  readonly governors: number;
  /** How many refuse or are degraded. */
  readonly held: number;
  /** The first of them. */
  readonly named: readonly HeldGovernor[];
}

const named = 5;

async function readHeld({ db }: Patient): Promise<GovernorFacts> {
  const [counts] = await readRows<{ governors: number; held: number }>(
    db,
    `select count(*)::integer as governors,
       count(*) filter (where g.state in ('refusing', 'degraded'))::integer as held
     from writ.governor g`,
  );
  const held = await readRows<HeldGovernor>(
    db,
    `select g.tenant_id, g.sku_id, g.state, g.causes, g.refusals,
       extract(epoch from writ.now() - g.state_since)::float8 as age_s
     from writ.governor g
     where g.state in ('refusing', 'degraded')
     order by g.state, g.state_since
     limit $1`,
    [named],
  );
  return { governors: counts?.governors ?? 0, held: counts?.held ?? 0, named: held };
}

export function judgeHeld({ governors, held, named: first }: GovernorFacts): Finding[] {
  if (held === 0)
    return [
      well(
        'governors',
        governors === 0 ? 'None' : `${plural(governors, 'governor')}, none refuses or is degraded`,
        { governors },
      ),
    ];
  const findings = first.map((one): Trouble => {
    const why = whyOf(one);
    const reasons =
      why.map(({ says }) => says).join('; ') || 'it looks whether everything is there';
    const waits = (one.causes ?? []).some(isForPersons);
    return {
      check: 'governors',
      level: waits ? 'error' : 'warning',
      code: 'governor_held',
      facts: {
        governor: argumentsOf(one),
        tenant: one.tenant_id,
        state: one.state,
        age_s: one.age_s,
        why,
      },
      says: plain(`${argumentsOf(one)} is ${one.state} for ${span(one.age_s * 1_000)}: ${reasons}`),
      ...(waits && { means: 'It does not act until a person has seen to it.' }),
    };
  });
  const more = held - first.length;
  if (more <= 0) return findings;
  const says = `${more} more refuse or are degraded`;
  return [
    ...findings,
    { check: 'governors', level: 'warning', code: 'governors_more', facts: { more }, says },
  ];
}

export interface UndrivenFacts {
  /** Governors for which something has been due for too long. */
  readonly undriven: number;
  /** The one that has waited longest. */
  readonly tenant_id: string | null;
  readonly sku_id: string | null;
  readonly late_s: number | null;
}

const warningAfterS = 5;
const errorAfterS = 60;

async function readUndriven({ db }: Patient): Promise<UndrivenFacts> {
  const [row] = await readRows<UndrivenFacts>(
    db,
    `select (count(*) over ())::integer as undriven, x.tenant_id, x.sku_id, x.late_s
     from (
       select g.tenant_id, g.sku_id,
         extract(epoch from writ.now() - least(g.mail_since, g.due_at))::float8 as late_s
       from writ.governor g
     ) x
     where x.late_s > $1
     order by x.late_s desc
     limit 1`,
    [warningAfterS],
  );
  return row ?? { undriven: 0, tenant_id: null, sku_id: null, late_s: null };
}

export function judgeUndriven({ undriven, tenant_id, sku_id, late_s }: UndrivenFacts): Finding {
  const check = 'driving';
  if (undriven === 0) return well(check, 'Nothing waits for a governor to be driven');
  const at = argumentsOf({ tenant_id: String(tenant_id), sku_id: String(sku_id) });
  return {
    check,
    level: (late_s ?? 0) > errorAfterS ? 'error' : 'warning',
    code: 'governors_undriven',
    facts: { governors: undriven, governor: at, late_s: late_s ?? 0 },
    says: plain(
      `Nobody drives ${plural(undriven, 'governor')}; something for ${at} is due for ${span((late_s ?? 0) * 1_000)}`,
    ),
    means: 'Signals are taken and numbered, and nothing is decided about them.',
  };
}

export interface MonthFacts {
  readonly days_left: number;
  /** Partitions that are missing, of this month and of the next. */
  readonly now: readonly string[];
  readonly next: readonly string[];
}

async function readMonths({ db }: Patient): Promise<MonthFacts> {
  const [row] = await readRows<MonthFacts>(
    db,
    `with clock as (
       select clock_timestamp() at time zone 'UTC' as at
     ),
     month as (
       select n, to_char(date_trunc('month', at) + n * interval '1 month', '_YYYYMM') as suffix
       from clock, generate_series(0, 1) n
     ),
     missing as (
       select m.n, t.name || m.suffix as name
       from month m, unnest(array['governor_mail', 'governor_event', 'governor_settled']) t(name)
       where not exists (
         select from pg_class c
         where c.relnamespace = to_regnamespace('writ_data') and c.relname = t.name || m.suffix
       )
     )
     select
       extract(epoch from date_trunc('month', at) + interval '1 month' - at)::float8 / 86400
         as days_left,
       array(select name from missing where n = 0 order by 1) as now,
       array(select name from missing where n = 1 order by 1) as next
     from clock`,
  );
  return row as MonthFacts;
}

/** They are made two months ahead. */
export function judgeMonths({ days_left, now, next }: MonthFacts): Finding {
  const check = 'governor months';
  if (now.length + next.length === 0) return well(check, 'Made for this month and the next');
  const missing = { check, code: 'governor_months_missing', facts: { now, next } } as const;
  if (now.length > 0)
    return {
      ...missing,
      level: 'error',
      says: `Missing for this month: ${now.join(', ')}`,
      means: 'No signal can be taken, and nothing decided.',
    };
  return {
    ...missing,
    level: days_left < 3 ? 'error' : 'warning',
    says: `Missing for the next month, which begins in ${span(days_left * 86_400_000)}: ${next.join(', ')}`,
    means: 'From then on no signal can be taken, and nothing decided.',
  };
}

export const governorChecks: Checks = {
  governors: async (patient) => judgeHeld(await readHeld(patient)),
  driving: async (patient) => [judgeUndriven(await readUndriven(patient))],
  'governor months': async (patient) => [judgeMonths(await readMonths(patient))],
};

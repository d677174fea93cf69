/** Checks of the outbox: destinations that are paused, behind, or could not be told something. */
import { readRows } from '../database/gate.js';
import { plain, plural, span } from '../errors/words.js';
import { type Checks, type Finding, type Patient, type Trouble, well } from './finding.js';

export interface DestinationFacts {
  readonly name: string;
  readonly bus: string;
  readonly state: 'active' | 'paused';
  readonly note: string | null;
  readonly failures: number;
  /** A relay is telling it something at this moment. */
  readonly held: boolean;
  /** Until it is tried again, if it accepts nothing. */
  readonly waits: boolean;
  readonly dead: number;
  readonly behind_s: number | null;
  /** outbox.lag_alert_sec. */
  readonly bound_s: number;
}

const read = ({ db }: Patient): Promise<DestinationFacts[]> =>
  readRows(
    db,
    `select d.name, d.bus, d.state, d.note, d.failures, d.relay is not null as held,
       coalesce(d.retry_at > writ.now(), false) as waits, d.dead::integer,
       extract(epoch from writ.now() - d.behind_since)::float8 as behind_s,
       (select c.value::text::float8 from writ.dot_config c where c.key = 'outbox.lag_alert_sec')
         as bound_s
     from writ.destination d
     order by d.name`,
  );

export function judgeDestinations(all: readonly DestinationFacts[]): Finding[] {
  const findings = all.flatMap(judge);
  if (findings.length > 0)
    return findings.map((finding) => ({ ...finding, says: plain(finding.says) }));
  const says =
    all.length === 0
      ? 'No destinations: nobody outside is told of events'
      : `${plural(all.length, 'destination')}, told of everything`;
  return [well('destinations', says, { destinations: all.length })];
}

function judge(one: DestinationFacts): Trouble[] {
  const { name, dead } = one;
  const found =
    one.state === 'paused'
      ? paused(one)
      : (one.behind_s ?? 0) > one.bound_s
        ? behind(one)
        : undefined;
  const letters: Trouble = {
    check: 'destinations',
    level: 'warning',
    code: 'destination_dead_letters',
    facts: { name, dead },
    says: `${name} has ${plural(dead, 'dead letter')}: it was not told of them`,
  };
  return [...(found ? [found] : []), ...(dead > 0 ? [letters] : [])];
}

const since = ({ behind_s }: DestinationFacts) =>
  behind_s === null ? '' : `, ${span(behind_s * 1_000)} behind`;

function paused(one: DestinationFacts): Trouble {
  return {
    check: 'destinations',
    level: 'warning',
    code: 'destination_paused',
    facts: { name: one.name },
    says: `${one.name} is paused${since(one)}${one.note ? `: ${one.note}` : ''}`,
    means:
      'Nothing is lost, but the record is kept for it: days that it has not been told of are not dropped.',
  };
}

function behind(one: DestinationFacts): Trouble {
  const { name, bus, failures, held, waits, behind_s } = one;
  if (failures > 0 || waits) {
    return {
      check: 'destinations',
      level: 'warning',
      code: 'destination_failing',
      facts: { name, failures },
      says: `${name} accepts nothing, in ${plural(failures, 'call')}${since(one)}`,
    };
  }
  if (held) {
    return {
      check: 'destinations',
      level: 'warning',
      code: 'destination_slow',
      facts: { name, behind_s },
      says: `${name} is told of events more slowly than they happen${since(one)}`,
    };
  }
  return {
    check: 'destinations',
    level: 'error',
    code: 'destination_unattended',
    facts: { name, bus, behind_s },
    says: `Nobody is telling ${name} anything${since(one)}`,
    means:
      'No relay has its turn. If one runs, an open transaction hides what is new from it: see snapshots.',
  };
}

export const outboxChecks: Checks = {
  destinations: async (patient) => judgeDestinations(await read(patient)),
};

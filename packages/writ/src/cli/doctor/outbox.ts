/** Checks of the outbox: destinations that are paused, behind, or could not be told something. */
import type { Session } from '../connection.js';
import { oneLine, plural, span } from '../output.js';
import type { Checks, Finding } from './finding.js';

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

const read = (db: Session) =>
  db.rows<DestinationFacts>(
    `select d.name, d.bus, d.state, d.note, d.failures, d.relay is not null as held, coalesce(d.retry_at > writ.now(), false) as waits, d.dead::integer, extract(epoch from writ.now() - d.behind_since)::float8 as behind_s,
       (select c.value::text::float8 from writ.dot_config c where c.key = 'outbox.lag_alert_sec') as bound_s
     from writ.destination d order by d.name`,
  );

export function judgeDestinations(all: readonly DestinationFacts[]): Finding[] {
  const findings = all.flatMap(judge);
  if (findings.length > 0)
    return findings.map((finding) => ({ ...finding, says: oneLine(finding.says) }));
  const says =
    all.length === 0
      ? 'No destinations: nobody outside is told of events'
      : `${plural(all.length, 'destination')}, told of everything`;
  return [{ check: 'destinations', level: 'ok', says }];
}

function judge(one: DestinationFacts): Finding[] {
  const { name, dead } = one;
  const found =
    one.state === 'paused'
      ? paused(one)
      : (one.behind_s ?? 0) > one.bound_s
        ? behind(one)
        : undefined;
  const letters: Finding = {
    check: 'destinations',
    level: 'warning',
    says: `${name} has ${plural(dead, 'dead letter')}: it was not told of them`,
    remedy: `\`writ events dead-letters ${name}\` says why; then \`writ events redeliver ${name} --all-dead\`.`,
  };
  return [...(found ? [found] : []), ...(dead > 0 ? [letters] : [])];
}

const since = ({ behind_s }: DestinationFacts) =>
  behind_s === null ? '' : `, ${span(behind_s * 1_000)} behind`;

function paused(one: DestinationFacts): Finding {
  return {
    check: 'destinations',
    level: 'warning',
    says: `${one.name} is paused${since(one)}${one.note ? `: ${one.note}` : ''}`,
    means:
      'Nothing is lost, but the record is kept for it: days that it has not been told of are not dropped.',
    remedy: `See to its receiver, then \`writ webhooks resume ${one.name}\`.`,
  };
}

function behind(one: DestinationFacts): Finding {
  const { name, bus, failures, held, waits } = one;
  if (failures > 0 || waits) {
    return {
      check: 'destinations',
      level: 'warning',
      says: `${name} accepts nothing, in ${plural(failures, 'call')}${since(one)}`,
      remedy: `See to its receiver; \`writ webhooks show ${name}\` and the log of the relay say why. It goes on by itself.`,
    };
  }
  if (held) {
    return {
      check: 'destinations',
      level: 'warning',
      says: `${name} is told of events more slowly than they happen${since(one)}`,
      remedy: `See how long its receiver takes: \`writ webhooks deliveries ${name}\`.`,
    };
  }
  return {
    check: 'destinations',
    level: 'error',
    says: `Nobody is telling ${name} anything${since(one)}`,
    means:
      'No relay has its turn. If one runs, an open transaction hides what is new from it: see snapshots.',
    remedy:
      bus === 'webhook'
        ? 'Start `writ relay`, or see in its log why it cannot.'
        : `Start \`writ relay --${bus}\`, or see in its log why it cannot.`,
  };
}

export const outboxChecks: Checks = {
  destinations: async (db) => judgeDestinations(await read(db)),
};

/** The schedules of the database that a command speaks to. */
import { type ScheduleHost, Schedules } from '../../../schedules/schedules.js';
import { actor, type Session } from '../../connection.js';

export interface Options {
  readonly tenant?: string;
  readonly actor?: string;
}

export function schedulesOf(db: Session, options: Options): Schedules {
  const host: ScheduleHost = {
    db: db.client,
    actor: actor(options.actor),
    // A command knows a kind by its name only: whoever works on it has registered it.
    register: async () => undefined,
    calling: (call) => call(),
  };
  return new Schedules(host);
}

export const tenantOf = ({ tenant }: Options) => (tenant === undefined ? {} : { tenant });

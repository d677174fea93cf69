/** `writ.health`: how capabilities, domains and a whole tenant are, and why. */
import { gate } from '../database/gate.js';
import { type ActingHost, type Reading, tenantRead } from './actor.js';

export type Status = 'HEALTHY' | 'DEGRADED' | 'UNHEALTHY';

export interface SystemHealth {
  readonly system: Status;
  readonly domains: Readonly<Record<string, Status>>;
  readonly capabilities: readonly {
    readonly capability_name: string;
    readonly domain: string;
    readonly status: Status;
    readonly why: string | null;
    readonly monitored: boolean;
  }[];
}

export class Health {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  async get(options: Reading = {}): Promise<SystemHealth> {
    type Asked = Omit<SystemHealth['capabilities'][number], 'capability_name'>;
    const { capabilities, ...whole } = await gate<
      Omit<SystemHealth, 'capabilities'> & {
        capabilities: (Asked & { capability: string })[];
      }
    >(this.#host.db, 'fn_health($1)', [tenantRead(this.#host, options) ?? 'default']);
    return {
      ...whole,
      capabilities: capabilities.map(({ capability, ...rest }) => ({
        capability_name: capability,
        ...rest,
      })),
    };
  }
}

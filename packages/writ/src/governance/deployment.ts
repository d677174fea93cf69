/** `writ.deployment`: which deployment a database is, and an id of its own for a copy. */
import { type Acting, act } from '../database/acting.js';
import { readJson } from '../database/gate.js';
import { WritRefusal } from '../errors/index.js';
import type { ActingHost } from './actor.js';

export interface DeploymentId {
  /** What approvals are signed for. */
  readonly deployment_id: string;
  readonly since: string;
}

/** What a renewal ends or voids. */
export interface Open {
  /** Approved and active contracts. */
  readonly contracts: number;
  readonly jobs: number;
}

export interface Renewed {
  readonly deployment_id: string;
  readonly replaces: string;
  /** Approved contracts that failed, each with a new draft. */
  readonly contracts: number;
  /** Contracts in review that lost their signatures. */
  readonly in_review: number;
  readonly jobs: number;
}

export class Deployment {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  async get(): Promise<DeploymentId> {
    const sql = 'select deployment_id, since from writ.deployment';
    const [found] = await readJson<DeploymentId>(this.#host.db, sql);
    if (found) return found;
    throw new WritRefusal('invalid_argument', 'this database has no deployment id: migrate it');
  }

  /** What a renewal would end or void now. */
  async open(): Promise<Open> {
    const [found] = await readJson<Open>(
      this.#host.db,
      `select
         (select count(*) from writ.system_contracts
          where status in ('APPROVED', 'ACTIVE')) as contracts,
         (select count(*) from writ.governance_jobs
          where status in ('PENDING', 'RUNNING', 'AUDIT_PENDING', 'ROLLBACK_PENDING')) as jobs`,
    );
    return found as Open;
  }

  /**
   * Gives a copy of a deployment an id of its own; voids approvals and ends governance jobs,
   * without undoing anything. `replaces` is the present id: another one changes nothing.
   */
  async renew(
    { reason, replaces }: { readonly reason: string; readonly replaces: string },
    options: Acting = {},
  ): Promise<Renewed> {
    return act<Renewed>(
      this.#host,
      'fn_deployment_renew($1::text::uuid, $2, $3)',
      [replaces, reason, options.actor ?? this.#host.actor],
      options,
    );
  }
}

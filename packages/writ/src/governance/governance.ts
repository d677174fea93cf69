/** Governance of one connection: principals, targets, contracts, jobs, health. */
import { gate, readRows } from '../database/gate.js';
import { isConnectionLoss } from '../errors/index.js';
import type { HandledJob, JobKind } from '../queue/job.js';
import { activations } from './activations.js';
import type { Actor } from './actor.js';
import { Audits } from './audits.js';
import { Capabilities } from './capabilities.js';
import {
  Changes,
  type JobsHost,
  waitersForJobs,
  waitersForReads,
  waitersForVerdicts,
} from './changes.js';
import { Configuration } from './configuration.js';
import { Contracts, type ContractsHost } from './contracts.js';
import { Deployment } from './deployment.js';
import { Freezes } from './freezes.js';
import { Health } from './health.js';
import { Incidents } from './incidents.js';
import { Logins, type LoginsHost } from './logins.js';
import { GovernancePolicy } from './policy.js';
import { Principals } from './principals.js';
import type { AskProbes, Prober } from './prober.js';
import { Probes } from './probes.js';
import { GovernanceSignals } from './signals.js';
import type { AnyStepType } from './steps.js';
import { Trust } from './trust/comparison.js';
import type { TrustSource } from './trust/source.js';

/** What a worker is told about governance. */
export interface GovernedWork {
  /**
   * It also verifies approvals, executes approved changes, audits them and asks probes; with step
   * types of your own, or with `true` for those that are built in. With `verify` it verifies
   * approvals, reads what stands outside with the step types that its connection knows
   * (`contracts.use`), and does nothing else.
   */
  readonly governance?: true | 'verify' | readonly AnyStepType[];
  /** How it asks probes. */
  readonly probes?: AskProbes;
  /**
   * Whose signatures count: the path of a trust file, or `database` for the keys that the database
   * knows; otherwise the variable WRIT_TRUST says so. A worker without either applies and verifies
   * nothing.
   */
  readonly trust?: string;
}

/** Whether jobs of a kind only look: a worker that verifies takes these, and no others. */
const onlyLooks = (kind: string): boolean =>
  kind === 'governance.verify' || kind.startsWith('governance.read.');

export class Governance {
  readonly contracts: Contracts;
  readonly changes: Changes;
  readonly audits: Audits;
  readonly capabilities: Capabilities;
  readonly configuration: Configuration;
  readonly health: Health;
  readonly probes: Probes;
  readonly freezes: Freezes;
  readonly incidents: Incidents;
  readonly signals: GovernanceSignals;
  readonly policy: GovernancePolicy;
  readonly principals: Principals;
  readonly logins: Logins;
  readonly deployment: Deployment;
  readonly trust: Trust;
  readonly #host: ContractsHost;
  readonly #probers = new Set<Prober>();

  constructor(
    host: LoginsHost & {
      readonly key: Actor | undefined;
      readonly register: (job: JobKind<never, unknown>) => Promise<void>;
      readonly types: Map<string, AnyStepType>;
    },
  ) {
    const { db, signal } = host;
    const jobs: JobsHost = { ...host, waiters: waitersForJobs(db, signal) };
    this.audits = new Audits(jobs);
    this.changes = new Changes(jobs, this.audits);
    this.#host = {
      ...host,
      ...jobs,
      changes: this.changes,
      activate: activations(db),
      verdicts: waitersForVerdicts(db, signal),
      reads: waitersForReads(db, signal),
      seen: new Map(),
    };
    this.contracts = new Contracts(this.#host);
    this.capabilities = new Capabilities(host);
    this.configuration = new Configuration(host);
    this.health = new Health(host);
    this.probes = new Probes(host);
    this.freezes = new Freezes(host);
    this.incidents = new Incidents(host);
    this.signals = new GovernanceSignals(host);
    this.policy = new GovernancePolicy(host);
    this.principals = new Principals(host);
    this.logins = new Logins(host);
    this.deployment = new Deployment(host);
    this.trust = new Trust(db, this.deployment);
  }

  /**
   * The handlers of governance for a worker: built-in step types, audits, what follows a failure,
   * and these types of your own.
   */
  async handlers(
    prober: Prober,
    does: NonNullable<GovernedWork['governance']>,
    trust: TrustSource | undefined,
  ): Promise<HandledJob[]> {
    const { governanceHandlers } = await import('./handlers.js');
    this.contracts.use(...(typeof does === 'object' ? does : []));
    const handlers = governanceHandlers(
      {
        db: this.#host.db,
        prober,
        trust,
        actor: this.#host.actor,
        onMoved: (jobId) => this.#moved(jobId),
        onVerified: (contract, reviews) =>
          this.#host.verdicts.hear(reviews.map((no) => `${contract}/${no}`)),
        onRead: (jobId) => this.#host.reads.hear([jobId]),
      },
      [...this.#host.types.values()],
    );
    return does === 'verify' ? handlers.filter(({ job }) => onlyLooks(job.kind)) : handlers;
  }

  /** What asks probes for one worker. */
  async prober(options: AskProbes = {}): Promise<Prober> {
    const { Prober } = await import('./prober.js');
    const prober = new Prober(this.#host.db, options);
    this.#probers.add(prober);
    return prober;
  }

  /** What a worker does by the clock. */
  async look(prober: Prober, workerId: string): Promise<number | undefined> {
    const { next_ms } = await gate<{ next_ms?: number }>(this.#host.db, 'fn_governance_tick($1)', [
      workerId,
    ]);
    const asked = await prober.turn(workerId);
    const next = Math.min(next_ms ?? Number.POSITIVE_INFINITY, asked ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(next) ? next : undefined;
  }

  /**
   * A job that this process has moved, and one whose rollback it was: whoever waits hears of it at
   * once.
   */
  #moved(jobId: string): void {
    void this.#rested(jobId).catch((error) => {
      if (!isConnectionLoss(error)) throw error;
    });
  }

  async #rested(jobId: string): Promise<void> {
    if (!this.#host.waiters.waited) return;
    const rows = await readRows(
      this.#host.db,
      `select x.job_id::text as id from writ.governance_jobs g join writ.governance_jobs x on x.job_id in (g.job_id, g.of_job_id)
       where g.job_id = $1 and x.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED')`,
      [jobId],
    );
    this.#host.waiters.hear(rows.map(({ id }) => String(id)));
  }

  async close(): Promise<void> {
    this.#host.waiters.close();
    this.#host.verdicts.close();
    this.#host.reads.close();
    await Promise.all([...this.#probers].map((prober) => prober.idle()));
  }
}

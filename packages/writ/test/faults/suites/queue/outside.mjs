// @ts-check
// Faults that come from outside of the workers, each after a number of answered enqueues: PostgreSQL is stopped at once and started again, every
// connection of Writ is cut, a job that waits to be claimed is offered twice. They happen one after the other.

/** @typedef {import('../../plan.mjs').Fault} Fault */
/**
 * @typedef {{ faults: Fault[], server: { crash(downMs: number): Promise<void> }, admin:
 * import('pg').Pool, onFault: (fault: Fault) => void, onFinding: (what: string) => void }}
 * OutsideOptions
 */

export class OutsideFaults {
  /** @param {OutsideOptions} options */
  constructor(options) {
    this.options = options;
    this.faults = [...options.faults];
    /** @type {Promise<void>} */
    this.last = Promise.resolve();
  }

  /** How many have not begun. */
  get left() {
    return this.faults.length;
  }

  /**
   * An enqueue was answered: the `passages`th. @param {number} passages @param {string | null}
   * jobId
   */
  passed(passages, jobId) {
    while (this.faults[0] && this.faults[0].nth <= passages) {
      const fault = /** @type {Fault} */ (this.faults.shift());
      this.last = this.last
        .then(() => this.#strike(fault, jobId))
        .then(
          () => this.options.onFault(fault),
          (error) => this.options.onFinding(`${fault.action} from outside failed: ${error}`),
        );
    }
  }

  /** @param {Fault} fault @param {string | null} jobId */
  async #strike({ action, holdMs }, jobId) {
    if (action === 'crash') return this.options.server.crash(holdMs);
    if (action === 'disconnect') {
      await this.#query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'writ%'`,
      );
      return;
    }
    // The job that was just enqueued, if it is still there to be claimed; else any that is.
    await this.#query(
      `with twice as (
         insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no, deadline_at, moved)
         select x.lane_id, nextval('writ_data.job_ready_seq'), 0, array[x.job_id], x.attempts, x.execution_no, x.deadline_at, true
         from (select r.*, u.job_id from writ_data.job_ready r cross join lateral unnest(r.job_ids) u(job_id) order by u.job_id = $1 desc limit 1) x
         returning job_ids[1] as job_id)
       insert into fault.duplicated (job_id) select job_id from twice`,
      [jobId],
    );
  }

  /**
   * The pool may still hold connections that the last crash has ended. @param {string} sql @param
   * {unknown[]} [params]
   */
  async #query(sql, params) {
    for (let tries = 1; ; tries++) {
      try {
        return await this.options.admin.query(sql, params);
      } catch (error) {
        if (tries === 5) throw error;
      }
    }
  }
}

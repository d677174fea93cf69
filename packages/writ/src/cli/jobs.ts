/**
 * Jobs that are found by their executions. The status of a job is derived, so no index leads to it; where few jobs of many are in a status, their
 * executions say which. The jobs are then looked up one by one behind OFFSET 0, which PostgreSQL plans by itself: a planner that is free to join
 * the two views can choose to compute the status of every job there is.
 */
const executions: Readonly<Record<string, string>> = {
  leased: `status = 'LEASED'`,
  in_progress: `status in ('IN_PROGRESS', 'COMMITTED')`,
  dead_letter: `final and abort_kind <> 'cancelled'`,
  cancelled: `final and abort_kind = 'cancelled'`,
};

export const foundByExecutions = (status: string): boolean => Object.hasOwn(executions, status);

/** A FROM clause whose rows `q` are the jobs in such a status; ordered by `e.job_id desc` it stops when a LIMIT is reached. */
export function jobsInStatus(status: string): string {
  return `(select job_id from writ.job_execution where ${executions[status]} order by job_id desc offset 0) e
    cross join lateral (select * from writ.job_queue j where j.job_id = e.job_id and j.status = '${status}' offset 0) q`;
}

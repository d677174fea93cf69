/** `writ queue workflow`: jobs that were emitted together, and what they have come to. */
import type { Command } from 'commander';
import { WritError } from '../../../errors/index.js';
import { contextOf, jobId } from '../../command.js';
import type { Row } from '../../connection.js';
import { ago } from '../../output.js';

export function addWorkflow(queue: Command): void {
  queue
    .command('workflow')
    .description('a workflow with its jobs')
    .argument('<workflow>', 'id of the workflow', jobId)
    .option('--tenant <tenant>', 'only when it is a workflow of this tenant')
    .action(async (id: string, { tenant }: { tenant?: string }, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const sql =
          'select * from writ.job_workflow where workflow_id = $1 and ($2::text is null or tenant_id = $2)';
        const [workflow] = await db.rows(sql, [id, tenant ?? null]);
        if (!workflow) throw new WritError('unknown_workflow', id);
        const jobs = await db.rows(
          'select job_id, job_kind, status, attempts from writ.job_queue where workflow_id = $1 order by job_id',
          [id],
        );
        if (output.json) {
          output.data({ workflow, jobs });
          return;
        }
        output.pairs(summary(workflow, output.status(String(workflow.status))));
        output.line();
        output.table(
          ['JOB', 'KIND', 'STATUS', 'ATTEMPTS'].map((title) => ({ title })),
          jobs.map((job) => [
            String(job.job_id),
            String(job.job_kind),
            output.status(String(job.status)),
            Number(job.attempts),
          ]),
        );
      });
    });
}

function summary(workflow: Row, status: string): [string, string | undefined][] {
  const {
    workflow_key: key,
    correlation_id: correlation,
    enqueued_at: enqueued,
    finished_at: finished,
  } = workflow;
  const now = new Date();
  return [
    ['workflow', String(workflow.workflow_id)],
    ['kind', String(workflow.workflow_kind)],
    ['generator', String(workflow.generator)],
    ['tenant', String(workflow.tenant_id)],
    ['key', key === null ? undefined : String(key)],
    ['correlation', correlation === null ? undefined : String(correlation)],
    ['status', status],
    ['enqueued', `${ago(enqueued as Date, now)} by ${workflow.enqueued_by}`],
    ['finished', finished === null ? undefined : ago(finished as Date, now)],
  ];
}

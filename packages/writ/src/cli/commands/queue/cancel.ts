/** `writ queue cancel`: at once when no worker holds the job, by request when one does. */
import type { Command } from 'commander';
import { contextOf, jobId, notBlank } from '../../command.js';
import { actor } from '../../connection.js';

interface Options {
  readonly reason: string;
  readonly tenant?: string;
  readonly actor?: string;
}

export function addCancel(queue: Command): void {
  queue
    .command('cancel')
    .description('cancel a job; one that is running is asked to stop')
    .argument('<job>', 'id of the job', jobId)
    .requiredOption('--reason <text>', 'why, for the record', notBlank)
    .option('--tenant <tenant>', 'only when it is a job of this tenant')
    .option('--actor <name>', 'who cancels, for the record; otherwise the system user')
    .action(async (id: string, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const answer = await db.gate<{ job_id: string; status: 'cancelled' | 'cancel_requested' }>(
          'fn_job_cancel($1, $2, $3, $4)',
          [id, options.reason, actor(options.actor), options.tenant ?? null],
        );
        if (output.json) {
          output.data({ jobId: answer.job_id, status: answer.status });
          return;
        }
        output.line(
          answer.status === 'cancelled'
            ? `Cancelled ${id}.`
            : `A worker holds ${id}: it is asked to stop. \`writ queue show ${id}\` tells how it ends.`,
        );
      });
    });
}

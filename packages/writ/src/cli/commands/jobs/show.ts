/** `writ jobs show`: a governance job as it stands: its steps, its audit, its rollback, and how it came to that. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import { linesOf, lookAt } from '../../governance/picture.js';
import { governanceJobId, governanceOf } from '../../governance/session.js';
import { plain } from '../../governance/words.js';
import { moment } from '../../runs/words.js';

export function addShow(jobs: Command): void {
  jobs
    .command('show')
    .description('a governance job as it stands: steps, audit, rollback, and every move it made')
    .argument('<job>', 'id of the governance job', governanceJobId)
    .action(async (id: string, _options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const look = await lookAt(db, governanceOf(db), id);
        const { job, steps, audit, rollback } = look;
        if (output.json) {
          output.data({
            ...job,
            steps,
            audit: audit ?? null,
            rollback: rollback ? { ...rollback.job, steps: rollback.steps } : null,
          });
          return;
        }
        for (const line of linesOf(look, (style, text) => output.style(style, text)))
          output.line(line);
        output.line();
        output.pairs([
          ['contract', job.contract_id],
          ['run', job.run_id],
          ['undoes', job.of_job_id],
          ['resolved by', job.resolved_by_job_id],
        ]);
        const failed = (audit?.checks_performed ?? []).filter(({ result }) => result !== 'PASS');
        for (const { check, result, detail } of failed)
          output.line(plain(`audit ${check} ${result}${detail ? `: ${detail}` : ''}`));
        output.line();
        output.table(
          ['AT', 'STATUS', 'EVENT', 'BY', 'WHY'].map((title) => ({ title })),
          job.history.map(({ at, to_status, event, by, reason }) => [
            moment(new Date(at).toISOString()),
            to_status,
            event,
            plain(by),
            reason === null ? '' : plain(reason),
          ]),
        );
      });
    });
}

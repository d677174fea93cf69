/** What a person decides about a governance job: `writ jobs cancel`, `resolve`, `retry-rollback`. */
import { type Command, InvalidArgumentError } from 'commander';
import { contextOf, notBlank } from '../../command.js';
import {
  governanceJobId,
  governanceOf,
  type KeyOptions,
  whoActs,
  withKey,
} from '../../governance/session.js';
import { jobStyle } from '../../governance/words.js';

interface Options extends KeyOptions {
  readonly reason: string;
}

export function addCancel(jobs: Command): void {
  withKey(jobs.command('cancel'))
    .description(
      'cancel a job that has not begun; one that runs is stopped with `writ runs signal RUN EMERGENCY_STOP`, and undone',
    )
    .argument('<job>', 'id of the governance job', governanceJobId)
    .requiredOption('--reason <text>', 'why, for the record', notBlank)
    .action(async (id: string, options: Options, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session((db) => governanceOf(db).job(id).cancel({ as: who, reason: options.reason }));
      if (output.json) output.data({ jobId: id, status: 'CANCELLED' });
      else output.line(`Cancelled ${id}: nothing was changed.`);
    });
}

type Verdict = 'PASS' | 'FAIL';

function verdictOf(text: string): Verdict {
  const given = text.toUpperCase();
  if (given === 'PASS' || given === 'FAIL') return given;
  throw new InvalidArgumentError('It is PASS or FAIL.');
}

export function addResolve(jobs: Command): void {
  withKey(jobs.command('resolve'))
    .description(
      'decide an audit that was inconclusive; not for those who proposed or approved the change',
    )
    .argument('<job>', 'id of the governance job', governanceJobId)
    .argument('<verdict>', 'PASS: the change stands; FAIL: it is undone', verdictOf)
    .requiredOption(
      '--reason <text>',
      'why, for those who read it in a year, in more than ten characters',
      notBlank,
    )
    .action(async (id: string, verdict: Verdict, options: Options, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      const status = await session((db) =>
        governanceOf(db).job(id).resolve({ as: who, verdict, reason: options.reason }),
      );
      if (output.json) output.data({ jobId: id, verdict, status });
      else output.line(`${verdict}: the job is ${output.style(jobStyle[status], status)}.`);
    });
}

export function addRetryRollback(jobs: Command): void {
  withKey(jobs.command('retry-rollback'))
    .description('have a rollback tried again that has failed, when what was in its way is gone')
    .argument('<job>', 'id of the job that was to be undone', governanceJobId)
    .action(async (id: string, options: KeyOptions, command: Command) => {
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      const retried = await session((db) => governanceOf(db).job(id).retryRollback({ as: who }));
      if (output.json) output.data({ jobId: id, rollbackJobId: retried.id });
      else
        output.line(
          `The rollback is tried again: job ${output.style('bold', retried.id)}. \`writ jobs watch ${retried.id}\` follows it.`,
        );
    });
}

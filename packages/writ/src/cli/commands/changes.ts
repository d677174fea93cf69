/** `writ changes`: governance jobs: approved changes while they are done, and after. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type ChangeEvent,
  type ChangeFilter,
  type ChangeLook,
  eventsOf,
  type ListedChange,
  rests,
} from '../../governance/changes.js';
import { governanceJobStates } from '../../machines/governance-job.js';
import type { Writ } from '../../writ.js';
import { notBlank } from '../command.js';
import { exitCodes } from '../failure.js';
import { endOf, linesOf, saysOf } from '../governance/picture.js';
import { contractId, governanceJobId, withKey, withTenant } from '../governance/session.js';
import { jobStyle, plain } from '../governance/words.js';
import { follow } from '../live.js';
import { ago, type Output, span } from '../output.js';
import { clockTime, moment } from '../runs/words.js';
import { act, action, list, show } from '../shapes.js';
import { notOnlyDefault } from './contracts.js';

export function addChanges(program: Command): void {
  const changes = program
    .command('changes')
    .description(
      'governance jobs, which do approved changes: watch them, and decide where they wait for a person',
    );
  const one = (name: string, description: string) =>
    changes
      .command(name)
      .description(description)
      .argument('<job>', 'id of the governance job', governanceJobId);

  list<ListedChange, ChangeFilter & Record<string, unknown>>(
    withTenant(changes.command('list'), 'only those of this tenant')
      .description('governance jobs, the newest first')
      .addOption(
        new Option('--status <status>', 'only those in this status').choices(governanceJobStates),
      )
      .option('--contract <contract>', 'only those of this contract', contractId)
      .option('--executor <worker>', 'only those that this worker began'),
    {
      read: (writ, page, { options: { status, tenant, contract, executor } }) =>
        writ.changes.list({
          ...page,
          status,
          tenant,
          contract,
          executor,
        }),
      none: ({ options: { status, tenant, contract, executor } }) =>
        (status ?? tenant ?? contract ?? executor)
          ? 'No such job.'
          : 'No governance jobs yet: `writ contracts activate` makes one.',
      columns: ({ output }) => [
        { title: 'JOB', of: (job) => job.job_id },
        { title: 'TENANT', of: (job) => job.tenant_id, when: notOnlyDefault },
        { title: 'STATUS', of: ({ status }) => output.style(jobStyle[status], status) },
        { title: 'STEPS', of: (job) => `${job.completed_steps}/${job.total_steps}` },
        { title: 'AUDIT', of: (job) => job.audit_verdict },
        { title: 'BEGUN', of: (job, now) => ago(new Date(job.created_at), now) },
        {
          title: 'TOOK',
          of: ({ started_at: from, completed_at: to }) =>
            from && to ? span(Date.parse(to) - Date.parse(from)) : null,
        },
        {
          title: 'TITLE',
          of: ({ kind, title }) => `${kind === 'rollback' ? 'undoing ' : ''}${title}`,
        },
      ],
    },
  );

  show<ChangeLook>(
    one('show', 'a governance job as it stands: steps, audit, rollback, and every move it made'),
    {
      read: (writ, { args: [id = ''] }) => writ.changes.look(id),
      data: ({ job, steps, audit, audits, rollback }) => ({
        ...job,
        steps,
        audit: audit && { ...audit, count: audits },
        rollback: rollback && { ...rollback.job, steps: rollback.steps },
      }),
      print: (look, { output }) => {
        for (const line of linesOf(look, (style, text) => output.style(style, text)))
          output.line(line);
        const { job, audit } = look;
        output.line();
        output.pairs([
          ['contract', job.contract_id],
          ['run', job.run_id],
          ['undoes', job.of_job_id],
          ['resolved by', job.resolved_by_job_id],
        ]);
        for (const { check, result, detail } of audit?.checks_performed ?? [])
          if (result !== 'PASS')
            output.line(plain(`audit ${check} ${result}${detail ? `: ${detail}` : ''}`));
        output.line();
        output.table(
          ['AT', 'STATUS', 'EVENT', 'BY', 'WHY'].map((title) => ({ title })),
          job.history.map(({ at, to_status, event, by, reason }) => [
            moment(new Date(at).toISOString()),
            to_status,
            event,
            by,
            reason ?? '',
          ]),
        );
      },
    },
  );

  one(
    'watch',
    'a governance job live, until it rests, with its rollback; exit code 0 if it completed; Ctrl-C ends the watch, not the job',
  ).action(action((writ, { args: [id = ''], output }) => watchChange(writ, output, id)));

  act<{ job_id: string }, { reason: string }>(
    withKey(
      one(
        'cancel',
        'cancel a job that has not begun; one that runs is stopped with `writ runs signal RUN EMERGENCY_STOP`, and undone',
      ),
    ).requiredOption('--reason <text>', 'why, for the record', notBlank),
    {
      do: (writ, { args: [id = ''], options: { reason } }) => writ.changes.cancel(id, { reason }),
      says: ({ job_id }) => `Cancelled ${job_id}: nothing was changed.`,
    },
  );

  act<Awaited<ReturnType<Writ['audits']['resolve']>>, { reason: string }>(
    withKey(
      one(
        'resolve',
        'decide an audit that was inconclusive; not for those who proposed or approved the change',
      ),
    )
      .argument('<verdict>', 'PASS: the change stands; FAIL: it is undone', verdictOf)
      .requiredOption(
        '--reason <text>',
        'why, for those who read it in a year, in more than ten characters',
        notBlank,
      ),
    {
      do: (writ, { args: [id = '', verdict], options: { reason } }) =>
        writ.audits.resolve(id, { verdict: verdict as 'PASS' | 'FAIL', reason }),
      says: ({ audit_verdict, status }, { output }) =>
        `${audit_verdict}: the job is ${output.style(jobStyle[status], status)}.`,
    },
  );

  act(
    withKey(
      one(
        'retry-rollback',
        'have a rollback tried again that has failed, when what was in its way is gone',
      ),
    ),
    {
      do: async (writ, { args: [id = ''] }) => ({
        job_id: id,
        ...(await writ.changes.retryRollback(id)),
      }),
      says: ({ rollback_job_id: id }, { output }) =>
        `The rollback is tried again: job ${output.style('bold', id)}. \`writ changes watch ${id}\` follows it.`,
    },
  );
}

function verdictOf(text: string): 'PASS' | 'FAIL' {
  const given = text.toUpperCase();
  if (given === 'PASS' || given === 'FAIL') return given;
  throw new InvalidArgumentError('It is PASS or FAIL.');
}

/** Follows a governance job until it rests. The exit code says how it ended. */
export async function watchChange(writ: Writ, output: Output, id: string): Promise<void> {
  const known = new Set<string>();
  let look: ChangeLook | undefined;
  await follow<ChangeEvent, ChangeLook>(output, {
    read: async () => {
      look = await writ.changes.look(id);
      const news = eventsOf(look).filter(({ key }) => !known.has(key));
      for (const { key } of news) known.add(key);
      return { news, ended: rests(look) };
    },
    line: (event) =>
      plain(`${clockTime(event.at)}  ${event.rollback ? '↩ ' : ''}${saysOf(event, look)}`),
    end: () => (look ? endOf(look) : []),
    picture: { look: async () => look as ChangeLook, lines: linesOf },
  });
  if (look?.job.status !== 'COMPLETED') process.exitCode = exitCodes.failed;
}

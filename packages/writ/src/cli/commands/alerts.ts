/** `writ alerts`: what wants a person. */
import type { Command } from 'commander';
import type { Alert } from '../../ground/alerts.js';
import { notBlank, uuid, withActor } from '../command.js';
import { ago, oneLine } from '../output.js';
import { act, list } from '../shapes.js';

export function addAlerts(program: Command): void {
  const alerts = program.command('alerts').description('what wants a person: see it, clear it');
  list<Alert, { tenant?: string; code?: string; all?: boolean }>(
    alerts
      .command('list')
      .description('alerts that stand, the newest first; `writ doctor` says what to do about each')
      .option('--code <code>', 'only alerts with this code', notBlank)
      .option('--tenant <tenant>', 'only those of this tenant')
      .option('--all', 'cleared ones, too'),
    {
      limit: 50,
      read: (writ, page, { options }) => writ.alerts.list({ ...options, ...page }),
      none: ({ options }) => (options.all ? 'No alerts.' : 'No alert stands.'),
      columns: ({ output, options }) => [
        { title: 'ALERT', of: ({ alertId }) => alertId },
        {
          title: 'SEVERITY',
          of: ({ severity, clearedAt }) =>
            clearedAt === null && severity === 'P1' ? output.style('red', severity) : severity,
        },
        { title: 'CODE', of: ({ code }) => code },
        { title: 'ABOUT', of: ({ subject }) => subject.replace('/', ' ') },
        { title: 'RAISED', of: ({ raisedAt }, now) => ago(new Date(raisedAt), now) },
        {
          title: 'CLEARED',
          when: () => options.all === true,
          of: ({ clearedAt, clearedBy }, now) =>
            clearedAt && `${ago(new Date(clearedAt), now)} by ${clearedBy}`,
        },
      ],
    },
  );
  act(
    withActor(
      alerts
        .command('clear')
        .description('say that somebody has dealt with an alert')
        .argument(
          '<alert>',
          'id of the alert',
          uuid('The id of an alert is a UUID; `writ alerts list` shows them.'),
        )
        .requiredOption('--reason <text>', 'what was done about it, for the record', notBlank),
    ),
    {
      do: (writ, { args: [id = ''], options }) =>
        writ.alerts.clear(id, { reason: String(options.reason) }),
      says: ({ code, subject, duplicate }) =>
        oneLine(
          `${code} of ${subject.replace('/', ' ')} ${duplicate ? 'was over already' : 'is over'}.`,
        ),
    },
  );
}

/**
 * `writ doctor`: looks at everything that has gone wrong for somebody before, and says what to do
 * about it.
 */
import type { Command } from 'commander';
import { contextOf } from '../command.js';
import { isInstalled, listenUrl } from '../connection.js';
import { clock, gateClock } from '../doctor/clock.js';
import { connectionChecks } from '../doctor/connection.js';
import type { Checks, Finding, Level } from '../doctor/finding.js';
import { governanceChecks } from '../doctor/governance.js';
import { governorChecks } from '../doctor/governor.js';
import { ledgerChecks } from '../doctor/ledger.js';
import { loginChecks } from '../doctor/logins.js';
import { outboxChecks } from '../doctor/outbox.js';
import { pooler } from '../doctor/pooler.js';
import { queueChecks } from '../doctor/queue.js';
import { runChecks } from '../doctor/runs.js';
import { schemaChecks } from '../doctor/schema.js';
import { settingsChecks } from '../doctor/settings.js';
import { snapshotChecks } from '../doctor/snapshots.js';
import { spool } from '../doctor/spool.js';
import { tableChecks } from '../doctor/tables.js';
import { exitCodes, explain } from '../failure.js';
import { type Output, plural, wrap } from '../output.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check the database, the schema, the logins, the workers, the queue, the runs, changes and health, the governors, the destinations and the ledger',
    )
    .option(
      '--listen-url <url>',
      'the address that workers listen on, when it is not the database’s own',
      listenUrl,
    )
    .option(
      '--spool <folder>',
      'the folder of a spool of this machine: whether something waits in it',
    )
    .action(async (options: { listenUrl?: string; spool?: string }, command: Command) => {
      const { output, session } = contextOf(command);
      const findings = await session(
        async (db) => {
          const run = async (checks: Checks) => {
            const found: Finding[] = [];
            for (const [name, check] of Object.entries(checks))
              found.push(...(await check(db).catch((error) => [failed(name, error)])));
            return found;
          };
          const server = {
            ...connectionChecks,
            clock,
            pooler: pooler(options.listenUrl),
            ...settingsChecks,
            ...snapshotChecks,
            ...(options.spool && { spool: spool(options.spool) }),
          };
          const before = await run({ ...server, ...schemaChecks });
          const installed = await isInstalled(db).catch(() => false);
          if (!installed) process.exitCode = exitCodes.unavailable;
          return installed
            ? [
                ...before,
                ...(await run({
                  'clock of gates': gateClock,
                  ...loginChecks,
                  ...tableChecks,
                  ...queueChecks,
                  ...runChecks,
                  ...governanceChecks,
                  ...governorChecks,
                  ...outboxChecks,
                  ...ledgerChecks,
                })),
              ]
            : before;
        },
        { installed: false },
      );
      if (findings.some(({ level }) => level === 'error')) process.exitCode ??= exitCodes.failed;
      if (output.json) output.data({ ok: !process.exitCode, findings });
      else show(output, findings);
    });
}

/** A check that cannot look is not a check that found nothing. */
function failed(check: string, error: unknown): Finding {
  const { message, remedy } = explain(error);
  return { check, level: 'warning', says: `Could not be looked at: ${message}`, remedy };
}

const marks: Record<Level, readonly [mark: string, style: 'green' | 'cyan' | 'yellow' | 'red']> = {
  ok: ['✓', 'green'],
  hint: ['·', 'cyan'],
  warning: ['!', 'yellow'],
  error: ['✗', 'red'],
};

function show(output: Output, findings: readonly Finding[]): void {
  const indent = Math.max(...findings.map(({ check }) => check.length)) + 4;
  const width = Math.max(40, Math.min(output.width, 110) - indent);
  for (const { check, level, says, means, remedy } of findings) {
    const [mark, style] = marks[level];
    const [head, ...rest] = wrap(says, width);
    output.line(`${output.style(style, mark)} ${check.padEnd(indent - 2)}${head}`);
    const more = [...rest, ...(means ? wrap(means, width) : [])];
    for (const line of more) output.line(' '.repeat(indent) + line);
    if (remedy)
      for (const [i, line] of wrap(remedy, width - 2).entries())
        output.line(' '.repeat(indent) + (i === 0 ? '→ ' : '  ') + line);
  }
  const having = (level: Level) => findings.filter((finding) => finding.level === level).length;
  output.line();
  const levels = [
    `${having('ok')} ok`,
    plural(having('hint'), 'hint'),
    plural(having('warning'), 'warning'),
    plural(having('error'), 'error'),
  ];
  output.line(`${plural(findings.length, 'finding')}: ${levels.join(', ')}`);
}

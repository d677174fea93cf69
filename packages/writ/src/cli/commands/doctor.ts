/**
 * `writ doctor`: looks at everything that has gone wrong for somebody before, and says what to do
 * about it.
 */
import type { Command } from 'commander';
import type { Level } from '../../doctor/finding.js';
import { remedyFor } from '../../errors/advice/findings.js';
import { listenUrl } from '../connection.js';
import { exitCodes } from '../failure.js';
import { type Output, plural, wrap } from '../output.js';
import { outputOf } from '../shapes.js';
import { withWrit } from '../writ.js';
import { outside } from './ledger/session.js';

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
    .action(async ({ spool }: { spool?: string }, command: Command) => {
      const output = outputOf(command);
      const ledger = outside(
        { places: undefined, keys: undefined },
        { places: 'WRIT_LEDGER_PLACES', keys: 'WRIT_LEDGER_PUBLIC_KEYS' },
      );
      const { ok, installed, findings } = await withWrit(
        command.optsWithGlobals(),
        (writ) => writ.doctor.look({ ledger, spool }),
        { connect: { checkSchema: false } },
      );
      if (!installed) process.exitCode = exitCodes.unavailable;
      else if (!ok) process.exitCode = exitCodes.failed;
      const advised = findings.map((finding) => ({ ...finding, remedy: remedyFor(finding) }));
      if (output.json) output.data({ ok: !process.exitCode, findings: advised });
      else show(output, advised);
    });
}

const marks: Record<Level, readonly [mark: string, style: 'green' | 'cyan' | 'yellow' | 'red']> = {
  ok: ['✓', 'green'],
  hint: ['·', 'cyan'],
  warning: ['!', 'yellow'],
  error: ['✗', 'red'],
};

interface Advised {
  readonly check: string;
  readonly level: Level;
  readonly says: string;
  readonly means?: string | undefined;
  readonly remedy: string | undefined;
}

function show(output: Output, findings: readonly Advised[]): void {
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

/** `writ governor show`: a governor as it stands: where it is and why, what it does and waits for, its policy, and its last receipts in words. */
import type { Command } from 'commander';
import { contextOf, wholeNumber } from '../../command.js';
import type { GovernorRow, Look } from '../../governor/look.js';
import { lastReceipts, lookAt } from '../../governor/look.js';
import {
  doingLines,
  figures,
  headingOf,
  levelLines,
  statesLines,
  timerLines,
  whyLines,
} from '../../governor/picture.js';
import { policyLines } from '../../governor/policy-words.js';
import { governorAt, governorOf, withGovernor } from '../../governor/session.js';
import { receiptLine } from '../../governor/words.js';
import type { Output } from '../../output.js';

export function addShow(group: Command): void {
  withGovernor(group.command('show'))
    .description(
      'a governor as it stands: its state and why, what it does and waits for, its policy, and its last receipts in words',
    )
    .option('--receipts <n>', 'how many of its last receipts', wholeNumber(0, 1_000), 10)
    .action(
      async (
        tenant: string,
        sku: string | undefined,
        { receipts: n }: { receipts: number },
        command: Command,
      ) => {
        const { output, session } = contextOf(command);
        await session(async (db) => {
          const governor = await governorOf(db, governorAt(tenant, sku));
          const { receipts: written } = (await governor.get()) as unknown as GovernorRow;
          const look = await lookAt(
            db,
            governor,
            n === 0 ? [] : await lastReceipts(governor, written, n),
          );
          if (output.json)
            output.data({
              ...look.row,
              policy: look.policy ?? null,
              entitlement: look.entitlement ?? null,
              last_receipts: look.receipts,
            });
          else show(output, look);
        });
      },
    );
}

function show(output: Output, look: Look): void {
  const paint = output.style.bind(output);
  const block = (title: string, lines: readonly string[]) => {
    if (lines.length === 0) return;
    output.line();
    output.heading(title);
    for (const line of lines) output.line(`  ${line}`);
  };
  output.line(headingOf(look, paint));
  output.line();
  for (const line of statesLines(look.row.state, paint, Math.max(output.width, 80)))
    output.line(line);
  output.line();
  output.pairs(figures(look));
  block('Why', whyLines(look, paint));
  block('Doing', doingLines(look, paint));
  block('Signals that are over', levelLines(look, paint));
  block('Timers', timerLines(look, paint));
  const { document, version } = look.policy ?? {};
  const unheard = version === look.row.policy_version ? '' : ', which it has not heard of yet';
  block(`Policy v${version}${unheard}`, document ? policyLines(document, paint) : []);
  block(
    'Last receipts',
    look.receipts.map((receipt) => receiptLine(receipt, paint)),
  );
}

/** `writ governor replay`: an export is verified, and every event of its governors is decided again and compared with what was written then. No database is needed. */
import type { Command } from 'commander';
import { type ReplayedGovernors, Replays } from '../../../governor/replays.js';
import type { Verdict } from '../../../ledger/verdict.js';
import { contextOf, repeated } from '../../command.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { count, type Output, oneLine, plural } from '../../output.js';
import { checkpoints, listed, publicKeys } from '../ledger/session.js';
import { check, folderOf, show } from '../ledger/verify.js';

interface Options {
  readonly governor?: string;
  readonly all?: true;
  readonly key?: readonly string[];
  readonly checkpoint?: readonly string[];
}

export function addReplay(group: Command): void {
  group
    .command('replay')
    .description(
      'decide every event of an export again, and compare what comes out with the receipts, byte for byte',
    )
    .argument('<folder>', 'what `writ ledger export` wrote; no database is needed')
    .option('--governor <tenant/sku>', 'only this one')
    .option('--all', 'go on after the first difference of a governor')
    .option(
      '--key <key>',
      'a public key of the deployment, as you know it; may be repeated; otherwise WRIT_LEDGER_PUBLIC_KEYS',
      repeated,
    )
    .option(
      '--checkpoint <place>',
      'a signed checkpoint that was kept outside, a file or http address; may be repeated',
      repeated,
    )
    .action(async (folder: string, options: Options, command: Command) => {
      const { output } = contextOf(command);
      const known = {
        keys: publicKeys(listed(options.key, 'WRIT_LEDGER_PUBLIC_KEYS')),
        checkpoints: await checkpoints(options.checkpoint ?? [], '--checkpoint'),
      };
      const governor = options.governor === undefined ? {} : { governor: named(options.governor) };
      const read = folderOf(folder);
      const replays = await Replays.of(read, { ...governor, ...(options.all && { all: true }) });
      const verdict = await check(read, known, output, 'export', replays);
      const replayed = replays.close();
      const ok = verdict.ok && replayed.ok && replayed.undecided.length === 0;
      if (verdict.ok && replayed.governors.length + replayed.undecided.length === 0)
        throw wrongUsage(
          `${options.governor === undefined ? 'The export has no governors' : `The export has no governor ${options.governor}`}.`,
          'Export again, without --no-events; `writ ledger verify` says what is in an export.',
        );
      if (!ok) process.exitCode = exitCodes.failed;
      if (output.json) return output.data({ ...replayed, ok, ledger: verdict });
      print(output, verdict, replayed, ok);
    });
}

function named(text: string): { tenant: string; sku: string } {
  const [, tenant, sku] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (tenant && sku) return { tenant, sku };
  throw wrongUsage(
    `${text} names no governor.`,
    'Write its tenant and its product: --governor acme/catalog.',
  );
}

function print(
  output: Output,
  verdict: Verdict,
  { governors, undecided }: ReplayedGovernors,
  ok: boolean,
): void {
  show(output, verdict);
  output.line();
  const events = governors.reduce((sum, one) => sum + one.events, 0);
  const head = ok ? `All alike: ${plural(events, 'event')} decided again.` : 'Something differs.';
  output.line(output.style(ok ? ['bold', 'green'] : ['bold', 'red'], `${ok ? '✓' : '✗'} ${head}`));
  const columns = ['governor', 'events', 'receipts', 'behind', 'events/s', 'verdict', 'states'];
  output.table(
    columns.map((title, at) => ({ title, ...(at > 0 && at < 5 && { align: 'right' as const }) })),
    governors.map((one) => [
      oneLine(`${one.tenant}/${one.sku}`),
      count(one.events),
      count(one.receipts),
      count(one.behind),
      count(one.events_per_s),
      one.ok ? 'alike' : one.differences[0]?.kind,
      one.states.join(' '),
    ]),
  );
  for (const { tenant, sku, differences } of governors)
    for (const { message } of differences)
      output.line(output.style('red', `✗ ${oneLine(`${tenant}/${sku}: ${message}`)}`));
  for (const { tenant, sku, receipts } of undecided)
    output.line(
      output.style(
        'red',
        `✗ ${oneLine(`${tenant}/${sku}`)}: ${plural(receipts, 'receipt')} cannot be decided again: its first events are not in this export.`,
      ),
    );
  const behind = governors.reduce((sum, one) => sum + one.behind, 0);
  if (behind > 0)
    output.note(
      `${plural(behind, 'event')} at the end are behind the checkpoint: no receipt in this export is about them.`,
    );
}

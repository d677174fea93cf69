/** `writ ledger verify`: the check that an auditor makes, of an export without any database, or of the database itself. */
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { Queryable } from '../../../database/connection.js';
import { WritError } from '../../../errors/index.js';
import { type ReplayedGovernors, Replays } from '../../../governor/replays.js';
import { folderReader } from '../../../ledger/exports.js';
import { parsePublicKey } from '../../../ledger/note.js';
import { DatabaseReader } from '../../../ledger/reader.js';
import { nodeSha256 } from '../../../ledger/sha256.js';
import { describe, type Verdict } from '../../../ledger/verdict.js';
import type { Reader } from '../../../ledger/verification/log.js';
import { verifyExport } from '../../../ledger/verify.js';
import { contextOf, repeated } from '../../command.js';
import { inTurn } from '../../connection.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { count, type Output, oneLine, plural } from '../../output.js';
import { Progress } from '../../progress.js';
import { checkpoints, listed, publicKeys } from './session.js';

interface Options {
  readonly key?: readonly string[];
  readonly checkpoint?: readonly string[];
  readonly archive?: string;
}

export interface Known {
  readonly keys: readonly string[];
  readonly checkpoints: readonly string[];
}

export function addVerify(ledger: Command): void {
  ledger
    .command('verify')
    .description(
      'check an export, or without a folder the database: entries, order, trees, signatures, sealed events, and what governors decided',
    )
    .argument('[folder]', 'of an export; no database is needed')
    .option(
      '--key <key>',
      'a public key of the deployment, as you know it; may be repeated; otherwise WRIT_LEDGER_PUBLIC_KEYS, otherwise what the export says of itself',
      repeated,
    )
    .option(
      '--checkpoint <place>',
      'a signed checkpoint that was kept outside, a file or http address; may be repeated',
      repeated,
    )
    .option(
      '--archive <folder>',
      'with the database: an export that has what has been archived and dropped',
    )
    .action(async (folder: string | undefined, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      const known = {
        keys: publicKeys(listed(options.key, 'WRIT_LEDGER_PUBLIC_KEYS')),
        checkpoints: await checkpoints(options.checkpoint ?? [], '--checkpoint'),
      };
      if (folder !== undefined) {
        return judge(output, folderOf(folder), known, 'export');
      }
      if (options.archive !== undefined && !isFolder(options.archive)) {
        throw wrongUsage(
          `${options.archive} is not a folder.`,
          'Give the folder that `writ ledger export --archive` wrote.',
        );
      }
      await session((db) =>
        judge(output, databaseReader(inTurn(db), options.archive), known, 'database'),
      );
    });
}

/** The files of an export. */
export function folderOf(folder: string): Reader {
  if (!isFolder(folder))
    throw wrongUsage(
      `${folder} is not a folder.`,
      'Give the folder that `writ ledger export` wrote.',
    );
  return folderReader(folder);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function databaseReader(db: Queryable, archive: string | undefined): Reader {
  const reader = new DatabaseReader(db, {
    events: true,
    ...(archive !== undefined && { archive: folderReader(archive) }),
  });
  return async (path) => {
    if (path === 'export.json' && (await reader.heads()).length === 0)
      throw new WritError('no_checkpoint');
    return reader.read(path);
  };
}

/** A verdict, with a word on keys where nobody gave any. `replays` hears the receipts on the way. */
export async function check(
  read: Reader,
  known: Known,
  output: Output,
  what: 'export' | 'database',
  replays?: Replays,
): Promise<Verdict> {
  const progress = new Progress(output);
  try {
    const keys = known.keys.length > 0 ? known.keys : await ownKeys(read);
    const verdict = await verifyExport(read, {
      keys,
      checkpoints: known.checkpoints,
      sha256: nodeSha256,
      ...(replays && { onReceipt: (log, receipt, entry) => replays.hear(log, receipt, entry) }),
      progress: ({ log, entries, of }) =>
        progress.show(`verifying ${oneLine(log)}: ${count(entries)} of ${count(of)}`),
    });
    if (known.keys.length > 0) return verdict;
    const note = `Keys are the ${what}’s own word: whoever could change the ${what} could have put others there. Give --key to check against one that you know.`;
    return { ...verdict, notes: [...verdict.notes, note] };
  } finally {
    progress.end();
  }
}

/** The keys that an export lists. What is no key is left out: then nobody who is known has signed. */
async function ownKeys(read: Reader): Promise<string[]> {
  let keys: unknown;
  try {
    keys = (
      JSON.parse(new TextDecoder().decode((await read('export.json')) ?? undefined)) as {
        keys?: unknown;
      } | null
    )?.keys;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return (Array.isArray(keys) ? keys : []).filter(
    (key): key is string => typeof key === 'string' && isKey(key),
  );
}

function isKey(text: string): boolean {
  try {
    parsePublicKey(text);
    return true;
  } catch (error) {
    if (error instanceof WritError) return false;
    throw error;
  }
}

async function judge(
  output: Output,
  read: Reader,
  known: Known,
  what: 'export' | 'database',
): Promise<void> {
  const replays = await Replays.of(read);
  const verdict = await check(read, known, output, what, replays);
  const replayed = replays.close();
  if (!verdict.ok || !replayed.ok) process.exitCode = exitCodes.failed;
  if (output.json)
    return output.data({ ...verdict, ok: verdict.ok && replayed.ok, governors: replayed });
  show(output, verdict);
  for (const line of governorLines(replayed))
    output.line(line.startsWith('  ✗') ? output.style('red', line) : line);
}

/** What deciding again has shown, in a few lines. */
function governorLines({ governors, undecided }: ReplayedGovernors): string[] {
  const events = governors.reduce((sum, one) => sum + one.events, 0);
  const behind = governors.reduce((sum, one) => sum + one.behind, 0);
  const different = governors.filter(({ ok }) => !ok);
  const lines: string[] = [];
  if (events > 0 || different.length > 0) {
    const verdict =
      different.length === 0 ? 'all alike' : `${plural(different.length, 'governor')} NOT alike`;
    lines.push(
      `  governors: ${plural(events, 'event')} decided again, ${verdict}${behind > 0 ? `; ${count(behind)} behind the checkpoint` : ''}`,
    );
  }
  for (const { tenant, sku, differences } of different)
    for (const { message } of differences)
      lines.push(`  ✗ Governor ${oneLine(`${tenant}/${sku}: ${message}`)}`);
  const receipts = undecided.reduce((sum, one) => sum + one.receipts, 0);
  if (receipts > 0)
    lines.push(
      `  note: The events of ${plural(undecided.length, 'governor')} (${plural(receipts, 'receipt')}) are not in this export: not decided again.`,
    );
  return lines;
}

/** Names and reasons in it come from the ledger, and have no say over the terminal. */
export function show(output: Output, verdict: Verdict): void {
  const printable = JSON.parse(JSON.stringify(verdict), (_, value) =>
    typeof value === 'string' ? oneLine(value) : value,
  ) as Verdict;
  const [head = '', ...rest] = describe(printable).trimEnd().split('\n');
  output.line(
    output.style(
      verdict.ok ? ['bold', 'green'] : ['bold', 'red'],
      `${verdict.ok ? '✓' : '✗'} ${head}`,
    ),
  );
  for (const line of rest) output.line(line.startsWith('  ✗') ? output.style('red', line) : line);
}

/**
 * `writ ledger verify`: the check that an auditor makes, of an export without any database, or of
 * the database itself.
 */
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { WritError } from '../../../errors/index.js';
import type { Audited, AuditOptions } from '../../../governance/trust/audit.js';
import type { Trust } from '../../../governance/trust/file.js';
import { readingOutside } from '../../../governance/trust/outside.js';
import { trustOf } from '../../../governance/trust/source.js';
import { examine } from '../../../governor/examination.js';
import type { RedecidedExport } from '../../../governor/exported.js';
import { folderReader } from '../../../ledger/exports.js';
import { describe, type Verdict, Waivers } from '../../../ledger/verdict.js';
import type { Reader } from '../../../ledger/verification/log.js';
import { ownKeys, type VerifyOptions } from '../../../ledger/verify.js';
import { secretsAt } from '../../../secrets/places.js';
import type { Writ } from '../../../writ.js';
import { repeated } from '../../command.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { withReading } from '../../governance/session.js';
import { stepTypesIn } from '../../modules.js';
import { count, type Output, oneLine, plural } from '../../output.js';
import { Progress } from '../../progress.js';
import { outputOf } from '../../shapes.js';
import { withWrit } from '../../writ.js';
import { checkpoints, listed, publicKeys } from './session.js';

interface Options {
  readonly key?: readonly string[];
  readonly checkpoint?: readonly string[];
  readonly archive?: string;
  readonly waive?: readonly string[];
  readonly trust?: string;
  readonly steps?: readonly string[];
  readonly secrets?: string;
}

export interface Known {
  readonly keys: readonly string[];
  readonly checkpoints: readonly string[];
  readonly waive: readonly string[];
  readonly trust?: Trust | undefined;
  readonly outside?: AuditOptions['outside'];
}

export function addVerify(ledger: Command): void {
  withReading(ledger.command('verify'))
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
    .option(
      '--trust <file>',
      'the trust file: judge again who approved each change that was applied',
    )
    .option(...waiveOption)
    .action(async (folder: string | undefined, options: Options, command: Command) => {
      const output = outputOf(command);
      const trust = options.trust === undefined ? undefined : await trustIn(options.trust);
      if (folder !== undefined && (options.steps || options.secrets !== undefined))
        throw wrongUsage(
          'An export is verified as it was; --steps compares what stands outside now.',
          'Leave the folder out, or --steps and --secrets.',
        );
      const { steps, secrets } = options;
      const outside =
        steps &&
        readingOutside(
          await stepTypesIn(steps),
          secrets === undefined ? undefined : secretsAt(secrets),
        );
      const given = listed(options.key, 'WRIT_LEDGER_PUBLIC_KEYS');
      const known = {
        trust,
        outside,
        waive: waived(options.waive),
        keys: publicKeys(given.length > 0 ? given : (trust?.ledger_keys ?? [])),
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
      await withWrit(command.optsWithGlobals(), (writ) =>
        judge(output, databaseReader(writ, options.archive), known, 'database'),
      );
    });
}

/** The trust file of an auditor. The word of the database is none. */
async function trustIn(path: string): Promise<Extract<Trust, { source: 'file' }>> {
  const trust = await trustOf(path)?.read();
  if (trust?.source === 'file') return trust;
  throw wrongUsage(
    '--trust names a trust file.',
    'Give the path of writ.trust.json, as it stands in version control.',
  );
}

export const waiveOption = [
  '--waive <finding>',
  'missing evidence that you know of, as FINDING or FINDING:SUBJECT, as a verdict names it; may be repeated',
  repeated,
] as const;

export function waived(names: readonly string[] = []): readonly string[] {
  try {
    new Waivers(names);
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    throw wrongUsage(`--waive: ${error.message}`, 'Evidence that was changed cannot be waived.');
  }
  return names;
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

function databaseReader(writ: Writ, archive: string | undefined): Reader {
  const reader = writ.ledger.reader({ archive });
  return async (path) => {
    if (path === 'export.json' && (await reader.heads()).length === 0)
      throw new WritError('no_checkpoint');
    return reader.read(path);
  };
}

/** Shows how far it is, and adds a word on keys where nobody gave any. */
export async function check<Checked extends { readonly verdict: Verdict }>(
  read: Reader,
  { keys, checkpoints, waive }: Known,
  output: Output,
  what: 'export' | 'database',
  run: (options: VerifyOptions) => Promise<Checked>,
): Promise<Checked> {
  const progress = new Progress(output);
  const isKnown = keys.length > 0;
  try {
    const checked = await run({
      keys: isKnown ? keys : await ownKeys(read),
      checkpoints,
      waive,
      progress: ({ log, entries, of }) =>
        progress.show(`verifying ${oneLine(log)}: ${count(entries)} of ${count(of)}`),
    });
    if (isKnown) return checked;
    const note = `Keys are the ${what}’s own word: whoever could change the ${what} could have put others there. Give --key to check against one that you know.`;
    const { verdict } = checked;
    return { ...checked, verdict: { ...verdict, notes: [...verdict.notes, note] } };
  } finally {
    progress.end();
  }
}

async function judge(
  output: Output,
  read: Reader,
  known: Known,
  what: 'export' | 'database',
): Promise<void> {
  const { trust, outside } = known;
  const { ok, verdict, governors, governance } = await check(read, known, output, what, (options) =>
    examine(read, { ...options, trust, outside, ownKeys: known.keys.length === 0 }),
  );
  if (!ok) process.exitCode = exitCodes.failed;
  if (output.json) return output.data({ ...verdict, ok, governors, governance });
  show(output, verdict);
  if (governance && governance.contracts > 0) output.line(governanceLine(governance, trust));
  for (const line of governorLines(governors))
    output.line(line.startsWith('  ✗') ? output.style('red', line) : line);
}

function governanceLine(
  { contracts, changes, signatures, values }: Audited,
  trust: Trust | undefined,
): string {
  const judged = trust ? `, judged again by ${plural(signatures, 'signature')}` : '';
  return `  governance: ${plural(changes, 'change')} of ${plural(contracts, 'contract')}${judged}; ${plural(values, 'value')} compared`;
}

/** What deciding again has shown, in a few lines. */
function governorLines({ governors }: RedecidedExport): string[] {
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

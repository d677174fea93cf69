/**
 * `writ ledger export`: everything that a verification needs, in a folder. With --archive the folder is verified where it lies, and only then the database hears that
 * a month of receipts may be dropped once its retention has passed.
 */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { WritRefusal } from '../../../errors/index.js';
import { type Exported, folderReader } from '../../../ledger/exports.js';
import { contextOf, repeated } from '../../command.js';
import { actor, type Session } from '../../connection.js';
import { exitCodes, Failure } from '../../failure.js';
import { unwritable } from '../../files.js';
import { count, type Output, oneLine, plural } from '../../output.js';
import { Progress } from '../../progress.js';
import { ledgerOf, listed, publicKeys } from './session.js';
import { check, show } from './verify.js';

interface Options {
  readonly events: boolean;
  readonly archive?: string;
  readonly key?: readonly string[];
  readonly actor?: string;
}

interface Month {
  readonly receipts: number;
  /** Of these, how many the exported checkpoints do not cover. */
  readonly uncovered: number;
  readonly droppedFrom: string;
}

export function addExport(ledger: Command): void {
  ledger
    .command('export')
    .description(
      'write the ledger, up to its newest checkpoints, into a folder; one that is there is brought up to date',
    )
    .argument('<folder>')
    .option(
      '--no-events',
      'leave out the sealed events of the queue, and what governors have handled',
    )
    .option(
      '--archive <month>',
      'YYYY-MM: verify the folder, then allow the receipts of this month to be dropped after their retention',
      month,
    )
    .option(
      '--key <key>',
      'with --archive: a public key that the archive must be signed with; may be repeated; otherwise WRIT_LEDGER_PUBLIC_KEYS',
      repeated,
    )
    .option('--actor <name>', 'who archives, for the record; otherwise the system user')
    .action(async (folder: string, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      const keys = publicKeys(listed(options.key, 'WRIT_LEDGER_PUBLIC_KEYS'));
      if (
        options.archive !== undefined &&
        options.archive >= new Date().toISOString().slice(0, 7)
      ) {
        throw new WritRefusal('month_not_over', options.archive);
      }
      await session(async (db) => {
        const exported = await write(db, folder, options, output);
        const archived =
          options.archive === undefined
            ? undefined
            : await archive(db, folder, exported, options.archive, keys, options, output);
        if (output.json) {
          const logs = exported.logs.map(({ log, epoch, size }) => ({ log, epoch, size }));
          output.data({ folder: resolve(folder), ...exported, logs, archived: archived ?? null });
        }
      });
    });
}

function month(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('A month reads YYYY-MM, such as 2026-03.');
}

async function write(
  db: Session,
  folder: string,
  { events, actor: by }: Options,
  output: Output,
): Promise<Exported> {
  const progress = new Progress(output);
  try {
    const exported = await ledgerOf(db, by).export(folder, {
      events,
      progress: ({ log, done, of }) =>
        progress.show(`exporting ${oneLine(log)}: ${count(done)} of ${count(of)}`),
    });
    progress.end();
    if (!output.json) {
      const handled = exported.governors.reduce((sum, one) => sum + one.events - one.first + 1, 0);
      const governors =
        handled > 0
          ? `, ${plural(handled, 'event')} of ${plural(exported.governors.length, 'governor')}`
          : '';
      const sealed = events
        ? `, ${plural(exported.segments, 'segment')} of sealed events${governors}`
        : '; sealed events and those of governors were left out';
      output.line(
        `Exported ${plural(exported.receipts, 'receipt')} of ${plural(exported.logs.length, 'log')}${sealed}, into ${resolve(folder)}.`,
      );
      if (!events && exported.segments === 0)
        output.line('Who verifies it cannot look into what was sealed, only at the seals.');
    }
    return exported;
  } catch (error) {
    progress.end();
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw syscall === undefined || code === undefined ? error : unwritable(folder, error);
  }
}

async function archive(
  db: Session,
  folder: string,
  exported: Exported,
  name: string,
  keys: readonly string[],
  options: Options,
  output: Output,
): Promise<object> {
  const facts = await readMonth(db, exported, name);
  if (facts.uncovered > 0) {
    throw new WritRefusal(
      'not_yet_signed',
      `${plural(facts.uncovered, 'receipt')} of ${name}; sign, then export again`,
    );
  }
  const verdict = await check(folderReader(folder), { keys, checkpoints: [] }, output, 'export');
  if (!verdict.ok) {
    if (!output.json) show(output, verdict);
    throw new Failure(
      exitCodes.failed,
      'archive_not_verified',
      `What lies in ${resolve(folder)} does not verify, so nothing may be dropped for it: ${verdict.problems[0]?.message}`,
      'Export into an empty folder. If that fails too, `writ ledger verify` says what is wrong in the database.',
    );
  }
  if (!output.json) {
    output.line(
      `The folder verifies. To archive ${name} allows its ${plural(facts.receipts, 'receipt')} to be dropped from the database, from ${facts.droppedFrom} on.`,
    );
    output.line(
      'Their hashes stay; what they say is then in this folder alone: keep it, and a copy.',
    );
  }
  await db.gate('fn_ledger_archived($1::text::date, $2, $3)', [
    `${name}-01`,
    resolve(folder),
    actor(options.actor),
  ]);
  if (!output.json) output.line(`Archived ${name}.`);
  return { month: name, receipts: facts.receipts, droppedFrom: facts.droppedFrom };
}

async function readMonth(db: Session, exported: Exported, name: string): Promise<Month> {
  const [row] = await db.rows<Month>(
    `with month as (select ($1 || '-01')::date as first)
     select count(r.log_id)::float8 as receipts,
       (count(r.log_id) filter (where r.leaf_index is null or r.leaf_index >= coalesce(h.size, 0)))::float8 as uncovered,
       to_char((m.first + interval '1 month') + (select (value #>> '{}')::integer from writ.dot_config where key = 'ledger.retention.receipts_days') * interval '1 day', 'YYYY-MM-DD') as "droppedFrom"
     from month m
     left join writ.receipt r on r.at >= m.first::timestamp at time zone 'UTC' and r.at < (m.first + interval '1 month') at time zone 'UTC'
     left join unnest($2::text[], $3::bigint[]) h(log, size) on h.log = r.log_id
     group by m.first`,
    [name, exported.logs.map(({ log }) => log), exported.logs.map(({ size }) => size)],
  );
  return row as Month;
}

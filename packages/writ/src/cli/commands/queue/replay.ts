/**
 * `writ queue replay`: dead letters become new jobs. One by its id, or all of a kind; all of a kind are shown first, and replayed with --yes.
 */
import type { Command } from 'commander';
import { refusalIn, type WritRefusal } from '../../../errors/index.js';
import { contextOf, jobId, notBlank } from '../../command.js';
import { actor, type Session } from '../../connection.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { jobsInStatus } from '../../jobs.js';
import { ago, count, type Output, oneLine, plural } from '../../output.js';

interface Options {
  readonly reason: string;
  readonly all?: boolean;
  readonly kind?: string;
  readonly yes?: boolean;
  readonly tenant?: string;
  readonly actor?: string;
}

interface DeadLetter {
  readonly job_id: string;
  readonly finished_at: Date;
  readonly last_error: string | null;
}

export function addReplay(queue: Command): void {
  queue
    .command('replay')
    .description('enqueue dead letters again, as new jobs with the same keys')
    .argument('[job]', 'id of the dead letter', jobId)
    .requiredOption('--reason <text>', 'why it will work now, for the record', notBlank)
    .option('--all', 'every dead letter of a kind; needs --kind')
    .option('--kind <kind>', 'with --all: of this kind')
    .option('--yes', 'with --all: do it, do not only show it')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--actor <name>', 'who replays, for the record; otherwise the system user')
    .action(async (id: string | undefined, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      if (options.all ? id !== undefined || options.kind === undefined : id === undefined) {
        throw wrongUsage(
          'Replay takes one job id, or --all with --kind.',
          'Write `writ queue replay JOB --reason TEXT` or `… --all --kind KIND --reason TEXT`.',
        );
      }
      await session((db) =>
        id === undefined ? replayAll(db, output, options) : replayOne(db, output, id, options),
      );
    });
}

async function replayOne(db: Session, output: Output, id: string, options: Options): Promise<void> {
  const answer = await db.gate<{ job_id: string }>('fn_job_dead_letter_replay($1, $2, $3, $4)', [
    id,
    options.reason,
    actor(options.actor),
    options.tenant ?? null,
  ]);
  if (output.json) {
    output.data({ jobId: answer.job_id, replayed: id });
    return;
  }
  output.line(`Replayed ${id} as ${answer.job_id}.`);
}

async function replayAll(db: Session, output: Output, options: Options): Promise<void> {
  const letters = await db.rows<DeadLetter>(
    `select q.job_id, q.finished_at, q.last_error from ${jobsInStatus('dead_letter')}
     where q.job_kind = $1 and ($2::text is null or q.tenant_id = $2) order by q.job_id`,
    [options.kind, options.tenant ?? null],
  );
  if (!options.yes) return preview(output, letters, options);
  const replayed: { jobId: string; replayed: string }[] = [];
  const refused: { jobId: string; reason: string; message: string }[] = [];
  for (let at = 0; at < letters.length; at += 100) {
    const batch = letters.slice(at, at + 100).map((letter) => letter.job_id);
    for (const { id, outcome } of await replayBatch(db, batch, options)) {
      if (typeof outcome === 'string') replayed.push({ jobId: outcome, replayed: id });
      else refused.push({ jobId: id, reason: outcome.code, message: outcome.message });
    }
    if (!output.json && letters.length > 100)
      output.note(`${count(Math.min(at + 100, letters.length))} of ${count(letters.length)}`);
  }
  if (refused.length > 0) process.exitCode = exitCodes.failed;
  if (output.json) {
    output.data({ replayed, refused });
    return;
  }
  for (const { jobId, message } of refused) output.note(`${jobId}: ${message}`);
  output.line(
    `Replayed ${plural(replayed.length, 'dead letter')} of kind ${options.kind}${refused.length > 0 ? `; ${refused.length} refused` : ''}.`,
  );
}

/** A batch is one statement and one transaction; each letter has its own answer. */
async function replayBatch(
  db: Session,
  ids: readonly string[],
  options: Options,
): Promise<{ id: string; outcome: string | WritRefusal }[]> {
  const rows = await db.rows<{ id: string; answer: { job_id: string } }>(
    'select id, writ.fn_job_dead_letter_replay(id, $2, $3, $4) as answer from unnest($1::uuid[]) id',
    [ids, options.reason, actor(options.actor), options.tenant ?? null],
  );
  return rows.map(({ id, answer }) => ({ id, outcome: refusalIn(answer) ?? answer.job_id }));
}

function preview(output: Output, letters: readonly DeadLetter[], { kind }: Options): void {
  if (letters.length > 0) process.exitCode = exitCodes.failed; // what was asked for was not done
  if (output.json) {
    output.data({ wouldReplay: letters.map((letter) => letter.job_id), replayed: [], refused: [] });
    return;
  }
  if (letters.length === 0) {
    output.line(`No dead letter of kind ${kind}.`);
    return;
  }
  const now = new Date();
  const shown = letters.slice(-20).reverse();
  output.table(
    ['JOB', 'DIED', 'LAST ERROR'].map((title) => ({ title })),
    shown.map((letter) => [
      letter.job_id,
      ago(letter.finished_at, now),
      letter.last_error ? oneLine(letter.last_error) : '',
    ]),
  );
  if (letters.length > shown.length)
    output.line(`… and ${count(letters.length - shown.length)} more`);
  output.line();
  output.line(
    `Nothing was replayed yet. Add --yes to replay ${letters.length === 1 ? 'this dead letter' : `these ${count(letters.length)} dead letters`}.`,
  );
}

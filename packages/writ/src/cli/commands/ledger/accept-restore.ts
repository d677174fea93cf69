/** `writ ledger accept-restore`: goes on with a database that is older than what is known outside, after showing what that loses. */
import type { Command } from 'commander';
import { WritRefusal } from '../../../errors/index.js';
import { parsePublicKey } from '../../../ledger/note.js';
import { contextOf, notBlank, repeated } from '../../command.js';
import { answersYes } from '../../confirm.js';
import type { Session } from '../../connection.js';
import { exitCodes, Failure, wrongUsage } from '../../failure.js';
import { count, type Output, oneLine, plural } from '../../output.js';
import { type Comparison, compare, fallsShort, said } from './comparison.js';
import { ledgerOf, outside, places } from './session.js';

interface Options {
  readonly to?: readonly string[];
  readonly key?: readonly string[];
  readonly reason: string;
  readonly yes?: boolean;
  readonly actor?: string;
}

export function addAcceptRestore(ledger: Command): void {
  ledger
    .command('accept-restore')
    .description('go on with a restored database that lacks what is known outside, on the record')
    .option(
      '--to <place>',
      'a place that keeps checkpoints; may be repeated; otherwise WRIT_LEDGER_PLACES, with commas',
      repeated,
    )
    .option(
      '--key <key>',
      'a public key that signs them; may be repeated; otherwise WRIT_LEDGER_PUBLIC_KEYS, with commas',
      repeated,
    )
    .requiredOption(
      '--reason <text>',
      'why this database goes on, for those who read it in a year',
      notBlank,
    )
    .option('--yes', 'do it without asking')
    .option('--actor <name>', 'who accepts it, for the record; otherwise the system user')
    .action(async (options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      const known = outside(
        { places: options.to, keys: options.key },
        { places: '--to', keys: '--key' },
      );
      if (known.places.length === 0) {
        throw wrongUsage(
          'Without a place nobody knows what was lost.',
          'Give --to or WRIT_LEDGER_PLACES: where the checkpoints are kept.',
        );
      }
      if (options.reason.trim().length < 10) throw new WritRefusal('reason_required');
      await session((db) => accept(db, known, options, output));
    });
}

async function accept(
  db: Session,
  known: ReturnType<typeof outside>,
  options: Options,
  output: Output,
): Promise<void> {
  const compared = await compareAll(db, known);
  const logs = await db.rows<{ log: string; size: number }>(
    `select log_id as log, size::float8 as size from writ.ledger_log order by log_id`,
  );
  if (!output.json) show(output, compared, logs);
  if (!compared.some(fallsShort)) {
    throw new Failure(
      exitCodes.failed,
      'nothing_to_accept',
      compared.length === 0
        ? 'None of the places holds a checkpoint.'
        : 'Everything that the places know is in this database, or was accepted as lost before.',
      'There is nothing to accept: check --to, or simply go on.',
    );
  }
  if (!options.yes && !(await confirmed(output))) {
    process.exitCode = exitCodes.failed; // what was asked for was not done
    if (output.json) output.data({ compared, logs: null });
    else output.line('Nothing was changed. Add --yes to go on without what is missing.');
    return;
  }
  const opened = await ledgerOf(db, options.actor).acceptRestore({
    ...known,
    reason: options.reason,
  });
  if (output.json) {
    output.data({ compared, ...opened });
    return;
  }
  output.line(
    `Accepted. ${plural(opened.logs.length, 'log')} ${opened.logs.length === 1 ? 'goes' : 'go'} on in a new epoch, and _system says who accepted it and why.`,
  );
  output.line('Sign now, so that the places know of it: `writ ledger checkpoint`.');
}

async function compareAll(
  db: Session,
  { places: texts, keys }: ReturnType<typeof outside>,
): Promise<Comparison[]> {
  const compared: Comparison[] = [];
  for (const place of places(texts)) {
    const one = await compare(db, place, keys.map(parsePublicKey));
    if (one) compared.push(one);
  }
  return compared;
}

function show(
  output: Output,
  compared: readonly Comparison[],
  logs: readonly { log: string; size: number }[],
): void {
  if (compared.length > 0) {
    output.table(
      [
        { title: 'PLACE' },
        { title: 'LOG' },
        { title: 'EPOCH', align: 'right' },
        { title: 'KNOWN', align: 'right' },
        { title: 'HERE', align: 'right' },
        { title: '' },
      ],
      compared.map((each) => [
        each.place,
        each.log,
        each.epoch,
        count(each.known),
        count(each.here),
        said[each.outcome](each),
      ]),
    );
    output.line();
  }
  if (!compared.some(fallsShort)) return;
  const others = logs.filter(({ log }) => log !== '_system');
  const some = others.slice(0, 5).map(({ log, size }) => `${oneLine(log)} ${count(size)}`);
  if (others.length > 0) {
    output.line(
      `Logs of tenants here: ${some.join(', ')}${others.length > 5 ? `, and ${others.length - 5} more` : ''}.`,
    );
    output.line(
      'How many of their receipts are lost stands in what _system has lost, so it cannot be told from here.',
    );
  }
  if (compared.some(({ outcome }) => outcome === 'different')) {
    output.line(
      'Where the history is another one, verification will go on saying so: the database was written to after it was restored.',
    );
  }
  output.line('What is lost stays lost. Look for a newer copy of the database first.');
}

/** Asks, where somebody can answer. */
async function confirmed(output: Output): Promise<boolean> {
  return (
    output.live &&
    process.stdin.isTTY &&
    answersYes('Go on with this database?', process.stdin, process.stdout)
  );
}

/** `writ ledger status`: what the ledger holds, how far it is signed and sealed, and what waits. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import type { Session } from '../../connection.js';
import { count, type Output, oneLine, plural, span } from '../../output.js';

export interface LedgerHealth {
  /** Receipts that are not in their log yet; at most about a hundred thousand are counted. */
  readonly waiting: number;
  readonly waiting_s: number | null;
  readonly sealing: boolean;
  readonly segments: number;
  readonly unsealed: number;
  readonly unsealed_s: number | null;
  readonly signed_epoch: number | null;
  readonly signed_size: number | null;
  readonly signed_at: string | null;
  readonly signed_s: number | null;
  readonly key: string | null;
  /** The first month that receipts could not go into. */
  readonly months_until: string;
  readonly months_s: number;
}

interface Log {
  readonly log: string;
  readonly epoch: number;
  readonly size: number;
  readonly signed: number | null;
  readonly signed_s: number | null;
}

const shownLogs = 20;
const counted = 100_000;

export const readLedgerHealth = (db: Session): Promise<LedgerHealth> =>
  db.gate<LedgerHealth>('fn_ledger_health()');

export function addStatus(ledger: Command): void {
  ledger
    .command('status')
    .description(
      'the logs, how far they are signed, what waits to be sequenced or sealed, and the key that signs',
    )
    .action(async (_options: object, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const health = await readLedgerHealth(db);
        const logs = await readLogs(db);
        if (output.json) output.data({ ...health, logs });
        else show(output, health, logs);
      });
    });
}

/** _system first, then the largest. */
async function readLogs(db: Session): Promise<Log[]> {
  return db.rows<Log>(
    `select l.log_id as log, l.epoch, l.size::float8 as size, c.size::float8 as signed, extract(epoch from writ.now() - c.at)::float8 as signed_s
     from writ.ledger_log l
     left join lateral (select k.size, k.at from writ.ledger_checkpoint k where k.log_id = l.log_id order by k.checkpoint_no desc limit 1) c on true
     order by l.log_id <> '_system', l.size desc, l.log_id`,
  );
}

function show(output: Output, health: LedgerHealth, logs: readonly Log[]): void {
  if (logs.length === 0) output.line('No receipt has been written yet.');
  else showLogs(output, logs);
  output.line();
  output.pairs([
    [
      'signing key',
      health.key === null ? 'none yet; `writ ledger keygen` makes one' : oneLine(health.key),
    ],
    [
      'newest checkpoint',
      health.signed_s === null
        ? 'none yet; `writ ledger checkpoint` signs one'
        : `${before(health.signed_s)} ago, ${plural(Number(health.signed_size), 'receipt')} of _system, epoch ${health.signed_epoch}`,
    ],
    ['not sequenced', waiting(health.waiting, health.waiting_s, 'receipt')],
    ['sealed', `${plural(health.segments, 'segment')} of the record of the queue`],
    [
      'not sealed',
      health.sealing
        ? waiting(health.unsealed, health.unsealed_s, 'row')
        : 'sealing is switched off (ledger.sealing.enabled)',
    ],
    ['months made until', health.months_until],
  ]);
}

function showLogs(output: Output, logs: readonly Log[]): void {
  output.table(
    [
      { title: 'LOG' },
      { title: 'EPOCH', align: 'right' },
      { title: 'RECEIPTS', align: 'right' },
      { title: 'SIGNED', align: 'right' },
      { title: 'SIGNED AT' },
    ],
    logs
      .slice(0, shownLogs)
      .map(({ log, epoch, size, signed, signed_s }) => [
        log,
        epoch,
        count(size),
        signed === null ? null : count(signed),
        signed_s === null ? null : `${before(signed_s)} ago`,
      ]),
  );
  if (logs.length > shownLogs)
    output.line(`… and ${plural(logs.length - shownLogs, 'log')} more; --json lists them all`);
}

const before = (seconds: number): string => span(Math.max(0, seconds) * 1000);

export function waiting(n: number, seconds: number | null, one: string): string {
  if (n === 0) return 'nothing waits';
  return `${n >= counted ? `${count(counted)} ${one}s or more` : plural(n, one)}, the oldest for ${before(seconds ?? 0)}`;
}

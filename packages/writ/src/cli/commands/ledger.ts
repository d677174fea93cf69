/** `writ ledger`: evidence that somebody can check who does not trust the database. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { WritError, WritRefusal } from '../../errors/index.js';
import {
  type AcceptedRestore,
  type Comparison,
  fallsShort,
  type Published,
} from '../../ledger/checkpoints.js';
import { type Exported, folderReader, verifyFolder } from '../../ledger/exports.js';
import type { LedgerMonth, LedgerStatus, ListedLog } from '../../ledger/ledger.js';
import {
  keyOfSeed,
  parsePrivateKey,
  privateKeyText,
  publicKeyText,
  type SignerKey,
  type VerifierKey,
} from '../../ledger/note.js';
import {
  type EventProof,
  eventProofFormat,
  type GrowthProof,
  growthProofFormat,
  type ProvenEvent,
  type ProvenGrowth,
  type ProvenReceipt,
  type ReceiptProof,
  verifyEventProof,
  verifyGrowthProof,
  verifyReceiptProof,
} from '../../ledger/proofs.js';
import type { ListedReceipt, ReceiptFilter } from '../../ledger/receipts.js';
import { nodeSha256 } from '../../ledger/sha256.js';
import { age, comparisonWords, waitingWords } from '../../ledger/words.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import type { Writ } from '../../writ.js';
import { duration, notBlank, repeated } from '../command.js';
import { exitCodes, explain, Failure, wrongUsage } from '../failure.js';
import { textOf, unwritable, writeKey } from '../files.js';
import { follow } from '../live.js';
import { count, type Output, oneLine, plural } from '../output.js';
import { Progress } from '../progress.js';
import { moment } from '../runs/words.js';
import { act, action, type Call, collect, list, outputOf, show } from '../shapes.js';
import { withWrit } from '../writ.js';
import {
  checkpoints,
  listed,
  outside,
  places,
  privateKey,
  publicKeys,
  signingKey,
} from './ledger/session.js';
import { addVerify, check, show as showVerdict, waived, waiveOption } from './ledger/verify.js';

type Options = Record<string, unknown>;

export function addLedger(program: Command): void {
  const ledger = program
    .command('ledger')
    .description('receipts that an auditor can check: sign, export, verify and prove them');
  for (const add of [
    status,
    receipts,
    keygen,
    checkpoint,
    exporting,
    addVerify,
    prove,
    acceptRestore,
  ])
    add(ledger);
}

const byActor = (command: Command, does: string) =>
  command.option('--actor <name>', `who ${does}, for the record; otherwise the system user`);

// status and receipts -----------------------------------------------------------------------------

const shownLogs = 20;

function status(ledger: Command): void {
  show<LedgerStatus & { logs: readonly ListedLog[] }, Options>(
    ledger
      .command('status')
      .description(
        'the logs, how far they are signed, what waits to be sequenced or sealed, and the key that signs',
      ),
    {
      read: async (writ) => ({
        ...(await writ.ledger.status()),
        logs: (await collect((page) => writ.ledger.logs(page), Number.POSITIVE_INFINITY)).rows,
      }),
      print: (found, { output }) => sayStatus(output, found),
    },
  );
}

function sayStatus(
  output: Output,
  { logs, ...found }: LedgerStatus & { logs: readonly ListedLog[] },
): void {
  const right = 'right' as const;
  if (logs.length === 0) output.line('No receipt has been written yet.');
  else
    output.table(
      [
        { title: 'LOG' },
        { title: 'EPOCH', align: right },
        { title: 'RECEIPTS', align: right },
        { title: 'SIGNED', align: right },
        { title: 'SIGNED AT' },
      ],
      logs
        .slice(0, shownLogs)
        .map(({ log, epoch, size, signed, signed_s }) => [
          log,
          epoch,
          count(size),
          signed === null ? null : count(signed),
          signed_s === null ? null : `${age(signed_s)} ago`,
        ]),
    );
  if (logs.length > shownLogs)
    output.line(`… and ${plural(logs.length - shownLogs, 'log')} more; --json lists them all`);
  output.line();
  const { key, signed_s, signed_size, signed_epoch } = found;
  output.pairs([
    ['signing key', key === null ? 'none yet; `writ ledger keygen` makes one' : oneLine(key)],
    [
      'newest checkpoint',
      signed_s === null
        ? 'none yet; `writ ledger checkpoint` signs one'
        : `${age(signed_s)} ago, ${plural(Number(signed_size), 'receipt')} of _system, epoch ${signed_epoch}`,
    ],
    ['not sequenced', waitingWords(found.waiting, found.waiting_s, 'receipt')],
    ['sealed', `${plural(found.segments, 'segment')} of the record of the queue`],
    [
      'not sealed',
      found.sealing
        ? waitingWords(found.unsealed, found.unsealed_s, 'row')
        : 'sealing is switched off (ledger.sealing.enabled)',
    ],
    ['months made until', found.months_until],
  ]);
}

function receipts(ledger: Command): void {
  list<ListedReceipt, Omit<ReceiptFilter, 'limit'> & Options>(
    ledger
      .command('receipts')
      .description('receipts, the newest first')
      .option('--tenant <tenant>', 'only receipts of this log')
      .option('--subject <stream>', 'with --tenant: only those of governor:SKU or contract:ID')
      .option('--person <name>', 'only what this principal did, or was refused')
      .option('--reason <reason>', 'only receipts of this reason')
      .option('--since <time>', 'only receipts of this time or later, as 2026-12-24T10:00Z')
      .option('--until <time>', 'only receipts before this time'),
    {
      read: (writ, page, { options: { tenant, subject, person, reason, since, until } }) =>
        writ.ledger.receipts({
          ...page,
          tenant,
          subject,
          person,
          reason,
          since,
          until,
        }),
      none: 'No such receipt.',
      columns: [
        { title: 'AT', of: ({ receipt }) => moment(receipt.timestamp) },
        { title: 'LOG', of: ({ log }) => log },
        { title: 'SUBJECT', of: ({ receipt }) => receipt.context.stream },
        { title: 'REASON', of: ({ receipt }) => receipt.reason },
        { title: 'STATUS', of: ({ receipt }) => receipt.status },
        {
          title: 'BY',
          of: ({ receipt: { context } }) => {
            const { by, principal } = context as { by?: string; principal?: string };
            return by ?? principal;
          },
        },
        { title: 'RECEIPT', of: ({ receipt }) => receipt.receipt_id },
      ],
    },
  );
}

// keygen ------------------------------------------------------------------------------------------

interface Keygen extends Options {
  readonly name?: string;
  readonly out: string;
  readonly replaces?: string;
}

/**
 * The file is on the disk before the database hears of the key: a crash between the two leaves a
 * key that signs nothing, never a signing key that nobody has.
 */
function keygen(ledger: Command): void {
  byActor(
    ledger
      .command('keygen')
      .description(
        'make a key to sign checkpoints with; needs no database, unless it replaces another',
      )
      .option(
        '--name <name>',
        'name of this deployment, such as acme.example/prod; with --replaces, that of the old key',
      )
      .requiredOption(
        '--out <file>',
        'where the private key goes; a file that is there is not overwritten',
        notBlank,
      )
      .option(
        '--replaces <file>',
        'the private key that signs now: both sign that the new one takes its place, and the database records it',
      ),
    'replaces it',
  ).action(async ({ name, out, replaces }: Keygen, command: Command) => {
    const output = outputOf(command);
    const old = replaces === undefined ? undefined : privateKey(replaces, output);
    const key = newKey(name ?? (old && parsePrivateKey(old).name));
    writeKey(out, `${privateKeyText(key)}\n`, '--out');
    if (old !== undefined)
      await withWrit(command.optsWithGlobals(), (writ) =>
        writ.ledger.rotateKey({ old, next: privateKeyText(key) }),
      ).catch((error) => {
        throw notRecorded(error, out);
      });
    sayKey(output, key, old === undefined ? undefined : parsePrivateKey(old), out);
  });
}

function newKey(name: string | undefined): SignerKey {
  if (name === undefined)
    throw wrongUsage(
      'A key has the name of its deployment.',
      'Add --name, for example --name acme.example/prod.',
    );
  try {
    return keyOfSeed(name, randomBytes(32));
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    throw wrongUsage(
      `${JSON.stringify(name)} is no name for a key.`,
      'Use a name without blanks and +, such as acme.example/prod.',
    );
  }
}

/**
 * Where it is certain that nothing was recorded, the new key is of no use. When the connection was
 * lost meanwhile it may sign already, and is kept.
 */
function notRecorded(error: unknown, path: string): Failure {
  const { exitCode, code, message, remedy } = explain(error);
  if (
    error instanceof Failure ||
    (error instanceof WritError && error.code !== 'database_unreachable')
  ) {
    rmSync(path);
    return new Failure(exitCode, code, `${message} No key was made.`, remedy, { cause: error });
  }
  const look = `The new key is in ${path}. \`writ ledger status\` shows which key signs: if it is not this one, remove the file and try again.`;
  return new Failure(exitCode, code, message, look, { cause: error });
}

function sayKey(output: Output, key: SignerKey, old: VerifierKey | undefined, out: string): void {
  const text = publicKeyText(key);
  if (output.json) {
    output.data({ publicKey: text, file: out, replaces: old ? publicKeyText(old) : null });
    return;
  }
  for (const line of [
    `The private key is in ${out}. Keep it on the machine that signs, and nowhere in or near the database.`,
    'The public key:',
    '',
    `  ${output.style('bold', text)}`,
    '',
    ...(old
      ? [
          'It signs from now on, in the place of the old one; both have signed that, and who trusts the old key can follow.',
          'The places still hold checkpoints of the old key, so trust it for the next one:',
          `  writ ledger checkpoint --key ${out} --to PLACE --trust ${publicKeyText(old)}`,
          'Give the new public key to workers and auditors, then destroy the old private key.',
        ]
      : [
          'Give it to everybody who verifies, out of band and not through this database.',
          `Then sign: writ ledger checkpoint --key ${out} --to PLACE`,
        ]),
  ])
    output.line(line);
}

// checkpoint --------------------------------------------------------------------------------------

interface Checkpoint extends Options {
  readonly key?: string;
  readonly to?: readonly string[];
  readonly every?: Duration;
  readonly trust?: readonly string[];
}

interface Round {
  readonly published: readonly Published[];
  readonly places: readonly string[];
}

/**
 * Signs once, or every so often until it is told to stop. Each round has a connection of its own,
 * so a database that was away is found again. The next round tries again what another try can mend;
 * what only a person can mend ends the command.
 */
function checkpoint(ledger: Command): void {
  byActor(
    ledger
      .command('checkpoint')
      .description(
        'sign what the ledger holds, and put it where the database’s administrator cannot change it',
      )
      .option('--key <file>', 'the private key; otherwise WRIT_LEDGER_KEY')
      .option(
        '--to <place>',
        'a path or http address that keeps the checkpoint; may be repeated; otherwise WRIT_LEDGER_PLACES, with commas',
        repeated,
      )
      .option(
        '--every <duration>',
        'go on, and sign this often, until stopped; 60s is a good measure',
        duration,
      )
      .option(
        '--trust <key>',
        'a public key of before, whose checkpoints a place may still hold; may be repeated',
        repeated,
      ),
    'signs',
  ).action(async (options: Checkpoint, command: Command) => {
    const output = outputOf(command);
    const round = roundOf(options, output, command.optsWithGlobals());
    if (options.every === undefined) sayRound(output, await round());
    else await again(round, milliseconds(options.every), output);
  });
}

function roundOf(options: Checkpoint, output: Output, connection: Options): () => Promise<Round> {
  const key = signingKey(options.key, '--key', output);
  const to = listed(options.to, 'WRIT_LEDGER_PLACES');
  if (to.length === 0)
    throw wrongUsage(
      'A checkpoint that stays in the database shows nothing to anybody.',
      'Give --to or WRIT_LEDGER_PLACES: a path on another machine’s disk, or an http address that takes a PUT.',
    );
  if (options.every !== undefined && milliseconds(options.every) < 1_000)
    throw wrongUsage('--every is at least 1s.', 'Use 60s, for example.');
  const names = places(to).map(({ name }) => name);
  const trusted = publicKeys(options.trust ?? [], '--trust');
  // Its --key is a file of the ledger, which says nothing about who acts.
  return async () => ({
    published: await withWrit(connection, (writ) =>
      writ.ledger.checkpoint({ key, places: to, trusted }),
    ).catch(signedByAnother),
    places: names,
  });
}

/**
 * A place whose checkpoint nobody here trusts is not written over: that may be the trace of
 * something.
 */
function signedByAnother(error: unknown): never {
  if (!(error instanceof WritRefusal) || error.code !== 'untrusted_note') throw error;
  throw new Failure(
    exitCodes.failed,
    error.code,
    `A place holds a checkpoint that another key has signed${error.detail ? ` (${error.detail})` : ''}. Nothing was signed over it.`,
    'After a change of keys give the old public key with --trust. If it is not one of yours, find out who wrote there.',
    { cause: error },
  );
}

async function again(round: () => Promise<Round>, everyMs: number, output: Output): Promise<void> {
  let trouble = '';
  await follow<never, never>(output, {
    line: () => '',
    pause: (tookMs) => Math.max(0, everyMs - tookMs),
    read: async () => {
      try {
        sayRound(output, await round(), { line: true });
        trouble = '';
      } catch (error) {
        const { message, remedy, exitCode } = explain(error);
        if (
          error instanceof WritError
            ? !error.retryable
            : error instanceof Failure && exitCode === exitCodes.failed
        )
          throw error;
        // The same one comes with every round, and is said once.
        const next = `The next try is in ${Math.round(everyMs / 1000)} s.`;
        if (message !== trouble) output.note(`writ: ${message}`, `${remedy} ${next}`);
        trouble = message;
      }
      return { news: [] };
    },
  });
  if (!output.json) output.line('Stopped.');
}

function sayRound(
  output: Output,
  { published, places }: Round,
  options: { line?: boolean } = {},
): void {
  const logs = published.map(({ log, epoch, size, root }) => ({ log, epoch, size, root }));
  if (output.json) {
    output.data({ at: new Date(), logs, places }, options);
    return;
  }
  if (options.line) {
    const others = published.length - 1;
    const grown = others > 0 ? `, ${plural(others, 'log')} of tenants` : '';
    const size = count(published.at(-1)?.size ?? 0);
    output.line(
      `${new Date().toISOString()}  signed _system at ${size}${grown}; ${plural(places.length, 'place')}`,
    );
    return;
  }
  const right = 'right' as const;
  output.table(
    [
      { title: 'SIGNED' },
      { title: 'EPOCH', align: right },
      { title: 'RECEIPTS', align: right },
      { title: 'ROOT' },
    ],
    logs.map(({ log, epoch, size, root }) => [log, epoch, count(size), `${root.slice(0, 16)}…`]),
  );
  output.line();
  output.line(`One signature over _system covers every log. It is in ${places.join(', ')}.`);
}

// export ------------------------------------------------------------------------------------------

interface Exporting extends Options {
  readonly events: boolean;
  readonly archive?: string;
  readonly key?: readonly string[];
  readonly sign?: string;
  readonly waive?: readonly string[];
}

interface Archiving {
  readonly month: string;
  readonly keys: readonly string[];
  readonly waive: readonly string[];
  readonly sign: string;
}

/**
 * With --archive the folder is verified where it lies, and only then the database hears that a
 * month of receipts may be dropped once its retention has passed.
 */
function exporting(ledger: Command): void {
  byActor(
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
        monthName,
      )
      .option(
        '--key <key>',
        'with --archive: a public key that the archive must be signed with; may be repeated; otherwise WRIT_LEDGER_PUBLIC_KEYS',
        repeated,
      )
      .option(
        '--sign <file>',
        'with --archive: the private key, which signs that the month may be dropped; otherwise WRIT_LEDGER_KEY',
      )
      .option(...waiveOption),
    'archives',
  ).action(
    action<Exporting, Archiving | undefined>(async (writ, call, archiving) => {
      const { output, options } = call;
      const [folder = ''] = call.args;
      const exported = await write(writ, folder, options.events, output);
      const archived = archiving
        ? await archive(writ, folder, exported, archiving, output)
        : undefined;
      if (!output.json) return;
      const logs = exported.logs.map(({ log, epoch, size }) => ({ log, epoch, size }));
      output.data({ folder: resolve(folder), ...exported, logs, archived: archived ?? null });
    }, archivingOf),
  );
}

function archivingOf({ options, output }: Call<Exporting>): Archiving | undefined {
  const keys = publicKeys(listed(options.key, 'WRIT_LEDGER_PUBLIC_KEYS'));
  const month = options.archive;
  if (month === undefined) return undefined;
  if (month >= new Date().toISOString().slice(0, 7)) throw new WritRefusal('month_not_over', month);
  const waive = waived(options.waive);
  return { month, keys, waive, sign: signingKey(options.sign, '--sign', output) };
}

function monthName(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('A month reads YYYY-MM, such as 2026-03.');
}

async function write(
  writ: Writ,
  folder: string,
  events: boolean,
  output: Output,
): Promise<Exported> {
  const progress = new Progress(output);
  try {
    const exported = await writ.ledger.export(folder, {
      events,
      progress: ({ log, done, of }) =>
        progress.show(`exporting ${oneLine(log)}: ${count(done)} of ${count(of)}`),
    });
    progress.end();
    if (output.json) return exported;
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
    return exported;
  } catch (error) {
    progress.end();
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw syscall === undefined || code === undefined ? error : unwritable(folder, error);
  }
}

async function archive(
  writ: Writ,
  folder: string,
  exported: Exported,
  { month, keys, waive, sign }: Archiving,
  output: Output,
): Promise<Omit<LedgerMonth, 'uncovered'> & { month: string }> {
  const { receipts, uncovered, droppedFrom } = await writ.ledger.month(month, exported);
  if (uncovered > 0)
    throw new WritRefusal(
      'not_yet_signed',
      `${plural(uncovered, 'receipt')} of ${month}; sign, then export again`,
    );
  const known = { keys, checkpoints: [], waive };
  const { verdict } = await check(
    folderReader(folder),
    known,
    output,
    'export',
    async (options) => ({ verdict: await verifyFolder(folder, options) }),
  );
  if (!verdict.ok) {
    if (!output.json) showVerdict(output, verdict);
    throw new Failure(
      exitCodes.failed,
      'archive_not_verified',
      `What lies in ${resolve(folder)} does not verify, so nothing may be dropped for it: ${verdict.problems[0]?.message}`,
      'Export into an empty folder. If that fails too, `writ ledger verify` says what is wrong in the database.',
    );
  }
  if (!output.json) {
    output.line(
      `The folder verifies. To archive ${month} allows its ${plural(receipts, 'receipt')} to be dropped from the database, from ${droppedFrom} on.`,
    );
    output.line(
      'Their hashes stay; what they say is then in this folder alone: keep it, and a copy.',
    );
  }
  await writ.ledger.archived({ key: sign, month, place: resolve(folder), exported });
  if (!output.json) output.line(`Archived ${month}.`);
  return { month, receipts, droppedFrom };
}

// prove -------------------------------------------------------------------------------------------

interface Prove extends Options {
  readonly event?: string;
  readonly receipt?: string;
  readonly since?: string;
  readonly out?: string;
  readonly check?: string;
  readonly key?: readonly string[];
}

type Proof = EventProof | ReceiptProof | GrowthProof;

function prove(ledger: Command): void {
  const proving = action<Prove>(async (writ, { output, options }) => {
    const { event, receipt, since, out } = options;
    const [kept] = since === undefined ? [] : await checkpoints([since], '--since');
    const proof: Proof =
      kept !== undefined
        ? await writ.ledger.proveGrowth(kept)
        : event === undefined
          ? await writ.ledger.proveReceipt(String(receipt))
          : await writ.ledger.proveEvent(event);
    if (out === undefined) return output.data(proof);
    try {
      writeFileSync(out, `${JSON.stringify(proof, null, 2)}\n`);
    } catch (error) {
      throw unwritable(out, error);
    }
    if (output.json) output.data({ file: out });
    else
      output.line(
        `The proof is in ${out}. Who has it checks it with: writ ledger prove --check ${out} --key PUBLIC-KEY`,
      );
  });
  ledger
    .command('prove')
    .description(
      'prove that an event or a receipt is in the ledger, or that it has only grown; or check such a proof',
    )
    .option('--event <id>', 'an event of writ.event_outbox, or RUN/NUMBER of writ.run_events')
    .option('--receipt <id>', 'a receipt')
    .option(
      '--since <place>',
      'a signed checkpoint that was kept, a file or http address: that the log has only grown since',
    )
    .option('--out <file>', 'write the proof there; otherwise it is printed')
    .option('--check <file>', 'check a proof; no database is needed')
    .option(
      '--key <key>',
      'with --check: the public key of the deployment; may be repeated; otherwise WRIT_LEDGER_PUBLIC_KEYS',
      repeated,
    )
    .action(async (options: Prove, command: Command) => {
      const { event, receipt, since, check: file, key } = options;
      if ([event, receipt, since, file].filter((given) => given !== undefined).length !== 1)
        throw wrongUsage(
          'Prove takes one of --event, --receipt, --since and --check.',
          'Write `writ ledger prove --event ID`, for example.',
        );
      if (file === undefined) return proving(options, command);
      checkProof(outputOf(command), file, listed(key, 'WRIT_LEDGER_PUBLIC_KEYS'));
    });
}

function checkProof(output: Output, path: string, given: readonly string[]): void {
  const keys = publicKeys(given);
  if (keys.length === 0)
    throw wrongUsage(
      'A proof is worth what its key is worth.',
      'Give --key: the public key, as you know it from outside.',
    );
  const proof = parse(textOf(path, 'proof'), path);
  const options = { keys, sha256: nodeSha256 };
  const format = (proof as { format?: unknown } | null)?.format;
  if (format === eventProofFormat) sayProven(output, ...inEvent(verifyEventProof(proof, options)));
  else if (format === growthProofFormat)
    sayProven(output, ...inGrowth(verifyGrowthProof(proof, options)));
  else sayProven(output, ...inReceipt(verifyReceiptProof(proof, options)));
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WritRefusal('invalid_proof', `${path} is not JSON`);
  }
}

type Proven = Pick<ProvenReceipt, 'deployment' | 'epoch' | 'size' | 'signers'>;
type Pairs = readonly (readonly [name: string, value: string])[];

/** A proof comes from somebody else, and has no say over the terminal. */
function sayProven(output: Output, proven: Proven, holds: string, pairs: Pairs): void {
  if (output.json) {
    output.data(proven);
    return;
  }
  const { deployment, size, epoch, signers } = proven;
  output.line(output.style(['bold', 'green'], `✓ The proof holds: ${holds}`));
  output.line();
  const signed: Pairs = [
    ['deployment', deployment],
    ['checkpoint', `${count(size)} entries, epoch ${epoch}, signed by ${signers.join(', ')}`],
  ];
  output.pairs([...pairs, ...signed].map(([name, value]) => [name, oneLine(value)]));
}

function inEvent(proven: ProvenEvent): [Proven, string, Pairs] {
  const { event, row, seal, runEvent } = proven;
  const what: Pairs = runEvent
    ? [
        ['run', `${String(runEvent[0])}, event ${String(runEvent[1])}`],
        [
          'what',
          `${String(runEvent[2])} of ${String(runEvent[3])}, attempt ${String(runEvent[4])}`,
        ],
        ['data', JSON.stringify(runEvent[6])],
      ]
    : [['what', `${event.type} of ${event.subject}`]];
  return [
    proven,
    'this event is in the ledger, as it was sealed.',
    [
      ['event', event.event_id],
      ...what,
      ['when', row.at],
      ['by', `${row.actor}, ${row.command}`],
      ['sealed', `${seal.timestamp}, segment ${String(seal.context.segment)}`],
    ],
  ];
}

const inGrowth = (proven: ProvenGrowth): [Proven, string, Pairs] => [
  proven,
  'the log has only grown.',
  [
    ['log', proven.log],
    ['then', `${count(proven.before.size)} entries, epoch ${proven.before.epoch}`],
  ],
];

function inReceipt(proven: ProvenReceipt): [Proven, string, Pairs] {
  const { receipt, index, log } = proven;
  return [
    proven,
    'this receipt is in the ledger, as it was written.',
    [
      ['receipt', receipt.receipt_id],
      ['what', `${receipt.reason} (${receipt.status})`],
      ['when', receipt.timestamp],
      ['of', `${receipt.tenant_id}, ${receipt.sku_id}`],
      ['context', JSON.stringify(receipt.context)],
      ['entry', `${count(index)} of log ${log}`],
    ],
  ];
}

// accept-restore ----------------------------------------------------------------------------------

interface Accepting extends Options {
  readonly to?: readonly string[];
  readonly key?: readonly string[];
  readonly sign?: string;
  readonly reason: string;
}

function acceptRestore(ledger: Command): void {
  const command = byActor(
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
      .option(
        '--sign <file>',
        'the private key of the ledger, which signs the acceptance; otherwise WRIT_LEDGER_KEY',
      )
      .requiredOption(
        '--reason <text>',
        'why this database goes on, for those who read it in a year',
        notBlank,
      ),
    'accepts it',
  );
  interface Ready {
    readonly known: ReturnType<typeof outside>;
    readonly key: string;
  }
  const ready = ({ options, output }: Call<Accepting>): Ready => {
    const known = outside(
      { places: options.to, keys: options.key },
      { places: '--to', keys: '--key' },
    );
    if (known.places.length === 0)
      throw wrongUsage(
        'Without a place nobody knows what was lost.',
        'Give --to or WRIT_LEDGER_PLACES: where the checkpoints are kept.',
      );
    if (options.reason.trim().length < 10) throw new WritRefusal('reason_required');
    return { known, key: signingKey(options.sign, '--sign', output) };
  };
  let compared: readonly Comparison[] | undefined;
  const compare = async (writ: Writ, output: Output, known: Ready['known']) => {
    compared = await writ.ledger.compare(known);
    const logs = (await collect((page) => writ.ledger.logs(page), 7)).rows;
    if (!output.json) sayLost(output, compared, logs);
    assertLost(compared);
  };
  act<AcceptedRestore, Accepting, Ready>(command, {
    check: ready,
    asks: async (writ, { output }, { known }) => {
      await compare(writ, output, known);
      return 'Go on with this database?';
    },
    do: async (writ, { output, options }, { known, key }) => {
      if (!compared) await compare(writ, output, known);
      return writ.ledger.acceptRestore({ ...known, key, reason: options.reason });
    },
    data: (opened) => ({ compared, ...opened }),
    says: ({ logs }) => [
      `Accepted. ${plural(logs.length, 'log')} ${logs.length === 1 ? 'goes' : 'go'} on in a new epoch, and _system says who accepted it and why.`,
      'Sign now, so that the places know of it: `writ ledger checkpoint`.',
    ],
  });
}

function assertLost(compared: readonly Comparison[]): void {
  if (compared.some(fallsShort)) return;
  throw new Failure(
    exitCodes.failed,
    'nothing_to_accept',
    compared.length === 0
      ? 'None of the places holds a checkpoint.'
      : 'Everything that the places know is in this database, or was accepted as lost before.',
    'There is nothing to accept: check --to, or simply go on.',
  );
}

function sayLost(
  output: Output,
  compared: readonly Comparison[],
  logs: readonly ListedLog[],
): void {
  const right = 'right' as const;
  if (compared.length > 0) {
    output.table(
      [
        { title: 'PLACE' },
        { title: 'LOG' },
        { title: 'EPOCH', align: right },
        { title: 'KNOWN', align: right },
        { title: 'HERE', align: right },
        { title: '' },
      ],
      compared.map((each) => [
        each.place,
        each.log,
        each.epoch,
        count(each.known),
        count(each.here),
        comparisonWords[each.outcome](each),
      ]),
    );
    output.line();
  }
  if (!compared.some(fallsShort)) return;
  const others = logs.filter(({ log }) => log !== '_system');
  const some = others.slice(0, 5).map(({ log, size }) => `${oneLine(log)} ${count(size)}`);
  if (others.length > 0) {
    output.line(
      `Logs of tenants here: ${some.join(', ')}${others.length > 5 ? ', and more' : ''}.`,
    );
    output.line(
      'How many of their receipts are lost stands in what _system has lost, so it cannot be told from here.',
    );
  }
  if (compared.some(({ outcome }) => outcome === 'different'))
    output.line(
      'Where the history is another one, verification will go on saying so: the database was written to after it was restored.',
    );
  output.line('What is lost stays lost. Look for a newer copy of the database first.');
}

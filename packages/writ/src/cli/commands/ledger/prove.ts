/** `writ ledger prove`: a document that shows one receipt or event to be in the ledger, or that it has only grown, and the check of such a document without a database. */
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { WritRefusal } from '../../../errors/index.js';
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
} from '../../../ledger/proofs.js';
import { nodeSha256 } from '../../../ledger/sha256.js';
import { contextOf, repeated } from '../../command.js';
import { wrongUsage } from '../../failure.js';
import { textOf, unwritable } from '../../files.js';
import { count, type Output, oneLine } from '../../output.js';
import { checkpoints, ledgerOf, listed, publicKeys } from './session.js';

interface Options {
  readonly event?: string;
  readonly receipt?: string;
  readonly since?: string;
  readonly out?: string;
  readonly check?: string;
  readonly key?: readonly string[];
}

export function addProve(ledger: Command): void {
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
    .action(async (options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      const { event, receipt, since, out } = options;
      if (
        [event, receipt, since, options.check].filter((given) => given !== undefined).length !== 1
      ) {
        throw wrongUsage(
          'Prove takes one of --event, --receipt, --since and --check.',
          'Write `writ ledger prove --event ID`, for example.',
        );
      }
      if (options.check !== undefined)
        return checkProof(output, options.check, listed(options.key, 'WRIT_LEDGER_PUBLIC_KEYS'));
      const [before] = since === undefined ? [] : await checkpoints([since], '--since');
      const proof = await session<Proof>((db) => {
        const ledger = ledgerOf(db);
        if (before !== undefined) return ledger.proveGrowth(before);
        return event === undefined
          ? ledger.proveReceipt(String(receipt))
          : ledger.proveEvent(event);
      });
      if (out === undefined) output.data(proof);
      else write(output, out, proof);
    });
}

type Proof = EventProof | ReceiptProof | GrowthProof;

function write(output: Output, path: string, proof: Proof): void {
  try {
    writeFileSync(path, `${JSON.stringify(proof, null, 2)}\n`);
  } catch (error) {
    throw unwritable(path, error);
  }
  if (output.json) output.data({ file: path });
  else
    output.line(
      `The proof is in ${path}. Who has it checks it with: writ ledger prove --check ${path} --key PUBLIC-KEY`,
    );
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
  if (format === eventProofFormat) sayEvent(output, verifyEventProof(proof, options));
  else if (format === growthProofFormat) sayGrowth(output, verifyGrowthProof(proof, options));
  else sayReceipt(output, verifyReceiptProof(proof, options));
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WritRefusal('invalid_proof', `${path} is not JSON`);
  }
}

function sayEvent(output: Output, proven: ProvenEvent): void {
  if (output.json) {
    output.data(proven);
    return;
  }
  const { event, row, seal, runEvent } = proven;
  output.line(
    output.style(
      ['bold', 'green'],
      '✓ The proof holds: this event is in the ledger, as it was sealed.',
    ),
  );
  output.line();
  show(output, [
    ['event', event.event_id],
    ...(runEvent
      ? ([
          ['run', `${String(runEvent[0])}, event ${String(runEvent[1])}`],
          [
            'what',
            `${String(runEvent[2])} of ${String(runEvent[3])}, attempt ${String(runEvent[4])}`,
          ],
          ['data', JSON.stringify(runEvent[6])],
        ] as const)
      : ([['what', `${event.type} of ${event.subject}`]] as const)),
    ['when', row.at],
    ['by', `${row.actor}, ${row.command}`],
    ['sealed', `${seal.timestamp}, segment ${String(seal.context.segment)}`],
    ...signed(proven),
  ]);
}

function sayGrowth(output: Output, proven: ProvenGrowth): void {
  if (output.json) {
    output.data(proven);
    return;
  }
  const { before, log } = proven;
  output.line(output.style(['bold', 'green'], '✓ The proof holds: the log has only grown.'));
  output.line();
  show(output, [
    ['log', log],
    ['then', `${count(before.size)} entries, epoch ${before.epoch}`],
    ...signed(proven),
  ]);
}

function sayReceipt(output: Output, proven: ProvenReceipt): void {
  if (output.json) {
    output.data(proven);
    return;
  }
  const { receipt } = proven;
  output.line(
    output.style(
      ['bold', 'green'],
      '✓ The proof holds: this receipt is in the ledger, as it was written.',
    ),
  );
  output.line();
  show(output, [
    ['receipt', receipt.receipt_id],
    ['what', `${receipt.reason} (${receipt.status})`],
    ['when', receipt.timestamp],
    ['of', `${receipt.tenant_id}, ${receipt.sku_id}`],
    ['context', JSON.stringify(receipt.context)],
    ['entry', `${count(proven.index)} of log ${proven.log}`],
    ...signed(proven),
  ]);
}

const signed = ({
  deployment,
  epoch,
  size,
  signers,
}: Pick<ProvenReceipt, 'deployment' | 'epoch' | 'size' | 'signers'>) =>
  [
    ['deployment', deployment],
    ['checkpoint', `${count(size)} entries, epoch ${epoch}, signed by ${signers.join(', ')}`],
  ] as const;

/** What a proof says comes from somebody else, and has no say over the terminal. */
const show = (output: Output, pairs: readonly (readonly [string, string])[]) =>
  output.pairs(pairs.map(([name, value]) => [name, oneLine(value)]));

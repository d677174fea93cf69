/** `writ ledger`: evidence that somebody can check who does not trust the database. */
import type { Command } from 'commander';
import { addAcceptRestore } from './accept-restore.js';
import { addCheckpoint } from './checkpoint.js';
import { addExport } from './export.js';
import { addKeygen } from './keygen.js';
import { addProve } from './prove.js';
import { addStatus } from './status.js';
import { addVerify } from './verify.js';

export function addLedger(program: Command): void {
  const ledger = program
    .command('ledger')
    .description('receipts that an auditor can check: sign, export, verify and prove them');
  for (const add of [
    addStatus,
    addKeygen,
    addCheckpoint,
    addExport,
    addVerify,
    addProve,
    addAcceptRestore,
  ])
    add(ledger);
}

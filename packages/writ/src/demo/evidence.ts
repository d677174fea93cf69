/**
 * Act 8: everything that was said and done is signed and handed out, checked without a database,
 * and falsified by one byte.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { plural } from '../cli/output.js';
import { readRows } from '../database/gate.js';
import { verifyFolder } from '../ledger/exports.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../ledger/note.js';
import { tilePath, tileWidth, tileWidthAt } from '../ledger/tiles.js';
import type { Evidence } from './figures.js';
import type { Scene } from './scene.js';

export async function tellOfEvidence({ stage, writ, db, folder }: Scene): Promise<Evidence> {
  stage.act(8, 'The evidence, and a forgery');
  stage.say(
    'What was proposed, signed, done and undone has left receipts. They are signed with a key that the database never sees.',
  );
  const key = keyOfSeed('shop.example/demo', randomBytes(32));
  const [place, copy] = [join(folder, 'checkpoint'), join(folder, 'export')];
  await mkdir(folder, { recursive: true });
  await writ.ledger.checkpoint({ key: privateKeyText(key), places: [place] });
  const { logs, receipts } = await writ.ledger.export(copy);
  stage.seen(`${plural(receipts, 'receipt')} sealed, signed and exported into a folder`);
  const known = { keys: [publicKeyText(key)], checkpoints: [await readFile(place, 'utf8')] };
  const honest = await verifyFolder(copy, known);
  stage.seen(
    `verified from the folder alone: ${honest.ok ? 'complete, in order, as it was signed' : honest.problems[0]?.message}`,
  );
  const log = logs.find((head) => head.log === 'default');
  const approval = await firstApproval(db);
  const bundle = Math.floor(approval.index / tileWidth);
  const file = join(
    copy,
    log?.directory ?? '',
    tilePath('entries', bundle, tileWidthAt(0, bundle, log?.size ?? 0)),
  );
  await forge(file, approval.entry);
  stage.harm('one byte of it is edited: the approval by maria becomes one by mario');
  const forged = await verifyFolder(copy, known);
  const [problem] = forged.problems;
  stage.seen(
    problem
      ? `found; it was entry ${approval.index} of the log, and the verification says:`
      : 'nobody has noticed',
  );
  if (problem) stage.quote(problem.message);
  return { receipts, verified: honest.ok, edited: approval.index, found: problem?.index ?? null };
}

/** The receipt of maria's first approval, and its place in the log. */
async function firstApproval(db: pg.Client): Promise<{ index: number; entry: string }> {
  const [row] = await readRows<{ index: number; entry: string }>(
    db,
    `select r.leaf_index::integer as index, r.entry from writ.receipt r
     where r.receipt ->> 'reason' = 'contract_reviewed' and r.receipt #>> '{context,action}' = 'APPROVE' order by r.leaf_index limit 1`,
  );
  return row as { index: number; entry: string };
}

async function forge(file: string, entry: string): Promise<void> {
  const bytes = await readFile(file);
  const name = '"by":"maria';
  const [begins, at] = [bytes.indexOf(entry), entry.indexOf(name)];
  if (begins < 0 || at < 0) throw new Error(`the approval is not in ${file}`);
  bytes.write('o', begins + at + name.length - 1);
  await writeFile(file, bytes);
}

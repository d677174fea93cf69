/** A folder for a spool, which goes with the test, and what is in it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export function spoolFolder(): string {
  const above = mkdtempSync(join(tmpdir(), 'writ-spool-'));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  return join(above, 'spool');
}

export const namesIn = (folder: string): string[] => readdirSync(folder).sort();

/** The one file with this ending. */
export function fileIn(folder: string, ending: string): string {
  const names = namesIn(folder).filter((name) => name.endsWith(ending));
  if (names.length !== 1) throw new Error(`${names.length} files end with ${ending}`);
  return join(folder, names[0] as string);
}

export const linesIn = (path: string): string[] =>
  readFileSync(path, 'utf8').split('\n').slice(0, -1);

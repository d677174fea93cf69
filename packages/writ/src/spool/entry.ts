/** A line of a spool: what was kept, chained to the line before it by its hash. */
import { hash } from 'node:crypto';

export interface SpoolEntry<Payload> {
  /** The machine that kept it, and the place in its file. */
  readonly host: string;
  readonly spoolSeq: number;
  /** The time, by the clock of that machine. */
  readonly at: string;
  readonly payload: Payload;
}

export interface ReadLines<Payload> {
  readonly entries: readonly SpoolEntry<Payload>[];
  /** The first line that is not as it was written. Nothing behind it can be trusted. */
  readonly damaged?: { readonly line: number; readonly why: string };
}

const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** What the first line of a file is chained to: a line cannot be moved from one file to another. */
export const anchor = (file: string): string => sha256(file);

/** A line with its newline, and its hash, which is of the text before it. */
export function lineOf(
  host: string,
  spoolSeq: number,
  previous: string,
  at: string,
  payload: string,
): { line: string; hash: string } {
  const text = `{"host":${JSON.stringify(host)},"spool_seq":${spoolSeq},"at":"${at}","previous":"${previous}","payload":${payload}`;
  const hashed = sha256(text);
  return { line: `${text},"hash":"${hashed}"}\n`, hash: hashed };
}

const ending = /,"hash":"([0-9a-f]{64})"\}$/;

interface Line<Payload> {
  readonly host: string;
  readonly spool_seq: number;
  readonly at: string;
  readonly previous: string;
  readonly payload: Payload;
}

function parsed<Payload>(line: string): Line<Payload> | undefined {
  try {
    return JSON.parse(line) as Line<Payload>;
  } catch {
    return undefined; // somebody gave it a hash that fits, and nothing else
  }
}

/**
 * The lines of a file. What stands behind the last newline was cut off by a crash, before anybody
 * was told that it is there: it is not a line. A whole line with something else in the place of its
 * newline was not cut off.
 */
export function readLines<Payload>(file: string, text: string): ReadLines<Payload> {
  const entries: SpoolEntry<Payload>[] = [];
  let previous = anchor(file);
  const lines = text.split('\n');
  const rest = lines.pop() as string;
  if (/,"hash":"[0-9a-f]{64}"\}./.test(rest)) lines.push(rest);
  for (const line of lines) {
    const number = entries.length + 1;
    const hashed = ending.exec(line)?.[1];
    const body = line.slice(0, -`,"hash":"${hashed}"}`.length);
    if (hashed === undefined || sha256(body) !== hashed)
      return { entries, damaged: { line: number, why: 'its hash is another' } };
    const read = parsed<Payload>(line);
    if (!read) return { entries, damaged: { line: number, why: 'it is not JSON' } };
    if (read.previous !== previous || read.spool_seq !== number) {
      return { entries, damaged: { line: number, why: 'it does not follow the line before it' } };
    }
    entries.push({ host: read.host, spoolSeq: read.spool_seq, at: read.at, payload: read.payload });
    previous = hashed;
  }
  return { entries };
}

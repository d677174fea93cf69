/**
 * Where a process takes its trust from: WRIT_TRUST, or the option `trust`, names a file or says
 * `database`.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { WritRefusal } from '../../errors/index.js';
import { parseTrustFile, type Trust, type TrustDocument } from './file.js';

export interface TrustSource {
  /** `database`, or the path of the file. */
  readonly name: string;
  /**
   * The trust as it is now. Throws `invalid_trust_file`: until the file is mended, nothing may be
   * applied.
   */
  read(): Promise<Trust>;
}

/** The source that the option names, or else WRIT_TRUST; undefined if neither does. */
export function trustOf(
  option?: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): TrustSource | undefined {
  const name = option ?? env.WRIT_TRUST;
  if (name === undefined || name === '') return undefined;
  if (name === 'database') return { name, read: async () => ({ source: 'database' }) };
  return new TrustFile(name);
}

/**
 * Times of files may be as coarse as this: a file that has just been written may be written again
 * at the same time.
 */
const settledMs = 2_000;

/** Reads the file again when it has changed. */
class TrustFile implements TrustSource {
  readonly name: string;
  #known:
    | { readonly version: string; readonly settled: boolean; readonly trust: Trust }
    | undefined;

  constructor(path: string) {
    this.name = path;
  }

  async read(): Promise<Trust> {
    try {
      // The version is taken first: a change in between shows at the next call.
      const { mtimeMs, ctimeMs, size, ino, dev } = await stat(this.name);
      const version = [mtimeMs, ctimeMs, size, ino, dev].join();
      if (this.#known?.settled && this.#known.version === version) return this.#known.trust;
      const settled = Date.now() - Math.max(mtimeMs, ctimeMs) > settledMs;
      const bytes = await readFile(this.name);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const before = this.#known?.trust;
      const trust: Trust =
        before?.source === 'file' && before.sha256 === sha256
          ? before
          : {
              source: 'file',
              sha256,
              ...parseTrustFile(new TextDecoder('utf-8', { fatal: true }).decode(bytes)),
            };
      this.#known = { version, settled, trust };
      return trust;
    } catch (error) {
      this.#known = undefined;
      const detail = error instanceof WritRefusal ? error.detail : (error as Error).message;
      throw new WritRefusal('invalid_trust_file', `${this.name}: ${detail}`, { cause: error });
    }
  }
}

/** Reads a trust file to change it. */
export function readTrustFile(path: string): TrustDocument {
  const text = readFileSync(path, 'utf8');
  try {
    return parseTrustFile(text);
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    throw new WritRefusal(error.code, `${path}: ${error.detail}`, { cause: error });
  }
}

/**
 * Writes the whole file or nothing: a process that reads it meanwhile sees one version or the
 * other. A file that is to be new is not put in the place of another one.
 */
export function writeTrustFile(path: string, trust: TrustDocument, { isNew = false } = {}): void {
  const text = `${JSON.stringify(trust, null, 2)}\n`;
  parseTrustFile(text);
  if (isNew) {
    writeFileSync(path, text, { flag: 'wx' });
    return;
  }
  const part = `${path}.${process.pid}.part`;
  try {
    writeFileSync(part, text, { flag: 'wx' });
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

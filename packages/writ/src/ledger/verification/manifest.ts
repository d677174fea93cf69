/**
 * export.json: what an export says is in it. Nothing in it is trusted; it only says where to look.
 */
import { isCount, isObject, isUuid } from '../container.js';
import type { ExportedGovernance } from '../governed.js';
import { type ExportedGovernor, isExportedGovernor } from '../governor-events.js';
import { fromUtf8 } from '../text.js';
import { logFolder } from '../tiles.js';

export const exportFormat = 'writ-ledger-export-1';

export interface ExportedLog {
  readonly log: string;
  readonly directory: string;
  readonly epoch: number;
  readonly size: number;
}

export interface Manifest {
  readonly format: typeof exportFormat;
  readonly deployment: string;
  readonly exported_at: string;
  /** The public keys that have signed, the newest last. */
  readonly keys?: readonly string[];
  readonly logs: readonly ExportedLog[];
  readonly segments: { readonly first: number; readonly last: number } | null;
  /**
   * Governors whose events it has; null: they were left out. Exports of before there were any do
   * not say.
   */
  readonly governors?: readonly ExportedGovernor[] | null;
  readonly governance?: ExportedGovernance | null;
}

/** The manifest, or in a sentence why it is none. */
export function parseManifest(bytes: Uint8Array | null): Manifest | string {
  if (!bytes) return 'export.json is missing: is this the folder of an export?';
  let value: unknown;
  try {
    value = JSON.parse(fromUtf8(bytes) ?? '');
  } catch {
    return 'export.json is not JSON.';
  }
  if (!isObject(value) || value.format !== exportFormat)
    return `export.json is not of the format ${exportFormat}: a newer version of Writ may know it.`;
  const { deployment, logs, segments, keys = [], governors = null, governance = null } = value;
  if (typeof deployment !== 'string' || deployment === '')
    return 'export.json names no deployment.';
  if (!Array.isArray(logs)) return 'export.json lists no logs.';
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string' && key.length <= 500))
    return 'export.json lists a key that is none.';
  const bad = logs.find((log) => !isExportedLog(log));
  if (bad !== undefined)
    return `export.json lists a log that cannot be one: ${JSON.stringify(bad).slice(0, 200)}.`;
  const names = (logs as ExportedLog[]).map(({ log }) => log);
  if (new Set(names).size !== names.length) return 'export.json lists a log twice.';
  if (
    segments !== null &&
    !(isObject(segments) && isCount(segments.first) && isCount(segments.last))
  )
    return 'export.json does not say which segments it has.';
  if (governors !== null && !(Array.isArray(governors) && governors.every(isExportedGovernor)))
    return 'export.json does not say which governors it has.';
  if (
    governance !== null &&
    !(
      isObject(governance) &&
      Array.isArray(governance.contracts) &&
      governance.contracts.every(isUuid)
    )
  )
    return 'export.json does not say which contracts it has.';
  return value as unknown as Manifest;
}

/** The folder follows from the log, so that no export can lead out of its own. */
function isExportedLog(value: unknown): boolean {
  if (
    !isObject(value) ||
    typeof value.log !== 'string' ||
    value.log === '' ||
    !value.log.isWellFormed()
  )
    return false;
  return (
    value.directory === logFolder(value.log) &&
    isCount(value.epoch) &&
    value.epoch > 0 &&
    isCount(value.size)
  );
}

/**
 * The events of governors in an export: what a replay decides again. In files of so many, each with
 * a line that says whose they are, and then a line of canonical JSON per event.
 */
import { canonicalize } from './canonical.js';
import { isCount, isObject, isUuid } from './container.js';

export interface ExportedGovernor {
  readonly governor_id: string;
  readonly tenant: string;
  readonly sku: string;
  /** The first event that is in the export; those before are past their retention. */
  readonly first: number;
  /** How many it has handled, those before `first` included. */
  readonly events: number;
}

export const eventsPerFile = 1_024;

/** Which file has an event; from 1. */
export const fileOf = (eventSeq: number): number => Math.ceil(eventSeq / eventsPerFile);

/**
 * A file that is full never changes; the last one, which is not, has another name. None leads out
 * of its folder.
 */
export function governorPath(
  { tenant, sku }: Pick<ExportedGovernor, 'tenant' | 'sku'>,
  file: number,
  full: boolean,
): string {
  const [one, other] = [tenant, sku].map((name) => encodeURIComponent(name).replaceAll('.', '%2E'));
  return `governors/${one}/${other}/${String(file).padStart(9, '0')}${full ? '' : '.partial'}.jsonl`;
}

/** A path of the above, taken apart. */
export function parseGovernorPath(
  path: string,
): { tenant: string; sku: string; file: number; full: boolean } | undefined {
  const [, tenant, sku, file, partial] =
    /^governors\/([^/]+)\/([^/]+)\/(\d{9,})(\.partial)?\.jsonl$/.exec(path) ?? [];
  if (!tenant || !sku || !file) return undefined;
  return {
    tenant: decodeURIComponent(tenant),
    sku: decodeURIComponent(sku),
    file: Number(file),
    full: partial === undefined,
  };
}

/** The first line of each file. */
export const headerOf = ({
  governor_id,
  tenant,
  sku,
}: Omit<ExportedGovernor, 'first' | 'events'>): string =>
  canonicalize({ governor_id, tenant, sku });

export function isExportedGovernor(value: unknown): value is ExportedGovernor {
  if (!isObject(value)) return false;
  const { governor_id, tenant, sku, first, events } = value;
  const isName = (name: unknown) => typeof name === 'string' && name !== '' && name.isWellFormed();
  return (
    isUuid(governor_id) &&
    isName(tenant) &&
    isName(sku) &&
    isCount(first) &&
    first > 0 &&
    isCount(events)
  );
}

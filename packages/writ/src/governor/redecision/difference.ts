/** What a replay found that is not as it was decided, for programs and for people. */

export type DifferenceKind =
  /** Its events, or its receipts, are those of another governor. */
  | 'governor'
  /** Events are not there. */
  | 'event_missing'
  /** A line is no event. */
  | 'event_unreadable'
  /** An event is not the one that was decided on: what was sent, answered or read was changed. */
  | 'event_changed'
  /** It was not the event that was next. */
  | 'event_order'
  /** Something that was sent to it was never handled. */
  | 'signal_lost'
  /** A signal has no receipt of its own, or more than one. */
  | 'signal_settled'
  /** A policy is not the one that was published. */
  | 'policy_changed'
  /** It was decided by a version that is not known here. */
  | 'decide_version'
  /** Deciding again fails. */
  | 'undecidable'
  /** A receipt does not say what was decided. */
  | 'receipt_changed'
  /** What was decided has no receipt. */
  | 'receipt_missing'
  /** A receipt of nothing that was decided. */
  | 'receipt_added';

export interface Difference {
  readonly kind: DifferenceKind;
  /** The event that it is about, and the receipt, by its number in the governor's stream. */
  readonly event_seq: number | null;
  readonly stream_seq: number | null;
  /** What deciding again gives, and what is there. */
  readonly expected?: unknown;
  readonly found?: unknown;
  readonly message: string;
}

/** Where two values of JSON differ first, and what stands there; undefined: nowhere. */
export function firstDifference(
  expected: unknown,
  found: unknown,
  path = '',
): { readonly path: string; readonly expected: unknown; readonly found: unknown } | undefined {
  if (Object.is(expected, found)) return undefined;
  if (!isTree(expected) || !isTree(found) || Array.isArray(expected) !== Array.isArray(found))
    return { path, expected, found };
  const keys = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort();
  for (const key of keys) {
    const inside = firstDifference(expected[key], found[key], `${path}/${key}`);
    if (inside) return inside;
  }
  return undefined;
}

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const longest = 120;
/** A value within a sentence. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

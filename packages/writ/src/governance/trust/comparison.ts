/** What a place outside knows, against what this database has. */
import { rootAt } from '../../../ledger/checkpoints.js';
import { openNote, parseCheckpoint, parseOrigin, type VerifierKey } from '../../../ledger/note.js';
import type { Place } from '../../../ledger/places.js';
import { toHex } from '../../../ledger/text.js';
import type { Session } from '../../connection.js';
import { plural } from '../../output.js';

export interface Comparison {
  readonly place: string;
  readonly log: string;
  readonly epoch: number;
  readonly known: number;
  readonly here: number;
  /** `same`: everything that the place knows is here. `accepted`: it is not, and somebody has said on the record that it goes on so. */
  readonly outcome: 'same' | 'accepted' | 'shorter' | 'different';
}

/** Null where the place holds no checkpoint yet. */
export async function compare(
  db: Session,
  place: Place,
  keys: readonly VerifierKey[],
): Promise<Comparison | null> {
  const note = await place.read();
  if (note === null) return null;
  const { origin, size, root } = parseCheckpoint(openNote(note, keys).text);
  const { log, epoch } = parseOrigin(origin);
  const here = await rootAt(db.client, log, size, epoch);
  const matches =
    here.size < size || here.epoch < epoch
      ? 'shorter'
      : here.root === toHex(root)
        ? 'same'
        : 'different';
  const outcome = matches !== 'same' && here.epoch > epoch && here.accepted ? 'accepted' : matches;
  return { place: place.name, log, epoch, known: size, here: here.size, outcome };
}

export const said: Record<Comparison['outcome'], (compared: Comparison) => string> = {
  same: () => 'everything is here',
  accepted: () => 'what is missing was accepted as lost',
  shorter: ({ known, here }) =>
    known > here ? `${plural(known - here, 'receipt')} missing` : 'of an epoch that is not here',
  different: () => 'another history: these receipts are not the ones here',
};

/** Whether the database falls short of what a place knows, and nobody has accepted that. */
export const fallsShort = ({ outcome }: Comparison): boolean =>
  outcome === 'shorter' || outcome === 'different';

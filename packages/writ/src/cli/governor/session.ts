/** What the commands of governors share: which one is meant, and the governors of their database. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Governor, Governors } from '../../governor/governors.js';
import { actor, inTurn, type Session } from '../connection.js';

export interface GovernorAt {
  readonly tenant: string;
  readonly sku: string;
}

const usualSku = 'default';

/** How it is named on a command line: the usual product is left out. */
export const nameOf = ({ tenant, sku }: GovernorAt): string =>
  sku === usualSku ? tenant : `${tenant} ${sku}`;

export const governorAt = (tenant: string, sku: string = usualSku): GovernorAt => ({ tenant, sku });

export const governorsOf = (db: Session): Governors =>
  new Governors({ db: inTurn(db), actor: actor(), key: undefined, listening: undefined });

/** One that is there: a name that was mistyped makes none. */
export const governorOf = (db: Session, at: GovernorAt): Promise<Governor> =>
  governorsOf(db).find(at);

export function name(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'It has up to 100 letters, digits and _ . : @ -, and begins with a letter or a digit.',
  );
}

export const withGovernor = (command: Command): Command =>
  command
    .argument('<tenant>', 'whose governor it is', name)
    .argument('[sku]', 'of which product; otherwise `default`', name);

/** What keeps a governor from acting, and what it waits for. */
import { causes } from '../errors/advice/causes.js';
import { plain, plural, span } from '../errors/words.js';
import type { Governor } from './rows.js';

export interface Explained {
  readonly cause: string;
  readonly says: string;
  readonly remedy: string;
}

export interface Awaited {
  /** The timer: `state`, or `named:` and its name. */
  readonly name: string;
  readonly says: string;
  /** When the timer fires; null: at once. */
  readonly due_at: string | null;
}

/** The tenant and the product of a governor as commands take them; `default` may be left out. */
export const argumentsOf = ({ tenant_id, sku_id }: Pick<Governor, 'tenant_id' | 'sku_id'>) =>
  sku_id === 'default' ? tenant_id : `${tenant_id} ${sku_id}`;

/** A cause that nothing but a person clears. */
export const isForPersons = (cause: string): boolean =>
  ['rollback_failed', 'nondeterminism', 'crash'].includes(cause);

const adviceOf = (cause: string) => (Object.hasOwn(causes, cause) ? causes[cause] : undefined);

export const causeWords = (cause: string): string => adviceOf(cause)?.says ?? plain(cause);

/** Mail that waits for longer shows that no worker drives the governor. */
const undrivenMs = 5_000;

export function whyOf(
  row: Pick<Governor, 'tenant_id' | 'sku_id' | 'causes' | 'refusals'> &
    Partial<Pick<Governor, 'mail_since' | 'in_mailbox'>>,
  now?: Date,
): Explained[] {
  const { mail_since, in_mailbox = 0 } = row;
  const waited = mail_since && now ? now.getTime() - Date.parse(mail_since) : 0;
  const standing = [
    ...(row.causes ?? []).map((cause) => ({ cause, action_type: undefined })),
    ...(row.refusals ?? []),
  ].map(({ cause, action_type }) => ({
    cause,
    says: `${causeWords(cause)}${action_type === undefined ? '' : ` (${action_type})`}`,
  }));
  const undriven = `${plural(in_mailbox, 'event')} in its mailbox, the oldest for ${span(waited)}`;
  return [
    ...(waited > undrivenMs
      ? [{ cause: 'undriven', says: `${undriven}: ${causes.undriven?.says}` }]
      : []),
    ...standing,
  ].map(({ cause, says }) => ({
    cause,
    says: plain(says),
    remedy: plain(
      (adviceOf(cause)?.remedy ?? 'See its last receipts.')
        .replaceAll('GOVERNOR', () => argumentsOf(row))
        .replaceAll('TENANT', () => row.tenant_id),
    ),
  }));
}

const timers: Readonly<Record<string, string>> = {
  'named:rollback': 'the undoing has to be done',
  'named:baseline': 'what was observed has to be well again',
  'named:check': 'looks whether everything is there again',
  'named:recheck': 'looks whether it still has to refuse',
  'named:storm': 'releases what is buffered',
  'named:look': 'looks at what is over and has no answer yet',
};
const stateTimers: Partial<Record<Governor['state'], string>> = {
  boot: 'has to be ready',
  intervening: 'the action has to be done',
  degraded: 'begins anew',
};

/** Its timers, the first that is due first. */
export function awaitedBy({ state, timers: all }: Pick<Governor, 'state' | 'timers'>): Awaited[] {
  return [...(all ?? [])]
    .sort((a, b) => Number(a.due) - Number(b.due))
    .map(({ name, due }) => ({
      name,
      says: (name === 'state' && stateTimers[state]) || timers[name] || plain(name),
      due_at: due === 'now' ? null : new Date(due).toISOString(),
    }));
}

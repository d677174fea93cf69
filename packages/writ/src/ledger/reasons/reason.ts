/**
 * How a reason is declared: one value, from which come its schema, its type, its row in the
 * database and its page.
 */
import Type from '../typebox.js';
import { boolean, hash, integer, text, uuid } from './fields.js';

export const statuses = ['accept', 'refuse', 'error'] as const;
export type Status = (typeof statuses)[number];

/** Whose receipts they are: a governor's, governance's, or the ledger's own in the log _system. */
export type Author = 'governor' | 'governance' | 'ledger';

export interface Reason<
  Statuses extends readonly Status[] = readonly Status[],
  Context extends Type.TObject = Type.TObject,
> {
  readonly author: Author;
  /** When it is written, in a sentence. */
  readonly when: string;
  readonly statuses: Statuses;
  /** Whether it can be the one receipt that settles a signal. */
  readonly terminal: boolean;
  /** The fields that this reason adds to those that all of its author's receipts have. */
  readonly own: Type.TProperties;
  /** The whole context. */
  readonly context: Context;
  /** A context as it may be. */
  readonly example: Type.Static<Context>;
}

interface Declaration<Statuses extends readonly Status[], Own extends Type.TProperties> {
  readonly when: string;
  readonly statuses: Statuses;
  readonly context: Own;
  /** Without what all receipts of the author have. */
  readonly example: Type.Static<Type.TObject<Own>>;
}

/** Where a receipt stands among those of its stream: in every context. */
export const position = {
  stream: text(
    'What the receipt is one in a row of: the receipts of a stream are numbered without a gap.',
    300,
  ),
  stream_seq: integer('Its number in the stream, from 1.', 1),
};

const trace = {
  event_id: Type.Optional(uuid('The event that the governor was handling.')),
  arrival_seq: Type.Optional(
    integer('The number of the signal among those of its governor, from 1 without a gap.', 1),
  ),
  inputs_hash: Type.Optional(
    hash('SHA-256 over the hash before it and the event with all that the decision read.'),
  ),
  policy_version: Type.Optional(
    integer('The version of the governor policy that was followed.', 1),
  ),
  shadow: Type.Optional(boolean('The policy is tried out: it decides, and acts on nothing.')),
};

const settles =
  'Whether this receipt settles its signal; only some reasons can, and then an arrival_seq or arrival_ranges is there.';

/** In the context of every receipt of a governor. */
export const governorFields = { ...trace, terminal: Type.Optional(boolean(settles)) };
const asideFields = {
  ...trace,
  terminal: Type.Optional(Type.Literal(false, { description: settles })),
};

const closed = <Fields extends Type.TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });
const anyGovernor = { stream: 'governor:acme-catalog-v1', stream_seq: 1 };

/** A governor's receipt that never settles a signal. */
export function aside<const Statuses extends readonly Status[], Own extends Type.TProperties>(
  declaration: Declaration<Statuses, Own>,
) {
  const { when, statuses, context: own, example } = declaration;
  const context = closed({ ...own, ...asideFields, ...position });
  return reason({
    author: 'governor',
    when,
    statuses,
    terminal: false,
    own,
    context,
    example: { ...example, ...anyGovernor } as never,
  });
}

/** A governor's receipt that can be the one that settles a signal. */
export function verdict<const Statuses extends readonly Status[], Own extends Type.TProperties>(
  declaration: Declaration<Statuses, Own>,
) {
  const { when, statuses, context: own, example } = declaration;
  const context = closed({ ...own, ...governorFields, ...position });
  return reason({
    author: 'governor',
    when,
    statuses,
    terminal: true,
    own,
    context,
    example: { ...example, ...anyGovernor } as never,
  });
}

/** In the context of every receipt of governance. */
export const governanceFields = {
  login: text('The database login that called, beside whoever it acted for.'),
};

/** A receipt of governance; `stream` is one as it may be. */
export function governanceFact<
  const Statuses extends readonly Status[],
  Own extends Type.TProperties,
>(stream: string, declaration: Declaration<Statuses, Own>) {
  const { when, statuses, context: own, example } = declaration;
  const context = closed({ ...own, ...governanceFields, ...position });
  return reason({
    author: 'governance',
    when,
    statuses,
    terminal: false,
    own,
    context,
    example: { ...example, login: 'writ_app', stream, stream_seq: 1 } as never,
  });
}

/** A receipt that the ledger writes about itself, in a stream of its own. */
export function ledgerFact<const Stream extends string, Own extends Type.TProperties>(
  stream: Stream,
  declaration: Omit<Declaration<readonly ['accept'], Own>, 'statuses'>,
) {
  const { when, context: own, example } = declaration;
  const context = closed({
    ...own,
    ...position,
    stream: Type.Literal(stream, { description: 'The stream of this reason.' }),
  });
  return reason({
    author: 'ledger',
    when,
    statuses: ['accept'] as const,
    terminal: false,
    own,
    context,
    example: { ...example, stream, stream_seq: 1 } as never,
  });
}

/** Keeps the types of what it is given. */
function reason<const Statuses extends readonly Status[], Context extends Type.TObject>(
  declared: Reason<Statuses, Context>,
) {
  return declared;
}

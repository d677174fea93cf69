/**
 * Handlers may throw anything: a text, an object without a prototype, an error whose message is no
 * text or whose getter throws. Everything that reads an error reads the one that this file makes.
 */

/** An error that can be read: the same one if it can, otherwise one with its words. */
export function asError(thrown: unknown): Error {
  try {
    if (
      thrown instanceof Error &&
      typeof thrown.message === 'string' &&
      typeof thrown.name === 'string' &&
      isText(thrown.stack)
    ) {
      void (thrown as { code?: unknown }).code;
      void thrown.cause;
      return thrown;
    }
  } catch {
    // A getter threw. What can be read is read below, part by part.
  }
  const error = new Error(messageOf(thrown), { cause: read(thrown, 'cause') });
  const stack = read(thrown, 'stack');
  if (typeof stack === 'string') error.stack = stack;
  else delete error.stack; // ours would tell where this function stands
  const code = read(thrown, 'code');
  return typeof code === 'string' ? Object.assign(error, { code }) : error;
}

/** For an error that can be read once, and not again. */
export const unreadable = (): Error =>
  asError({ message: 'the handler threw a value that cannot be read' });

const isText = (value: unknown) => value === undefined || typeof value === 'string';

/** A field of whatever was thrown; undefined if its getter throws. */
export function read(thrown: unknown, name: string): unknown {
  try {
    return typeof thrown === 'object' && thrown !== null
      ? (thrown as Record<string, unknown>)[name]
      : undefined;
  } catch {
    return undefined;
  }
}

function messageOf(thrown: unknown): string {
  const message = read(thrown, 'message');
  if (typeof message === 'string') return message;
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown);
    return `the handler threw ${JSON.stringify(message ?? thrown) ?? 'an object'}`;
  } catch {
    return unreadable().message;
  }
}

const mostCauses = 5;

/** Longer stacks are cut; the gate has the same bound. */
export const longestStack = 8_000;

/** The stack of an error and of what caused it. */
export function stackOf(thrown: unknown): string {
  const stacks: string[] = [];
  for (let cause = thrown; cause !== undefined && stacks.length < mostCauses; ) {
    const error = asError(cause);
    stacks.push(error.stack || `${error.name}: ${error.message}`);
    cause = error.cause;
  }
  return stacks.join('\nCaused by: ');
}

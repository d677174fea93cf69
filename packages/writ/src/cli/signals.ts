/**
 * Ctrl-C and SIGTERM for commands that run until they are stopped: the first asks for an orderly
 * end, the second ends the process at once.
 */
import { exitCodes } from './failure.js';

const signals = ['SIGINT', 'SIGTERM'] as const;

export interface Interruption {
  /** Resolves with the name of the first signal. */
  readonly first: Promise<NodeJS.Signals>;
  /** Back to the system's own handling. */
  release(): void;
}

/**
 * `alone` for commands that have started an embedded server: its package would end the process by
 * itself, before anything is in order.
 */
export function interruption(options: { alone?: boolean } = {}): Interruption {
  if (options.alone)
    for (const signal of [...signals, 'SIGHUP', 'beforeExit'] as const)
      process.removeAllListeners(signal);
  let seen = 0;
  let resolveFirst: (signal: NodeJS.Signals) => void = () => undefined;
  const first = new Promise<NodeJS.Signals>((resolve) => {
    resolveFirst = resolve;
  });
  const hear = (signal: NodeJS.Signals) => {
    if (++seen > 1) process.exit(exitCodes.interrupted);
    resolveFirst(signal);
  };
  for (const signal of [...signals, 'SIGHUP'] as const) process.on(signal, hear);
  return {
    first,
    release: () => {
      for (const signal of [...signals, 'SIGHUP'] as const) process.off(signal, hear);
    },
  };
}

import { PermanentFailure } from '../../errors/index.js';

/** What a handler returned, as it is kept. */
export function resultJson(result: unknown): string | undefined {
  try {
    return JSON.stringify(result);
  } catch (error) {
    // Running it again would give the same.
    throw new PermanentFailure(`the result cannot be stored: ${(error as Error).message}`, { code: 'invalid_result', cause: error });
  }
}

import { fitsJsonb } from '../../database/json.js';
import { PermanentFailure } from '../../errors/index.js';
import { redactJson } from '../../secrets/redaction.js';
import type { WorkItem } from './context.js';

/**
 * What a handler returned, as it is kept. The output of a step may be read by others, as jsonb. A
 * secret in it is replaced by its name: the work has been done, perhaps where nothing can be
 * undone, so refusing the result would harm more than a result that says what it does not hold. The
 * worker tells of it.
 */
export function resultJson(result: unknown, item: WorkItem): string | undefined {
  let json: string | undefined;
  try {
    json = JSON.stringify(result);
  } catch (error) {
    // Running it again would give the same.
    throw new PermanentFailure(`the result cannot be stored: ${(error as Error).message}`, {
      code: 'invalid_result',
      cause: error,
    });
  }
  if (json === undefined) return undefined;
  if (item.step && !fitsJsonb(json)) {
    throw new PermanentFailure(
      'the result has a NUL character or half a surrogate pair in a text, which a database cannot hold',
      {
        code: 'invalid_result',
      },
    );
  }
  const safe = redactJson(json);
  if (safe.names.length > 0) item.redacted = safe.names;
  return safe.json;
}

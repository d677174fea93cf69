/**
 * Whether jsonb can hold what JSON.stringify made: no NUL character, and no half of a surrogate
 * pair, which it writes as escapes.
 */
export const fitsJsonb = (json: string): boolean =>
  !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json);

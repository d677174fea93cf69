/** Makes text from untrusted authors safe to print on a terminal. */

/**
 * Invisible characters that hide, join or reverse the text around them: zero-width characters, soft
 * hyphens, marks and overrides of direction, tags, separators of lines and paragraphs. U+FE0F,
 * which selects an emoji, is harmless.
 */
const deceptive =
  /(?!\ufe0f)[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb]/gu;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const controls = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * Returns one line that cannot control the terminal. Line breaks and tabs become spaces, control
 * characters (escape sequences begin with one) become �, and deceptive characters become `\u{…}`.
 */
export const printable = (text: string): string =>
  text
    .replace(/\r?\n|\t/g, ' ')
    .replace(controls, '�')
    .replace(deceptive, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);

/** Returns JSON of the same value with these characters escaped. JSON.stringify escapes only C0. */
export const printableJson = (json: string): string =>
  json
    .replace(/[\u007f-\u009f]/g, escaped)
    .replace(deceptive, (character) => character.split('').map(escaped).join(''));

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text that others wrote, as a terminal may show it. */

/**
 * Characters that show nothing and hide, join or turn around what others show: zero-width characters,
 * soft hyphens, marks and overrides of direction, tags, separators of lines and paragraphs. The one
 * that asks for an emoji instead of a sign is harmless.
 */
const deceptive =
  /(?!\ufe0f)[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb]/gu;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const controls = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * One line that has no say over the terminal: line breaks and tabs become spaces, control characters
 * (escape sequences begin with one) become �, and deceptive characters are spelled out.
 */
export const printable = (text: string): string =>
  text
    .replace(/\r?\n|\t/g, ' ')
    .replace(controls, '�')
    .replace(deceptive, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);

/** JSON of the same value in which none of these characters stands as itself. JSON.stringify escapes C0 only. */
export const printableJson = (json: string): string =>
  json
    .replace(/[\u007f-\u009f]/g, escaped)
    .replace(deceptive, (character) => character.split('').map(escaped).join(''));

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

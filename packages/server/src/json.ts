/**
 * JSON as a caller meant it. JSON.parse keeps the last of two equal keys, rounds numbers that
 * JavaScript cannot hold, and nests as deep as the body is long. Here each of those is refused.
 */
import { WritRefusal } from 'writ';

const deepest = 64;
const longestNumber = 400;

const refuse = (detail: string) => new WritRefusal('invalid_json', detail);

/** A JSON text as a value. Refuses duplicate keys, `__proto__`, depth and inexact numbers. */
export function parseJson(text: string): unknown {
  look(text);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw refuse((error as Error).message);
  }
}

/**
 * Looks at the tokens of a text that may be JSON. JSON.parse finds what is wrong with their order.
 */
function look(text: string): void {
  /** The keys of each open object; null for an open array. */
  const open: (Set<string> | null)[] = [];
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]]/gs)) {
    const token = match[0];
    if (token === '{' || token === '[') {
      if (open.push(token === '{' ? new Set() : null) > deepest)
        throw refuse(`It is nested deeper than ${deepest} levels.`);
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token.startsWith('"')) {
      const keys = open.at(-1);
      if (keys && isKey(text, match.index + token.length)) add(keys, token);
    } else if (!isExact(token)) {
      const number = token.slice(0, 60);
      throw refuse(`${number} would become ${Number(token)}. Write it as text.`);
    }
  }
}

/** Whether a colon follows. */
function isKey(text: string, from: number): boolean {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at++;
  return text[at] === ':';
}

function add(keys: Set<string>, token: string): void {
  let key: unknown;
  try {
    key = token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
  } catch {
    return; // JSON.parse of the whole text says what is wrong.
  }
  const name = String(key);
  if (keys.has(name)) throw refuse(`The key ${name.slice(0, 100)} stands twice in one object.`);
  if (name === '__proto__') throw refuse('No key is named __proto__.');
  keys.add(name);
}

/** Whether JSON.stringify prints the same number. */
function isExact(token: string): boolean {
  if (token.length > longestNumber) return false;
  const value = Number(token);
  if (Number.isNaN(value)) return true; // No number: JSON.parse refuses it.
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    return false;
  return decimal(token) === decimal(String(value));
}

/** A decimal as its digits, without zeros at either end, and the power of ten behind them. */
function decimal(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', power = '0'] =
    /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const exponent =
    BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${exponent}`;
}

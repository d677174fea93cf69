/**
 * Numbers in files and options, before JavaScript rounds them. Persons approve what is printed, so
 * a number that would be printed as another one is refused instead of rounded.
 */
import type { Document } from 'yaml';
import { WritRefusal } from '../errors/index.js';

/** A decimal as its digits, without zeros at either end, and the power of ten behind them. */
function decimal(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', power = '0'] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (sign === undefined || whole + fraction === '') return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const exponent =
    BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign === '-' ? '-' : ''}${significant}e${exponent}`;
}

/** Whether a number in JSON or YAML is the one that canonical JSON prints for it. */
export function isExact(source: string): boolean {
  const value = Number(source.replace(/^\+/, ''));
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    return false;
  if (/^0[xo]/.test(source)) return BigInt(source) === BigInt(value);
  return decimal(source) === decimal(String(value));
}

const refuse = (number: string, place: string) =>
  new WritRefusal(
    'value_not_canonical',
    `${place}: ${number.slice(0, 100)} would become ${Number(number)}; write it as text`,
  );

/** JSON as a value. Refuses a number that is not exact, with its line. */
export function parseExactJson(text: string, source: string): unknown {
  const value: unknown = JSON.parse(text);
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)) {
    if (token.startsWith('"') || isExact(token)) continue;
    throw refuse(token, `${source}, line ${text.slice(0, index).split('\n').length}`);
  }
  return value;
}

/** Refuses a number of a YAML document that is not exact, with its line. */
export async function refuseInexact(document: Document, text: string, file: string): Promise<void> {
  const { visit } = await import('yaml');
  visit(document, {
    Scalar: (_, { value, source, range }) => {
      if (typeof value !== 'number' || source === undefined || isExact(source)) return;
      throw refuse(source, `${file}, line ${text.slice(0, range?.[0] ?? 0).split('\n').length}`);
    },
  });
}

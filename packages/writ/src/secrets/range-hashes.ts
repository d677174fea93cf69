/**
 * Hashes of any range of a text in constant time, from the hashes of its beginnings. Two
 * polynomials with random bases, so that nobody can write a text whose ranges collide on purpose.
 */
import { randomInt } from 'node:crypto';

type Pair = readonly [number, number];

/** The largest primes with which the arithmetic below is exact in a double. */
const primes: Pair = [67_108_859, 67_108_837];
const bases: Pair = [randomInt(1 << 20, primes[0]), randomInt(1 << 20, primes[1])];

/** A length, with the powers that a hash of that many characters needs. */
export interface RangeLength {
  readonly length: number;
  readonly powers: Pair;
}

export const rangeLength = (length: number): RangeLength => ({
  length,
  powers: [power(bases[0], length, primes[0]), power(bases[1], length, primes[1])],
});

function power(base: number, exponent: number, prime: number): number {
  let result = 1;
  for (let square = base, left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
}

/** The hash of a whole text. */
export function hashOf(text: string): number {
  let [a, b] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    a = (a * bases[0] + character) % primes[0];
    b = (b * bases[1] + character) % primes[1];
  }
  return joined(a, b);
}

export class RangeHashes {
  readonly #text: string;
  /** The hash of the first n characters at place n. */
  #first = new Uint32Array(0);
  #second = new Uint32Array(0);
  #upto = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The hash of `length` characters from `start` on: that of a text of just these. */
  at(start: number, { length, powers }: RangeLength): number {
    const end = start + length;
    if (end > this.#upto) this.#reach(end);
    return joined(
      difference(this.#first[end] as number, (this.#first[start] as number) * powers[0], primes[0]),
      difference(
        this.#second[end] as number,
        (this.#second[start] as number) * powers[1],
        primes[1],
      ),
    );
  }

  /** Computes only as far as needed: most texts hold nothing that looks like a value. */
  #reach(end: number): void {
    if (this.#upto === 0) {
      this.#first = new Uint32Array(this.#text.length + 1);
      this.#second = new Uint32Array(this.#text.length + 1);
    }
    let [a, b] = [this.#first[this.#upto] as number, this.#second[this.#upto] as number];
    for (let i = this.#upto; i < end; i++) {
      const character = this.#text.charCodeAt(i);
      a = (a * bases[0] + character) % primes[0];
      b = (b * bases[1] + character) % primes[1];
      this.#first[i + 1] = a;
      this.#second[i + 1] = b;
    }
    this.#upto = end;
  }
}

const joined = (a: number, b: number): number => a * 2 ** 26 + b;

function difference(whole: number, before: number, prime: number): number {
  const left = whole - (before % prime);
  return left < 0 ? left + prime : left;
}

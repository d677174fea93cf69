/**
 * Finds values in texts in time that grows with the text, whatever the text and the values look
 * like. Eight characters from the middle of each form are its anchor, because many forms share
 * beginnings such as `sk_live_` and ends such as `==`. One pass over the text keeps a rolling hash
 * of four characters. Where a table of bits says that an anchor may begin, eight characters are
 * looked up. Only there are forms compared: by the hash of as many characters of the text as the
 * form has, which takes the same time for every length, and then, if the hashes are equal,
 * character by character.
 */
import { formsOf, shortest } from './forms.js';
import { hashOf, RangeHashes, type RangeLength, rangeLength } from './range-hashes.js';

interface Form {
  readonly text: string;
  readonly name: string;
  /** The scan that found the form last, and where that match ended. */
  scan: number;
  end: number;
}

/** The forms of one length with the same anchor, by their hash. */
interface SameLength {
  readonly range: RangeLength;
  /** Where the anchor begins in each of them. */
  readonly offset: number;
  readonly forms: Map<number, Form[]>;
}

interface Hit {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

const filterBits = 20;
const filterMask = (1 << filterBits) - 1;
/** After four characters the first has been shifted out. */
const shift = filterBits / 4;
const next = (hash: number, char: number) => ((hash << shift) ^ char) & filterMask;

/**
 * So that a process that lives for years among tenants with secrets of their own does not grow for
 * ever.
 */
const mostValues = 10_000;

export class Redactor {
  readonly #names = new Map<string, string>();
  #filter: Uint8Array | undefined;
  #anchors = new Map<string, SameLength[]>();
  #known = new Set<string>();
  #scans = 0;

  /** How many values are known. */
  get size(): number {
    return this.#names.size;
  }

  /**
   * From now on this value is kept out of every text. One that is too short to be found is refused
   * before it comes here.
   */
  add(name: string, value: string): void {
    if (value.length < shortest || this.#names.get(value) === name) return;
    const known = this.#names.has(value);
    this.#names.set(value, name);
    // the same value under another name: one name is enough to say what was there
    if (known) return;
    if (this.#names.size > mostValues) this.#forgetOldest();
    this.#learn(name, value);
  }

  #learn(name: string, value: string): void {
    this.#filter ??= new Uint8Array(1 << filterBits);
    for (const text of formsOf(value)) {
      if (this.#known.has(text)) continue;
      this.#known.add(text);
      const offset = (text.length - shortest) >> 1;
      const anchor = text.slice(offset, offset + shortest);
      let hash = 0;
      for (let i = 0; i < 4; i++) hash = next(hash, anchor.charCodeAt(i));
      this.#filter[hash] = 1;
      const lengths = this.#anchors.get(anchor) ?? [];
      if (lengths.length === 0) this.#anchors.set(anchor, lengths);
      let same = lengths.find(({ range }) => range.length === text.length);
      if (!same) {
        same = { range: rangeLength(text.length), offset, forms: new Map() };
        lengths.push(same);
      }
      const form: Form = { text, name, scan: 0, end: 0 };
      const key = hashOf(text);
      const alike = same.forms.get(key);
      if (alike) alike.push(form);
      else same.forms.set(key, [form]);
    }
  }

  #forgetOldest(): void {
    for (const value of [...this.#names.keys()].slice(0, mostValues / 10))
      this.#names.delete(value);
    this.#filter = undefined;
    this.#anchors = new Map();
    this.#known = new Set();
    for (const [value, name] of this.#names) this.#learn(name, value);
  }

  /** The names of the values that stand in a text, in any of their forms. */
  find(text: string): string[] {
    return [...new Set(this.#hits(text).map(({ name }) => name))];
  }

  /** The text with every value replaced by «secret NAME». */
  redact(text: string): string {
    const hits = this.#hits(text);
    if (hits.length === 0) return text;
    hits.sort((a, b) => a.start - b.start || b.end - a.end);
    let safe = '';
    let upto = 0;
    for (const { start, end, name } of hits) {
      if (start >= upto) safe += `${text.slice(upto, start)}«secret ${name}»`;
      upto = Math.max(upto, end);
    }
    return safe + text.slice(upto);
  }

  #hits(text: string): Hit[] {
    const filter = this.#filter;
    const hits: Hit[] = [];
    if (!filter || text.length < shortest) return hits;
    const scan = ++this.#scans;
    const hashes = new RangeHashes(text);
    let hash = 0;
    for (let i = 0; i < text.length; i++) {
      hash = next(hash, text.charCodeAt(i));
      if (i < 3 || filter[hash] === 0) continue;
      const at = i - 3;
      for (const { range, offset, forms } of this.#anchors.get(text.slice(at, at + shortest)) ??
        []) {
        const start = at - offset;
        const end = start + range.length;
        if (start < 0 || end > text.length) continue;
        for (const form of forms.get(hashes.at(start, range)) ?? []) {
          // Matches of one form do not overlap, so each character is compared once per form at
          // most.
          if ((form.scan === scan && start < form.end) || !text.startsWith(form.text, start))
            continue;
          form.scan = scan;
          form.end = end;
          hits.push({ start, end, name: form.name });
        }
      }
    }
    return hits;
  }
}

/**
 * What this process has been given. One for all its connections: a value that came by one must not
 * leave by another.
 */
export const knownSecrets = new Redactor();

/**
 * Finds values in texts, in time that grows with the text and not with the number of values. Of each form eight characters from its middle are its anchor
 * (beginnings such as `sk_live_` and ends such as `==` are shared by many). A pass over the text keeps a rolling hash of four characters; only where a table
 * of bits says that an anchor may begin there are eight characters looked up, and only then is a form compared.
 */
import { formsOf, shortest } from './forms.js';

interface Form {
  readonly text: string;
  readonly name: string;
  /** Where in the form its anchor begins. */
  readonly offset: number;
  readonly scan: { number: number; end: number };
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

/** So that a process that lives for years among tenants with secrets of their own does not grow for ever. */
const mostValues = 10_000;

export class Redactor {
  readonly #names = new Map<string, string>();
  #filter: Uint8Array | undefined;
  #anchors = new Map<string, Form[]>();
  #known = new Set<string>();
  #scans = 0;

  /** How many values are known. */
  get size(): number {
    return this.#names.size;
  }

  /** From now on this value is kept out of every text. One that is too short to be found is refused before it comes here. */
  add(name: string, value: string): void {
    if (value.length < shortest || this.#names.get(value) === name) return;
    const known = this.#names.has(value);
    this.#names.set(value, name);
    if (known) return; // the same value under another name: one name is enough to say what was there
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
      const forms = this.#anchors.get(anchor);
      const form = { text, name, offset, scan: { number: 0, end: 0 } };
      if (forms) forms.push(form);
      else this.#anchors.set(anchor, [form]);
    }
  }

  #forgetOldest(): void {
    for (const value of [...this.#names.keys()].slice(0, mostValues / 10)) this.#names.delete(value);
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
    const number = ++this.#scans;
    let hash = 0;
    for (let i = 0; i < text.length; i++) {
      hash = next(hash, text.charCodeAt(i));
      if (i < 3 || filter[hash] === 0) continue;
      const at = i - 3;
      for (const { text: form, name, offset, scan } of this.#anchors.get(text.slice(at, at + shortest)) ?? []) {
        const start = at - offset;
        // A value of one character many times would match at every place of such a text, and be compared at each.
        if (start < 0 || (scan.number === number && start < scan.end) || !text.startsWith(form, start)) continue;
        scan.number = number;
        scan.end = start + form.length;
        hits.push({ start, end: scan.end, name });
      }
    }
    return hits;
  }
}

/** What this process has been given. One for all its connections: a value that came by one must not leave by another. */
export const knownSecrets = new Redactor();

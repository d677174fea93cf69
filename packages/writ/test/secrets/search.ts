/**
 * Looks for a value in bytes by means of its own: it shares no code with what is meant to keep the
 * value out.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestDatabase } from '../../src/testing/index.js';

/**
 * Everything that stands in a database, by table: each row as text, and each bytea once more as the
 * bytes that it is.
 */
export async function everyTable(db: TestDatabase): Promise<Map<string, Buffer>> {
  const tables = await db.query(
    `select c.oid::regclass::text as name from pg_class c where c.relkind in ('r', 'm') and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) order by 1`,
  );
  const found = new Map<string, Buffer>();
  for (const { name } of tables) {
    const rows = await db.query(`select t::text as row, to_jsonb(t)::text as json from ${name} t`);
    const texts = rows.map(({ row, json }) => `${row}\n${json}`).join('\n');
    const bytes = [...texts.matchAll(/\\x((?:[0-9a-f]{2})+)/g)].map((match) =>
      Buffer.from(match[1] as string, 'hex'),
    );
    found.set(String(name), Buffer.concat([Buffer.from(texts), ...bytes]));
  }
  return found;
}

export function everyFile(folder: string): Map<string, Buffer> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((entry) => [
      join(entry.parentPath, entry.name),
      readFileSync(join(entry.parentPath, entry.name)),
    ]),
  );
}

/** In which forms a value stands in some bytes. */
export function formsIn(bytes: Buffer, value: string): string[] {
  const forms: Record<string, boolean> = {
    raw: bytes.includes(value),
    json: bytes.includes(JSON.stringify(value).slice(1, -1)),
  };
  const text = bytes.toString('latin1');
  forms.hex = text.toLowerCase().includes(Buffer.from(value).toString('hex'));
  forms.url =
    decodedAddresses(text).includes(value) ||
    decodedAddresses(text.replaceAll('+', ' ')).includes(value);
  // Every run of characters of base64, read from each place where its bytes may begin.
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{10,}/g)) {
    for (let from = 0; from < 4; from++)
      if (Buffer.from(run.slice(from), 'base64').includes(value)) forms.base64 = true;
  }
  return Object.keys(forms).filter((form) => forms[form]);
}

const decodedAddresses = (text: string): string =>
  Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, digits) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    ),
    'latin1',
  ).toString('utf8');

// Writes sql/predecessor.json: what the release before this one has, so that `migrate` knows what
// may go. Part of making a release.
//   node scripts/record-predecessor.mjs FOLDER    of the unpacked package writ of that release
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readRelease } from '../packages/writ/dist/database/schema.js';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('which folder?');
const { version, objects } = readRelease(pathToFileURL(`${resolve(folder)}/`));
writeFileSync(
  new URL('../packages/writ/sql/predecessor.json', import.meta.url),
  `${JSON.stringify({ version, objects: objects.map(({ name }) => name).sort() }, undefined, 2)}\n`,
);

// Writes what is derived from declarations: the guards and event types in sql/, and the reference
// pages. A test runs this and compares.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { generatedFiles } from './generated.mjs';
import { withGeneratedParts } from './layers.mjs';

const root = new URL('../', import.meta.url);
for (const [path, content] of Object.entries(generatedFiles())) {
  const file = new URL(path, root);
  mkdirSync(dirname(file.pathname), { recursive: true });
  writeFileSync(file, content);
}
const architecture = new URL('ARCHITECTURE.md', root);
writeFileSync(architecture, withGeneratedParts(readFileSync(architecture, 'utf8')));

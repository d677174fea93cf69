// @ts-check
// The installed version of a peer, read from its package.json: not every package exports that file.
import { readFileSync } from 'node:fs';

/** @param {string} name */
export function packageVersion(name) {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return /** @type {string} */ (JSON.parse(readFileSync(file, 'utf8')).version);
}

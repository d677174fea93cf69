// @ts-check
// The build that is measured: the repository's own, or the one in the folder that WRIT_BENCH_BUILD
// names (another checkout's dist/). Imported through a variable, so that type checks of this folder
// do not need it.
import { pathToFileURL } from 'node:url';

const { WRIT_BENCH_BUILD: folder } = process.env;
export const build = folder
  ? pathToFileURL(`${folder}/`)
  : new URL('../packages/writ/dist/', import.meta.url);

/** Imports a file of the build. @param {string} [file] */
export const built = (file = 'index.js') => import(new URL(file, build).href);

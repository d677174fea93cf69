/**
 * JavaScript modules that a command is given: what they export, and what is wrong with one that
 * cannot be loaded, in words.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyStepType } from '../governance/steps.js';
import type { ActionKind } from '../governor/actuators/handler.js';
import { exitCodes, Failure, wrongUsage } from './failure.js';

export async function importFile(file: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(resolve(file)).href;
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException & { url?: string };
    if (code === 'ERR_MODULE_NOT_FOUND' && (error as { url?: string }).url === url) {
      throw wrongUsage(
        `${file} does not exist.`,
        'Check the path; it is taken from the current folder.',
      );
    }
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION' || code === 'ERR_UNSUPPORTED_DIR_IMPORT') {
      throw wrongUsage(
        `${file} is not JavaScript that this Node (${process.version}) can load.`,
        'Compile it first, or run a newer Node for TypeScript.',
      );
    }
    throw new Failure(
      exitCodes.failed,
      'import_failed',
      `${file} cannot be loaded: ${message}`,
      'Mend the module; --debug shows where.',
      {
        cause: error,
      },
    );
  }
}

/** By shape, not by class: the module may have a copy of the package of its own. */
function isStepType(value: unknown): value is AnyStepType {
  const { type, read, apply, revert, job } = (
    typeof value === 'function' ? value : {}
  ) as Partial<AnyStepType>;
  return (
    typeof type === 'string' &&
    [read, apply, revert].every((each) => typeof each === 'function') &&
    typeof job?.kind === 'string'
  );
}

function isAction(value: unknown): value is ActionKind {
  const { type, run, job } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as Partial<ActionKind> & { job?: unknown };
  return typeof type === 'string' && typeof run === 'function' && job === undefined;
}

/** What is of this sort among the exports of these files, by themselves or in arrays. */
async function exportsOf<Item extends { readonly type: string }>(
  files: readonly string[],
  what: string,
  is: (value: unknown) => value is Item,
): Promise<Item[]> {
  const found = new Map<string, { item: Item; file: string }>();
  for (const file of files) {
    for (const item of Object.values(await importFile(file))
      .flat()
      .filter(is)) {
      const other = found.get(item.type);
      if (other && other.item !== item)
        throw wrongUsage(
          `The ${what} ${item.type} is defined twice, in ${other.file} and in ${file}.`,
          'Keep one of them.',
        );
      found.set(item.type, { item, file });
    }
  }
  return [...found.values()].map(({ item }) => item);
}

/** Types of steps, made by defineStep. */
export const stepTypesIn = (files: readonly string[]): Promise<AnyStepType[]> =>
  exportsOf(files, 'step type', isStepType);

/** Types of action, made by defineAction. */
export const actionsIn = (files: readonly string[]): Promise<ActionKind[]> =>
  exportsOf(files, 'action', isAction);

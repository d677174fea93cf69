/**
 * Contracts as files, for git: YAML or JSON, or a module whose default export is a proposal. What
 * nobody would read is refused, for it may be what matters, misspelt.
 */
import { extname } from 'node:path';
import type { Proposal } from '../../governance/contracts.js';
import type { AnyStepType, ChangeStep, StepType } from '../../governance/steps.js';
import { refuseInexact } from '../exact.js';
import { wrongUsage } from '../failure.js';
import { textOf } from '../files.js';
import { importFile, stepTypesIn } from '../modules.js';

export const modules = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

const known = [
  'title',
  'description',
  'risk',
  'scope',
  'steps',
  'source',
  'issueId',
  'confidence',
  'windowHours',
  'maxDuration',
  'stepTimeout',
  'parent',
] as const satisfies readonly (keyof Proposal)[];

const shape = `A contract has title, scope and steps, for example:

        title: Launch checkout
        risk: medium
        scope: [checkout]
        steps:
          - { type: capability_enable, capability_name: checkout, target_lifecycle: LAUNCHED }`;

export interface ReadProposal {
  readonly proposal: Proposal;
  /** Those of the --steps files, and those that the module exports besides. */
  readonly types: readonly AnyStepType[];
}

export async function readProposal(
  file: string,
  stepFiles: readonly string[] = [],
): Promise<ReadProposal> {
  const isModule = modules.includes(extname(file));
  const types = await stepTypesIn(isModule ? [...stepFiles, file] : stepFiles);
  const given = isModule ? (await importFile(file)).default : await parseFile(file);
  if (given === undefined && isModule)
    throw wrongUsage(
      `${file} has no default export.`,
      'Export the proposal: export default { title, scope, steps }.',
    );
  return { proposal: checked(given, file, types), types };
}

/** The value in a file of YAML or JSON. A number that is not exact is refused, not rounded. */
export async function parseFile(file: string): Promise<unknown> {
  const text = textOf(file, 'file');
  const { parseDocument } = await import('yaml'); // by the few commands that need it
  const document = parseDocument(text, { uniqueKeys: true });
  const [error] = document.errors;
  if (error) {
    const [first = ''] = error.message.split('\n');
    throw wrongUsage(`${file} is not YAML: ${first.replace(/:$/, '.')}`, 'Mend the file.', {
      cause: error,
    });
  }
  await refuseInexact(document, text, file);
  return document.toJS({ maxAliasCount: 100 });
}

function checked(given: unknown, file: string, types: readonly AnyStepType[]): Proposal {
  if (!isObject(given)) throw wrongUsage(`${file} holds no contract.`, shape);
  const unread = Object.keys(given).find((key) => !(known as readonly string[]).includes(key));
  if (unread !== undefined)
    throw wrongUsage(
      `${file} says ${unread}, which nobody reads.`,
      `A contract may say ${known.join(', ')}.`,
    );
  const { title, scope, steps } = given;
  if (typeof title !== 'string') throw wrongUsage(`The contract in ${file} has no title.`, shape);
  if (!Array.isArray(scope) || scope.some((name) => typeof name !== 'string'))
    throw wrongUsage(`The contract in ${file} has no scope: a list of what it may affect.`, shape);
  if (!Array.isArray(steps) || !steps.every(isObject))
    throw wrongUsage(`The contract in ${file} has no steps: a list of changes.`, shape);
  return {
    ...given,
    steps: steps.map((step, n) => ownStep(step, n, file, types)),
  } as unknown as Proposal;
}

/**
 * A step of a type of one's own, in a file: `type` and `value`, from which the type itself knows
 * the target.
 */
function ownStep(
  step: Record<string, unknown>,
  n: number,
  file: string,
  types: readonly AnyStepType[],
): ChangeStep | Record<string, unknown> {
  const type = types.find(({ type: name }) => name === step.type) as unknown as
    | StepType<unknown>
    | undefined;
  if (!type) return step;
  const unread = Object.keys(step).find((key) => key !== 'type' && key !== 'value');
  if (unread !== undefined || step.value === undefined)
    throw wrongUsage(
      unread === undefined
        ? `Step ${n + 1} of ${file} has no value.`
        : `Step ${n + 1} of ${file} says ${unread}, which nobody reads.`,
      `A step of type ${type.type} says type and value.`,
    );
  return type(step.value);
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

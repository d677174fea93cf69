/** Governor policies as files, for git: YAML or JSON, or a module whose default export is one. */
import { extname } from 'node:path';
import { validatePolicy } from '../../governor/policy.js';
import type { PolicyDocument } from '../../governor/policy-document.js';
import { wrongUsage } from '../failure.js';
import { isObject, modules, parseFile } from '../governance/proposal.js';
import { importFile } from '../modules.js';

const shape = `A policy has policy_id, when and then, for example:

        policy_id: error-budget
        when: { error_rate: { above: 0.05, clearBelow: 0.01, cooldown: 5m } }
        then: { type: disable_flag, actuator: { kind: handler }, target: checkout, requires: flags:write, inverse: enable_flag }`;

/** Refuses with the place in the policy that is wrong. */
export async function readPolicy(file: string): Promise<PolicyDocument> {
  const isModule = modules.includes(extname(file));
  const given = isModule ? (await importFile(file)).default : await parseFile(file);
  if (given === undefined && isModule)
    throw wrongUsage(
      `${file} has no default export.`,
      'Export the policy: export default definePolicy(ID, { when, then }).',
    );
  if (!isObject(given)) throw wrongUsage(`${file} holds no policy.`, shape);
  return validatePolicy(given);
}

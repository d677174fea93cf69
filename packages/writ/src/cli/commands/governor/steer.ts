/** What a person asks of a governor: `writ governor act` and `writ governor ack`. */
import { type Command, InvalidArgumentError } from 'commander';
import { isUuid } from '../../../database/uuid.js';
import { outOfBounds } from '../../../governor/decide/acts.js';
import type { ActionRule, Parameters } from '../../../governor/policy-document.js';
import { contextOf, notBlank } from '../../command.js';
import { wrongUsage } from '../../failure.js';
import { type KeyOptions, whoActs, withKey } from '../../governance/session.js';
import { plain } from '../../governance/words.js';
import { type GovernorAt, governorAt, governorOf, name, nameOf } from '../../governor/session.js';

interface ActOptions extends KeyOptions {
  readonly param?: Parameters;
  readonly id?: string;
}

interface AckOptions extends KeyOptions {
  readonly reason: string;
}

/** The product may be left out before the last argument, which is what it is about. */
function meant(
  tenant: string,
  second: string,
  third: string | undefined,
): { at: GovernorAt; what: string } {
  return third === undefined
    ? { at: governorAt(tenant), what: second }
    : { at: governorAt(tenant, name(second)), what: third };
}

/** Numbers and booleans as such, everything else as text. */
function parameter(text: string, before: Parameters = {}): Parameters {
  const [, key, value = ''] = /^([A-Za-z][\w.-]*)=(.*)$/s.exec(text) ?? [];
  if (key === undefined) throw new InvalidArgumentError('Write NAME=VALUE: replicas_delta=3.');
  const number = /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
  return {
    ...before,
    [key]: value === 'true' ? true : value === 'false' ? false : (number ?? value),
  };
}

function actionId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('The id of an action is a UUID.');
}

/** What the policy says of a parameter. */
function allowed({ bounds, parameters }: ActionRule, name: string): string {
  const bound = Object.hasOwn(bounds, name) ? bounds[name] : undefined;
  if (!bound)
    return `The policy has ${Object.hasOwn(parameters, name) ? `${name}=${parameters[name]}, without bounds` : 'no such parameter'}.`;
  return 'in' in bound
    ? `The policy allows ${bound.in.join(', ')}.`
    : `The policy allows ${bound.min} to ${bound.max}.`;
}

const withPlace = (command: Command, last: string, words: string): Command =>
  command
    .usage(`<tenant> [sku] <${last}> [options]`)
    .argument('<tenant>', 'whose governor it is', name)
    .argument('<sku>', 'of which product; left out, it is `default`', notBlank)
    .argument(`[${last}]`, words, notBlank);

export function addAct(group: Command): void {
  withKey(withPlace(group.command('act'), 'type', 'the type of the action, as its policy names it'))
    .description('ask a governor for an action of its policy; it is checked like any other')
    .option(
      '--param <name=value>',
      'a parameter, within the bounds of the policy; may be repeated; those of the policy otherwise',
      parameter,
    )
    .option(
      '--id <id>',
      'the id that the action is to have, so that a call that was not answered can be made again',
      actionId,
    )
    .action(
      async (
        tenant: string,
        second: string,
        third: string | undefined,
        options: ActOptions,
        command: Command,
      ) => {
        const { at, what: type } = meant(tenant, second, third);
        const who = whoActs(options);
        const { output, session } = contextOf(command);
        await session(async (db) => {
          const governor = await governorOf(db, at);
          const { document } = await governor.policy();
          const rule =
            document && Object.hasOwn(document.actions, type) ? document.actions[type] : undefined;
          // Asking for what it does not have, or beyond what it allows, would make it refuse everything until it looks again.
          if (!rule)
            throw wrongUsage(
              plain(`The policy of ${nameOf(at)} has no action ${type}.`),
              plain(`It has ${Object.keys(document?.actions ?? {}).join(', ') || 'none'}.`),
            );
          const parameters = { ...rule.parameters, ...options.param };
          const [beyond] = outOfBounds(rule, parameters);
          if (beyond !== undefined)
            throw wrongUsage(
              plain(`${type} may not be asked for with ${beyond}=${parameters[beyond]}.`),
              plain(allowed(rule, beyond)),
            );
          const id = await governor.act(type, parameters, {
            as: who,
            ...(options.id !== undefined && { id: options.id }),
          });
          if (output.json) output.data({ ...at, actionId: id, actionType: type });
          else
            output.line(
              plain(
                `Asked for ${type}: action ${id}. \`writ governor watch ${nameOf(at)}\` shows what becomes of it.`,
              ),
            );
        });
      },
    );
}

export function addAck(group: Command): void {
  withKey(
    withPlace(
      group.command('ack'),
      'cause',
      'the cause that is seen to, as `writ governor show` names it',
    ),
  )
    .description(
      'say that you have seen to what only a person can clear: rollback_failed, nondeterminism, crash or action_timeout',
    )
    .requiredOption(
      '--reason <text>',
      'what was done about it, in ten characters or more',
      notBlank,
    )
    .action(
      async (
        tenant: string,
        second: string,
        third: string | undefined,
        options: AckOptions,
        command: Command,
      ) => {
        const { at, what: cause } = meant(tenant, second, third);
        const who = whoActs(options);
        const { output, session } = contextOf(command);
        await session(async (db) =>
          (await governorOf(db, at)).acknowledge(cause, { as: who, reason: options.reason }),
        );
        if (output.json) output.data({ ...at, cause, acknowledged: true });
        else
          output.line(
            plain(
              `Noted: ${cause} is seen to. The governor looks whether everything is there, and goes on by itself.`,
            ),
          );
      },
    );
}

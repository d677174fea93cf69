/** `writ webhooks show`: one webhook, why it is as it is, and what to do about it. */
import type { Command } from 'commander';
import type { Delivery, ListedDestination } from '../../../outbox/destinations.js';
import { contextOf } from '../../command.js';
import {
  addressOf,
  destinationOf,
  destinationsOf,
  lagOf,
  withName,
} from '../../outbox/destinations.js';
import { ago, count, oneLine, plural, span } from '../../output.js';
import { databaseNow } from '../runs/session.js';
import { stateOf } from './list.js';

export function addShow(webhooks: Command): void {
  withName(
    webhooks.command('show').description('one webhook: how it is, why, and what to do'),
  ).action(async (name: string, _options: unknown, command: Command) => {
    const { output, session } = contextOf(command);
    await session(async (db) => {
      const one = await destinationOf(db, name);
      const [failed] = await destinationsOf(db).deliveries(name, { failed: true, limit: 1 });
      const now = await databaseNow(db);
      const todo = adviceOn(one, now);
      if (output.json) return output.data({ ...one, ...(failed && { lastFailure: failed }), todo });
      output.pairs([
        ['webhook', output.style('bold', one.name)],
        ['url', oneLine(addressOf(one))],
        ['secrets', oneLine([one.config.secrets].flat().join(', '))],
        ['types', one.types.join(', ')],
        ['tenant', one.tenant === undefined ? 'all' : oneLine(one.tenant)],
        ['state', `${stateOf(output, one)}${one.note ? `: ${oneLine(one.note)}` : ''}`],
        [
          'next try',
          one.retryAt && Date.parse(one.retryAt) > now
            ? `in ${span(Date.parse(one.retryAt) - now)}`
            : undefined,
        ],
        ['relay', one.relay],
        ['behind', lagOf(one, now) ?? 'no'],
        ['undelivered', count(one.undelivered)],
        ['dead letters', count(one.dead)],
        ['last failure', failed && failureOf(failed, now)],
      ]);
      if (todo.length > 0) output.line();
      for (const line of todo) output.line(`→ ${line}`);
    });
  });
}

const failureOf = ({ at, reason, status }: Delivery, now: number) =>
  oneLine(`${ago(new Date(at), new Date(now))}: ${reason ?? status ?? 'no answer'}`);

/** What a person can do about it; nothing where all is well. */
export function adviceOn(one: ListedDestination, nowMs: number): string[] {
  const { name, state, failures, dead, behindSince, relay, retryAt } = one;
  const waits = retryAt !== undefined && Date.parse(retryAt) > nowMs;
  return [
    state === 'paused' &&
      `Nothing is lost while it is paused. See to its receiver, then \`writ webhooks resume ${name}\`.`,
    state === 'active' &&
      failures > 0 &&
      `It accepted nothing in ${plural(failures, 'call')}. See to its receiver: it goes on by itself, or at once with \`writ webhooks resume ${name}\`.`,
    dead > 0 &&
      `\`writ events dead-letters ${name}\` says why; \`writ events replay ${name} --all-dead\` tells them again.`,
    state === 'active' &&
      failures === 0 &&
      behindSince !== undefined &&
      relay === undefined &&
      !waits &&
      'No relay is telling it anything at this moment: is `writ relay` running?',
  ].filter((line): line is string => line !== false);
}

/** What else is said about a contract: `writ contracts reject`, `submit`, `escalate`, `request-clarification`, `clarify`. */
import type { Command } from 'commander';
import type { As } from '../../../governance/actor.js';
import type { Contract, Reviewed } from '../../../governance/contracts.js';
import { contextOf, notBlank } from '../../command.js';
import { rowOf, showObstacles } from '../../governance/preview.js';
import {
  actingAs,
  contractId,
  governanceOf,
  type KeyOptions,
  withKey,
} from '../../governance/session.js';
import { contractStyle, plain } from '../../governance/words.js';

interface Options extends KeyOptions {
  readonly reason: string;
}

interface Review {
  readonly name: string;
  readonly description: string;
  /** What --reason is; without it there is none. */
  readonly reason?: string;
  readonly say: (contract: Contract, as: As, reason: string) => Promise<Reviewed>;
}

const reviews: readonly Review[] = [
  {
    name: 'reject',
    description: 'it will not be done; that is its end',
    reason: 'why, for whoever proposed it, in more than ten characters',
    say: (contract, as, reason) => contract.reject({ ...as, reason }),
  },
  {
    name: 'submit',
    description: 'validate and qualify a draft, or one that was not eligible when it was tried',
    say: (contract, as) => contract.submit(as),
  },
  {
    name: 'escalate',
    description: 'tell others of it: critical risk needs that besides its approvals',
    reason: 'why it cannot wait',
    say: (contract, as, reason) => contract.escalate({ ...as, reason }),
  },
  {
    name: 'request-clarification',
    description: 'ask whoever proposed it; the clock of the review stops',
    reason: 'what you want to know',
    say: (contract, as, reason) => contract.requestClarification({ ...as, reason }),
  },
  {
    name: 'clarify',
    description: 'answer; the clock goes on',
    reason: 'the answer',
    say: (contract, as, reason) => contract.clarify({ ...as, reason }),
  },
];

export function addReviews(contracts: Command): void {
  for (const { name, description, reason, say } of reviews) {
    const command = withKey(contracts.command(name))
      .description(description)
      .argument('<contract>', 'id of the contract', contractId);
    if (reason !== undefined) command.requiredOption('--reason <text>', reason, notBlank);
    command.action(async (id: string, options: Options, self: Command) => {
      const { output, session } = contextOf(self);
      await session(async (db) => {
        const contract = governanceOf(db).contracts.get(id);
        const { status, approvals, approvalsNeeded } = await say(
          contract,
          await actingAs(db, options),
          options.reason,
        );
        if (output.json) {
          output.data({ contractId: id, status, approvals, approvalsNeeded });
          return;
        }
        const row = await rowOf(contract);
        output.line(`${plain(row.title)} is ${output.style(contractStyle[status], status)}.`);
        if (status === 'VALIDATED') showObstacles(output, row);
      });
    });
  }
}

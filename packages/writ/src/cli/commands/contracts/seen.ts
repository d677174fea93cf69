/** What `approve` and `activate` begin with: the preview is shown, compared with what somebody says to have seen, and asked about. */
import { type Command, InvalidArgumentError } from 'commander';
import { WritRefusal } from '../../../errors/index.js';
import type { Contract } from '../../../governance/contracts.js';
import type { Principal } from '../../../governance/keys.js';
import { contextOf } from '../../command.js';
import { answersYes } from '../../confirm.js';
import type { Session } from '../../connection.js';
import { previewOf, showPreview } from '../../governance/preview.js';
import {
  type KeyOptions,
  type ReadingOptions,
  readingGovernance,
  whoActs,
} from '../../governance/session.js';
import type { Output } from '../../output.js';

export interface SeenOptions extends KeyOptions, ReadingOptions {
  readonly yes?: boolean;
  readonly hash?: string;
}

export interface Seen {
  readonly db: Session;
  readonly output: Output;
  readonly contract: Contract;
  readonly who: Principal;
  readonly preview: Awaited<ReturnType<typeof previewOf>>['preview'];
  /** Whether somebody says yes who has seen it; where nobody can be asked, it is a no, unless --yes was given. */
  agreed(question: string): Promise<boolean>;
}

export function hashOf(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError(
    'The hash of a preview has 64 hexadecimal digits; `writ contracts preview` shows it.',
  );
}

export async function afterPreview(
  id: string,
  options: SeenOptions,
  command: Command,
  go: (seen: Seen) => Promise<void>,
): Promise<void> {
  const governance = await readingGovernance(options);
  const who = whoActs(options);
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const contract = governance(db).contracts.get(id);
    const previewed = await previewOf(contract, { as: who });
    const { preview } = previewed;
    if (!output.json) showPreview(output, previewed);
    if (options.hash !== undefined && options.hash !== preview.hash)
      throw new WritRefusal(
        'approval_void',
        `the preview’s hash is ${preview.hash}, and not ${options.hash}`,
      );
    if (!output.json) output.line();
    const agreed = async (question: string) =>
      options.yes === true ||
      (output.live &&
        process.stdin.isTTY &&
        (await answersYes(question, process.stdin, process.stdout)));
    await go({ db, output, contract, who, preview, agreed });
  });
}

/** `writ governor policy`: what a governor watches and does about it. A new version is shown as what it changes, asked about, and published. */
import type { Command } from 'commander';
import { policyHash } from '../../../governor/policy.js';
import type { PolicyDocument } from '../../../governor/policy-document.js';
import { contextOf, wholeNumber } from '../../command.js';
import { answersYes } from '../../confirm.js';
import type { Session } from '../../connection.js';
import { exitCodes, Failure } from '../../failure.js';
import { type KeyOptions, whoActs, withKey } from '../../governance/session.js';
import { plain } from '../../governance/words.js';
import { newestPolicy, type PolicyRow } from '../../governor/look.js';
import { readPolicy } from '../../governor/policy-file.js';
import { changeLines, changesOf, permissionsOf, policyLines } from '../../governor/policy-words.js';
import {
  type GovernorAt,
  governorAt,
  governorOf,
  governorsOf,
  nameOf,
  withGovernor,
} from '../../governor/session.js';
import type { Output } from '../../output.js';
import { moment } from '../../runs/words.js';

interface AskOptions extends KeyOptions {
  readonly yes?: boolean;
}

interface PublishOptions extends AskOptions {
  readonly shadow?: boolean;
}

const fileHelp =
  'YAML or JSON with policy_id, when and then, or a module whose default export is what definePolicy made';

export function addPolicy(group: Command): void {
  const policy = group
    .command('policy')
    .description(
      'what a governor watches and does about it: publish, show, withdraw and check policies',
    );
  addPublish(policy);
  addShow(policy);
  addWithdraw(policy);
  policy
    .command('check')
    .description(
      'whether a file holds a policy that can be published, and what it says; without a database',
    )
    .argument('<file>', fileHelp)
    .action(async (file: string, _options: unknown, command: Command) => {
      const { output } = contextOf(command);
      const document = await readPolicy(file);
      const hash = policyHash(document);
      if (output.json) output.data({ valid: true, hash, document });
      else {
        output.line(
          `${output.style('green', '✓')} ${plain(document.policy_id)} can be published. It needs ${needs(document)}.`,
        );
        output.line();
        for (const line of policyLines(document, output.style.bind(output))) output.line(line);
        output.line();
        output.line(`hash ${hash}`);
      }
    });
}

const needs = (document: PolicyDocument): string => {
  const permissions = permissionsOf(document);
  return permissions.length === 0
    ? 'no permission: it only observes'
    : `${permissions.map(plain).join(', ')}`;
};

function addPublish(policy: Command): void {
  withKey(withGovernor(policy.command('publish').argument('<file>', fileHelp)))
    .description(
      'show what a policy would change, ask, and publish it as the next version; the governor is made if there is none',
    )
    .option('--shadow', 'try it out: it decides and writes receipts, and acts on nothing')
    .option('--yes', 'without asking')
    .action(
      async (
        file: string,
        tenant: string,
        sku: string | undefined,
        options: PublishOptions,
        command: Command,
      ) => {
        const document = await readPolicy(file);
        const who = whoActs(options);
        const { output, session } = contextOf(command);
        const at = governorAt(tenant, sku);
        const { shadow = false } = options;
        await session(async (db) => {
          const before = await inForce(db, at);
          const changes = changesOf(before?.document ?? null, document);
          const known = await permissionsNow(db, tenant, document);
          const missing = permissionsOf(document).filter(
            (permission) => !known?.includes(permission),
          );
          const same =
            before?.document && before.hash === policyHash(document) && before.shadow === shadow;
          if (!output.json) {
            output.line(
              `${output.style('bold', plain(document.policy_id))} for ${plain(nameOf(at))}, ${againstWords(before)}`,
            );
            for (const line of changeLines(changes, output.style.bind(output))) output.line(line);
            if (before?.document && before.shadow !== shadow)
              output.line(
                `${output.style('yellow', '~')} ${shadow ? 'it will act on nothing: shadow' : 'it will act, and not only be tried out'}`,
              );
            if (missing.length > 0)
              output.line(`${output.style('yellow', '!')} ${remedyFor(document, missing, known)}`);
          }
          if (same) {
            if (output.json)
              output.data({ ...at, published: false, version: before.version, changes });
            else output.line(`Nothing changes: version ${before.version} is the same.`);
            return;
          }
          if (
            !(await agreed(
              output,
              options,
              `Publish this as ${who.id}${shadow ? ', in shadow' : ''}?`,
            ))
          ) {
            return notDone(
              output,
              { ...at, published: false, changes, missingPermissions: missing },
              'Nothing was published.',
            );
          }
          await unchanged(db, at, before);
          const version = await (await governorsOf(db).open(at)).publish(document, {
            as: who,
            shadow,
          });
          if (output.json)
            output.data({
              ...at,
              published: true,
              version,
              shadow,
              changes,
              missingPermissions: missing,
            });
          else
            output.line(
              `${output.style('green', '✓')} Published as version ${version}${shadow ? ', in shadow' : ''}. \`writ governor watch ${plain(nameOf(at))}\` shows what it does.`,
            );
        });
      },
    );
}

function addShow(policy: Command): void {
  withGovernor(policy.command('show'))
    .description('the policy in force, or an older version')
    .option('--policy-version <n>', 'this version', wholeNumber(1, 2_147_483_647))
    .action(
      async (
        tenant: string,
        sku: string | undefined,
        { policyVersion }: { policyVersion?: number },
        command: Command,
      ) => {
        const { output, session } = contextOf(command);
        await session(async (db) => {
          const row = (await (
            await governorOf(db, governorAt(tenant, sku))
          ).policy(policyVersion)) as PolicyRow;
          if (output.json) return output.data(row);
          output.line(
            `${output.style('bold', plain(row.policy_id))} v${row.version}${row.shadow ? ' (shadow)' : ''}, ${row.document ? 'published' : output.style('yellow', 'withdrawn')} by ${plain(row.published_by)} at ${moment(new Date(row.published_at).toISOString())}`,
          );
          if (!row.document) return;
          output.line();
          for (const line of policyLines(row.document, output.style.bind(output)))
            output.line(line);
          output.line();
          output.line(`hash ${row.hash}`);
        });
      },
    );
}

function addWithdraw(policy: Command): void {
  withKey(withGovernor(policy.command('withdraw')))
    .description(
      'take the policy away: the governor acts on nothing any more, and what is in flight is undone',
    )
    .option('--yes', 'without asking')
    .action(
      async (tenant: string, sku: string | undefined, options: AskOptions, command: Command) => {
        const who = whoActs(options);
        const { output, session } = contextOf(command);
        const at = governorAt(tenant, sku);
        await session(async (db) => {
          const governor = await governorOf(db, at);
          const before = await newestPolicy(db, governor);
          if (!output.json && before?.document) {
            output.line(
              `${output.style('bold', plain(before.policy_id))} v${before.version} of ${plain(nameOf(at))} would be gone:`,
            );
            for (const line of changeLines(
              changesOf(before.document, null),
              output.style.bind(output),
            ))
              output.line(line);
          }
          if (before?.document && !(await agreed(output, options, `Withdraw it as ${who.id}?`)))
            return notDone(output, { ...at, withdrawn: false }, 'Nothing was withdrawn.');
          const version = await governor.withdraw({ as: who });
          if (output.json) output.data({ ...at, withdrawn: true, version });
          else
            output.line(
              `Withdrawn. ${plain(nameOf(at))} acts on nothing until a policy is published.`,
            );
        });
      },
    );
}

/** The newest version of the policy of a governor that may not be there yet. */
async function inForce(db: Session, at: GovernorAt): Promise<PolicyRow | undefined> {
  const [row] = await governorsOf(db)
    .list({ tenant: at.tenant })
    .then((all) => all.filter(({ sku_id }) => sku_id === at.sku));
  return row && newestPolicy(db, { id: String(row.governor_id) });
}

/** Somebody else may have published while this one was thought about: what was agreed to was another change. */
async function unchanged(
  db: Session,
  at: GovernorAt,
  before: PolicyRow | undefined,
): Promise<void> {
  const now = await inForce(db, at);
  if (now?.version === before?.version) return;
  throw new Failure(
    exitCodes.failed,
    'policy_moved',
    `${now?.published_by} has published version ${now?.version} in the meantime.`,
    'Nothing was published. Run it again, and see what it changes now.',
  );
}

function againstWords(before: PolicyRow | undefined): string {
  if (!before) return 'its first policy:';
  return before.document
    ? `against version ${before.version}${before.shadow ? ' (shadow)' : ''}:`
    : `after version ${before.version}, which withdrew the one before:`;
}

/** What the principal of a policy may have done now; undefined: nobody of this name can act in this tenant. */
async function permissionsNow(
  db: Session,
  tenant: string,
  { principal }: PolicyDocument,
): Promise<readonly string[] | undefined> {
  const [row] = await db.rows<{ permissions: string[] }>(
    'select permissions from writ.principal where principal_id = $1 and disabled_at is null and coalesce(tenant_id, $2) = $2',
    [principal, tenant],
  );
  return row?.permissions;
}

function remedyFor(
  { principal }: PolicyDocument,
  missing: readonly string[],
  known: readonly string[] | undefined,
): string {
  const all = [...(known ?? []), ...missing]
    .map((permission) => `--permission ${permission}`)
    .join(' ');
  const command = known
    ? `writ principals put ${principal} ${all}`
    : `writ principals add ${principal} --kind service ${all}`;
  const lacks = known
    ? `${principal} does not have ${missing.join(', ')}`
    : `There is no principal ${principal} that could have ${missing.join(', ')}`;
  return plain(`${lacks}: actions are refused until \`${command}\`.`);
}

/** Where nobody can be asked it is a no, unless --yes was given. */
async function agreed(output: Output, { yes }: AskOptions, question: string): Promise<boolean> {
  return (
    yes === true ||
    (output.live &&
      process.stdin.isTTY &&
      (await answersYes(question, process.stdin, process.stdout)))
  );
}

function notDone(output: Output, data: object, words: string): void {
  process.exitCode = exitCodes.failed; // what was asked for was not done
  if (output.json) output.data(data);
  else output.line(`${words} Where nobody can be asked: --yes`);
}

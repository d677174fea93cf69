/**
 * `writ trust` makes, changes and checks the trust file: the persons and keys whose signatures
 * count for appliers and auditors. It only writes the file. A person reviews and commits the
 * change, like code.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { WritError } from '../../errors/index.js';
import { principal } from '../../governance/keys.js';
import type { KnownPrincipal } from '../../governance/principals.js';
import {
  type Difference,
  isDeciding,
  isOpen,
  type Loss,
  personFrom,
  personIn,
  timeText,
  withDeployment,
  withinFile,
  withoutKeys,
  withPerson,
} from '../../governance/trust/comparison.js';
import {
  isPublicKey,
  type TrustDocument,
  type TrustKey,
  type TrustRight,
  trustRights,
} from '../../governance/trust/file.js';
import { readTrustFile, writeTrustFile } from '../../governance/trust/source.js';
import { type Moment, moment, repeated } from '../command.js';
import { connectionString } from '../connection.js';
import { exitCodes, Failure, wrongUsage } from '../failure.js';
import { unreadable, unwritable } from '../files.js';
import { keyOf } from '../governance/session.js';
import type { Output } from '../output.js';
import { type Call, callOf } from '../shapes.js';
import { withWrit } from '../writ.js';

interface FileOptions extends Record<string, unknown> {
  readonly file?: string;
}

interface AddOptions extends FileOptions {
  readonly publicKey?: string;
  readonly keyFile?: string;
  readonly tenant?: readonly string[];
  readonly right?: readonly TrustRight[];
}

interface RevokeOptions extends FileOptions {
  readonly key?: readonly string[];
  readonly until?: Moment;
  readonly compromisedSince?: Moment;
  readonly offline?: boolean;
}

interface CheckOptions extends FileOptions {
  readonly offline?: boolean;
}

function right(text: string, before: readonly TrustRight[] = []): readonly TrustRight[] {
  const given = trustRights.find((each) => each === text);
  if (given) return [...new Set([...before, given])];
  throw new InvalidArgumentError(`Rights are ${trustRights.join(' and ')}.`);
}

function publicKey(text: string): string {
  if (isPublicKey(text)) return text;
  throw new InvalidArgumentError(
    'It is not an Ed25519 public key: 64 hexadecimal digits in lower case. `writ principals list --json` shows them.',
  );
}

function keyBeginning(text: string, before: readonly string[] = []): readonly string[] {
  if (/^[0-9a-f]{8,64}$/.test(text)) return [...before, text];
  throw new InvalidArgumentError('Give at least the first 8 hexadecimal digits of a public key.');
}

const withFile = (command: Command): Command =>
  command.option(
    '--file <path>',
    'the trust file (default: WRIT_TRUST if it names a file, otherwise writ.trust.json)',
  );

function fileOf({ file }: FileOptions): string {
  const { WRIT_TRUST } = process.env;
  return file ?? (WRIT_TRUST && WRIT_TRUST !== 'database' ? WRIT_TRUST : 'writ.trust.json');
}

export function addTrust(program: Command): void {
  const trust = program
    .command('trust')
    .description(
      'make, change and check the trust file: the persons and keys whose approvals count for appliers and auditors',
    );
  withFile(
    trust
      .command('init')
      .description(
        'make the file from the persons that the database knows, and print what to commit',
      ),
  )
    .option(
      '--person <name>',
      'only this person; repeat it for more (default: everybody who may approve or break the glass)',
      repeated,
    )
    .action((...given) => init(callOf(given)));
  withFile(trust.command('add').description('add a person, or another key of a person'))
    .argument('<name>', 'name of the person, as the database has it')
    .option(
      '--public-key <hex>',
      'the public key (default: the one that the database knows)',
      publicKey,
    )
    .option(
      '--key-file <path>',
      'take the public key from this file, which holds the person’s own secret key',
    )
    .option(
      '--tenant <tenant>',
      'a tenant of the person; repeat it for more (default: as before; of a new person, as in the database)',
      repeated,
    )
    .option(
      '--right <right>',
      'approve or break_glass; repeat it for both (default: as before; of a new person, as in the database)',
      right,
    )
    .action((...given) => add(callOf(given)));
  withFile(
    trust
      .command('revoke')
      .description(
        'end keys of a person; they stay in the file, so that older changes can be verified',
      ),
  )
    .argument('<name>', 'name of the person')
    .option(
      '--key <beginning>',
      'only the key that begins so; repeat it for more (default: every key without an end)',
      keyBeginning,
    )
    .option('--until <time>', 'when they end (default: now)', moment)
    .option('--compromised-since <time>', 'since when somebody else may have had them', moment)
    .option('--offline', 'do not ask a database which open approvals lose their quorum')
    .action((...given) => revoke(callOf(given)));
  withFile(
    trust
      .command('renew')
      .description(
        'take the id that the database has since `writ deployment renew`; the former one stays, so that older changes can be verified',
      ),
  ).action((...given) => renew(callOf(given)));
  withFile(trust.command('check').description('check the file, and compare it with the database'))
    .option('--offline', 'check the file alone')
    .action((...given) => check(callOf(given)));
}

/** Reads the file; its faults are the command's. */
function readTrust(path: string): TrustDocument {
  try {
    return readTrustFile(path);
  } catch (error) {
    throw error instanceof WritError ? error : unreadable(path, 'trust file', error);
  }
}

/** Writes the file, with the faults of the file system in words. */
function writeTrust(path: string, trust: TrustDocument, options?: { isNew: boolean }): void {
  try {
    writeTrustFile(path, trust, options);
  } catch (error) {
    if (error instanceof WritError) throw error;
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, error);
    throw new Failure(
      exitCodes.failed,
      'file_exists',
      `${path} exists. \`writ trust init\` only makes a new file.`,
      'Change it with `writ trust add` and `writ trust revoke`, or choose another --file.',
    );
  }
}

async function init({ options, output }: Call<FileOptions & { person?: readonly string[] }>) {
  const path = fileOf(options);
  const trust = await withWrit(options, (writ) => writ.trust.document(options.person));
  const unknown = options.person?.find((name) => personIn(trust, name) === undefined);
  if (unknown !== undefined)
    throw wrongUsage(
      `The database has no person ${unknown} who may approve or break the glass.`,
      '`writ principals list` shows the persons.',
    );
  if (Object.keys(trust.persons).length === 0)
    throw new Failure(
      exitCodes.failed,
      'nobody_to_trust',
      'The database has no person who may approve or break the glass.',
      'Add one with `writ principals add NAME --kind person`.',
    );
  writeTrust(path, trust, { isNew: true });
  if (output.json) {
    output.data({ file: path, trust });
    return;
  }
  output.line(`Wrote ${path}.`);
  output.line();
  showPersons(output, trust);
  output.line();
  for (const { about, detail } of withinFile(trust, new Date())) output.line(`${about}: ${detail}`);
  output.line(
    'The keys come from the database. Ask each person to compare the key; then commit the file:',
  );
  output.line();
  output.line(`  git add ${path} && git commit -m "Trust these persons to approve changes"`);
  output.line();
  output.line(`Start each worker that applies changes with WRIT_TRUST=${path}.`);
}

function showPersons(output: Output, { persons }: TrustDocument): void {
  output.table(
    ['NAME', 'MAY', 'TENANTS', 'PUBLIC KEY', 'SINCE', 'END'].map((title) => ({ title })),
    Object.entries(persons).flatMap(([name, { rights, tenants, keys }]) =>
      keys.map((key) => [
        name,
        rights.join(', ') || 'nothing',
        tenants.join(', '),
        key.public_key,
        key.since,
        key.compromised_since !== undefined
          ? `compromised since ${key.compromised_since}`
          : (key.until ?? ''),
      ]),
    ),
  );
}

async function add({ args: [name = ''], options, output }: Call<AddOptions>): Promise<void> {
  if (options.publicKey !== undefined && options.keyFile !== undefined)
    throw wrongUsage('Two options name the key.', 'Give --public-key or --key-file.');
  const path = fileOf(options);
  const before = readTrust(path);
  const given =
    options.publicKey ??
    (options.keyFile === undefined ? undefined : publicKeyIn(options.keyFile, name));
  const known = given === undefined ? await knownPerson(options, name) : undefined;
  const isNew = personIn(before, name) === undefined;
  const said = known && isNew ? personFrom(known) : undefined;
  const tenants = options.tenant ?? said?.tenants;
  const rights = options.right ?? said?.rights;
  const after = withPerson(before, name, {
    publicKey: given ?? (known as KnownPrincipal).public_key,
    since: said ? new Date((known as KnownPrincipal).added_at) : new Date(),
    tenants,
    rights,
  });
  const changed = JSON.stringify(before) !== JSON.stringify(after);
  if (changed) writeTrust(path, after);
  const person = personIn(after, name);
  if (output.json) output.data({ file: path, changed, name, person });
  else if (!changed) output.line(`${path} has this key of ${name} already.`);
  else {
    output.line(`${isNew ? 'Added' : 'Changed'} ${name} in ${path}.`);
    showPersons(output, { ...after, persons: { [name]: person as NonNullable<typeof person> } });
    if (known) output.line('The key comes from the database: ask its owner to compare it.');
    output.line('Have the change reviewed, and commit it.');
  }
}

/** The public key of the secret key in a file; a file of somebody else is a mistake. */
function publicKeyIn(keyFile: string, name: string): string {
  const { id, publicKey: found } = principal(keyOf({ keyFile }) as string);
  if (id === name) return found;
  throw wrongUsage(
    `${keyFile} holds the key of ${id}, not of ${name}.`,
    `Give the key file of ${name}.`,
  );
}

async function knownPerson(options: FileOptions, name: string): Promise<KnownPrincipal> {
  const { persons } = await withWrit(options, (writ) => writ.trust.known());
  const known = persons.find((each) => each.principal_id === name && isDeciding(each));
  if (known) return known;
  throw wrongUsage(
    `The database has no person ${name} who may approve or break the glass.`,
    'Give --public-key or --key-file, or add the person with `writ principals add NAME --kind person`.',
  );
}

async function revoke({ args: [name = ''], options, output }: Call<RevokeOptions>) {
  const path = fileOf(options);
  const now = new Date();
  const time = (at: Moment) => timeText(at(now.getTime()));
  const end: Pick<TrustKey, 'until' | 'compromised_since'> = {
    ...(options.compromisedSince && { compromised_since: time(options.compromisedSince) }),
    ...((options.until || !options.compromisedSince) && {
      until: options.until ? time(options.until) : timeText(now),
    }),
  };
  const before = readTrust(path);
  const { trust: after, ended } = withoutKeys(before, name, end, options.key);
  writeTrust(path, after);
  const last = Math.min(
    ...[end.until, end.compromised_since].flatMap((at) => (at === undefined ? [] : Date.parse(at))),
  );
  const at = new Date(Math.max(now.getTime(), last));
  if (!output.json) {
    for (const key of ended)
      output.line(
        `${key.public_key} of ${name} ${end.compromised_since === undefined ? `ends at ${end.until}` : `is compromised since ${end.compromised_since}`}.`,
      );
    output.line('Have the change reviewed, commit it, and bring it to every applier and auditor.');
  }
  const losses = asksDatabase(options)
    ? await withWrit(options, (writ) => writ.trust.losses(before, after, at))
    : undefined;
  if (output.json)
    output.data({
      file: path,
      name,
      ended: ended.map(({ public_key }) => public_key),
      ...end,
      losses: losses ?? null,
    });
  else showLosses(output, losses);
}

function showLosses(output: Output, losses: readonly Loss[] | undefined): void {
  if (!losses) output.line('No database was asked which open approvals lose their quorum.');
  else if (losses.length === 0) output.line('No open approval or template loses its quorum.');
  else {
    output.line();
    output.line('These lose their quorum. Have them approved again:');
    output.table(
      ['CONTRACT', 'STATUS', 'TITLE', 'LOSES', 'HAS'].map((title) => ({ title })),
      losses.map(({ contract_id, status, template, title, lost, persons, quorum }) => [
        contract_id,
        template ? `${status}, template` : status,
        title,
        lost.join(', '),
        `${persons.length} of ${quorum}`,
      ]),
    );
  }
}

async function renew({ options, output }: Call<FileOptions>): Promise<void> {
  const path = fileOf(options);
  const before = readTrust(path);
  const { deployment_id: deployment, since } = await withWrit(options, (writ) =>
    writ.deployment.get(),
  );
  const after = withDeployment(before, { deployment, since });
  const changed = after !== before;
  if (changed) writeTrust(path, after);
  if (output.json) output.data({ file: path, changed, deployment });
  else if (!changed) output.line(`${path} is for deployment ${deployment} already.`);
  else {
    output.line(`${path} is for deployment ${deployment} now.`);
    output.line(
      `What was approved for ${before.deployment} counts for verification only, until ${since}.`,
    );
    output.line('Have the change reviewed, and commit it.');
  }
}

async function check({ options, output }: Call<CheckOptions>): Promise<void> {
  const path = fileOf(options);
  const trust = readTrust(path);
  const now = new Date();
  const compared = asksDatabase(options);
  const differences: Difference[] = [
    ...withinFile(trust, now),
    ...(compared ? await withWrit(options, (writ) => writ.trust.differences(trust, now)) : []),
  ];
  const wrong = differences.some(({ level }) => level === 'problem');
  if (wrong) process.exitCode = exitCodes.failed;
  if (output.json) {
    output.data({
      file: path,
      deployment: trust.deployment,
      compared,
      differences,
    });
    return;
  }
  showPersons(output, trust);
  output.line();
  for (const { level, about, detail } of differences)
    output.line(
      `${level === 'problem' ? output.style('red', 'problem') : output.style('yellow', 'note')}  ${about}: ${detail}`,
    );
  if (differences.some(({ about }) => about === 'deployment'))
    output.line('After `writ deployment renew`, `writ trust renew` takes the new id.');
  const open = Object.values(trust.persons).flatMap(({ keys }) => keys.filter(isOpen)).length;
  output.line(
    `${path} is a valid trust file with ${open} open keys. ${
      !compared
        ? 'It was not compared with a database.'
        : wrong
          ? 'The database differs.'
          : 'It fits the database.'
    }`,
  );
}

/** Whether a database is given. One that is given has to answer. */
function asksDatabase({ offline, databaseUrl }: CheckOptions): boolean {
  if (offline) return false;
  try {
    connectionString(databaseUrl as string | undefined);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.code === 'database_unreachable') return false;
    throw error;
  }
}

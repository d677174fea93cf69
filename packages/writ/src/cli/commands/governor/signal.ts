/** `writ governor signal`: tells a governor what was observed; or what a number stands for, for trying a policy out. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { WritRefusal } from '../../../errors/index.js';
import {
  type GeneratedSignal,
  type GeneratorOptions,
  generateSignals,
} from '../../../governor/generator.js';
import type { Governor, SentSignal, Signalled } from '../../../governor/governors.js';
import type { PolicyDocument, Threshold } from '../../../governor/policy-document.js';
import { contextOf, notBlank, wholeNumber } from '../../command.js';
import { wrongUsage } from '../../failure.js';
import { plain } from '../../governance/words.js';
import { governorAt, governorOf, withGovernor } from '../../governor/session.js';
import { receiptLine } from '../../governor/words.js';
import { type Output, plural } from '../../output.js';
import { Progress } from '../../progress.js';
import { databaseNow } from '../runs/session.js';

interface Options {
  readonly type?: string;
  readonly value?: number;
  readonly source?: NonNullable<SentSignal['source']>;
  readonly severity?: NonNullable<SentSignal['severity']>;
  readonly id?: string;
  readonly generate?: number;
  readonly n: number;
  readonly profile: GeneratorOptions['profile'];
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It is a number, such as 82 or 0.05.');
}

const own = ['type', 'value', 'source', 'severity', 'id'] as const;

export function addSignal(group: Command): void {
  withGovernor(group.command('signal'))
    .description(
      'tell a governor what was observed, and see what became of it; or send many that a number makes',
    )
    .option('--type <type>', 'what was observed, as its policy names it: cpu_utilization', notBlank)
    .option('--value <number>', 'the value observed', number)
    .addOption(
      new Option('--source <source>', 'what kind of system observed it; otherwise custom').choices([
        'monitoring',
        'logging',
        'billing',
        'custom',
      ]),
    )
    .addOption(
      new Option('--severity <severity>', 'how severe it is; otherwise MEDIUM').choices([
        'CRITICAL',
        'HIGH',
        'MEDIUM',
        'LOW',
      ]),
    )
    .option(
      '--id <id>',
      'its id: the same again within a day gets the answer of the first',
      notBlank,
    )
    .option(
      '--generate <seed>',
      'send signals that this number makes, around the thresholds of the policy: the same for the same number',
      wholeNumber(0, 4_294_967_295),
    )
    .option('--n <n>', 'with --generate: how many', wholeNumber(1, 100_000), 100)
    .addOption(
      new Option('--profile <profile>', 'with --generate: how they go')
        .choices(['calm', 'spikes', 'storm'])
        .default('spikes'),
    )
    .action(async (tenant: string, sku: string | undefined, options: Options, command: Command) => {
      const { type, generate } = options;
      if ((type === undefined) === (generate === undefined))
        throw wrongUsage(
          'Say what was observed, or generate signals.',
          'Give --type TYPE and --value NUMBER, or --generate SEED.',
        );
      if (generate !== undefined && own.some((option) => options[option] !== undefined))
        throw wrongUsage(
          'Generated signals have values of their own.',
          `Leave out ${own.map((option) => `--${option}`).join(', ')}.`,
        );
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const governor = await governorOf(db, governorAt(tenant, sku));
        if (type !== undefined) return sendOne(output, governor, { ...options, type });
        const { document } = await governor.policy();
        if (!document)
          throw new WritRefusal(
            'policy_not_found',
            `${tenant}: it was withdrawn, and says which types of signals there are`,
          );
        const from = Math.floor(await databaseNow(db));
        const { n, profile } = options;
        await sendAll(
          output,
          governor,
          generateSignals(generate as number, { types: around(document), n, profile, from }).map(
            possible(document),
          ),
        );
      });
    });
}

async function sendOne(
  output: Output,
  governor: Governor,
  { type, value, source, severity, id }: Options & { readonly type: string },
): Promise<void> {
  const signalled = await governor.signal({
    type,
    ...(value !== undefined && { value }),
    ...(source && { source }),
    ...(severity && { severity }),
    ...(id !== undefined && { id }),
  });
  if (output.json) return output.data(signalled);
  const { arrivalSeq, duplicate } = signalled;
  if (duplicate) output.line(`It had come before, as signal ${arrivalSeq}.`);
  if (signalled.status === 'decided')
    output.line(receiptLine(signalled.receipt, (style, text) => output.style(style, text)));
  else output.line(waitsWords(signalled, governor));
}

const waitsWords = (
  { status, arrivalSeq }: Signalled,
  { name: { tenant, sku } }: Governor,
): string =>
  status === 'buffered'
    ? `Signal ${arrivalSeq} is buffered: the tenant sends more than is taken in. It comes in when its turn has come.`
    : plain(
        `Signal ${arrivalSeq} is taken; nothing is decided yet. \`writ governor show ${tenant}${sku === 'default' ? '' : ` ${sku}`}\` shows why, if it stays so.`,
      );

/** Where values of each type lie when all is well, and when it is not: as far from the threshold on either side. */
function around({ when }: PolicyDocument): GeneratorOptions['types'] {
  return Object.fromEntries(
    Object.entries(when).map(([type, threshold]) => [type, between(threshold)]),
  );
}

function between({ direction, limit, clear }: Threshold): { calm: number; high: number } {
  const apart = Math.max(Math.abs(limit) * 0.25, Math.abs(limit - clear), 0.01);
  return direction === 'above'
    ? { calm: clear - apart, high: limit + apart }
    : { calm: clear + apart, high: limit - apart };
}

/** What is only ever above zero, a rate for instance, does not go below it. */
const possible =
  ({ when }: PolicyDocument) =>
  (signal: GeneratedSignal): GeneratedSignal => {
    const { limit, clear } = when[signal.type] as Threshold;
    return limit > 0 && clear > 0 ? { ...signal, value: Math.max(0, signal.value) } : signal;
  };

/** So many are on their way at once, in their order. */
const atOnce = 50;

async function sendAll(
  output: Output,
  governor: Governor,
  signals: readonly GeneratedSignal[],
): Promise<void> {
  const progress = new Progress({ json: output.json });
  const counts = new Map<string, number>();
  const tally = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  let duplicates = 0;
  for (let sent = 0; sent < signals.length; sent += atOnce) {
    const answers = await Promise.all(
      signals
        .slice(sent, sent + atOnce)
        .map(({ signal_id: id, type, value, source, severity, observed_at }) =>
          governor.signal({ id, type, value, source, severity, observedAt: new Date(observed_at) }),
        ),
    );
    for (const answer of answers) {
      tally(answer.status === 'decided' ? answer.receipt.reason : answer.status);
      if (answer.duplicate) duplicates++;
    }
    progress.show(`${Math.min(sent + atOnce, signals.length)} of ${signals.length} signals sent`);
  }
  progress.end();
  if (output.json)
    return output.data({ sent: signals.length, duplicates, answers: Object.fromEntries(counts) });
  const answers = [...counts].map(([what, times]) => `${times} ${what}`).join(', ');
  output.line(
    `${plural(signals.length, 'signal')} sent: ${answers}.${duplicates > 0 ? ` ${duplicates} had come before: the same number makes the same signals.` : ''}`,
  );
}

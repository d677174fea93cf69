/** `writ runs admission`: how many runs of a tenant go on at once, and what becomes of more. */
import { type Command, Option } from 'commander';
import { type Duration, milliseconds } from '../../../queue/duration.js';
import type { AdmissionRule } from '../../../runs/runs.js';
import { contextOf, duration, notBlank, wholeNumber } from '../../command.js';
import type { Session } from '../../connection.js';
import { wrongUsage } from '../../failure.js';
import { count, type Output, oneLine, span } from '../../output.js';
import { runsOf } from './session.js';

interface Options {
  readonly policy?: AdmissionRule['policy'];
  readonly maxRunning?: number;
  readonly maxPending?: number;
  readonly delay?: Duration;
  readonly none?: boolean;
  readonly actor?: string;
}

interface Rule {
  readonly tenant: string;
  readonly policy: AdmissionRule['policy'];
  readonly maxRunning: number;
  readonly maxPending: number;
  readonly delayMs: number;
  /** Of the tenant; null for *, which is many of them. */
  readonly running: number | null;
  readonly pending: number | null;
}

const mostRuns = 1_000_000;

export function addAdmission(runs: Command): void {
  runs
    .command('admission')
    .description('show how many runs of a tenant go on at once and what becomes of more, or set it')
    .argument('[tenant]', 'the tenant; * is every one that has no rule of its own', notBlank)
    .addOption(
      new Option(
        '--policy <policy>',
        'REJECT refuses what is too much, QUEUE starts it when there is room, DELAY starts it later',
      ).choices(['REJECT', 'QUEUE', 'DELAY']),
    )
    .option('--max-running <n>', 'so many go on at once', wholeNumber(1, mostRuns))
    .option(
      '--max-pending <n>',
      'so many wait, and more are refused; otherwise 10000',
      wholeNumber(0, mostRuns),
    )
    .option('--delay <duration>', 'for DELAY: how much later; otherwise 1s', duration)
    .option('--none', 'take the rule away')
    .option('--actor <name>', 'who sets it, for the record; otherwise the system user')
    .action(async (tenant: string | undefined, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      const rule = ruleOf(tenant, options);
      await session(async (db) => {
        if (rule === undefined && !options.none)
          return show(output, await read(db, tenant), tenant);
        const [before] = await read(db, tenant);
        await runsOf(db, options.actor).setAdmission(tenant as string, rule);
        const [after] = await read(db, tenant);
        if (output.json) output.data({ tenant, was: before ?? null, rule: after ?? null });
        else
          output.line(
            oneLine(
              `${tenant}: ${before ? inWords(before) : 'no rule'} → ${output.style('bold', after ? inWords(after) : 'no rule')}`,
            ),
          );
      });
    });
}

function ruleOf(
  tenant: string | undefined,
  { policy, maxRunning, maxPending, delay, none }: Options,
): AdmissionRule | undefined {
  const given = [policy, maxRunning, maxPending, delay].some((one) => one !== undefined);
  const remedy =
    'Write `writ runs admission TENANT --policy QUEUE --max-running 100`, or `… TENANT --none`.';
  if (!given && !none) return undefined;
  if (tenant === undefined) throw wrongUsage('A rule is for a tenant.', remedy);
  if (none) {
    if (given) throw wrongUsage('--none takes the rule away, so it stands alone.', remedy);
    return undefined;
  }
  if (policy === undefined || maxRunning === undefined)
    throw wrongUsage('A rule has --policy and --max-running.', remedy);
  if (delay !== undefined && policy !== 'DELAY')
    throw wrongUsage('--delay is for the policy DELAY.', remedy);
  return {
    policy,
    maxRunning,
    ...(maxPending !== undefined && { maxPending }),
    ...(delay !== undefined && { delayMs: milliseconds(delay) }),
  };
}

/** Runs are counted as far as the rule goes: how many more there are is not its business. */
function read(db: Session, tenant: string | undefined): Promise<Rule[]> {
  const counted = (status: string, most: string) =>
    `case when a.tenant_id <> '*' then (select count(*)::integer from (select from writ.run r where r.tenant_id = a.tenant_id and ${status} limit ${most}) x) end`;
  return db.rows<Rule>(
    `select a.tenant_id as tenant, a.policy, a.max_running as "maxRunning", a.max_pending as "maxPending", a.delay_ms as "delayMs",
       ${counted(`r.status in ('RUNNING', 'PAUSED')`, 'a.max_running + 1')} as running, ${counted(`r.status = 'PENDING'`, 'a.max_pending + 1')} as pending
     from writ.admission a where $1::text is null or a.tenant_id = $1 order by a.tenant_id`,
    [tenant ?? null],
  );
}

function inWords({ policy, maxRunning, maxPending, delayMs }: Rule): string {
  const more = {
    REJECT: 'refused',
    QUEUE: `queued, ${count(maxPending)} at most`,
    DELAY: `started ${span(delayMs)} later, ${count(maxPending)} at most`,
  };
  return `${count(maxRunning)} at once, more are ${more[policy]}`;
}

function show(output: Output, rules: readonly Rule[], tenant: string | undefined): void {
  if (output.json) {
    output.data(rules);
    return;
  }
  if (rules.length === 0) {
    output.line(
      tenant === undefined
        ? 'No rules: every run starts at once.'
        : oneLine(`${tenant} has no rule of its own.`),
    );
    return;
  }
  const right = 'right' as const;
  output.table(
    [
      { title: 'TENANT' },
      { title: 'RUNNING', align: right },
      { title: 'WAITING', align: right },
      { title: 'RULE' },
    ],
    rules.map((rule) => [rule.tenant, rule.running, rule.pending, inWords(rule)]),
  );
}

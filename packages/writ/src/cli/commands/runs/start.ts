/** `writ runs start`: a run of a plan that is registered, or of one in a file. */
import type { Command } from 'commander';
import { WritRefusal } from '../../../errors/index.js';
import { Plan } from '../../../runs/plans/plan.js';
import { contextOf, jsonOf, notBlank, priority } from '../../command.js';
import type { Session } from '../../connection.js';
import { wrongUsage } from '../../failure.js';
import { type Output, pad, plural } from '../../output.js';
import { rowsOf } from '../../runs/tree.js';
import { readPlan, runsOf } from './session.js';
import { watch } from './watch.js';

interface Options {
  readonly plan?: string;
  readonly planVersion?: string;
  readonly input?: string;
  readonly request?: string;
  readonly tenant?: string;
  readonly project?: string;
  readonly environment?: string;
  readonly priority?: number;
  readonly wait?: boolean;
  readonly actor?: string;
}

export function addStart(runs: Command): void {
  runs
    .command('start')
    .description('start a run of a plan')
    .argument('[plan]', 'id of a plan that is registered', notBlank)
    .option('--plan-version <version>', 'its version; otherwise the one registered last', notBlank)
    .option(
      '--plan <file>',
      'instead of an id: a plan as JSON, registered if the kinds of its jobs are known',
      notBlank,
    )
    .option('--input <json>', 'what the run is started with: JSON, or @FILE')
    .option(
      '--request <id>',
      'the same request is the same run, however often it is made',
      notBlank,
    )
    .option('--tenant <tenant>', 'whose run it is', notBlank)
    .option('--project <project>', 'of which project', notBlank)
    .option('--environment <environment>', 'in which environment', notBlank)
    .option('--priority <n>', 'of its jobs; higher first', priority)
    .option('--wait', 'watch it until it ends; exit code 0 if it completed')
    .option('--actor <name>', 'who starts it, for the record; otherwise the system user')
    .action(async (id: string | undefined, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      if ((id === undefined) === (options.plan === undefined)) {
        throw wrongUsage(
          'Start takes the id of a plan, or --plan with a file.',
          'Write `writ runs start PLAN` or `writ runs start --plan FILE`.',
        );
      }
      if (options.plan !== undefined && options.planVersion !== undefined) {
        throw wrongUsage('A plan in a file has its version inside.', 'Leave --plan-version out.');
      }
      const input = options.input === undefined ? undefined : jsonOf(options.input, '--input');
      const given =
        options.plan === undefined ? undefined : new Plan(jsonOf(`@${options.plan}`, '--plan'));
      await session(async (db) => {
        const plan = given ?? (await registered(db, id as string, options.planVersion));
        const { unserved } = given ? await checkKinds(db, given) : await served(db, plan);
        if (given && !output.json) showPlan(output, given);
        const { wait, planVersion: _, plan: __, input: ___, request, actor, ...rest } = options;
        const { runId, duplicate } = await runsOf(db, actor).start(plan, input, {
          ...rest,
          ...(request !== undefined && { requestId: request }),
        });
        const started = { runId, duplicate, planId: plan.id, planVersion: plan.version };
        if (output.json && !wait) {
          output.data(started);
          return;
        }
        if (!output.json) say(output, started, unserved, wait === true);
        if (wait) await watch(db, output, runId);
      });
    });
}

/** A registered plan, which is what its hash says. */
async function registered(db: Session, id: string, version: string | undefined): Promise<Plan> {
  const { document, sha256 } = await readPlan(db, id, version);
  const plan = new Plan(JSON.parse(document));
  if (plan.sha256 !== sha256) {
    throw new WritRefusal(
      'PLAN_INTEGRITY_VALIDATION_FAILED',
      `${plan.id} ${plan.version}: it was not registered in its canonical form`,
    );
  }
  return plan;
}

/** Kinds of the plan that no worker says it serves. */
async function served(db: Session, plan: Plan): Promise<{ unserved: string[] }> {
  const rows = await db.rows<{ kind: string }>(
    `select k.kind from unnest($1::text[]) k(kind)
     where not exists (select from writ.v_queue_heartbeat h where h.freshness = 'fresh' and (h.kinds = '{}' or k.kind = any (h.kinds))) order by 1`,
    [[...plan.kinds.keys()]],
  );
  return { unserved: rows.map(({ kind }) => kind) };
}

async function checkKinds(db: Session, plan: Plan): Promise<{ unserved: string[] }> {
  const rows = await db.rows<{ kind: string }>(
    'select k.kind from unnest($1::text[]) k(kind) where not exists (select from writ.job_kind j where j.job_kind = k.kind) order by 1',
    [[...plan.kinds.keys()]],
  );
  if (rows.length > 0)
    throw new WritRefusal(
      'unknown_job_kind',
      `${rows.map(({ kind }) => kind).join(', ')}, of plan ${plan.id}`,
    );
  return served(db, plan);
}

/** What will run, before it does. */
function showPlan(output: Output, plan: Plan): void {
  const rows = rowsOf(plan.document.steps);
  const width = Math.max(...rows.map(({ prefix, step }) => prefix.length + step.id.length));
  output.line(
    `${output.style('bold', `${plan.id} ${plan.version}`)}, ${plural(rows.length, 'step')}, sha256 ${plan.sha256}`,
  );
  for (const { prefix, step } of rows) {
    const does =
      step.type === 'wait'
        ? `waits for ${step.event}`
        : step.type === 'timer'
          ? `waits ${step.ms} ms`
          : `${step.kind}${step.type === 'each' ? ` for each of ${step.over.$ref}, ${step.parallel} at a time` : ''}${step.compensate ? `, undone by ${step.compensate.kind}` : ''}`;
    output.line(
      `  ${pad(`${output.style('dim', prefix)}${step.id}`, width)}  ${output.style('dim', does)}`,
    );
  }
  output.line();
}

interface Started {
  readonly runId: string;
  readonly duplicate: boolean;
  readonly planId: string;
  readonly planVersion: string;
}

function say(
  output: Output,
  { runId, duplicate, planId, planVersion }: Started,
  unserved: readonly string[],
  wait: boolean,
): void {
  output.line(
    duplicate
      ? `This request was made before: run ${output.style('bold', runId)} of ${planId} ${planVersion}.`
      : `Started run ${output.style('bold', runId)} of ${planId} ${planVersion}.`,
  );
  if (unserved.length > 0)
    output.note(
      `No worker serves ${unserved.slice(0, 8).join(', ')}: \`writ worker FILE\` starts one.`,
    );
  if (!wait)
    output.line(
      `\`writ runs watch ${runId}\` follows it, \`writ runs show ${runId}\` tells how it stands.`,
    );
}

/**
 * The story of the demo, in six acts: payments are enqueued, workers do them, one is killed at the worst moment, a dead letter is replayed, the
 * owner of the database tries to rewrite the past, and everything is counted. Each sentence that is printed is said after it was measured, and
 * the demo fails if a payment was lost or repeated.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../database/embedded.js';
import { Writ } from '../../writ.js';
import { readJob } from '../commands/queue/show.js';
import { readHealth } from '../commands/queue/stats.js';
import { type Session, stopServer, withSession } from '../connection.js';
import { exitCodes, Failure } from '../failure.js';
import { count, type Output, plural } from '../output.js';
import { keepSecret } from '../secrets.js';
import { interruption } from '../signals.js';
import { Crew } from './crew.js';
import { countEverything, effects, type Figures, inTheHandsOf } from './figures.js';
import { pay, refund, tables } from './jobs.js';
import { Stage } from './stage.js';

const payments = 2_000;
const askedTwice = 50;
const victim = 'worker B';

interface Scene {
  readonly stage: Stage;
  readonly writ: Writ;
  readonly db: Session;
  readonly crew: Crew;
}

export async function tellStory(output: Output): Promise<void> {
  const stage = new Stage(output);
  stage.title(
    'Writ: nothing lost, nothing repeated',
    `${count(payments)} payments, three workers, one of them killed at the worst moment. Everything below is measured on a real PostgreSQL.`,
  );
  const since = performance.now();
  const directory = join(tmpdir(), `writ-demo-${randomBytes(4).toString('hex')}`);
  // However it ends, also while the server is being made: nothing is left behind.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const server = await startEmbedded({ directory });
  keepSecret(server.connectionString);
  const { first, release } = interruption({ alone: true });
  const crew = new Crew(server.connectionString);
  const writ = await Writ.connect({ connectionString: server.connectionString, actor: 'shop' });
  try {
    await writ.migrate({ enable: true });
    const told = withSession(server.connectionString, async (db) => {
      await db.rows(tables);
      const [row] = await db.rows<{ version: string }>(`select current_setting('server_version') as version`);
      stage.act(1, 'The shop enqueues its payments');
      stage.seen(`PostgreSQL ${row?.version} runs in a temporary folder, Writ is installed`, performance.now() - since);
      return await tell({ stage, writ, db, crew });
    });
    const ended = await Promise.race([told, first]);
    if (typeof ended === 'string') {
      void told.catch(() => undefined); // broken off
      process.exitCode = exitCodes.interrupted;
      return;
    }
    conclude(output, stage, ended, performance.now() - since);
  } finally {
    await crew.stop(process.exitCode ? 'SIGKILL' : 'SIGTERM');
    await writ.close();
    await stopServer(server);
    release();
  }
}

async function tell(scene: Scene): Promise<Figures> {
  const { db, stage, crew } = scene;
  const refundId = await enqueueEverything(scene);
  await workAndDie(scene);
  await replayDeadLetter(scene, refundId);
  await rewriteThePast(scene);
  await crew.stop();
  stage.act(6, 'The figures, counted with SQL');
  return countEverything(db, victim);
}

async function enqueueEverything({ stage, writ }: Scene): Promise<string> {
  const order = (i: number) => ({ payment: `payment-${String(i).padStart(4, '0')}`, cents: 100 + i });
  const ask = (i: number) => writ.enqueue(pay, order(i), { key: order(i).payment });
  const since = performance.now();
  const answers = await Promise.all(Array.from({ length: payments }, (_, i) => ask(i)));
  const taken = answers.filter((answer) => !answer.duplicate).length;
  stage.seen(`${plural(taken, 'payment')} enqueued, each with a key, each one durable`, performance.now() - since);
  const again = await Promise.all(Array.from({ length: askedTwice }, (_, i) => ask(i * 7)));
  const duplicates = again.filter((answer, i) => answer.duplicate && answer.jobId === answers[i * 7]?.jobId).length;
  stage.seen(`${askedTwice} asked for again: ${duplicates} answered "duplicate", with the first job's id`);
  const { jobId } = await writ.enqueue(refund, { payment: 'payment-0007', cents: 107, account: 'acme' }, { key: 'refund-0007' });
  stage.seen('1 refund enqueued, to an account that does not exist');
  return jobId;
}

async function workAndDie(scene: Scene): Promise<void> {
  const { stage, db, crew } = scene;
  stage.act(2, 'Two workers begin');
  const a = crew.start('worker A');
  const b = crew.start(victim, { dieAtCommit: 300 });
  await Promise.all([a.ready, b.ready]);
  stage.seen(`worker A (process ${a.pid}) and worker B (process ${b.pid}), 10 at a time each`);
  let death: Awaited<typeof b.gone> | undefined;
  void b.gone.then((how) => {
    death = how;
  });
  await until('worker B to die', async () => {
    stage.progress(await effects(db), payments, 'in the ledger');
    return death !== undefined;
  });
  stage.seen(`${count(await effects(db))} payments are in the ledger`);

  stage.act(3, 'Worker B is killed');
  const { signal, jobId = '' } = death as unknown as Awaited<typeof b.gone>;
  const killed = await readJob(db, jobId);
  const { begun, fetched, committed } = await inTheHandsOf(db, b.name);
  stage.harm(`${signal}, after COMMIT of ${killed.job.idempotency_key} was sent, before the answer came`);
  stage.harm(`in its hands: ${begun} begun, ${fetched} only fetched, ${committed} committed but not yet done`);
  const c = crew.start('worker C');
  await c.ready;
  stage.seen(`worker C (process ${c.pid}) takes its place; B's lease runs out within 2 s`);
  await until('every payment to be done', async () => {
    const done = await effects(db);
    stage.progress(done, payments, done < payments ? 'in the ledger' : "in the ledger, B's lease is still open");
    const { backlog, waiting, in_progress } = await readHealth(db);
    return backlog + waiting + in_progress === 0;
  });
  await tellOfTheKilled(scene, jobId, b.name);
}

/** What became of the jobs that the killed worker held. */
async function tellOfTheKilled({ stage, db }: Scene, jobId: string, worker: string): Promise<void> {
  const [row] = await db.rows<{ lost: number; back: number }>(
    `select count(*) filter (where started_at is not null)::integer as lost, count(*) filter (where started_at is null)::integer as back
     from writ.job_execution where lease_owner = $1 and abort_kind = 'lease_expired'`,
    [worker],
  );
  stage.seen(
    `its lease was taken back: ${plural(row?.lost ?? 0, 'attempt')} lost and tried again, ${plural(row?.back ?? 0, 'payment')} given back uncharged`,
  );
  const { job, executions } = await readJob(db, jobId);
  const [ledger] = await db.rows<{ n: number }>(`select count(*)::integer as n from ledger_entry where kind = 'pay' and payment = $1`, [
    job.idempotency_key,
  ]);
  const how =
    executions.length === 1 ? 'its COMMIT had arrived, so nobody did it again' : 'its COMMIT had not arrived, so it was done again';
  stage.seen(
    `${job.idempotency_key}: ${plural(executions.length, 'execution')}, ${job.status}, ${plural(ledger?.n ?? 0, 'row')} in the ledger; ${how}`,
  );
}

async function replayDeadLetter({ stage, writ, db }: Scene, refundId: string): Promise<void> {
  stage.act(4, 'A dead letter, and its second life');
  const { job } = await readJob(db, refundId);
  stage.harm(`refund: ${job.status} after ${plural(Number(job.attempts), 'attempt')}`);
  stage.quote(String(job.last_error));
  await db.rows(`insert into account (name) values ('acme')`);
  const { jobId } = await writ.replay(refundId, { triage: 'the account acme has been opened', actor: 'alice' });
  stage.seen('the account is opened, and alice replays the job, saying why');
  await until('the replayed refund', async () => (await readJob(db, jobId)).job.status === 'succeeded');
  const { job: second } = await readJob(db, jobId);
  const { job: dead } = await readJob(db, refundId);
  stage.seen(`the new job ${second.status}; the dead one is ${dead.status}; both are on the record`);
}

async function rewriteThePast({ stage, db }: Scene): Promise<void> {
  stage.act(5, 'The owner of the tables tries to rewrite the past');
  const [payment] = await db.rows<{ job_id: string }>(`select job_id from writ.job_queue where job_kind = 'pay' order by job_id limit 1`);
  const sql = `update writ_data.job_execution set status = 'ABORTED' where job_id = '${payment?.job_id}'`;
  stage.quote(sql);
  await db.rows('begin');
  try {
    await db.rows('set local role writ_owner');
    await db.client.query(sql);
    throw new Failure(
      exitCodes.failed,
      'demo_failed',
      'The database let the past be rewritten.',
      'This is a bug in Writ: please report it.',
    );
  } catch (error) {
    if (error instanceof Failure) throw error;
    stage.harm(`ERROR ${(error as { code?: string }).code}: ${(error as Error).message}`);
  } finally {
    await db.rows('rollback');
  }
  const { job } = await readJob(db, payment?.job_id ?? '');
  stage.seen(`refused by the database; the payment is still ${job.status}`);
}

/** The figures, and the verdict: throws when they are not what Writ promises. */
export function conclude(output: Output, stage: Stage, figures: Figures, ms: number): void {
  const { lost, repeated, unfinished } = figures;
  const good = lost === 0 && repeated === 0 && unfinished === 0;
  const zero = (n: number) => output.style(n === 0 ? ['bold', 'green'] : ['bold', 'red'], count(n));
  stage.pairs([
    ['payments enqueued', count(figures.payments)],
    ['effects in the ledger', count(figures.effects), 'a table without unique keys'],
    ['lost', zero(lost)],
    ['repeated', zero(repeated)],
    ['executions', count(figures.executions)],
    ['attempts lost to the kill', count(figures.attemptsLost), `and ${figures.givenBack} given back uncharged`],
    ['events on the record', count(figures.events)],
    ['payments a second', count(figures.jobsPerSecond), `in ${figures.seconds.toFixed(1)} s, with the wait for B's lease`],
  ]);
  if (output.json) output.data({ ...figures, good, totalSeconds: Math.round(ms) / 1000 });
  if (!good)
    throw new Failure(
      exitCodes.failed,
      'demo_failed',
      `${lost} lost, ${repeated} repeated, ${unfinished} unfinished.`,
      'This is a bug in Writ: please report it.',
    );
  if (output.json) return;
  output.line();
  output.line(
    output.style('bold', `Nothing lost, nothing repeated, in ${(ms / 1000).toFixed(1)} s.`) + ' Next: `npx writ dev`, then the README.',
  );
}

/** Polls a condition; a demo that hangs is worse than one that fails. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = Date.now() + 25_000; !(await holds()); ) {
    if (Date.now() > giveUpAt) {
      throw new Failure(
        exitCodes.failed,
        'demo_failed',
        `The demo waited for ${what} in vain.`,
        'Run it again; on a busy machine it can take long.',
      );
    }
    await new Promise((resume) => setTimeout(resume, 100));
  }
}

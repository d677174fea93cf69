/** What a handler is given, and the commit boundary behind `commit`. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { inTime } from '../../database/budget.js';
import type { PreparedPool } from '../../database/prepared.js';
import { fromDatabase, isConnectionLoss, refusalIn, WritError } from '../../errors/index.js';
import { redactSecrets } from '../../secrets/redaction.js';
import type { Executed, Execution } from '../../telemetry/execution.js';
import { type ArtifactStore, JobArtifacts } from '../artifacts.js';
import { Committing } from './committing.js';
import { pass } from './fault-points.js';
import { Lent } from './lent.js';
import type { JobSecrets } from './options.js';
import { resultJson } from './result.js';

/** A job as its handler sees it. */
export interface ClaimedJob {
  readonly id: string;
  readonly kind: string;
  readonly tenant: string;
  /** The idempotency key; the job's own id when none was given. */
  readonly key: string;
  /** 1 for the first attempt that counts. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Counts every execution, also those that were given back without being charged. */
  readonly executionNo: number;
  readonly priority: number;
  readonly deadline: Date | undefined;
  readonly labels: Record<string, unknown>;
  readonly payloadRef: string | undefined;
  readonly correlationId: string | undefined;
  readonly parentJobId: string | undefined;
  readonly workflowId: string | undefined;
}

/** What a job is a step of. */
export interface StepOfRun {
  readonly runId: string;
  /** As in the log: `resize[3]` for an element of a list, `undo:reserve` for a compensation. */
  readonly stepId: string;
  /** The logical attempt: 2 after a person had the step retried. */
  readonly attempt: number;
  readonly planId: string;
  readonly planVersion: string;
}

/**
 * The transaction inside `commit`, until the effect has ended: a client of `pg`, so that any
 * library that takes one can use it.
 */
export type Transaction = Pick<pg.ClientBase, 'query'>;

export interface JobContext<Input> {
  readonly input: Input;
  readonly job: ClaimedJob;
  /** Set when the job is a step of a run. */
  readonly step: StepOfRun | undefined;
  /**
   * The key to give to services outside the database. It is the same in every attempt and every
   * replay of this job, and in every attempt of a step, also after RETRY_STEP, unless that signal
   * asks for a new one.
   */
  readonly effectKey: string;
  /**
   * Aborted when the job is cancelled, times out, passes its deadline, loses its lease, or the
   * worker stops.
   */
  readonly signal: AbortSignal;
  /**
   * For what is too large for a row: `put` stores it and answers a reference, which can be part of
   * the result. In a step of a run it is also in the step's event.
   */
  readonly artifacts: JobArtifacts;
  /**
   * The commit boundary: what `effect` does in its transaction and the mark that the job is
   * committed are one. Exactly once, whatever happens to this process. Without a call of it,
   * returning from the handler commits. In a step of a run, what `effect` returns is the output of
   * the step: it commits with the effect, and with the steps that follow.
   */
  commit<T>(effect: (tx: Transaction) => Promise<T> | T): Promise<T>;
  /**
   * A short word for people on how far the job is; also tells whether somebody asked it to stop.
   */
  progress(word?: string): Promise<{ cancelRequested: boolean }>;
  /**
   * A secret by its name, from where the worker looks for them. It stays in memory, and is kept out
   * of what this job leaves in the database.
   */
  secret(name: string): Promise<string>;
}

/** A row of the claim's answer. */
export type ClaimRow = [
  id: string,
  kind: string,
  tenant: string,
  key: string | null,
  attempt: number,
  executionNo: number,
  deadline: string | null,
  /** In an array of its own: none is not the same as null. */
  input: [unknown] | null,
  payloadRef: string | null,
  labels: Record<string, unknown> | null,
  correlationId: string | null,
  priority: number,
  maxAttempts: number,
  parentJobId: string | null,
  workflowId: string | null,
  step?:
    | [
        runId: string,
        stepId: string,
        attempt: number,
        planId: string,
        planVersion: string,
        timeoutMs: number | null,
        effect?: number,
      ]
    | null,
  /** Where in a trace it was enqueued. */
  traceparent?: string | null,
  /** Until when it was delayed, in milliseconds since 1970. */
  delayedUntil?: number,
];

export interface ContextHost {
  /**
   * For the transactions of handlers, and nothing else: a handler that waits in its transaction
   * keeps no gate call waiting.
   */
  readonly transactions: pg.Pool;
  /** For gate calls. */
  readonly gates: PreparedPool;
  /**
   * How long each of our own statements in a transaction of a handler may take. What the handler
   * does in it takes as long as it takes.
   */
  readonly writeBudgetMs: number;
  readonly workerId: string;
  /** When these jobs were claimed, by the database's clock. */
  readonly claimedAt: number;
  /** The same moment by performance.now(). */
  readonly claimedHere: number;
  readonly secrets: JobSecrets;
  readonly artifacts?: ArtifactStore | undefined;
  /** Hears of what a handler does wrong and nobody may be waiting for. */
  readonly onFault: (error: WritError, job: ClaimedJob) => void;
}

/**
 * One job in the hands of this worker. Everything that most handlers do not ask for is made when it
 * is asked for.
 */
export class WorkItem implements JobContext<unknown>, Executed {
  input: unknown;
  committed = false;
  /** The commits that the handler asked for. */
  commits: Committing<unknown>[] | undefined;
  startedAt = 0;
  /** For how many steps this worker has gone on with the run. */
  streak = 0;
  /** The names of secrets that were taken out of its result. */
  redacted: readonly string[] | undefined;
  /** Its span, while somebody traces. */
  execution: Execution | undefined;
  readonly position: number;
  readonly #row: ClaimRow;
  readonly #token: string;
  readonly #host: ContextHost;
  #job: ClaimedJob | undefined;
  #artifacts: JobArtifacts | undefined;
  #abort: AbortController | undefined;
  #abortedWith: unknown;

  constructor(row: ClaimRow, position: number, token: string, host: ContextHost) {
    this.#row = row;
    this.position = position;
    this.#token = token;
    this.#host = host;
    this.input = row[7]?.[0];
    // A handler takes its context apart: `async ({ input, commit }) => …`.
    this.commit = this.commit.bind(this);
    this.progress = this.progress.bind(this);
    this.secret = this.secret.bind(this);
  }

  get id(): string {
    return this.#row[0];
  }

  get kind(): string {
    return this.#row[1];
  }

  /** A worker has given it back unrun. */
  get wentBack(): boolean {
    return this.#row[5] > this.#row[4];
  }

  get deadline(): number | undefined {
    return this.#row[6] ? Date.parse(this.#row[6]) : undefined;
  }

  get job(): ClaimedJob {
    const r = this.#row;
    this.#job ??= {
      id: r[0],
      kind: r[1],
      tenant: r[2],
      key: r[3] ?? r[0],
      attempt: r[4],
      executionNo: r[5],
      deadline: r[6] ? new Date(r[6]) : undefined,
      payloadRef: r[8] ?? undefined,
      labels: r[9] ?? {},
      correlationId: r[10] ?? undefined,
      priority: r[11],
      maxAttempts: r[12],
      parentJobId: r[13] ?? undefined,
      workflowId: r[14] ?? undefined,
    };
    return this.#job;
  }

  get step(): StepOfRun | undefined {
    const step = this.#row[15];
    if (!step) return undefined;
    return {
      runId: step[0],
      stepId: step[1],
      attempt: step[2],
      planId: step[3],
      planVersion: step[4],
    };
  }

  get traceparent(): string | undefined {
    return this.#row[16] ?? undefined;
  }

  /**
   * How long it stood in the queue, if this is its first execution: from the end of its delay, or
   * from the moment that is in its id.
   */
  get queueMs(): number | undefined {
    const [id, , , , , executionNo] = this.#row;
    if (executionNo !== 1) return undefined;
    return Math.max(
      0,
      this.#host.claimedAt -
        (this.#row[17] ?? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)),
    );
  }

  /** The database's time now, as far as it is known here. */
  get databaseTime(): number {
    return this.#host.claimedAt + Math.round(performance.now() - this.#host.claimedHere);
  }

  /** How long this step may run, if its plan says. */
  get timeoutMs(): number | undefined {
    return this.#row[15]?.[5] ?? undefined;
  }

  get effectKey(): string {
    const { tenant, kind, key } = this.job;
    const [runId, stepId, , , , , effect] = this.#row[15] ?? [];
    // The key of a step has no attempt in it: a charge of an earlier attempt is recognised.
    const ofStep = effect === undefined ? `${runId}|${stepId}` : `${runId}|${stepId}|${effect}`;
    const of = runId === undefined ? `${tenant}|${kind}|${key}` : ofStep;
    return createHash('sha256').update(of).digest('hex');
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#abortedWith !== undefined && !this.#abort.signal.aborted)
      this.#abort.abort(this.#abortedWith);
    return this.#abort.signal;
  }

  get artifacts(): JobArtifacts {
    this.#artifacts ??= new JobArtifacts(
      this.#host.artifacts,
      this.job.tenant,
      this.step?.runId,
      this.signal,
    );
    return this.#artifacts;
  }

  /** Whether something was put that the event of a step has to name. */
  get hasArtifacts(): boolean {
    return this.#artifacts !== undefined && this.#artifacts.refs.length > 0;
  }

  /** Why the handler was asked to stop, if it was. */
  get abortedWith(): unknown {
    return this.#abortedWith;
  }

  stop(reason: WritError): void {
    if (this.#abortedWith !== undefined) return;
    this.#abortedWith = reason;
    this.#abort?.abort(reason);
  }

  secret(name: string): Promise<string> {
    return this.#host.secrets.secret(this, name);
  }

  /** Puts the secrets that its plan names into the input. Undefined if it names none. */
  fill(): Promise<void> | undefined {
    return this.#host.secrets.filled(this)?.then((input) => {
      this.input = input;
    });
  }

  async progress(word?: string): Promise<{ cancelRequested: boolean }> {
    const { rows } = await this.#host.gates.query(
      'select writ.fn_job_progress($1, $2, $3, $4) as answer',
      [this.id, word === undefined ? null : redactSecrets(word), this.#token, this.#host.workerId],
    );
    const answer = rows[0].answer as { cancel_requested?: boolean };
    const refusal = refusalIn(answer);
    if (refusal?.code === 'lease_lost') this.stop(refusal);
    if (refusal) throw refusal;
    if (answer.cancel_requested) this.stop(new WritError('cancelled', `job ${this.id}`));
    return { cancelRequested: answer.cancel_requested === true };
  }

  commit<T>(effect: (tx: Transaction) => Promise<T> | T): Promise<T> {
    return this.commitBy('fn_job_commit', effect);
  }

  /**
   * The same for a layer above, whose own gate marks its jobs; `effect` is also given the lease's
   * token.
   */
  commitBy<T>(
    mark: 'fn_job_commit' | 'fn_governor_commit',
    effect: (tx: Transaction, token: string) => Promise<T> | T,
  ): Promise<T> {
    const commit = () => this.#commit(mark, effect);
    const begun = this.execution ? this.execution.commit(commit) : commit();
    const committing = new Committing<T>((done, failed) => void begun.then(done, failed)).watch();
    this.commits ??= [];
    this.commits.push(committing);
    return committing;
  }

  async #commit<T>(
    gate: string,
    effect: (tx: Transaction, token: string) => Promise<T> | T,
  ): Promise<T> {
    const { workerId, writeBudgetMs } = this.#host;
    const client = await this.#connect().catch((error) => {
      throw fromDatabase(error);
    });
    const lent = new Lent(client, (error) => this.#host.onFault(error, this.job));
    let broken: Error | undefined;
    let xid: string | undefined; // of the transaction, once it has the mark
    let kept = true;
    const letGo = () => {
      if (kept) client.release(broken);
      kept = false;
    };
    /**
     * One that is not answered within the budget leaves a connection of which nothing is known: it
     * is dropped, and with it what has not been committed.
     */
    const within = async <A>(asked: Promise<A>, what: string): Promise<A> => {
      try {
        return await inTime(asked, writeBudgetMs, what);
      } catch (error) {
        if (isConnectionLoss(error)) broken = error as Error;
        throw error;
      }
    };
    try {
      await within(client.query('begin'), 'begin');
      const marked = client.query(`select writ.${gate}($1, $2, $3) as answer`, [
        this.id,
        this.#token,
        workerId,
      ]);
      xid = (await within(marked, gate)).rows[0].answer.xid as string;
      const result = await effect(lent.tx, this.#token);
      lent.end();
      if (this.step) await within(this.#commitStep(client, result), 'fn_run_step_commit');
      await pass('before_commit', this.id);
      // With COMMIT, in one message, the question whether this is still the transaction of the
      // mark: an effect that ended it by itself has undone the mark, and must not count.
      const committing = client.query(
        'select pg_current_xact_id_if_assigned()::text as xid; commit',
      ) as unknown as Promise<pg.QueryResult[]>;
      const answer = within(committing, 'commit');
      answer.catch(() => undefined); // looked at below; a fault point may wait in between
      await pass('commit_sent', this.id);
      try {
        if ((await answer)[0]?.rows[0]?.xid !== xid) {
          // The effect has ended the transaction of the mark by itself.
          this.committed = await this.#wasCommitted(xid);
          throw new WritError(
            this.committed ? 'effect_committed_itself' : 'effect_rolled_back',
            `job ${this.id}`,
          );
        }
      } catch (error) {
        // 25P02: a statement of the effect failed, and nobody let it show.
        if ((error as { code?: string }).code === '25P02')
          throw new WritError('effect_rolled_back', `job ${this.id}`, {
            cause: lent.failed ?? error,
          });
        if (!broken) throw error;
        letGo(); // while the server has the connection, it waits for a COMMIT that may never come
        if (!(await this.#wasCommitted(xid))) throw error;
      }
      this.committed = true;
      await pass('after_commit', this.id);
      return result;
    } catch (error) {
      lent.end();
      if (!broken) {
        await within(client.query('rollback'), 'rollback').catch((lost: Error) => {
          broken = lost;
        });
      }
      // The effect may have committed by itself before it failed.
      if (!broken && xid && !this.committed) this.committed = await this.#wasCommitted(xid);
      throw fromDatabase(error);
    } finally {
      letGo();
    }
  }

  /**
   * For a layer above whose gate commits the job, and others with it: given the job's id and the
   * token of its lease. `commits`: the job is committed when it answers.
   */
  async commitWith<T>(
    call: (job: { readonly id: string; readonly token: string }) => Promise<T>,
    commits = true,
  ): Promise<T> {
    const answer = await call({ id: this.id, token: this.#token });
    if (commits) this.committed = true;
    return answer;
  }

  /**
   * Waits for a connection as long as other handlers have them all, and only so long for a new one.
   */
  #connect(): Promise<pg.PoolClient> {
    const { transactions, writeBudgetMs } = this.#host;
    const taken =
      transactions.waitingCount > 0 ||
      (transactions.idleCount === 0 && transactions.totalCount >= transactions.options.max);
    const given = transactions.connect();
    if (taken) return given;
    return inTime(given, writeBudgetMs, 'connect').catch((error) => {
      // nobody waits for it any more
      given.then((client) => client.release()).catch(() => undefined);
      throw error;
    });
  }

  /** The output of a step, its event and what follows become part of the transaction. */
  async #commitStep(client: Transaction, result: unknown): Promise<void> {
    await client.query(
      'select writ.fn_run_step_commit($1, $2, $3::text::json, $4, $5::text::jsonb)',
      [
        this.id,
        this.#token,
        resultJson(result, this) ?? null,
        this.#host.workerId,
        this.hasArtifacts ? JSON.stringify(this.artifacts.refs) : null,
      ],
    );
  }

  /** Asks after a COMMIT whose answer never came, on another connection, until the server knows. */
  async #wasCommitted(xid: string): Promise<boolean> {
    for (let wait = 20; wait < 20_000; wait *= 1.5) {
      try {
        const { gates, writeBudgetMs } = this.#host;
        const { rows } = await gates.ask(writeBudgetMs, 'fn_job_commit_status($1, $2, $3)', [
          this.id,
          this.#token,
          xid,
        ]);
        const { outcome } = rows[0].answer as { outcome: string };
        if (outcome !== 'in_progress') return outcome === 'committed';
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
      }
      await new Promise((resume) => setTimeout(resume, wait));
    }
    return false;
  }
}

/**
 * The worker. One loop in four moves, each in the background of the others:
 *   claim    fetch a batch under a lease when fewer jobs are on hand than the pace needs
 *   run      give started jobs to handlers, `concurrency` at a time
 *   report   tell the database what ended, everything since the last report in one call, and mark the next jobs as started
 *   look     once a second, or when a waiting job is due: the queue's clockwork (fn_job_tick), the heartbeat, the poll
 * An idle worker declares itself idle, looks once more, and then sleeps until it is woken by a
 * notification or its clock. What a crash leaves behind: leases, which the next worker's tick takes
 * back when they expire. Nothing else is remembered here.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { uuidv7 } from '../../database/uuid.js';
import { isConnectionLoss, isErrorCode, WritError } from '../../errors/index.js';
import { count } from '../../telemetry/meter.js';
import type { HandledJob } from '../job.js';
import { type ClaimAnswer, Claims } from './claims.js';
import { Clockwork } from './clockwork.js';
import type { WorkItem } from './context.js';
import { pass } from './fault-points.js';
import { Handlers } from './handlers.js';
import { holds, Lease } from './lease.js';
import { Listener } from './listener.js';
import { guarded, printError } from './listeners.js';
import { type WorkerHealth, type WorkerHost, type WorkerOptions, worked } from './options.js';
import type { Outcome } from './outcome.js';
import { Pace } from './pace.js';
import { Renewal } from './renewal.js';
import { report, type Told } from './report.js';
import { StepReports } from './steps.js';

/** A kind may have been registered with any of them; an enqueue wakes its domain. */
const eventDomains = [
  'iu',
  'birth_registry',
  'governance',
  'tac',
  'kg',
  'system',
  'dot',
  'health',
  'piece',
];
const stopLimitMs = 5_000;
const surplusMs = 1_000;
/** Different errors that a worker remembers having told. */
const mostTroubles = 100;
/** A database that takes longer than this for a look or a claim does not count as reachable. */
const readyWithinMs = 15_000;

export class Worker {
  readonly id: string;
  readonly #host: WorkerHost;
  readonly #kinds: readonly string[];
  readonly #handlers: Handlers;
  readonly #options: Required<Omit<WorkerOptions, 'lease' | 'stall' | 'poll' | 'grace' | 'name'>>;
  readonly #ms: { lease: number; stall: number; poll: number; grace: number };
  readonly #pace: Pace;
  readonly #renewal: Renewal;
  readonly #listener: Listener;
  readonly #clockwork: Clockwork;
  readonly #claims: Claims;
  readonly #steps: StepReports;
  #leases = new Map<string, Lease>();
  #claiming = false;
  /** When the claim under way was sent, and whether the last one that ended was answered. */
  #claimSentAt = 0;
  #claimAnswered = true;
  /** Something may be there that the last claim did not see. */
  #moreWork = true;
  /**
   * The database's clock less performance.now(), when it was last known. Deadlines are in the
   * database's time.
   */
  #clockOffset = 0;
  #watch: NodeJS.Timeout | undefined;
  #state: 'running' | 'stopping' | 'stopped' = 'running';
  #stopping: Promise<void> | undefined;
  #drained: (() => void) | undefined;
  /** What went wrong, and when the listener was last told. */
  readonly #troubles = new Map<string, number>();

  constructor(host: WorkerHost, handlers: readonly HandledJob[], options: WorkerOptions = {}) {
    this.id = options.name ?? `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
    this.#host = host;
    this.#kinds = handlers.map((handled) => handled.job.kind);
    const { concurrency, batch, leaseMs, stallMs, pollMs, graceMs } = worked(options);
    this.#options = { concurrency, batch, onError: guarded(options.onError ?? printError) };
    this.#ms = { lease: leaseMs, stall: stallMs, poll: pollMs, grace: graceMs };
    this.#pace = new Pace(this.#options.batch);
    this.#steps = new StepReports({
      gates: host.gates,
      writeBudgetMs: host.writeBudgetMs,
      workerId: this.id,
      kinds: this.#kinds,
      leaseMs: this.#ms.lease,
      goesOn: () => this.#state === 'running' && !this.#claims.soloWanted,
      onReported: (lease, jobs) => {
        lease.open -= jobs;
        this.#dropIfOver(lease);
      },
      onNext: (answer, streakOf) => this.#take(answer, streakOf),
      onAnswer: (answer) => this.#heard(answer),
      onUnusual: (lease, item, result) => {
        if (lease.lost) return;
        lease.outcomes.push({ position: item.position, outcome: { type: 'succeeded', result } });
        this.#report(lease);
      },
      onUnheard: (token) => this.#clockwork.unheard(token),
      onError: (error) => this.#trouble(error),
    });
    this.#handlers = new Handlers({
      concurrency: this.#options.concurrency,
      pace: this.#pace,
      handlers: new Map(handlers.map((handled) => [handled.job.kind, handled])),
      onFailure: (error, item) => this.#options.onError(error, item.job),
      onRedacted: ({ kind, id }, names) =>
        this.#trouble(new WritError('secret_in_result', `${kind} ${id}: ${names.join(', ')}`)),
      onEnd: (lease, item, outcome) => this.#ended(lease, item, outcome),
    });
    const onError = (error: Error) => this.#trouble(error);
    this.#claims = new Claims({
      gates: host.gates,
      workerId: this.id,
      kinds: this.#kinds,
      leaseMs: this.#ms.lease,
      onAgain: () => this.#wake(),
      onSkipped: (kind, reason) =>
        this.#trouble(new WritError(isErrorCode(reason) ? reason : 'executor_forbidden', kind)),
    });
    this.#clockwork = new Clockwork({
      gates: host.gates,
      workerId: this.id,
      kinds: this.#kinds,
      pollMs: this.#ms.poll,
      engine: host.engine,
      looks: host.looks,
      details: () => ({
        concurrency: this.#options.concurrency,
        running: this.#handlers.running,
        node: process.version,
      }),
      onLook: (alone) => {
        if (alone.some((kind) => this.#kinds.includes(kind))) this.#claims.soloWanted = true;
        this.#wake();
      },
      onError: (error) => this.#trouble(error),
    });
    this.#renewal = new Renewal({
      connection: host.connection,
      ttlMs: this.#ms.lease,
      stallMs: this.#ms.stall,
      workerId: this.id,
      onError,
      onAnswer: ({ lost, cancel }) => {
        for (const token of lost) this.#lose(token);
        for (const jobId of cancel) this.#cancel(jobId);
      },
    });
    this.#listener = new Listener({
      connection: host.listenConnection,
      channels: [...eventDomains.map((domain) => `queue_wake_${domain}`), 'queue_cancel'],
      onError,
      onConnected: () => this.#wake(),
      // Any login can notify: that only brings the renewal forward, whose answer says what to stop.
      onWake: (channel, id) =>
        channel !== 'queue_cancel'
          ? this.#wake()
          : holds(this.#leases.values(), id) && this.#renewal.soon(),
    });
  }

  async start(): Promise<void> {
    await Promise.all([this.#listener.start(), this.#renewal.ready]);
    this.#watch = setInterval(() => {
      this.#handlers.watch(this.#clockOffset);
      this.#giveBackSurplus();
    }, 100);
    await this.#clockwork.look();
  }

  health(): WorkerHealth {
    const { standsForMs, answered } = this.#clockwork;
    const claims =
      (this.#claimAnswered || this.#handlers.free === 0) &&
      !(this.#claiming && performance.now() - this.#claimSentAt > readyWithinMs);
    return {
      live: standsForMs < this.#ms.stall,
      ready: this.#state === 'running' && answered && standsForMs < readyWithinMs && claims,
    };
  }

  /**
   * Stops without burning attempts: what was only prefetched goes back at once, what runs may
   * finish within the grace.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#state = 'stopping';
    const looked = this.#clockwork.stop(stopLimitMs);
    for (const lease of this.#leases.values()) this.#giveBack(lease);
    const hurry = setTimeout(
      () => this.#handlers.stop(new WritError('closed', 'the worker is stopping')),
      this.#ms.grace,
    );
    // A database that does not answer must not keep the process alive: what it was not told, the
    // expiry of the leases will tell it.
    const enough = setTimeout(() => this.#drained?.(), this.#ms.grace + stopLimitMs);
    if (this.#leases.size > 0 || this.#claiming)
      await new Promise<void>((done) => (this.#drained = done));
    clearTimeout(hurry);
    clearTimeout(enough);
    clearInterval(this.#watch);
    this.#claims.stop();
    this.#state = 'stopped';
    await looked;
    await Promise.all([
      this.#host.onStopping?.(),
      this.#listener.stop(),
      this.#renewal.stop(),
      this.#host.gates
        .query('select writ.fn_queue_worker_leave($1)', [this.id])
        .catch((error) => this.#trouble(error)),
    ]);
  }

  // Claim
  // ----------------------------------------------------------------------------------------------------

  #wake(): void {
    this.#moreWork = true;
    this.#pump();
  }

  /** Jobs that may begin as soon as a handler is free. */
  get #readyToRun(): number {
    let jobs = 0;
    for (const lease of this.#leases.values()) if (!lease.lost) jobs += lease.readyToRun;
    return jobs;
  }

  /** Jobs that no handler has been given yet. */
  get #onHand(): number {
    let jobs = 0;
    for (const lease of this.#leases.values()) if (!lease.lost) jobs += lease.held - lease.begun;
    return jobs;
  }

  async #claim(): Promise<void> {
    const nothing = this.#kinds.length === 0; // a process that only turns the clockwork
    if (nothing || this.#claiming || !this.#moreWork || this.#state !== 'running') return;
    const idle = this.#leases.size === 0 && this.#handlers.running === 0;
    if (!idle && (this.#claims.soloWanted || this.#runsAlone)) return;
    const onHand = this.#onHand;
    const free = Math.max(0, this.#handlers.free - this.#steps.reserved);
    if (free === 0 && this.#stalled) return;
    const { prefetch, startAhead } = this.#pace;
    if (onHand >= free && onHand >= prefetch / 2) return;
    this.#claiming = true;
    this.#claimSentAt = performance.now();
    this.#moreWork = false;
    const limit = Math.max(1, Math.min(this.#options.batch, free + prefetch - onHand));
    const start = Math.max(0, free + startAhead - onHand);
    const token = uuidv7();
    try {
      const answer = await this.#claims.ask(token, limit, start, idle);
      this.#troubles.delete('connection');
      this.#claimAnswered = true;
      if (answer.jobs.length > 0) {
        await pass('claimed');
        this.#clockOffset = Date.parse(answer.leased_until) - this.#ms.lease - performance.now();
        this.#take(answer);
        this.#startHandlers();
      }
      if (answer.jobs.length === limit || answer.alone) this.#moreWork = true;
      else if (!this.#clockwork.idle) {
        await this.#clockwork.declareIdle();
        this.#moreWork = true;
      }
    } catch (error) {
      this.#moreWork = false; // the next look tries again
      this.#claimAnswered = false;
      this.#trouble(error);
      if (isConnectionLoss(error)) this.#clockwork.unheard(token);
    } finally {
      this.#claiming = false;
      this.#settle();
      this.#pump();
    }
  }

  get #runsAlone(): boolean {
    for (const lease of this.#leases.values()) if (lease.alone) return true;
    return false;
  }

  #take(answer: ClaimAnswer, streakOf?: (runId: string) => number): void {
    const claimedAt = Date.parse(answer.leased_until) - this.#ms.lease;
    const lease = Lease.of(answer, {
      ...this.#host,
      workerId: this.id,
      claimedAt,
      claimedHere: performance.now(),
      onFault: (error, job) => this.#options.onError(error, job),
    });
    if (streakOf) for (const item of lease.items) item.streak = streakOf(item.step?.runId ?? '');
    this.#leases.set(lease.token, lease);
    this.#renewal.hold(lease.token);
    if (this.#state !== 'running') this.#giveBack(lease);
  }

  /** For a second no handler has begun. Until one does, the worker claims nothing ahead. */
  get #stalled(): boolean {
    return performance.now() - this.#handlers.lastBeginAt >= surplusMs;
  }

  /**
   * Gives back what was claimed for handlers that then turned out slow: another worker may be free.
   * A job that went back before stays, with those before it: each goes back at most once.
   */
  #giveBackSurplus(): void {
    if (this.#state !== 'running' || this.#handlers.free > 0 || !this.#stalled) return;
    let surplus = 0;
    for (const lease of this.#leases.values()) {
      if (lease.lost) continue;
      const from = lease.begun + 1 + lease.waiting.findLastIndex((item) => item.wentBack);
      surplus += lease.held - from;
      if (from < lease.held) this.#giveBack(lease, from);
    }
    if (surplus > 0) this.#pace.gaveBack(surplus);
  }

  /** What no handler has been given goes back, without an attempt being charged. */
  #giveBack(lease: Lease, from = lease.begun): void {
    for (const item of lease.items.slice(from, lease.held))
      lease.outcomes.push({ position: item.position, outcome: { type: 'released' } });
    lease.held = from;
    this.#report(lease);
  }

  // Run
  // ------------------------------------------------------------------------------------------------------

  #pump(): void {
    if (this.#state !== 'running') return;
    this.#startHandlers();
    // A lease that is reporting moves its own mark with the report.
    if (this.#readyToRun < this.#handlers.free) {
      for (const lease of this.#leases.values())
        if (lease.unstarted > 0 && !lease.reporting) this.#report(lease);
    }
    void this.#claim();
  }

  #startHandlers(): void {
    for (const lease of this.#leases.values()) {
      while (lease.readyToRun > 0 && this.#handlers.free > 0 && !lease.lost)
        void this.#handlers.run(lease, lease.items[lease.begun++] as WorkItem);
    }
  }

  /**
   * How far the start mark of a lease should stand now: over the jobs that free handlers take at
   * once, and a few that will run within moments.
   */
  #startUpto(lease: Lease): number {
    const more = Math.max(0, this.#handlers.free + this.#pace.startAhead - this.#readyToRun);
    return Math.max(lease.startedUpto, Math.min(lease.held, lease.startedUpto + more));
  }

  #ended(lease: Lease, item: WorkItem, outcome: Outcome | undefined): void {
    if (
      outcome?.type === 'succeeded' &&
      !lease.lost &&
      item.step &&
      !item.committed &&
      lease.unstarted === 0 &&
      !lease.alone
    ) {
      this.#steps.add(lease, item, outcome.result);
    } else if (outcome && !lease.lost) {
      lease.outcomes.push({ position: item.position, outcome });
      this.#report(lease);
    } else {
      lease.open--;
      this.#dropIfOver(lease);
    }
    this.#pump();
  }

  #cancel(jobId: string): void {
    this.#handlers.stop(new WritError('cancelled', `job ${jobId}`), (item) => item.id === jobId);
    for (const lease of this.#leases.values()) {
      // One that has not begun keeps its place, and is given back unrun when its turn comes.
      const waiting = lease.waiting.find((item) => item.id === jobId);
      waiting?.stop(new WritError('closed', 'cancelled before it began'));
    }
  }

  #lose(token: string): void {
    const lease = this.#leases.get(token);
    if (!lease) return;
    lease.lost = true;
    count('writ.leases.lost', 1);
    this.#handlers.stop(
      new WritError('lease_lost', `a lease of ${this.id}`),
      (_, of) => of === lease,
    );
    lease.open = this.#handlers.runningOf(lease);
    this.#dropIfOver(lease);
  }

  // Report
  // ---------------------------------------------------------------------------------------------------

  /**
   * Outcomes that come in the same turn of the event loop, and while a report is on its way, travel
   * together.
   */
  #report(lease: Lease): void {
    if (lease.reporting || lease.lost) return;
    lease.reporting = true;
    const send = () => void this.#sendReports(lease);
    if (this.#pace.hurried && lease.begun < lease.held) setTimeout(send, 1);
    else setImmediate(send);
  }

  async #sendReports(lease: Lease): Promise<void> {
    let most = Number.POSITIVE_INFINITY;
    for (let wait = 50; !lease.lost && this.#state !== 'stopped'; ) {
      const outcomes = lease.outcomes.splice(0, most);
      const startUpto = this.#state === 'running' ? this.#startUpto(lease) : lease.startedUpto;
      if (outcomes.length === 0 && startUpto <= lease.startedUpto) break;
      try {
        const answer = await report(
          { ...this.#host, workerId: this.id },
          lease,
          outcomes,
          startUpto,
        );
        lease.open -= outcomes.length;
        if (this.#claims.limited && outcomes.length > 0) this.#moreWork = true;
        if (answer.lost) this.#lose(lease.token);
        if (answer.retries > 0) this.#clockwork.soon();
        this.#heard(answer);
        lease.startedUpto = Math.max(lease.startedUpto, answer.startedUpto);
        if (lease.open > 0 && !lease.lost) this.#pump();
        wait = 50;
      } catch (error) {
        this.#trouble(error);
        const forGood = !isConnectionLoss(error) && !isRetryable(error);
        if (forGood && outcomes.length === 1) {
          // The database cannot take this one. It stays in the lease until that expires.
          lease.open--;
          continue;
        }
        // Nothing is forgotten: the same outcomes are sent again, and the gates recognise what they
        // have seen.
        lease.outcomes.unshift(...outcomes);
        if (forGood && outcomes.length > 1) {
          most = 1; // one of them is at fault: each goes by itself
          continue;
        }
        if (forGood) {
          this.#lose(lease.token);
          break;
        }
        await new Promise((resume) => setTimeout(resume, wait));
        wait = Math.min(wait * 2, 2_000);
      }
    }
    lease.reporting = false;
    this.#dropIfOver(lease);
    this.#pump();
  }

  /**
   * What a report says of runs: something may be there to claim, a timer may be due, runs may have
   * ended.
   */
  #heard({ runsEnded, followed, dueMs }: Pick<Told, 'runsEnded' | 'followed' | 'dueMs'>): void {
    if (dueMs !== undefined) this.#clockwork.soon(dueMs);
    if (runsEnded) this.#host.onRunsEnded?.(runsEnded);
    if (followed) this.#moreWork = true;
    this.#pump();
  }

  #dropIfOver(lease: Lease): void {
    if (lease.open > 0 || !this.#leases.delete(lease.token)) return;
    this.#renewal.drop(lease.token);
    this.#settle();
  }

  #settle(): void {
    if (this.#state === 'stopping' && this.#leases.size === 0 && !this.#claiming) this.#drained?.();
  }

  /**
   * During an outage, or while the queue is switched off, every move fails alike: the same trouble
   * is told once in a while.
   */
  #trouble(error: unknown): void {
    const what = isConnectionLoss(error) ? 'connection' : String(error);
    if (performance.now() - (this.#troubles.get(what) ?? Number.NEGATIVE_INFINITY) < 30_000) return;
    if (this.#troubles.size === mostTroubles) this.#troubles.clear();
    this.#troubles.set(what, performance.now());
    this.#options.onError(error);
  }
}

const isRetryable = (error: unknown) =>
  ['40001', '40P01', '55P03', '53300'].includes(String((error as { code?: string }).code));

/** The engine of this database: steps are jobs of the queue, and the gates decide what follows. */
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { asRefusal, WritRefusal } from '../errors/index.js';
import { utf8 } from '../ledger/text.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type {
  EngineRunRef,
  RunContext,
  RunSignal,
  RunStatus,
  SignalAnswer,
  WorkflowEngine,
} from './engine.js';
import type { PlanRef } from './plans/document.js';
import { verifyPlanRef } from './plans/hash.js';
import type { Runs } from './runs.js';

export class NativeEngine implements WorkflowEngine {
  readonly name = 'native';
  readonly #db: Queryable;
  readonly #runs: Runs;
  readonly #actor: string;

  constructor(db: Queryable, runs: Runs, actor: string) {
    this.#db = db;
    this.#runs = runs;
    this.#actor = actor;
  }

  /**
   * Starts a run of a plan that is registered here and whose content is what the reference says.
   */
  async startRun(plan: PlanRef, context: RunContext, input?: unknown): Promise<EngineRunRef> {
    const [row] = await readRows(
      this.#db,
      'select document from writ.plan where plan_id = $1 and plan_version = $2 order by sha256 = $3 desc limit 1',
      [plan.planId, plan.planVersion, plan.sha256],
    );
    if (!row) throw new WritRefusal('PLAN_NOT_FOUND', `${plan.planId} ${plan.planVersion}`);
    verifyPlanRef(plan, utf8(String(row.document)));
    if (context.targetAdapter !== this.name)
      throw new WritRefusal(
        'CAPABILITIES_NOT_SUPPORTED',
        `this engine is ${this.name}, not ${context.targetAdapter}`,
      );
    const { tenantId, projectId, environmentId, runId } = context;
    const run = {
      run_id: runId,
      plan_id: plan.planId,
      plan_version: plan.planVersion,
      sha256: plan.sha256,
      input,
      tenant: tenantId,
      project: projectId,
      environment: environmentId,
    };
    const json = JSON.stringify([run]);
    refuseSecrets(json, `the input of ${plan.planId}`);
    const answer = await gate<{
      refused: { reason: string; detail?: string; retry_after_ms?: number }[];
    }>(this.#db, 'fn_run_start_many($1::text::jsonb, $2)', [json, this.#actor]);
    const [refused] = answer.refused;
    if (refused) throw asRefusal(refused.reason, refused.detail, refused.retry_after_ms);
    return { engine: 'native', runId };
  }

  async cancelRun({ runId }: EngineRunRef, reason?: string): Promise<void> {
    await this.#runs.signal(runId, { type: 'CANCEL', ...(reason !== undefined && { reason }) });
  }

  async getRunStatus({ runId }: EngineRunRef): Promise<RunStatus> {
    const [row] = await readRows(this.#db, 'select substatus from writ.run where run_id = $1', [
      runId,
    ]);
    const {
      status,
      substatus = row?.substatus as string | null,
      reason,
      rootCause,
      startedAt,
      completedAt,
    } = await this.#runs.snapshot(runId);
    const message = rootCause
      ? `${rootCause.stepId}: ${rootCause.errorCode}: ${rootCause.errorMessage}`
      : reason;
    return {
      runId,
      status,
      ...(substatus && { substatus }),
      ...(message !== undefined && { message }),
      ...(startedAt !== undefined && { startedAt }),
      ...(completedAt !== undefined && { completedAt }),
    };
  }

  signal({ runId }: EngineRunRef, signal: RunSignal): Promise<SignalAnswer> {
    return this.#runs.signal(runId, signal);
  }
}

/** Contracts: proposed, previewed, approved, activated. Every call is made as somebody. */
import { randomUUID } from 'node:crypto';
import { type AnyConnection, queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { isUuid, uuidv7 } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { canonicalize } from '../ledger/canonical.js';
import type { ContractState } from '../machines/contract.js';
import type { GovernanceJobState } from '../machines/governance-job.js';
import { type Duration, milliseconds, seconds } from '../queue/duration.js';
import type { JobKind } from '../queue/job.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type { Secrets } from '../secrets/secrets.js';
import type { Activate } from './activations.js';
import { type As, credentialOf, type In, signerOf } from './actor.js';
import { glassHash } from './approvals.js';
import { GovernanceJob, type JobsHost } from './jobs.js';
import {
  type AnyStepType,
  type ChangeStep,
  filled,
  readBy,
  type StepType,
  stepsOf,
} from './steps.js';

export interface Proposal {
  readonly title: string;
  readonly description?: string;
  readonly risk?: 'low' | 'medium' | 'high' | 'critical';
  /** Exact names of what may be affected; nothing else is. */
  readonly scope: readonly string[];
  /** What is done, one after the other. */
  readonly steps: readonly (ChangeStep | Readonly<Record<string, unknown>>)[];
  readonly source?: 'crm_feedback' | 'support_ticket' | 'ops_alert' | 'manual';
  readonly issueId?: string;
  /** How sure the proposer is, 0 to 1; 1 unless given. */
  readonly confidence?: number;
  /** How long after its approval it may be activated, 1 to 168 hours; 24 unless given. */
  readonly windowHours?: number;
  /** How long all of it may take; an hour unless given. */
  readonly maxDuration?: Duration;
  readonly stepTimeout?: Duration;
  /** Makes it a template: approved once, within bounds, and activated with parameters. Its steps name them with `param`. */
  readonly template?: Template;
  /** The contract that this one takes the place of. */
  readonly parent?: string;
}

/** What is allowed: numbers from `min` to `max`, or one of `in`. */
export type Bounds =
  | { readonly min: number; readonly max: number }
  | { readonly in: readonly unknown[] };

export interface Template {
  /** Of each parameter. */
  readonly params?: Readonly<Record<string, Bounds>>;
  /** Of what may stand at a place (`scope#key`, or a capability) before. */
  readonly pre?: Readonly<Record<string, Bounds>>;
  /** How often it may be activated. */
  readonly activations: number;
  readonly cooldown?: Duration;
  /** How long after its approval. */
  readonly expiresIn: Duration;
}

export interface ProposeOptions extends In {
  /** A UUID, so that a call that was not answered can be repeated. */
  readonly id?: string;
  /** Kept as a draft: neither validated nor qualified yet. */
  readonly draft?: boolean;
}

export interface InstanceOptions extends As {
  /** Of the instance: a UUID, so that a call that was not answered can be repeated. */
  readonly id?: string;
  /** A transaction of yours: it is activated when that commits. */
  readonly db?: AnyConnection;
}

/** What became of a contract that was to be stopped. */
export interface Stopped {
  readonly contractId: string;
  readonly jobId: string;
  /** As it was when it was to be stopped. */
  readonly status: GovernanceJobState;
  /** It was under way, and is rolled back now. */
  readonly stopped: boolean;
}

export interface StopOptions extends In {
  readonly reason: string;
  /** A UUID, so that a call that was not answered can be repeated. */
  readonly signalId?: string;
  readonly db?: AnyConnection;
}

export interface PreviewedStep {
  readonly step_no: number;
  readonly step_type: string;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly slot?: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly undo?: { readonly restore: unknown };
}

export interface Preview {
  readonly contractId: string;
  readonly status: ContractState;
  readonly title: string;
  readonly risk: string;
  readonly createdBy: string;
  readonly scope: readonly string[];
  readonly steps: readonly PreviewedStep[];
  /** What an approval is of. */
  readonly hash: string;
  readonly policyVersion: number;
  readonly approvalsNeeded: number;
  readonly approvals: readonly string[];
}

export interface Reviewed {
  readonly status: ContractState;
  readonly statusReason?: string;
  readonly approvals: readonly string[];
  readonly approvalsNeeded: number;
}

export interface ContractsHost extends JobsHost {
  readonly types: ReadonlyMap<string, AnyStepType>;
  readonly register: (job: JobKind<never, unknown>) => Promise<void>;
  readonly activate: Activate;
  /** For those step types that need one to read what stands outside. */
  readonly secrets: Secrets;
}

export class Contract {
  readonly #host: ContractsHost;
  readonly id: string;

  constructor(host: ContractsHost, id: string) {
    this.#host = host;
    this.id = id;
  }

  /** What it would change, step by step, with the undo of each, as things stand now. */
  async preview(options: As = {}): Promise<Preview> {
    const { contract_id, approvals_needed, created_by, policy_version, risk_level, ...rest } =
      await gate<Record<string, never>>(
        this.#host.db,
        'fn_contract_preview($1, $2::text::uuid, $3::text::jsonb)',
        [credentialOf(this.#host, options), this.id, JSON.stringify(await this.#read())],
      );
    return {
      ...(rest as unknown as Pick<
        Preview,
        'status' | 'title' | 'scope' | 'steps' | 'hash' | 'approvals'
      >),
      contractId: contract_id as unknown as string,
      risk: risk_level as unknown as string,
      createdBy: created_by as unknown as string,
      policyVersion: policy_version as unknown as number,
      approvalsNeeded: approvals_needed as unknown as number,
    };
  }

  /** Approves exactly what a preview showed, by its hash; signed with the key of whoever approves. */
  approve({ hash, ...options }: As & { readonly hash: string }): Promise<Reviewed> {
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new WritRefusal('invalid_argument', 'the hash of a preview has 64 hexadecimal digits');
    return this.#review('APPROVE', options, undefined, hash);
  }

  reject({ reason, ...options }: As & { readonly reason: string }): Promise<Reviewed> {
    return this.#review('REJECT', options, reason);
  }

  /** Stops the clock of the review until somebody clarifies. */
  requestClarification({
    reason,
    ...options
  }: As & { readonly reason: string }): Promise<Reviewed> {
    return this.#review('REQUEST_CLARIFICATION', options, reason);
  }

  clarify({ reason, ...options }: As & { readonly reason: string }): Promise<Reviewed> {
    return this.#review('CLARIFY', options, reason);
  }

  /** What critical risk needs besides its approvals. */
  escalate({ reason, ...options }: As & { readonly reason?: string } = {}): Promise<Reviewed> {
    return this.#review('ESCALATE', options, reason);
  }

  /** Validates and qualifies a draft, or one that was not eligible when it was tried. */
  submit(options: As = {}): Promise<Reviewed> {
    return this.#review('SUBMIT', options);
  }

  /** Has it done: exactly one governance job comes of it. */
  async activate({
    breakGlass,
    ...options
  }: As & { readonly breakGlass?: string } = {}): Promise<GovernanceJob> {
    refuseSecrets(breakGlass, 'the reason');
    const reason = breakGlass?.trim();
    // Whoever breaks the glass signs that, in place of those who would have approved.
    const signature =
      reason === undefined
        ? undefined
        : signerOf(this.#host, options).sign(
            glassHash(this.id, String((await this.get()).content), reason),
          );
    // Who knows no types of its own has nothing to read; if that was needed, the gate refuses it.
    const read = this.#host.types.size > 0 ? await this.#read() : {};
    const jobId = await this.#host.activate(credentialOf(this.#host, options), {
      contract: this.id,
      read,
      break_glass: reason,
      signature,
    });
    return new GovernanceJob(this.#host, jobId);
  }

  /** Of a template: has an instance done with these parameters, under the approval that the template has. */
  async instantiate(
    params: Readonly<Record<string, unknown>>,
    options: InstanceOptions = {},
  ): Promise<GovernanceJob> {
    return (await this.instance(params))(options);
  }

  /** As `instantiate`, in two parts: everything is read now, and the instance is activated when what is answered here is called, in a transaction of yours if you like. */
  async instance(
    params: Readonly<Record<string, unknown>>,
    { tenant }: { readonly tenant?: string } = {},
  ): Promise<(options?: InstanceOptions) => Promise<GovernanceJob>> {
    const {
      steps,
      affected_capabilities: scope,
      tenant_id,
    } = (await this.get()) as {
      steps: ChangeStep[];
      affected_capabilities: string[];
      tenant_id: string;
    };
    if (tenant !== undefined && tenant_id !== tenant)
      throw new WritRefusal('contract_not_found', this.id);
    const content = canonicalize({ scope, steps: steps.map((step) => filled(step, params)) });
    refuseSecrets(content, 'a contract');
    const read = JSON.stringify(await this.#read());
    return async (options = {}) => {
      const { job_id } = await gate<{ job_id: string }>(
        options.db ? queryable(options.db) : this.#host.db,
        'fn_template_activate($1, $2::text::uuid, $3::text::jsonb, $4, $5::text::jsonb, $6::text::uuid)',
        [
          credentialOf(this.#host, options),
          this.id,
          JSON.stringify(params),
          content,
          read,
          options.id ?? uuidv7(),
        ],
      );
      return new GovernanceJob(this.#host, job_id);
    };
  }

  /** Everything about it, by the names of the specification. */
  async get(): Promise<Record<string, unknown>> {
    const [row] = await readRows(
      this.#host.db,
      'select to_json(c)::text as answer from writ.system_contracts c where c.contract_id = $1',
      [this.id],
    );
    if (!row) throw new WritRefusal('contract_not_found', this.id);
    return JSON.parse(String(row.answer)) as Record<string, unknown>;
  }

  async #review(action: string, options: As, reason?: string, hash?: string): Promise<Reviewed> {
    refuseSecrets(reason, 'the reason');
    // The gate compares what stands outside with what the hash is of.
    const read = hash !== undefined && this.#host.types.size > 0 ? await this.#read() : {};
    const answer = await gate<{
      status: ContractState;
      status_reason?: string;
      approvals: string[];
      approvals_needed: number;
    }>(this.#host.db, 'fn_contract_review($1, $2::text::uuid, $3, $4, $5, $6, $7::text::jsonb)', [
      credentialOf(this.#host, options),
      this.id,
      action,
      reason ?? null,
      hash ?? null,
      hash === undefined ? null : signerOf(this.#host, options).sign(hash),
      JSON.stringify(read),
    ]);
    const { status, status_reason, approvals, approvals_needed } = answer;
    return {
      status,
      approvals,
      approvalsNeeded: approvals_needed,
      ...(status_reason !== undefined && { statusReason: status_reason }),
    };
  }

  /** What stands at targets outside the database, by those who know how to read it. */
  async #read(): Promise<Record<string, unknown>> {
    const [row] = await readRows(
      this.#host.db,
      'select tenant_id, steps::text as steps from writ.system_contracts where contract_id = $1',
      [this.id],
    );
    if (!row) throw new WritRefusal('contract_not_found', this.id);
    const tenant = String(row.tenant_id);
    const secret = async (name: string) =>
      (
        await this.#host.secrets.resolve([name], { tenantId: tenant, environmentId: 'default' })
      ).get(name) as string;
    const read: Record<string, unknown> = {};
    for (const step of JSON.parse(String(row.steps)) as ChangeStep[]) {
      const type = this.#host.types.get(step.step_type) as StepType<unknown> | undefined;
      if (!type || step.target in read) continue;
      read[step.target] = await readBy(type, step, {
        tenant,
        signal: AbortSignal.timeout(30_000),
        secret,
      });
    }
    return read;
  }
}

export class Contracts {
  readonly #host: ContractsHost;

  constructor(host: ContractsHost) {
    this.#host = host;
  }

  /** Proposes a change. It is validated and qualified at once, unless only a draft is wanted. */
  async propose(
    proposal: Proposal,
    options: ProposeOptions = {},
  ): Promise<Contract & { readonly status: ContractState; readonly statusReason?: string }> {
    const steps = stepsOf(proposal.steps as Record<string, unknown>[]);
    const { template } = proposal;
    const content = canonicalize({
      scope: [...new Set(proposal.scope)].sort(byBytes),
      steps,
      ...(template && {
        template: {
          params: template.params ?? {},
          pre: template.pre ?? {},
          activations: template.activations,
          cooldown_sec: Math.ceil(seconds(template.cooldown ?? 0)),
          expires_in_sec: Math.ceil(seconds(template.expiresIn)),
        },
      }),
    });
    refuseSecrets(content, 'a contract');
    refuseSecrets(JSON.stringify([proposal.title, proposal.description]), 'a contract');
    for (const { step_type } of steps) {
      const type = this.#host.types.get(step_type);
      // Only appliers register step types. Where this login may not, the gate says whether one has.
      if (type) await this.#host.register(type.job).catch(() => undefined);
    }
    const { maxDuration, stepTimeout } = proposal;
    const about = {
      contract_id: options.id ?? uuidv7(),
      title: proposal.title,
      description: proposal.description,
      risk_level: proposal.risk,
      source: proposal.source,
      issue_id: proposal.issueId,
      confidence: proposal.confidence,
      window_hours: proposal.windowHours,
      parent_contract_id: proposal.parent,
      draft: options.draft,
      constraints: {
        ...(maxDuration !== undefined && {
          max_duration_ms: Math.round(milliseconds(maxDuration)),
        }),
        ...(stepTimeout !== undefined && {
          step_timeout_ms: Math.round(milliseconds(stepTimeout)),
        }),
      },
    };
    const answer = await gate<{
      contract_id: string;
      status: ContractState;
      status_reason?: string;
    }>(this.#host.db, 'fn_contract_propose($1, $2, $3::text::jsonb, $4)', [
      credentialOf(this.#host, options),
      content,
      JSON.stringify(about),
      options.tenant ?? 'default',
    ]);
    return Object.assign(new Contract(this.#host, answer.contract_id), {
      status: answer.status,
      ...(answer.status_reason !== undefined && { statusReason: answer.status_reason }),
    });
  }

  /** Stops what these contracts have had begun, and has it rolled back. What has come to rest stays as it is; contracts without a job are not in the answer. */
  async stop(
    ids: readonly string[],
    { reason, signalId = randomUUID(), tenant = 'default', db, ...options }: StopOptions,
  ): Promise<Stopped[]> {
    refuseSecrets(reason, 'the reason');
    const answer = await gate<
      { contract_id: string; job_id: string; status: GovernanceJobState; stopped: boolean }[]
    >(
      db ? queryable(db) : this.#host.db,
      'fn_governance_stop($1, $2::text::uuid[], $3, $4::text::uuid, $5)',
      [credentialOf(this.#host, options), `{${ids.join(',')}}`, reason, signalId, tenant],
    );
    return answer.map(({ contract_id, job_id, status, stopped }) => ({
      contractId: contract_id,
      jobId: job_id,
      status,
      stopped,
    }));
  }

  /** A contract that exists. */
  get(id: string): Contract {
    if (!isUuid(id)) throw new WritRefusal('contract_not_found', id);
    return new Contract(this.#host, id);
  }
}

/** As the database sorts: by bytes. */
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Contracts: proposed, previewed, approved, activated. Every call is made as somebody. */
import { randomUUID } from 'node:crypto';
import { look } from '../database/acting.js';
import { databaseTime } from '../database/clock.js';
import { type AnyConnection, transactionOf } from '../database/connection.js';
import { readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid, uuidv7 } from '../database/uuid.js';
import type { Waiters } from '../database/waiters.js';
import { type ErrorCode, WritError, WritRefusal } from '../errors/index.js';
import { canonicalize } from '../ledger/canonical.js';
import type { ContractState } from '../machines/contract.js';
import type { GovernanceJobState } from '../machines/governance-job.js';
import { type Duration, milliseconds, seconds } from '../queue/duration.js';
import type { JobKind } from '../queue/job.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type { Activate } from './activations.js';
import {
  type As,
  actAs,
  credentialOf,
  type In,
  type Reading,
  signerOf,
  tenantRead,
} from './actor.js';
import type { Changes, GovernanceJob, JobsHost } from './changes.js';
import {
  documentBytes,
  documentHash,
  glassDomain,
  glassMs,
  type SignedDocument,
  slotOf,
} from './document.js';
import {
  type AnyStepType,
  type ChangeStep,
  filled,
  inputInScope,
  isOutside,
  named,
  nameOf,
  putBy,
  type StepType,
  stepsOf,
} from './steps.js';
import { trustOf } from './trust/source.js';

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
  /**
   * Makes it a template: approved once, within bounds, and activated with parameters. Its steps
   * name them with `param`.
   */
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
  readonly id?: string | undefined;
  /** Kept as a draft: neither validated nor qualified yet. */
  readonly draft?: boolean | undefined;
}

export interface InstanceOptions extends In {
  /** Of the instance: a UUID, so that a call that was not answered can be repeated. */
  readonly id?: string | undefined;
  /** A transaction of yours: it is activated when that commits. */
  readonly db?: AnyConnection | undefined;
}

/** What became of a contract that was to be stopped. */
export interface Stopped {
  readonly contract_id: string;
  readonly job_id: string;
  /** As it was when it was to be stopped. */
  readonly status: GovernanceJobState;
  /** It was under way, and is rolled back now. */
  readonly stopped: boolean;
}

export interface StopOptions extends In {
  readonly reason: string;
  /** A UUID, so that a call that was not answered can be repeated. */
  readonly signalId?: string | undefined;
  /** A transaction of yours: they are stopped when that commits. */
  readonly db?: AnyConnection | undefined;
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

/** A place outside the database that a contract changes, and its last read by an applier. */
export interface OutsideRead {
  readonly slot: string;
  readonly step_type: string;
  /** By the database's clock; null while no applier has read it. */
  readonly read_at: string | null;
  /** Why it could not be read; null if it was. */
  readonly code: string | null;
  readonly detail: string | null;
  /** The queue job that reads it, as requested last; null if nobody has asked. */
  readonly job_id: string | null;
  readonly requested_at: string | null;
  readonly due_at: string | null;
  /** No applier has answered the request yet. */
  readonly open: boolean;
  /** A worker with the step type runs. */
  readonly applier: boolean;
}

export interface Preview {
  readonly contract_id: string;
  readonly status: ContractState;
  /**
   * What an approval signs, and all that it signs. Its `not_after` is null until the contract is
   * eligible and an applier has read what stands outside the database.
   */
  readonly document: SignedDocument;
  readonly title: string;
  readonly risk_level: string;
  readonly created_by: string;
  readonly affected_capabilities: readonly string[];
  readonly steps: readonly PreviewedStep[];
  /** Of the document, computed here; empty until the contract can be approved. */
  readonly hash: string;
  readonly policy_version: number;
  readonly approvals_needed: number;
  /** Whose verified signature of this document counts. */
  readonly approved_by: readonly string[];
  /** Whose signature of this document no applier has verified yet. */
  readonly unverified: readonly string[];
  /** When an applier has read each value outside the database. */
  readonly outside: readonly OutsideRead[];
}

export interface PreviewOptions extends As {
  /**
   * How long to wait for appliers that have not read the values outside yet; ten seconds unless
   * given, and 0 to answer at once. Nobody waits for a step type that no running worker has.
   */
  readonly timeoutMs?: number;
}

export interface Reviewed {
  readonly contract_id: string;
  readonly status: ContractState;
  readonly status_reason?: string;
  /** Whose verified signature counts. */
  readonly approved_by: readonly string[];
  readonly approvals_needed: number;
  /**
   * Of an approval that no applier has verified: because none runs, or because none has answered in
   * time.
   */
  readonly unverified?: 'no_applier' | 'no_answer';
}

/** Who signs, and with whose trust. */
export interface Signing {
  /**
   * The trust file of the person who signs; WRIT_TRUST unless given. With a file, nothing is signed
   * for another deployment than its own.
   */
  readonly trust?: string;
}

export type ApproveOptions = (In & Signing) & {
  /** How long to wait until an applier has verified the signature; ten seconds unless given. */
  readonly timeoutMs?: number;
} & (
    | {
        /** Of the preview that the approver has seen, and signs here with the key that acts. */
        readonly hash: string;
      }
    | {
        /** What the approver has signed elsewhere: for callers that do not have the key. */
        readonly signed: Signed;
      }
  );

export interface ActivateOptions extends In, Signing {
  /**
   * Why it is done without enough approvals, or in a freeze. Needs `hash` or `signed`: nobody signs
   * what nobody was shown.
   */
  readonly breakGlass?: string | undefined;
  /** Of what a person who breaks the glass has seen: of `breakingGlass(preview)`. */
  readonly hash?: string | undefined;
  /** What that person has signed elsewhere, in place of `hash`. */
  readonly signed?: Signed | undefined;
}

/** A contract in a list: fields of the view `system_contracts`. */
export interface ListedContract {
  readonly contract_id: string;
  readonly tenant_id: string;
  readonly version: number;
  readonly status: ContractState;
  readonly status_reason: string | null;
  readonly risk_level: NonNullable<Proposal['risk']>;
  readonly title: string;
  readonly affected_capabilities: readonly string[];
  readonly created_by: string;
  readonly on_behalf_of: string | null;
  readonly approved_by: readonly string[];
  /** The template that it is an instance of. */
  readonly template_id: string | null;
  readonly job_id: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

/** One rule that a contract was held to. */
export interface ContractRule {
  readonly rule: string;
  readonly passed: boolean;
  readonly detail?: string;
}

/** One move of a contract. */
export interface ContractMove {
  readonly from_status: string;
  readonly to_status: string;
  readonly reason: string;
  readonly transitioned_by: string;
  readonly transitioned_at: string;
}

/** What somebody said about a contract. */
export interface ContractReview {
  readonly review_no: number;
  readonly action: string;
  readonly by: string;
  readonly reason: string | null;
  /** Of the document that an approval signs. */
  readonly hash: string | null;
  readonly scheme: string | null;
  readonly signature: string | null;
  readonly public_key: string | null;
  readonly at: string;
  /** What an applier found about the signature; null until one has looked. */
  readonly verdict: 'valid' | 'wrong' | null;
  readonly verified_by: string | null;
  readonly verified_at: string | null;
}

/** A contract, by the names of the specification. */
export interface SystemContract extends ListedContract {
  readonly issue_id: string | null;
  readonly source: NonNullable<Proposal['source']>;
  readonly description: string;
  /** The canonical JSON of scope and steps: what is approved. */
  readonly content: string;
  readonly scope_hash: string;
  readonly steps: readonly ChangeStep[];
  readonly proposed_changes: readonly ChangeStep[];
  readonly validator_verdict: unknown;
  readonly eligibility_verdict: { readonly rules?: readonly ContractRule[] | undefined } | null;
  readonly confidence_score: number;
  readonly approved_at: string | null;
  readonly policy_version: number;
  readonly pre_state: string | null;
  readonly approval_hash: string | null;
  readonly escalated_by: string | null;
  readonly glass_broken: string | null;
  readonly activation_window_start: string | null;
  readonly activation_window_end: string | null;
  readonly execution_constraints: {
    readonly max_duration_ms?: number;
    readonly step_timeout_ms?: number;
  };
  readonly audit_verdict: string | null;
  readonly audit_reason: string | null;
  readonly audit_completed_at: string | null;
  readonly parent_contract_id: string | null;
  readonly template: Readonly<Record<string, unknown>> | null;
  readonly template_params: Readonly<Record<string, unknown>> | null;
  readonly updated_at: string;
  readonly transition_history: readonly ContractMove[];
}

export interface ContractFilter extends Reading {
  readonly status?: ContractState | undefined;
  /** Only those that have not ended. */
  readonly open?: boolean | undefined;
  /** Those that this principal proposed. */
  readonly proposer?: string | undefined;
  /** Instances of this template. */
  readonly template?: string | undefined;
}

export interface ContractsHost extends JobsHost {
  readonly changes: Changes;
  readonly types: Map<string, AnyStepType>;
  readonly register: (job: JobKind<never, unknown>) => Promise<void>;
  readonly activate: Activate;
  /** Who waits until an applier has looked at a signature, by contract/review. */
  readonly verdicts: Waiters;
  /** Who waits until an applier has read what stands outside, by the queue job of the read. */
  readonly reads: Waiters;
  /** Documents that were previewed here and may be signed next, by contract and hash. */
  readonly seen: Map<string, SignedDocument>;
}

export interface Signed {
  /** The bytes that were signed. */
  readonly document: string;
  readonly signature: string;
  readonly scheme: 'ed25519';
}

/**
 * The steps of a document with what each finds and leaves, as far as the document says. A template
 * is signed for ranges of values, so nobody knows yet what its steps find; and no applier may have
 * read a place outside the database yet.
 */
function previewed({ steps, pre_state }: SignedDocument): PreviewedStep[] {
  const stands = new Map(Object.entries(pre_state));
  return steps.map((step, n) => {
    const shown = { step_no: n + 1, ...step };
    const slot = slotOf(step);
    if (slot === undefined) return shown;
    const after = putBy(step);
    if (!stands.has(slot)) {
      stands.set(slot, after);
      return { ...shown, slot, after };
    }
    const before = stands.get(slot);
    stands.set(slot, after);
    return { ...shown, slot, before, after, undo: { restore: before } };
  });
}

/** The document of a broken glass. A minute of its 15 is left for clocks that differ. */
function glassOf(document: SignedDocument, reason: string, now: Date): SignedDocument {
  refuseSecrets(reason, 'the reason');
  return {
    ...document,
    writ: glassDomain,
    reason: reason.trim(),
    not_after: new Date(now.getTime() + glassMs - 60_000).toISOString(),
  };
}

export class Contract {
  readonly #host: ContractsHost;
  readonly id: string;

  constructor(host: ContractsHost, id: string) {
    this.#host = host;
    this.id = id;
  }

  /**
   * What it would change, step by step, with the undo of each: all of it comes from the document
   * that an approval signs. Values outside the database are as an applier has read them last.
   */
  async preview({ timeoutMs = 10_000, ...options }: PreviewOptions = {}): Promise<Preview> {
    const preview = await this.#look(options);
    const waits = unreadOf(preview).filter(({ open, applier }) => open && applier);
    if (waits.length === 0) return preview;
    await this.#answered(waits, timeoutMs);
    return this.#look(options);
  }

  /**
   * Asks appliers to read the values outside the database again, waits until they have, and returns
   * the preview.
   */
  async read({ timeoutMs = 10_000, ...options }: PreviewOptions & In = {}): Promise<Preview> {
    await this.#readAgain(timeoutMs, options);
    return this.#look(options);
  }

  /** Answers whether appliers have read what stands outside, in time. */
  async #readAgain(timeoutMs: number, options: In, host = this.#host): Promise<boolean> {
    const { outside } = await actAs<{ outside: readonly OutsideRead[] }>(
      host,
      'fn_contract_read_request($1, $2::text::uuid)',
      [this.id],
      options,
    );
    const served = outside.filter(({ applier }) => applier);
    return (await this.#answered(served, timeoutMs)) && served.length === outside.length;
  }

  async #answered(places: readonly OutsideRead[], timeoutMs: number): Promise<boolean> {
    const jobs = new Set(places.flatMap(({ job_id }) => job_id ?? []));
    if (timeoutMs <= 0) return jobs.size === 0;
    const ends = await Promise.allSettled(
      [...jobs].map((job) => this.#host.reads.ended(job, timeoutMs)),
    );
    for (const end of ends) {
      if (end.status === 'fulfilled') continue;
      const { reason } = end;
      if (!(reason instanceof WritError) || reason.code !== 'run_not_finished') throw reason;
    }
    return ends.every(({ status }) => status === 'fulfilled');
  }

  async #look(options: As): Promise<Preview> {
    const { status, document, approvals_needed, approvals, unverified, outside } = await look<{
      status: ContractState;
      document: SignedDocument;
      approvals_needed: number;
      approvals: string[];
      unverified: string[];
      outside: OutsideRead[];
    }>(this.#host, 'fn_contract_preview($1, $2::text::uuid)', [
      credentialOf(this.#host, options),
      this.id,
    ]);
    if (document.contract !== this.id)
      throw new WritRefusal('approval_void', `the preview is of contract ${document.contract}`);
    return {
      contract_id: this.id,
      status,
      document,
      title: document.title,
      risk_level: document.risk,
      created_by: document.proposed_by[0] as string,
      affected_capabilities: document.scope,
      steps: previewed(document),
      hash: document.not_after === null ? '' : this.#remember(document),
      policy_version: document.policy.version,
      approvals_needed,
      approved_by: approvals,
      unverified,
      outside,
    };
  }

  /**
   * Returns a preview as a person signs it who breaks the glass: with the reason, and for a quarter
   * of an hour. Show it, and give its hash to `activate`.
   */
  async breakingGlass(preview: Preview, reason: string): Promise<Preview> {
    const document = glassOf(preview.document, reason, await databaseTime(this.#host.db));
    return { ...preview, document, hash: this.#remember(document) };
  }

  /**
   * Approves exactly what a preview showed, by its hash: signs the bytes of that document with the
   * key of whoever approves, and waits until an applier has verified the signature.
   */
  async approve({ timeoutMs = 10_000, ...options }: ApproveOptions): Promise<Reviewed> {
    const signed =
      'signed' in options
        ? options.signed
        : await this.#sign(await this.#shown(options.hash, options), options);
    const { review_no, applier, ...answer } = await this.#review(
      'APPROVE',
      options,
      undefined,
      signed,
    );
    if (!applier) return { ...answer, unverified: 'no_applier' };
    try {
      await this.#host.verdicts.ended(`${this.id}/${review_no}`, timeoutMs);
    } catch (error) {
      if (error instanceof WritError && error.code === 'run_not_finished')
        return { ...answer, unverified: 'no_answer' };
      throw error;
    }
    return this.#verified(review_no as number);
  }

  /**
   * Takes back an approval, before the activation. All signatures so far are void then; the
   * contract waits for new ones.
   */
  revoke({
    reason,
    ...options
  }: In & { readonly reason?: string | undefined } = {}): Promise<Reviewed> {
    return this.#decide('REVOKE', options, reason);
  }

  reject({ reason, ...options }: In & { readonly reason: string }): Promise<Reviewed> {
    return this.#decide('REJECT', options, reason);
  }

  /** Stops the clock of the review until somebody clarifies. */
  requestClarification({
    reason,
    ...options
  }: In & { readonly reason: string }): Promise<Reviewed> {
    return this.#decide('REQUEST_CLARIFICATION', options, reason);
  }

  clarify({ reason, ...options }: In & { readonly reason: string }): Promise<Reviewed> {
    return this.#decide('CLARIFY', options, reason);
  }

  /** What critical risk needs besides its approvals. */
  escalate({
    reason,
    ...options
  }: In & { readonly reason?: string | undefined } = {}): Promise<Reviewed> {
    return this.#decide('ESCALATE', options, reason);
  }

  /** Validates and qualifies a draft, or one that was not eligible when it was tried. */
  submit(options: In = {}): Promise<Reviewed> {
    return this.#decide('SUBMIT', options);
  }

  /** Has it done: exactly one governance job comes of it. */
  async activate({
    breakGlass,
    hash,
    signed,
    ...options
  }: ActivateOptions = {}): Promise<GovernanceJob> {
    const broken =
      breakGlass === undefined
        ? {}
        : {
            break_glass: breakGlass.trim(),
            ...(signed ??
              (await this.#sign(await this.#glass(breakGlass, hash, options), options))),
          };
    const activation = { contract: this.id, ...broken };
    const { once = this.#host.once } = options;
    if (once === undefined) {
      const credential = credentialOf(this.#host, options);
      return this.#host.changes.handle(await this.#host.activate(credential, activation));
    }
    // Calls that travel together have no request row.
    const { job_id } = await actAs<{ job_id: string }>(
      this.#host,
      'fn_contracts_activate($1, $2::text::jsonb) -> 0',
      [JSON.stringify([{ ...activation, job: uuidv7() }])],
      options,
      [this.id, breakGlass, hash],
    );
    return this.#host.changes.handle(job_id);
  }

  /**
   * Of a template: has an instance done with these parameters, under the approval that the template
   * has.
   */
  async instantiate(
    params: Readonly<Record<string, unknown>>,
    options: InstanceOptions = {},
  ): Promise<GovernanceJob> {
    return (await this.instance(params, options.as === undefined ? {} : { as: options.as }))(
      options,
    );
  }

  /**
   * As `instantiate`, in two parts: an applier reads what stands outside now, and the instance is
   * activated when what is answered here is called, in a transaction of yours if you like.
   */
  async instance(
    params: Readonly<Record<string, unknown>>,
    { tenant, as }: { readonly tenant?: string | undefined } & As = {},
  ): Promise<(options?: InstanceOptions) => Promise<GovernanceJob>> {
    const { steps, affected_capabilities: scope, tenant_id } = await this.get();
    if (tenant !== undefined && tenant_id !== tenant)
      throw new WritRefusal('contract_not_found', this.id);
    const content = canonicalize({ scope, steps: steps.map((step) => filled(step, params)) });
    refuseSecrets(content, 'a contract');
    // The key of the caller, if it has one, is that of the activation.
    const host = { ...this.#host, once: undefined };
    if (
      steps.some(isOutside) &&
      !(await this.#readAgain(readMs, as === undefined ? {} : { as }, host))
    )
      throw new WritRefusal(
        'target_not_read',
        `template ${this.id}: no worker with its step types has answered`,
      );
    return async (options = {}) => {
      const { job_id } = await actAs<{ job_id: string }>(
        inTransactionOf(this.#host, options.db),
        'fn_template_activate($1, $2::text::uuid, $3::text::jsonb, $4, $5::text::uuid)',
        [this.id, JSON.stringify(params), content, options.id ?? uuidv7()],
        options,
        [this.id, params],
      );
      return this.#host.changes.handle(job_id);
    };
  }

  /** Everything about it, by the names of the specification. */
  async get(options: Reading = {}): Promise<SystemContract> {
    const [row] = await readJson<SystemContract>(
      this.#host.db,
      `select * from writ.system_contracts c
       where c.contract_id = $1 and c.tenant_id = coalesce($2, c.tenant_id)`,
      [this.id, tenantRead(this.#host, options) ?? null],
    );
    if (!row) throw new WritRefusal('contract_not_found', this.id);
    return row;
  }

  /** Keeps a document that was shown, so that it is the one that is signed. Answers its hash. */
  #remember(document: SignedDocument): string {
    const hash = documentHash(documentBytes(document));
    const { seen } = this.#host;
    const [oldest] = seen.keys();
    if (seen.size >= 100 && oldest !== undefined) seen.delete(oldest);
    seen.set(`${this.id}/${hash}`, document);
    return hash;
  }

  /**
   * The document that was shown under a hash: what this process remembers, or what the database
   * shows now, if that has this hash.
   */
  async #shown(hash: string, options: As): Promise<SignedDocument> {
    // The preview of a contract that needs a value which was not read has an empty one.
    if (hash !== '' && !/^[0-9a-f]{64}$/.test(hash))
      throw new WritRefusal('invalid_argument', 'the hash of a preview has 64 hexadecimal digits');
    const seen = this.#host.seen.get(`${this.id}/${hash}`);
    if (seen) return seen;
    const now = await this.preview(options);
    const unread = unreadOf(now);
    if (now.hash === '' && unread.length > 0) throw notRead(unread);
    if (now.hash !== hash || hash === '')
      throw new WritRefusal(
        'approval_void',
        `the preview’s hash is ${now.hash || 'none'}, and not ${hash}`,
      );
    return now.document;
  }

  /** The document that a person signs to break the glass, from the one that was shown. */
  async #glass(reason: string, hash: string | undefined, options: As): Promise<SignedDocument> {
    if (hash === undefined)
      throw new WritRefusal(
        'invalid_argument',
        'whoever breaks the glass gives the hash of breakingGlass(preview), or what they signed',
      );
    const document = await this.#shown(hash, options);
    if (document.writ !== glassDomain)
      return glassOf(document, reason, await databaseTime(this.#host.db));
    if (document.reason === reason.trim()) return document;
    throw new WritRefusal('approval_void', 'what was shown has another reason');
  }

  /**
   * Signs a document that was shown. A copy of a deployment, such as staging, can show a document
   * of production; who has a trust file signs for that deployment only.
   */
  async #sign(
    document: SignedDocument,
    { trust: file, ...options }: As & Signing,
  ): Promise<Signed> {
    const trust = await trustOf(file)?.read();
    if (trust?.source === 'file' && trust.deployment !== document.deployment)
      throw new WritRefusal(
        'deployment_mismatch',
        `the trust file is of deployment ${trust.deployment}, and the document of ` +
          document.deployment,
      );
    const bytes = documentBytes(document);
    return {
      document: bytes,
      signature: signerOf(this.#host, options).sign(documentHash(bytes)),
      scheme: 'ed25519',
    };
  }

  async #decide(action: string, options: In, reason?: string): Promise<Reviewed> {
    const { review_no: _, applier: __, ...reviewed } = await this.#review(action, options, reason);
    return reviewed;
  }

  async #review(
    action: string,
    options: In,
    reason?: string,
    signed?: Signed,
  ): Promise<Reviewed & { readonly review_no?: number; readonly applier?: boolean }> {
    refuseSecrets(reason, 'the reason');
    const { status, status_reason, approvals, approvals_needed, review_no, applier } = await actAs<{
      status: ContractState;
      status_reason?: string;
      approvals: string[];
      approvals_needed: number;
      review_no?: number;
      applier?: boolean;
    }>(
      this.#host,
      'fn_contract_review($1, $2::text::uuid, $3, $4, $5, $6, $7)',
      [
        this.id,
        action,
        reason ?? null,
        signed?.document ?? null,
        signed?.signature ?? null,
        signed?.scheme ?? null,
      ],
      options,
      [this.id, action, reason ?? null, signed && documentHash(signed.document)],
    );
    return {
      contract_id: this.id,
      status,
      approved_by: approvals,
      approvals_needed,
      ...(status_reason !== undefined && { status_reason }),
      ...(review_no !== undefined && { review_no }),
      ...(applier !== undefined && { applier }),
    };
  }

  /** What became of the contract by a signature that was looked at. */
  async #verified(reviewNo: number): Promise<Reviewed> {
    const [row] = await readJson<{
      status: ContractState;
      status_reason: string | null;
      verdict: 'valid' | 'wrong' | null;
      by: string;
      approvals: string[];
      needed: number;
    }>(
      this.#host.db,
      `select c.status, c.status_reason, r.verdict, r.by,
         coalesce((select array_agg(o.by order by o.review_no) from writ.contract_review o
           where o.contract_id = c.contract_id and o.action = 'APPROVE' and o.hash = r.hash and o.verdict = 'valid'), '{}') as approvals,
         (select d.document::jsonb #> '{policy,quorum}' from writ.contract_document d
           where d.contract_id = r.contract_id and d.hash = r.hash) as needed
       from writ.contract_review r join writ.system_contracts c on c.contract_id = r.contract_id
       where r.contract_id = $1 and r.review_no = $2::text::integer`,
      [this.id, String(reviewNo)],
    );
    if (!row) throw new WritRefusal('contract_not_found', this.id);
    if (row.verdict === 'wrong')
      throw new WritRefusal('signature_refused', `${row.by} has not signed contract ${this.id}`);
    return {
      contract_id: this.id,
      status: row.status,
      approved_by: row.approvals,
      approvals_needed: row.needed,
      ...(row.status_reason !== null && { status_reason: row.status_reason }),
    };
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
  ): Promise<
    Contract & { readonly status: ContractState; readonly status_reason?: string | undefined }
  > {
    const steps = stepsOf(proposal.steps as Record<string, unknown>[]).map(named);
    const { template } = proposal;
    for (const step of template ? [] : steps) {
      const type = this.#host.types.get(step.step_type) as StepType<unknown> | undefined;
      if (type) await inputInScope(type, step);
    }
    const content = canonicalize({
      scope: [...new Set(proposal.scope.map(nameOf))].sort(byBytes),
      steps,
      ...(template && {
        template: {
          params: template.params ?? {},
          pre: Object.fromEntries(
            Object.entries(template.pre ?? {}).map(([slot, bounds]) => [nameOf(slot), bounds]),
          ),
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
    const where = options.tenant ?? this.#host.tenant ?? 'default';
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
    const answer = await actAs<{
      contract_id: string;
      status: ContractState;
      status_reason?: string;
    }>(
      this.#host,
      'fn_contract_propose($1, $2, $3::text::jsonb, $4)',
      [content, JSON.stringify(about), where],
      options,
      [content, { ...about, contract_id: options.id }, where],
    );
    return Object.assign(new Contract(this.#host, answer.contract_id), {
      status: answer.status,
      ...(answer.status_reason !== undefined && { status_reason: answer.status_reason }),
    });
  }

  /**
   * Stops what these contracts have had begun, and has it rolled back. What has come to rest stays
   * as it is; contracts without a job are not in the answer. Throws if one of them cannot be
   * stopped; the others are.
   */
  async stop(
    ids: readonly string[],
    {
      reason,
      signalId = randomUUID(),
      tenant = this.#host.tenant ?? 'default',
      db,
      ...options
    }: StopOptions,
  ): Promise<Stopped[]> {
    refuseSecrets(reason, 'the reason');
    const answer = await actAs<
      {
        contract_id: string;
        job_id: string;
        status: GovernanceJobState;
        stopped: boolean;
        reason?: ErrorCode;
        detail?: string;
      }[]
    >(
      inTransactionOf(this.#host, db),
      'fn_governance_stop($1, $2::text::uuid[], $3, $4::text::uuid, $5)',
      [`{${ids.join(',')}}`, reason, signalId, tenant],
      { ...options, tenant },
      [ids, reason],
    );
    const refused = answer.find(({ reason: code }) => code !== undefined);
    if (refused?.reason)
      throw new WritRefusal(
        refused.reason,
        `${refused.contract_id}: ${refused.detail ?? refused.reason}`,
      );
    return answer.map(({ contract_id, job_id, status, stopped }) => ({
      contract_id,
      job_id,
      status,
      stopped,
    }));
  }

  /**
   * Makes step types of your own known to this connection, which checks proposals with them and
   * gives them to its workers of governance.
   */
  use(...types: readonly AnyStepType[]): void {
    for (const type of types) this.#host.types.set(type.type, type);
  }

  /** Contracts, the newest first. */
  async list(filter: ContractFilter & PageOptions = {}): Promise<Page<ListedContract>> {
    return this.#list(filter);
  }

  /** Templates, the newest first. */
  async templates(
    filter: Omit<ContractFilter, 'template'> & PageOptions = {},
  ): Promise<Page<ListedContract>> {
    return this.#list(filter, ['c.template is not null']);
  }

  async #list(
    filter: ContractFilter & PageOptions,
    also: readonly string[] = [],
  ): Promise<Page<ListedContract>> {
    const { status, open, proposer, template } = filter;
    if (template !== undefined && !isUuid(template)) return { items: [], next: null };
    return readPage<ListedContract>(
      this.#host.db,
      {
        columns: `c.contract_id, c.tenant_id, c.version, c.status, c.status_reason, c.risk_level,
          c.title, c.affected_capabilities, c.created_by, c.on_behalf_of, c.approved_by,
          c.template_id, c.job_id, c.created_at, c.expires_at`,
        from: 'writ.system_contracts c',
        where: [
          ['c.tenant_id = ?', tenantRead(this.#host, filter)],
          ['c.status = ?', status],
          ['c.created_by = ?', proposer],
          ['c.template_id = ?::text::uuid', template],
          ...(open ? [[isOpen, null] as const] : []),
          ...also.map((condition) => [condition, null] as const),
        ],
        key: [['c.contract_id', 'uuid']],
      },
      filter,
    );
  }

  /** Everything about a contract, by the names of the specification. */
  async get(id: string, options: Reading = {}): Promise<SystemContract> {
    return this.handle(id).get(options);
  }

  /** How a contract came to where it is: every move, and what was said about it. */
  async history(
    id: string,
    options: Reading = {},
  ): Promise<{
    readonly moves: readonly ContractMove[];
    readonly reviews: readonly ContractReview[];
  }> {
    const [found] = isUuid(id)
      ? await readJson<{ moves: ContractMove[]; reviews: ContractReview[] }>(
          this.#host.db,
          `select
             coalesce(c.transition_history, '[]') as moves,
             coalesce(
               (
                 select json_agg(
                   json_build_object(
                     'review_no', r.review_no, 'action', r.action, 'by', r.by, 'reason', r.reason,
                     'hash', r.hash, 'scheme', r.scheme, 'signature', r.signature,
                     'public_key', r.public_key, 'at', r.at, 'verdict', r.verdict,
                     'verified_by', r.verified_by, 'verified_at', r.verified_at
                   )
                   order by r.review_no
                 )
                 from writ.contract_review r
                 where r.contract_id = c.contract_id
               ),
               '[]'
             ) as reviews
           from writ.system_contracts c
           where c.contract_id = $1 and c.tenant_id = coalesce($2, c.tenant_id)`,
          [id, tenantRead(this.#host, options) ?? null],
        )
      : [];
    if (!found) throw new WritRefusal('contract_not_found', id);
    return found;
  }

  /** Proposes another contract in place of one that was not approved as it is. */
  revise(
    id: string,
    proposal: Omit<Proposal, 'parent'>,
    options: ProposeOptions = {},
  ): ReturnType<Contracts['propose']> {
    return this.propose({ ...proposal, parent: this.handle(id).id }, options);
  }

  async preview(id: string, options: PreviewOptions = {}): Promise<Preview> {
    return this.handle(id).preview(options);
  }

  /** Asks an applier to read the values outside the database again; answers the preview. */
  async read(id: string, options: PreviewOptions & In = {}): Promise<Preview> {
    return this.handle(id).read(options);
  }

  async approve(id: string, options: ApproveOptions): Promise<Reviewed> {
    return this.handle(id).approve(options);
  }

  async revoke(
    id: string,
    options: In & { readonly reason?: string | undefined } = {},
  ): Promise<Reviewed> {
    return this.handle(id).revoke(options);
  }

  async reject(id: string, options: In & { readonly reason: string }): Promise<Reviewed> {
    return this.handle(id).reject(options);
  }

  async requestClarification(
    id: string,
    options: In & { readonly reason: string },
  ): Promise<Reviewed> {
    return this.handle(id).requestClarification(options);
  }

  async clarify(id: string, options: In & { readonly reason: string }): Promise<Reviewed> {
    return this.handle(id).clarify(options);
  }

  async escalate(
    id: string,
    options: In & { readonly reason?: string | undefined } = {},
  ): Promise<Reviewed> {
    return this.handle(id).escalate(options);
  }

  async submit(id: string, options: In = {}): Promise<Reviewed> {
    return this.handle(id).submit(options);
  }

  /** Has it done; answers its governance job. */
  async activate(
    id: string,
    options: ActivateOptions = {},
  ): Promise<{ readonly contract_id: string; readonly job_id: string }> {
    const { id: job_id } = await this.handle(id).activate(options);
    return { contract_id: id, job_id };
  }

  /** A contract that exists, with its methods. */
  handle(id: string): Contract {
    if (!isUuid(id)) throw new WritRefusal('contract_not_found', id);
    return new Contract(this.#host, id);
  }
}

/** The places whose values an approval needs and no applier has read. A template needs none. */
export const unreadOf = ({ document, outside }: Preview): readonly OutsideRead[] =>
  document.template === null
    ? outside.filter(({ read_at, code }) => read_at === null || code !== null)
    : [];

/** The refusal of an approval that needs these places, as the gate words it. */
export const notRead = (unread: readonly OutsideRead[]): WritRefusal =>
  new WritRefusal(
    'target_not_read',
    unread
      .map(({ slot, code, detail }) =>
        code === null
          ? `${slot}: no applier has read it yet`
          : `${slot}: ${[code, detail].filter(Boolean).join(', ')}`,
      )
      .join('; '),
  );

/** How long an instance waits for an applier that reads what stands outside. */
const readMs = 30_000;

/** The same host, whose calls are part of the caller's transaction, if one is given. */
const inTransactionOf = (host: ContractsHost, db: AnyConnection | undefined): ContractsHost =>
  db === undefined ? host : { ...host, db: transactionOf(db) };

const isOpen = `c.status not in ('COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED')`;

/** As the database sorts: by bytes. */
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

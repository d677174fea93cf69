/**
 * What an auditor repeats of governance, while the logs of an export are walked: each change that
 * was applied is judged again, by the document that was signed and the signatures that the ledger
 * had by then; no contract may be applied twice, no template more often than its bounds allow; and
 * governed values must be those of their last receipts. Nothing here needs Node.
 */
import { canonicalize } from '../../ledger/canonical.js';
import { isObject, isUuid, type ReceiptContainer } from '../../ledger/container.js';
import { governedPath, valuesPath } from '../../ledger/governed.js';
import { fromUtf8, toHex, utf8 } from '../../ledger/text.js';
import { type About, count, type Findings, type ProblemKind } from '../../ledger/verdict.js';
import type { Reader } from '../../ledger/verification/log.js';
import { parseManifest } from '../../ledger/verification/manifest.js';
import { contract as machine } from '../../machines/contract.js';
import { parseDocument, type SignedDocument, type SignedStep, slotOf } from '../document.js';
import { filled } from '../filled.js';
import type { Trust } from './file.js';
import {
  type Evidence,
  isFinding,
  judge,
  type SignatureRow,
  valueIn,
  type Weighed,
} from './judge.js';

export interface AuditOptions {
  /** Of the auditor. Without it approvals are not judged; everything else is. */
  readonly trust?: Trust | undefined;
  readonly signedBy: Evidence['signedBy'];
  /** The same, begun when a signature is heard, so that it is known when the change is judged. */
  readonly signedByAside?: (...signed: Parameters<Evidence['signedBy']>) => Promise<boolean>;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /**
   * Reads what stands now where a step of an application's type has changed it; undefined: unknown
   * type.
   */
  readonly outside?:
    | ((tenant: string, step: SignedStep) => Promise<unknown> | undefined)
    | undefined;
}

export interface Audited {
  /** Contracts that were applied, steps of theirs, and signatures that were looked at for them. */
  readonly contracts: number;
  readonly changes: number;
  readonly signatures: number;
  /** Governed values that were compared. */
  readonly values: number;
}

/** What the ledger has said about a contract so far. */
interface Heard {
  /** Of the document that its newest signatures are of. */
  hash?: string | undefined;
  /** Which the receipts of these signatures name. */
  round?: number | undefined;
  signatures: SignatureRow[];
  /** The lowest round that was not voided. A signature of an earlier one never counts again. */
  least: number;
  /** The status in which it has ended. */
  ended?: string;
  /** A rollback of it has failed, so a person may have it tried again after its end. */
  rollbackFailed?: true;
  /** Whether they are genuine, as far as that was asked aside; by key and signature. */
  checked?: Map<string, Promise<boolean>>;
  template?: string;
  /** Of an instance: the hash of its scope and steps, when it was made. */
  content?: string | undefined;
  /** The governance job that has applied it, and which steps; and which were undone. */
  job?: string;
  done?: Set<number>;
  undoneSteps?: Set<number>;
  /** Null: it may not be applied, and that is a finding already. */
  judged?: Judged | null;
  /** When its forward job began. */
  began?: number;
  /**
   * What it might do when it began, if no step was applied: a step that has only begun is undone
   * too.
   */
  undone?: Judged | null;
  /**
   * Of a template: its instances that were activated or applied, when the last one was, and the
   * shortest time between two.
   */
  instances?: Set<string>;
  last?: number;
  shortest?: number;
}

/** What stands at a slot, by the last receipt about it. */
interface Stands {
  readonly tenant: string;
  readonly slot: string;
  /** Of its state, as PostgreSQL prints it. */
  readonly sha256: string;
  /** Of the entry that says so. */
  readonly index: number;
}

/** A place outside the database, by the last receipt about it. */
interface StandsOutside extends Stands {
  readonly contract: string;
  /** The step of the contract that has changed it. */
  readonly step: number;
}

/** When an entry says that it was written, and the latest time of its log up to there. */
interface Times {
  readonly at: number;
  readonly latest: number;
}

/** What a contract may do, by its document. */
interface Judged {
  readonly weighed: Weighed;
  readonly steps: readonly SignedStep[];
  /**
   * The values before it: those that were signed; of an instance, those that the template allows.
   */
  readonly before: Readonly<Record<string, unknown>>;
  /** The same as the database printed them. */
  readonly forms: Readonly<Record<string, string>>;
}

/** A contract of an export, as the database had it. */
interface Kept {
  readonly documents: readonly string[];
  readonly params: Readonly<Record<string, unknown>> | null;
  /** By slot, the value as the database printed it. */
  readonly forms: Readonly<Record<string, string>>;
}

const signed = (...what: Parameters<Evidence['signedBy']>) => what.join();
const databaseTypes = ['capability_enable', 'capability_disable', 'config_update'];
const filesKept = 8;
/** How long before its place in the log a receipt may be dated: its transaction was open. */
const mayPredateMs = 3_600_000;

export class GovernanceAudit {
  readonly #read: Reader;
  readonly #options: AuditOptions;
  /** The first contract of each file. */
  readonly #firsts: readonly string[] | undefined;
  readonly #files = new Map<number, Promise<Map<string, Kept>>>();
  readonly #contracts = new Map<string, Heard>();
  /** Jobs that undo another. */
  readonly #undoing = new Set<string>();
  /** When a job began its next step at the earliest. */
  readonly #began = new Map<string, number>();
  /** By tenant and slot. */
  readonly #values = new Map<string, Stands>();
  readonly #outside = new Map<string, StandsOutside>();
  /** Capabilities and scopes that a receipt has made known, by log, control and name. */
  readonly #known = new Set<string>();
  /** Scopes, by tenant and name, whose first values are too long for their receipt. */
  readonly #cut = new Set<string>();
  /** How many entries of each log were heard. */
  readonly #sizes = new Map<string, number>();
  /** Logs with entries that nobody can read, and the first entry after the last of these. */
  readonly #gaps = new Map<string, number>();
  /** The latest time of the entries of each log so far. */
  readonly #latest = new Map<string, number>();
  readonly #found: {
    readonly kind: ProblemKind;
    readonly message: string;
    readonly about: About;
  }[] = [];
  #changes = 0;
  #signatures = 0;

  private constructor(read: Reader, firsts: readonly string[] | undefined, options: AuditOptions) {
    this.#read = read;
    this.#firsts = firsts;
    this.#options = options;
  }

  static async of(read: Reader, options: AuditOptions): Promise<GovernanceAudit> {
    const manifest = parseManifest(await read('export.json'));
    return new GovernanceAudit(
      read,
      typeof manifest === 'string' ? undefined : manifest.governance?.contracts,
      options,
    );
  }

  /** For verifyExport. */
  hear(
    log: string,
    { reason, status, context, timestamp }: ReceiptContainer,
    index: number,
  ): Promise<void> | undefined {
    if (index !== (this.#sizes.get(log) ?? 0)) this.#gaps.set(log, index);
    this.#sizes.set(log, index + 1);
    const at = Date.parse(timestamp);
    const latest = Math.max(this.#latest.get(log) ?? at, at);
    this.#latest.set(log, latest);
    switch (reason) {
      case 'contract_reviewed':
        if (status === 'accept') this.#reviewed(context);
        return undefined;
      case 'contract_moved':
        this.#moved(context, at);
        return undefined;
      case 'governance_job_moved':
        this.#jobMoved(context, at);
        return undefined;
      case 'change_applied':
        return this.#applied(log, context, { at, latest }, index);
      case 'change_reverted':
        this.#stands(log, context, index);
        return this.#reverted(log, context, at, index);
      case 'control_changed':
        this.#put(log, context, index);
        return undefined;
      default:
        return undefined;
    }
  }

  /** What can be said when all logs have been heard. */
  async close(findings: Findings): Promise<Audited> {
    await this.#templates();
    for (const { kind, message, about } of this.#found) findings.add(kind, message, about);
    const values = await this.#compare(findings);
    const contracts = [...this.#contracts.values()].filter(({ job }) => job !== undefined).length;
    if (contracts > 0 && !this.#options.trust) {
      findings.note(
        `The approvals of ${count(contracts, 'contract')} were not judged: no trust file was ` +
          'given.',
      );
    }
    return { contracts, changes: this.#changes, signatures: this.#signatures, values };
  }

  #heard(id: unknown): Heard {
    const key = String(id);
    let heard = this.#contracts.get(key);
    if (!heard) {
      heard = { signatures: [], least: 0 };
      this.#contracts.set(key, heard);
    }
    return heard;
  }

  #reviewed({
    contract_id,
    action,
    by,
    approval_hash,
    round: no,
    scheme,
    signature,
    public_key,
  }: ReceiptContainer['context']): void {
    const heard = this.#heard(contract_id);
    const round = typeof no === 'number' ? no : (heard.round ?? 0);
    if (action === 'REVOKE' || action === 'CLARIFY') {
      heard.least = Math.max(heard.least, round + 1, (heard.round ?? 0) + 1);
      heard.hash = undefined;
      heard.signatures = [];
    } else if (action === 'APPROVE' || action === 'BREAK_GLASS') {
      if (round < heard.least) return;
      if (heard.hash !== approval_hash) heard.signatures = [];
      heard.least = round;
      heard.round = round;
      heard.hash = String(approval_hash);
      const row = {
        ...{ by: String(by), scheme: String(scheme), signature: String(signature) },
        public_key: typeof public_key === 'string' ? public_key : null,
      };
      heard.signatures.push(row);
      this.#check(heard, row);
    }
  }

  /** Begins to check a signature with the key that it names, if the trust file has it. */
  #check(heard: Heard, { by, signature, public_key }: SignatureRow): void {
    const { trust, signedByAside } = this.#options;
    if (!signedByAside || trust?.source !== 'file' || !heard.hash || public_key == null) return;
    const person = Object.hasOwn(trust.persons, by) ? trust.persons[by] : undefined;
    if (!person?.keys.some((key) => key.public_key === public_key)) return;
    if (!/^[0-9a-f]{64}$/.test(heard.hash) || !/^[0-9a-f]{128}$/.test(signature)) return;
    const answer = signedByAside(public_key, heard.hash, signature);
    answer.catch(() => undefined); // whoever judges the change awaits it
    heard.checked ??= new Map();
    heard.checked.set(signed(public_key, heard.hash, signature), answer);
  }

  /** `signedBy`, which knows what was checked aside. */
  async #signedBy({ checked }: Heard): Promise<Evidence['signedBy']> {
    const known = new Map<string, boolean>();
    for (const [what, answer] of checked ?? []) known.set(what, await answer);
    return (...what) => known.get(signed(...what)) ?? this.#options.signedBy(...what);
  }

  #moved({ contract_id, to, why, scope_hash }: ReceiptContainer['context'], at: number): void {
    const [, template] =
      /^instance of ([0-9a-f-]{36})$/.exec(typeof why === 'string' ? why : '') ?? [];
    if (to === 'DRAFT' && template !== undefined) {
      const heard = this.#heard(contract_id);
      heard.template = template;
      heard.content = typeof scope_hash === 'string' ? scope_hash : undefined;
    } else if (to === 'ACTIVE') this.#activated(String(contract_id), at);
    else if ((machine.terminal as readonly unknown[]).includes(to))
      this.#heard(contract_id).ended ??= String(to);
  }

  /** Counts an instance of a template, once. */
  #activated(id: string, at: number): void {
    const template = this.#contracts.get(id)?.template;
    if (template === undefined) return;
    const heard = this.#heard(template);
    heard.instances ??= new Set();
    if (heard.instances.has(id)) return;
    heard.instances.add(id);
    if (heard.last !== undefined)
      heard.shortest = Math.min(heard.shortest ?? Number.POSITIVE_INFINITY, at - heard.last);
    heard.last = at;
  }

  #jobMoved({ job_id, contract_id, to, of_job_id }: ReceiptContainer['context'], at: number): void {
    const job = String(job_id);
    if (typeof of_job_id === 'string') this.#undoing.add(job);
    if (to === 'ROLLBACK_FAILED') this.#heard(contract_id).rollbackFailed = true;
    if (to !== 'RUNNING') return;
    this.#began.set(job, at);
    if (!this.#undoing.has(job)) this.#heard(contract_id).began ??= at;
  }

  async #applied(
    log: string,
    context: ReceiptContainer['context'],
    { at, latest }: Times,
    index: number,
  ): Promise<void> {
    this.#stands(log, context, index);
    this.#changes += 1;
    const [contract, job, step] = [
      String(context.contract_id),
      String(context.job_id),
      Number(context.step),
    ];
    const heard = this.#heard(contract);
    heard.job ??= job;
    heard.done ??= new Set();
    if (heard.job !== job || heard.done.has(step)) {
      const message =
        `Contract ${contract} was applied twice: entry ${index} of log ${log} is step ` +
        `${step} of job ${job}, ` +
        `after job ${heard.job} had applied it. Find out who began the second job, and undo it.`;
      this.#found.push({ kind: 'applied_twice', message, about: { log, subject: contract } });
    }
    if (heard.ended !== undefined)
      this.#unapproved(log, contract, `it was ${heard.ended} before step ${step}`);
    if (step > 1 && !heard.done.has(step - 1) && !this.#gaps.has(log))
      this.#unapproved(log, contract, `step ${step} was done without step ${step - 1}`);
    heard.done.add(step);
    this.#activated(contract, at);
    if (!this.#options.trust) return;
    const began = this.#began.get(job) ?? at;
    this.#began.set(job, at);
    const isFirst = heard.judged === undefined;
    if (heard.judged === undefined)
      heard.judged = await this.#judge(log, contract, heard, new Date(began));
    if (!heard.judged) return;
    const late = isFirst ? undefined : heard.judged.weighed.at(new Date(began));
    const wrong =
      late?.detail ??
      this.#backdated(heard.judged, log, contract, { at, latest }) ??
      this.#wrongStep(heard.judged, step, context);
    if (wrong !== undefined) this.#unapproved(log, contract, wrong);
  }

  /**
   * Judges a change at the place of its receipt in the log, where entries before it are dated much
   * later than it. Why its signatures do not count there: a key had ended. That its window was over
   * is a finding about the log, because a clock that was set back looks the same.
   */
  #backdated(
    { weighed }: Judged,
    log: string,
    contract: string,
    { at, latest }: Times,
  ): string | undefined {
    if (latest - at <= mayPredateMs) return undefined;
    const found = weighed.at(new Date(latest - mayPredateMs));
    if (!found) return undefined;
    const [said, stands] = [new Date(at).toISOString(), new Date(latest).toISOString()];
    const why = `its receipt says ${said}, and stands behind one of ${stands}: ${found.detail}`;
    if (found.code !== 'window_elapsed') return why;
    const message =
      `Contract ${contract} of log ${log} was applied after its window, or a clock was set back: ` +
      `${why}. Waive this if you know of the clock; otherwise find out who applied it.`;
    this.#found.push({ kind: 'dated_back', message, about: { log, subject: log } });
    return undefined;
  }

  async #judge(log: string, contract: string, heard: Heard, at: Date): Promise<Judged | null> {
    const { trust } = this.#options;
    const signer = heard.template ?? contract;
    const { hash, round, signatures } = this.#heard(signer);
    if (hash === undefined || !trust) {
      this.#unapproved(log, contract, 'nobody had signed it');
      return null;
    }
    const kept = await this.#kept(signer);
    const text = kept?.documents.find((one) => this.#isOf(hash, one));
    if (text === undefined) {
      const message =
        `The document that was signed for contract ${signer} is missing. Export again, with ` +
        'its governance files.';
      this.#found.push({ kind: 'governance_missing', message, about: { log, subject: signer } });
      return null;
    }
    this.#signatures += signatures.length;
    const instance = heard.template === undefined ? undefined : await this.#kept(contract);
    const params = heard.template === undefined ? null : (instance?.params ?? {});
    const said = readDocument(text);
    const steps = said
      ? params === null
        ? said.steps
        : said.steps.map((step) => filled(step, params))
      : [];
    const forms = (params === null ? kept : instance)?.forms ?? {};
    const before =
      params === null ? (said?.pre_state ?? {}) : mapOf(forms, (form) => readJson(form));
    const change = { contract: signer, tenant: log, scope: said?.scope ?? [], steps, params };
    const weighed = judge({
      ...{ trust, document: text, signatures, at, former: true },
      signedBy: await this.#signedBy(this.#heard(signer)),
      change: params === null ? change : { ...change, preState: before },
    });
    const other =
      said && said.round !== round
        ? `the receipt of its approval says round ${round}, and round ${said.round} was signed`
        : said && params !== null && heard.content !== this.#contentHash(said.scope, steps)
          ? 'its parameters are not those that its receipt has the hash of'
          : undefined;
    if (isFinding(weighed) || other !== undefined) {
      this.#unapproved(log, contract, isFinding(weighed) ? weighed.detail : String(other));
      return null;
    }
    return { weighed, steps, before, forms };
  }

  #contentHash(scope: readonly string[], steps: readonly SignedStep[]): string {
    return this.#hash(canonicalize({ scope, steps }));
  }

  #isOf(hash: string | undefined, document: string): boolean {
    return this.#hash(document) === hash;
  }

  /** Why a step is not the one that was signed; undefined if it is. */
  #wrongStep(judged: Judged, no: number, context: ReceiptContainer['context']): string | undefined {
    const { steps, before } = judged;
    const step = steps[no - 1];
    const slot = step && slotOf(step);
    if (
      !step ||
      step.step_type !== context.step_type ||
      step.target !== context.target ||
      slot !== (context.slot ?? undefined)
    ) {
      return (
        `step ${no} changed ${String(context.target)} by ${String(context.step_type)}, which ` +
        'nobody had signed'
      );
    }
    if (slot === undefined) return undefined;
    const isFirst = steps.findIndex((other) => slotOf(other) === slot) === no - 1;
    if (isFirst && !this.#isBefore(judged, slot, before[slot], context.before_sha256)) {
      return `step ${no} found another value at ${slot} than the one that was signed`;
    }
    // What a step type of an application writes may be read back in another form.
    if (
      !databaseTypes.includes(step.step_type) ||
      this.#stateHash(slot, valueIn(step)) === context.after_sha256
    )
      return undefined;
    return `step ${no} put another value at ${slot} than the one that was signed`;
  }

  async #reverted(
    log: string,
    { contract_id, of_step, slot, after_sha256 }: ReceiptContainer['context'],
    at: number,
    index: number,
  ): Promise<void> {
    const contract = String(contract_id);
    const heard = this.#heard(contract);
    const no = Number(of_step);
    const wrong = this.#wrongUndo(log, heard, no);
    heard.undoneSteps ??= new Set();
    heard.undoneSteps.add(no);
    if (wrong !== undefined)
      this.#unapproved(log, contract, `entry ${index} is the undo of step ${no}, ${wrong}`);
    if (!this.#options.trust) return;
    if (heard.judged === undefined && heard.undone === undefined)
      heard.undone = await this.#judge(log, contract, heard, new Date(heard.began ?? at));
    const judged = heard.judged ?? heard.undone;
    if (!judged) return; // that is a finding already
    const { steps, before } = judged;
    const undone = steps[no - 1];
    const place = undone && slotOf(undone);
    const earlier = steps.slice(0, no - 1).findLast((step) => slotOf(step) === place);
    if (place !== undefined && place === slot) {
      if (this.#isBefore(judged, place, before[place], after_sha256)) return;
      if (earlier && this.#stateHash(place, valueIn(earlier)) === after_sha256) return;
    }
    this.#unapproved(
      log,
      contract,
      `the undo of step ${no} put a value at ${String(slot)} that nobody had signed`,
    );
  }

  /**
   * Why a step may not be undone, whatever was signed; undefined if it may. Only a change that has
   * begun is undone, until it ends or again after a failed rollback, and each of its steps once.
   */
  #wrongUndo(log: string, heard: Heard, no: number): string | undefined {
    if (heard.ended === 'COMPLETED' || (heard.ended !== undefined && !heard.rollbackFailed))
      return `after the contract was ${heard.ended}`;
    if (heard.undoneSteps?.has(no)) return 'which was undone before';
    if (this.#gaps.has(log)) return undefined;
    if (heard.began === undefined) return 'though no job had begun to apply it';
    if (!heard.done?.has(no) && no > 1 && !heard.done?.has(no - 1)) return 'which had not begun';
    return undefined;
  }

  #unapproved(log: string, contract: string, why: string): void {
    const message =
      `Contract ${contract} was applied without approval: ${why}. Find out how, and undo what ` +
      'it changed.';
    this.#found.push({ kind: 'unapproved', message, about: { log, subject: contract } });
  }

  async #templates(): Promise<void> {
    for (const [template, { instances, shortest, hash }] of this.#contracts) {
      if (instances === undefined) continue;
      const text = (await this.#kept(template))?.documents.find((one) => this.#isOf(hash, one));
      const document = text === undefined ? undefined : readDocument(text);
      // that its document is missing is a finding of its instances
      if (!document?.template) continue;
      const { activations: most, cooldown_sec: cooldown = 0 } = document.template;
      const wrong = [
        ...(instances.size > most
          ? [`it was activated ${instances.size} times, and ${most} were signed`]
          : []),
        // Times of receipts have milliseconds.
        ...(shortest !== undefined && shortest + 1 < cooldown * 1_000
          ? [
              `it was activated again after ${shortest} ms, and a cooldown of ${cooldown} s ` +
                'was signed',
            ]
          : []),
      ];
      for (const why of wrong) {
        this.#found.push({
          kind: 'template_exceeded',
          message: `Template ${template}: ${why}.`,
          about: { log: document.tenant, subject: template },
        });
      }
    }
  }

  /**
   * Notes what a change has left at its slot. It must have found what the last receipt says: an
   * approval of a value that another hand has put there does not make that hand right.
   */
  #stands(
    log: string,
    {
      slot,
      step_type,
      before_sha256,
      after_sha256: sha256,
      contract_id,
      step,
      of_step,
    }: ReceiptContainer['context'],
    index: number,
  ): void {
    if (typeof slot !== 'string' || typeof sha256 !== 'string') return;
    const place = placeOf(log, slot);
    const stands = { tenant: log, slot, sha256, index };
    if (!databaseTypes.includes(String(step_type))) {
      const contract = String(contract_id);
      this.#outside.set(place, { ...stands, contract, step: Number(of_step ?? step) });
      return;
    }
    const last = this.#values.get(place);
    const isApplied = of_step === undefined; // an undo does not say what it has found
    if (isApplied && last && last.sha256 !== before_sha256 && !this.#isGapAfter(log, last.index))
      this.#differs(
        stands,
        `was not what its last receipt says (entry ${last.index} of log ${log}) when contract ` +
          `${String(contract_id)} changed it (entry ${index})`,
      );
    this.#values.set(place, stands);
  }

  #isGapAfter(log: string, index: number): boolean {
    return (this.#gaps.get(log) ?? 0) > index;
  }

  /** A value that another hand has changed before the entry that is about it. */
  #differs({ tenant: log, slot, index }: Omit<Stands, 'sha256'>, what: string): void {
    const message =
      `The value of ${slot} of tenant ${log} ${what}. ` +
      'Find out who changed it, and propose the value that should stand there.';
    const subject = `${log}:${slot}:${index}`;
    this.#found.push({ kind: 'value_differs', message, about: { log, index, subject } });
  }

  /**
   * The first values of a capability or of a scope. Each is made known once: a second receipt of
   * first values changes nothing that is known, and is a finding.
   */
  #put(log: string, { control, name, was, now }: ReceiptContainer['context'], index: number): void {
    if (was !== undefined || typeof name !== 'string' || typeof now !== 'string') return;
    if (control !== 'capability' && control !== 'configuration_scope') return;
    const thing = JSON.stringify([log, control, name]);
    if (this.#known.has(thing)) {
      const what = `has first values a second time (entry ${index} of log ${log})`;
      this.#differs({ tenant: log, slot: name, index }, what);
      return;
    }
    this.#known.add(thing);
    const put = readWritten(now);
    const stands = (slot: string, value: unknown) => {
      const place = placeOf(log, slot);
      const last = this.#values.get(place);
      const at = { tenant: log, slot, index };
      if (last)
        this.#differs(at, `was known by entry ${last.index}, and entry ${index} makes it known`);
      else this.#values.set(place, { ...at, sha256: this.#stateHash(slot, value) });
    };
    if (control === 'capability') {
      if (isObject(put)) stands(name, put.lifecycle);
    } else if (!isObject(put)) this.#cut.add(placeOf(log, name));
    else if (isObject(put.values))
      for (const [key, value] of Object.entries(put.values)) stands(`${name}#${key}`, value);
  }

  /**
   * Compares the governed values of the export with their last receipts. Answers how many it
   * compared.
   */
  async #compare(findings: Findings): Promise<number> {
    const file = await this.#read(valuesPath);
    if (!file) {
      if (this.#values.size === 0 && this.#outside.size === 0) return 0;
      const all = this.#values.size + this.#outside.size;
      const message =
        `${valuesPath} is missing: ${count(all, 'governed value')} cannot be compared. Export ` +
        'again.';
      findings.add('governance_missing', message, { subject: 'values' });
      return 0;
    }
    const exported = new Map<string, Record<string, unknown>>();
    for (const line of linesOf(file))
      exported.set(placeOf(String(line.tenant), String(line.slot)), line);
    const later: string[] = [];
    for (const [place, { tenant, slot, sha256, index }] of this.#values) {
      const line = exported.get(place);
      if (line?.later === true) {
        later.push(`${tenant}:${slot}`);
        continue;
      }
      const state = typeof line?.state === 'string' ? line.state : stateText(slot, null);
      if (isStateOf(state, slot) && this.#hash(state) === sha256) continue;
      const message =
        `The value of ${slot} of tenant ${tenant} is ${state.slice(0, 200)}, which is not ` +
        'what its last receipt ' +
        `says (entry ${index} of log ${tenant}). Find out who changed it, and propose the ` +
        'value that should stand there.';
      findings.add('value_differs', message, { log: tenant, index, subject: `${tenant}:${slot}` });
    }
    if (later.length > 0)
      findings.note(
        `${count(later.length, 'governed value')} changed after the newest checkpoint: not ` +
          `compared: ${named(later)}.`,
      );
    const unread: string[] = [];
    for (const [place, { tenant, slot, state, later: isLater }] of exported) {
      if (this.#values.has(place) || isLater === true || typeof state !== 'string') continue;
      const [log, name] = [String(tenant), String(slot)];
      if (this.#gaps.has(log) || this.#cut.has(placeOf(log, name.slice(0, name.indexOf('#'))))) {
        unread.push(`${log}:${name}`);
        continue;
      }
      const message =
        `The value of ${name} of tenant ${log} is ${state.slice(0, 200)}, and no receipt ` +
        'says who put it there. ' +
        `Find out who did, and propose the value that should stand there.`;
      findings.add('value_differs', message, { log, subject: `${log}:${name}` });
    }
    if (unread.length > 0)
      findings.note(
        `${count(unread.length, 'governed value')} not compared: the receipts about them are ` +
          `not in the export, or too short for them: ${named(unread)}.`,
      );
    const outside = await this.#compareOutside(findings, exported);
    return this.#values.size - later.length + outside;
  }

  /**
   * Compares what stands outside the database with the last receipts, where the auditor can read
   * it.
   */
  async #compareOutside(
    findings: Findings,
    exported: ReadonlyMap<string, Record<string, unknown>>,
  ): Promise<number> {
    let compared = 0;
    const unread: string[] = [];
    for (const [place, { tenant, slot, contract, step: no, sha256, index }] of this.#outside) {
      const step = await this.#stepAt(contract, no, slot);
      const reading = step && this.#options.outside?.(tenant, step);
      if (!reading || exported.get(place)?.later === true) {
        unread.push(`${tenant}:${slot}`);
        continue;
      }
      const about = { log: tenant, index, subject: `${tenant}:${slot}` };
      try {
        const value = await reading;
        compared += 1;
        if (this.#stateHash(slot, value) === sha256) continue;
        const message =
          `The value of ${slot} of tenant ${tenant} is ` +
          `${stateText(slot, value).slice(0, 200)}, which is not what its ` +
          `last receipt says (entry ${index} of log ${tenant}). Find out who changed it, and ` +
          'propose the value that should stand there.';
        findings.add('value_differs', message, about);
      } catch (error) {
        const message =
          `The value of ${slot} of tenant ${tenant} cannot be read: ` +
          `${(error as Error).message}. Verify again.`;
        findings.add('governance_missing', message, about);
      }
    }
    if (unread.length > 0)
      findings.note(
        `${count(unread.length, 'value')} outside the database not compared: they changed ` +
          `after the newest checkpoint, or nobody gave their step types: ${named(unread)}.`,
      );
    return compared;
  }

  /**
   * The step that has changed a slot, with the parameters of an instance; it says only how to read
   * the slot.
   */
  async #stepAt(contract: string, no: number, slot: string): Promise<SignedStep | undefined> {
    const { template } = this.#heard(contract);
    const documents = (await this.#kept(template ?? contract))?.documents ?? [];
    const params = template === undefined ? {} : ((await this.#kept(contract))?.params ?? {});
    return documents
      .flatMap((text) => readDocument(text)?.steps[no - 1] ?? [])
      .map((step) => filled(step, params))
      .find((step) => slotOf(step) === slot);
  }

  /** A contract, out of the file that has it. */
  async #kept(contract: string): Promise<Kept | undefined> {
    const firsts = this.#firsts ?? [];
    let [low, high] = [0, firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (firsts[middle]! <= contract) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return undefined;
    let file = this.#files.get(low);
    if (!file) {
      file = this.#load(low);
      if (this.#files.size >= filesKept) this.#files.delete(this.#files.keys().next().value!);
      this.#files.set(low, file);
    }
    return (await file).get(contract);
  }

  async #load(file: number): Promise<Map<string, Kept>> {
    const bytes = await this.#read(governedPath(file));
    const kept = new Map<string, Kept>();
    for (const { contract, documents, params, pre_state } of bytes ? linesOf(bytes) : []) {
      if (!isUuid(contract) || !Array.isArray(documents)) continue;
      kept.set(contract, {
        documents: documents.filter((text) => typeof text === 'string'),
        params: isObject(params) ? params : null,
        forms: formsOf(pre_state),
      });
    }
    return kept;
  }

  /**
   * Whether a hash is that of the value before a change, in the form of RFC 8785 or of the
   * database.
   */
  #isBefore({ forms }: Judged, slot: string, value: unknown, sha256: unknown): boolean {
    if (this.#stateHash(slot, value) === sha256) return true;
    const form = forms[slot];
    if (form === undefined || !same(readJson(form), value)) return false;
    return this.#hash(`{${JSON.stringify(slot)}: ${form}}`) === sha256;
  }

  #stateHash(slot: string, value: unknown): string {
    return this.#hash(stateText(slot, value ?? null));
  }

  #hash(text: string): string {
    return toHex(this.#options.sha256(utf8(text)));
  }
}

/** A document, if it is one; that it is none is for the judge to say. */
function readDocument(text: string): SignedDocument | undefined {
  try {
    return parseDocument(text);
  } catch {
    return undefined;
  }
}

/** A slot of a tenant, whatever characters their names have. */
const placeOf = (tenant: string, slot: string): string => JSON.stringify([tenant, slot]);

/** The first of many names, for a note. */
const named = (names: readonly string[], most = 20): string =>
  [...names.slice(0, most), ...(names.length > most ? [`${names.length - most} more`] : [])].join(
    ', ',
  );

const mapOf = <From, To>(
  of: Readonly<Record<string, From>>,
  map: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, map(value)]));

const formsOf = (value: unknown): Record<string, string> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([slot, text]) =>
          typeof text === 'string' ? [[slot, text]] : [],
        ),
      )
    : {};

/** Undefined for what is no JSON. */
function readJson(text: string, reviver?: Parameters<typeof JSON.parse>[1]): unknown {
  try {
    return JSON.parse(text, reviver);
  } catch {
    return undefined;
  }
}

/** A number as a text has it. */
class Written {
  constructor(readonly text: string) {}
}

/**
 * Undefined for what is no JSON. Numbers are as they are written, because PostgreSQL keeps 100.0:
 * they are marked with a character that no text in its jsonb has.
 */
function readWritten(json: string): unknown {
  const marked = json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"\\u0000${token}"`,
  );
  return readJson(marked, (_, value) =>
    typeof value === 'string' && value.startsWith('\0') ? new Written(value.slice(1)) : value,
  );
}

function same(a: unknown, b: unknown): boolean {
  try {
    return canonicalize(a) === canonicalize(b);
  } catch {
    return false;
  }
}

/** The objects that the lines of a file hold; a line that holds none is left out. */
function* linesOf(bytes: Uint8Array): Generator<Record<string, unknown>> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start);
    const line = bytes.subarray(start, end < 0 ? bytes.length : end);
    start += line.length + 1;
    const value = readJson(fromUtf8(line) ?? '');
    if (isObject(value)) yield value;
  }
}

/** Whether a text is the state of one slot. */
function isStateOf(state: string, slot: string): boolean {
  const value = readJson(state);
  return isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, slot);
}

/** A slot and its value as PostgreSQL prints them, which is what receipts have the hash of. */
export const stateText = (slot: string, value: unknown): string => printed({ [slot]: value });

function printed(value: unknown): string {
  if (typeof value === 'number') return plain(value);
  if (value instanceof Written) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`;
  const keys = Object.keys(value).map((key) => [key, utf8(key)] as const);
  keys.sort(([, a], [, b]) => a.length - b.length || compareBytes(a, b));
  const members = value as Record<string, unknown>;
  return `{${keys.map(([key]) => `${JSON.stringify(key)}: ${printed(members[key])}`).join(', ')}}`;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, place) => byte !== b[place]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** A number without an exponent. */
function plain(value: number): string {
  const [, sign = '', whole = '', fraction = '', exponent] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  if (exponent === undefined) return String(value);
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? `${sign}${digits}${'0'.repeat(point - digits.length)}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

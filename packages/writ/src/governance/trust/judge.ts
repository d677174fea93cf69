/**
 * Whether a change may be made: by the bytes that persons have signed, their signatures, and the
 * trust of this process. Nothing that the database says can extend that; what it says is compared.
 * An applier asks before the first effect, and an auditor again for every change of an export.
 * Nothing here needs Node.
 */
import { WritRefusal } from '../../errors/index.js';
import { canonicalize } from '../../ledger/canonical.js';
import {
  documentHash,
  glassDomain,
  glassMs,
  parseDocument,
  type Risk,
  risks,
  type SignedBounds,
  type SignedDocument,
  type SignedStep,
  slotOf,
} from '../document.js';
import { filled } from '../filled.js';
import type { Trust, TrustKey, TrustRight } from './file.js';

/** Why a change may not be made. */
export interface Finding {
  readonly code: FindingCode;
  readonly detail: string;
  /** Time may mend it, for example when the next version of the trust file arrives. */
  readonly wait?: true;
}

export type FindingCode =
  // Of a signature.
  | 'unknown_key'
  | 'key_not_yet_valid'
  | 'key_ended'
  | 'wrong_signature'
  | 'not_authorized'
  | 'own_contract'
  // Of all of them, and of their time.
  | 'invalid_document'
  | 'other_deployment'
  | 'quorum_missing'
  | 'window_elapsed'
  | 'glass_too_long'
  // Of the change.
  | 'other_contract'
  | 'other_content'
  | 'other_pre_state'
  | 'out_of_bounds'
  | 'wrong_undo';

/**
 * A signature, as the database keeps it. Only for the source `database` do the last four fields say
 * more than which key to look at.
 */
export interface SignatureRow {
  readonly by: string;
  readonly scheme: string;
  /** In hexadecimal. */
  readonly signature: string;
  readonly public_key?: string | null;
  /** The principal is a person that may act. */
  readonly active?: boolean | null;
  readonly rights?: readonly string[] | null;
  /** Null: in every tenant. */
  readonly tenant?: string | null;
}

/**
 * What became of one signature. It counts if it has no finding; one with `wait` has no verdict yet.
 */
export interface Standing {
  readonly by: string;
  readonly finding?: Finding;
}

/**
 * What the database says besides the signatures. It can only demand more than the document and the
 * trust file.
 */
export interface DatabaseWord {
  readonly deployment?: string;
  readonly risk?: Risk;
  /** For each risk, or for the contract's. */
  readonly quorum?: number | Readonly<Partial<Record<Risk, number>>>;
}

export interface Evidence {
  readonly trust: Trust;
  /** The kept bytes. */
  readonly document: string | Uint8Array;
  readonly signatures: readonly SignatureRow[];
  /** The clock of whoever asks; of an auditor, when the change was made. */
  readonly at: Date;
  readonly database?: DatabaseWord;
  /** An auditor asks: a document of a former deployment counts until that was renewed. */
  readonly former?: true;
  /**
   * Checks an Ed25519 signature of 32 bytes, all in hexadecimal. `signedBy` of keys.ts does, in
   * Node.
   */
  readonly signedBy: (publicKey: string, hash: string, signature: string) => boolean;
}

/** What is done under a document, as the database hands it over. */
export interface Change {
  /** Of the contract that was signed; for an instance, of its template. */
  readonly contract: string;
  readonly tenant: string;
  readonly scope: readonly string[];
  readonly steps: readonly SignedStep[];
  /** The pre-state that it is held to, where the asker has it. */
  readonly preState?: Readonly<Record<string, unknown>>;
  /** The parameters of an instance of a template; null: it is none. */
  readonly params: Readonly<Record<string, unknown>> | null;
  /**
   * Of a rollback, by the number of the step that is undone: the slot and the value that it
   * restores.
   */
  readonly restores?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
}

/** Signatures weighed, with what they have to reach. */
export interface Weighed {
  readonly document: SignedDocument;
  readonly hash: string;
  readonly risk: Risk;
  /** How many persons are needed. One breaks the glass. */
  readonly quorum: number;
  /** Whose signatures count. */
  readonly persons: readonly string[];
  /** In the order of the signatures. */
  readonly signatures: readonly Standing[];
  /**
   * The finding of another time: before each forward step its time is compared again, but not its
   * signatures.
   */
  at(time: Date): Finding | undefined;
}

export const isFinding = (answer: object): answer is Finding => 'code' in answer;

/** Judges a change. Answers who approved it, or why it may not be made. */
export function judge(
  evidence: Evidence & {
    readonly change?: Change;
    /**
     * A step of this job was done before. The expiry of a break-glass is compared before the first
     * step only.
     */
    readonly begun?: boolean;
  },
): Weighed | Finding {
  const { at, change, begun = false } = evidence;
  const undo = change?.restores != null;
  const weighed = weigh(evidence, undo);
  if (isFinding(weighed)) return weighed;
  const { document } = weighed;
  return (
    (change && wrongWith(document, change)) ??
    (!undo &&
    !begun &&
    document.writ === glassDomain &&
    at.getTime() > Date.parse(document.not_after)
      ? { code: 'window_elapsed', detail: `The glass was broken until ${document.not_after}` }
      : undefined) ??
    weighed.at(at) ??
    weighed
  );
}

/**
 * Weighs signatures, whether or not they are enough. `undo`: nothing that ended since the change
 * stops its undo.
 */
export function weigh(
  { trust, document: bytes, signatures, at, database = {}, signedBy, former }: Evidence,
  undo = false,
): Weighed | Finding {
  let document: SignedDocument;
  try {
    document = parseDocument(bytes);
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    return { code: 'invalid_document', detail: error.detail ?? error.message };
  }
  const deployment =
    trust.source === 'file' ? trust.deployment : (database.deployment ?? document.deployment);
  const until =
    former && trust.source === 'file'
      ? trust.former_deployments?.find((one) => one.deployment === document.deployment)?.until
      : undefined;
  const wrongDeployment: Finding | undefined =
    document.deployment === deployment
      ? undefined
      : {
          code: 'other_deployment',
          detail:
            `It was signed for the deployment ${document.deployment}, ` +
            `and this is ${deployment}`,
        };
  if (wrongDeployment && until === undefined) return wrongDeployment;
  const hash = documentHash(bytes);
  // a policy of today stops no undo
  const { risk, quorum } = demandsOn(document, trust, undo ? {} : database);
  const checked = signatures.map((row) =>
    checkSignature(row, document, hash, trust, undo, signedBy),
  );
  const standingsAt = (time: Date) =>
    checked.map((each): Standing => (undo || !each.key ? each : withTime(each.by, each.key, time)));
  const standings = standingsAt(at);
  return {
    document,
    hash,
    risk,
    quorum,
    persons: personsOf(standings),
    signatures: standings.map(({ by, finding }) => ({ by, ...(finding && { finding }) })),
    at: (time) =>
      missing(time === at ? standings : standingsAt(time), quorum) ??
      (until !== undefined && time.getTime() > Date.parse(until) ? wrongDeployment : undefined) ??
      (undo ? undefined : wrongWindow(document, time)),
  };
}

/**
 * Returns the risk of a document and the quorum that it needs: of file, database and document the
 * highest.
 */
export function demandsOn(
  document: SignedDocument,
  trust: Trust,
  database: DatabaseWord = {},
): { readonly risk: Risk; readonly quorum: number } {
  const levels = [document.risk, ...(database.risk === undefined ? [] : [database.risk])];
  if (trust.source === 'file') {
    const touched = touchedBy(document);
    for (const { target, risk } of trust.risk_floors) {
      const start = target.endsWith('*') ? target.slice(0, -1) : undefined;
      if (touched.some((name) => (start === undefined ? name === target : name.startsWith(start))))
        levels.push(risk);
    }
  }
  const risk = risks[Math.max(...levels.map((level) => risks.indexOf(level)))] as Risk;
  if (document.writ === glassDomain) return { risk, quorum: 1 };
  const said =
    typeof database.quorum === 'number' ? database.quorum : quorumFor(risk, database.quorum);
  return {
    risk,
    quorum: Math.max(
      document.policy.quorum,
      said,
      trust.source === 'file' ? quorumFor(risk, trust.quorum) : 1,
    ),
  };
}

/** The quorum of a risk: what a lower risk needs, a higher one needs, too. */
const quorumFor = (risk: Risk, quorum: Readonly<Partial<Record<Risk, number>>> = {}): number =>
  Math.max(1, ...risks.slice(0, risks.indexOf(risk) + 1).map((level) => quorum[level] ?? 1));

/** Every name that a floor may be about: scope, targets, and single values as `scope#key`. */
const touchedBy = ({ scope, steps }: SignedDocument): string[] => [
  ...new Set([...scope, ...steps.flatMap((step) => [step.target, slotOf(step) ?? step.target])]),
];

/** A signature that was checked, without the times of its key. */
interface Checked extends Standing {
  /** Of the file. */
  readonly key?: TrustKey;
}

function checkSignature(
  row: SignatureRow,
  document: SignedDocument,
  hash: string,
  trust: Trust,
  undo: boolean,
  signedBy: Evidence['signedBy'],
): Checked {
  const { by } = row;
  const no = (code: FindingCode, detail: string, wait?: true): Checked => ({
    by,
    finding: { code, detail, ...(wait && { wait }) },
  });
  const right: TrustRight = document.writ === glassDomain ? 'break_glass' : 'approve';
  if (right === 'approve' && document.proposed_by.includes(by))
    return no('own_contract', `${by} wants this change`);
  const signed = (key: string) => {
    const wellFormed = /^[0-9a-f]{64}$/.test(key) && /^[0-9a-f]{128}$/i.test(row.signature);
    return wellFormed && row.scheme === 'ed25519' && signedBy(key, hash, row.signature);
  };
  const wrong = () => no('wrong_signature', `${by} has not signed this`);
  if (trust.source === 'database') {
    if (!signed(row.public_key ?? '')) return wrong();
    if (!undo && row.active !== true) return no('not_authorized', `${by} may not act`);
    if (!row.rights?.includes(right) || (row.tenant ?? document.tenant) !== document.tenant)
      return no('not_authorized', `${by} has no right to ${right} in tenant ${document.tenant}`);
    return { by };
  }
  const person = Object.hasOwn(trust.persons, by) ? trust.persons[by] : undefined;
  // The row says which of the person's keys to look at; it cannot bring one of its own.
  const keys = (person?.keys ?? []).filter(
    ({ scheme, public_key }) =>
      scheme === row.scheme && (row.public_key == null || public_key === row.public_key),
  );
  if (!person || keys.length === 0)
    return no('unknown_key', `The trust file has no such key of ${by}`, true);
  const key = keys.find(({ public_key }) => signed(public_key));
  if (!key) return wrong();
  if (
    !person.rights.includes(right) ||
    !(person.tenants.includes('*') || person.tenants.includes(document.tenant))
  )
    return no('not_authorized', `${by} has no right to ${right} in tenant ${document.tenant}`);
  return { by, key };
}

function withTime(by: string, key: TrustKey, at: Date): Standing {
  const ended = [key.until, key.compromised_since].find(
    (end) => end !== undefined && Date.parse(end) <= at.getTime(),
  );
  if (ended !== undefined)
    return { by, finding: { code: 'key_ended', detail: `The key of ${by} ended at ${ended}` } };
  if (Date.parse(key.since) > at.getTime())
    return {
      by,
      finding: {
        code: 'key_not_yet_valid',
        detail: `The key of ${by} begins at ${key.since}`,
        wait: true,
      },
    };
  return { by };
}

/** One person may sign with several keys, and counts once. */
const personsOf = (standings: readonly Standing[]) => [
  ...new Set(standings.filter(({ finding }) => !finding).map(({ by }) => by)),
];

function missing(standings: readonly Standing[], quorum: number): Finding | undefined {
  const persons = personsOf(standings);
  if (persons.length >= quorum) return undefined;
  const findings = standings.flatMap(({ by, finding }) =>
    finding && !persons.includes(by) ? [{ by, finding }] : [],
  );
  const waiting = findings.filter(({ finding }) => finding.wait);
  const enough = new Set([...persons, ...waiting.map(({ by }) => by)]).size >= quorum;
  const detail = [
    `${persons.length} of ${quorum} persons have approved this`,
    ...new Set(findings.map(({ finding }) => finding.detail)),
  ].join('; ');
  return enough
    ? { code: waiting[0]?.finding.code ?? 'unknown_key', detail, wait: true }
    : { code: 'quorum_missing', detail };
}

/** How long a job may take whose constraints do not say so, as writ_data.job_limit_ms has it. */
const jobMs = 3_600_000;

/**
 * Whether the time for another step is over. A broken glass is compared before the first step;
 * after it, a job goes on for as long as it may take. Which step is the first is the word of the
 * database, so this ends it too.
 */
function wrongWindow(
  { writ, not_after, constraints }: SignedDocument,
  at: Date,
): Finding | undefined {
  const left = Date.parse(not_after) - at.getTime();
  if (writ !== glassDomain)
    return left < 0
      ? { code: 'window_elapsed', detail: `It was approved until ${not_after}` }
      : undefined;
  const { max_duration_ms: most } = constraints;
  if (left + (typeof most === 'number' ? most : jobMs) + clocksDifferMs < 0)
    return { code: 'window_elapsed', detail: `The glass was broken until ${not_after}` };
  if (left > glassMs + clocksDifferMs)
    return {
      code: 'glass_too_long',
      detail: `A broken glass lasts 15 minutes, and this one until ${not_after}`,
    };
  return undefined;
}

/** How far the clocks of a signer and an applier may differ. */
const clocksDifferMs = 60_000;

/** Compares what is done with what was signed. */
function wrongWith(document: SignedDocument, change: Change): Finding | undefined {
  const { contract, tenant, scope, steps, preState, params, restores } = change;
  if (document.contract !== contract || document.tenant !== tenant)
    return {
      code: 'other_contract',
      detail: `Contract ${document.contract} of tenant ${document.tenant} was signed`,
    };
  if (
    (document.template === null) !== (params === null) ||
    (params !== null && document.writ === glassDomain)
  )
    return {
      code: 'other_content',
      detail:
        params === null
          ? 'A template is done by its instances'
          : 'What was signed is not a template',
    };
  const beyond = params === null ? undefined : wrongParams(document, params);
  if (beyond !== undefined) return { code: 'out_of_bounds', detail: beyond };
  if (!same(scope, document.scope) || !same(steps, stepsOf(document, params)))
    return {
      code: 'other_content',
      detail:
        params === null
          ? 'The steps are not those that were signed'
          : 'The contract is not what its template says',
    };
  if (restores != null) {
    for (const [stepNo, values] of Object.entries(restores)) {
      const wrong = wrongUndo(document, params, Number(stepNo), values);
      if (wrong) return wrong;
    }
    return undefined;
  }
  if (preState === undefined) return undefined;
  if (params === null)
    return same(preState, document.pre_state)
      ? undefined
      : { code: 'other_pre_state', detail: 'The pre-state is not the one that was signed' };
  const slots = new Set(steps.flatMap((step) => slotOf(step) ?? []));
  const outside = [...slots].find(
    (slot) => !Object.hasOwn(preState, slot) || !isSignedBefore(document, slot, preState[slot]),
  );
  return outside === undefined
    ? undefined
    : {
        code: 'other_pre_state',
        detail: `The value of ${outside} is not in the range that was signed`,
      };
}

/**
 * Whether the undo of a step restores what was signed: the value that stood there before the step.
 * That is the pre-state, or what an earlier step has put there.
 */
export function wrongUndo(
  document: SignedDocument,
  params: Readonly<Record<string, unknown>> | null,
  stepNo: number,
  values: Readonly<Record<string, unknown>>,
): Finding | undefined {
  const steps = stepsOf(document, params);
  const step = Number.isSafeInteger(stepNo) ? steps[stepNo - 1] : undefined;
  const slot = step && slotOf(step);
  if (slot === undefined)
    return { code: 'wrong_undo', detail: `Step ${stepNo} was not signed, or changes nothing` };
  const [[named, value] = [], ...others] = Object.entries(values);
  if (named !== slot || others.length > 0)
    return { code: 'wrong_undo', detail: `Step ${stepNo} changes ${slot}, and nothing else` };
  const earlier = steps.slice(0, stepNo - 1).findLast((one) => slotOf(one) === slot);
  // What a type of the user's own reads after its step is not what it was told to put there, and
  // nobody signs it. The undo of the earlier step follows, and restores what was signed.
  if (earlier && !inDatabase.includes(earlier.step_type)) return undefined;
  if (isSignedBefore(document, slot, value) || (earlier && same(value, valueIn(earlier))))
    return undefined;
  return { code: 'wrong_undo', detail: `The value to restore at ${slot} was not signed` };
}

const inDatabase = ['capability_enable', 'capability_disable', 'config_update'];

/**
 * Whether a value is the signed pre-state of a slot; of a template's, whether it is in the signed
 * range.
 */
export function isSignedBefore(
  { template, pre_state }: SignedDocument,
  slot: string,
  value: unknown,
): boolean {
  if (template === null) return Object.hasOwn(pre_state, slot) && same(value, pre_state[slot]);
  const range = template.pre && Object.hasOwn(template.pre, slot) ? template.pre[slot] : undefined;
  return range !== undefined && within(value, range);
}

function wrongParams(
  { template }: SignedDocument,
  params: Readonly<Record<string, unknown>>,
): string | undefined {
  const bounds = template?.params ?? {};
  const unknown = Object.keys(params).find((name) => !Object.hasOwn(bounds, name));
  if (unknown !== undefined) return `The template has no parameter ${unknown}`;
  const beyond = Object.entries(bounds).find(
    ([name, bound]) => !Object.hasOwn(params, name) || !within(params[name], bound),
  );
  return beyond && `The parameter ${beyond[0]} is out of the bounds that were signed`;
}

const stepsOf = (
  { steps }: SignedDocument,
  params: Readonly<Record<string, unknown>> | null,
): readonly SignedStep[] => (params === null ? steps : steps.map((step) => filled(step, params)));

/** The value that a step puts into its slot, as writ_data.slots has it. */
export function valueIn({ step_type, parameters }: SignedStep): unknown {
  if (step_type === 'capability_enable') return parameters.target_lifecycle ?? 'LAUNCHED';
  if (step_type === 'capability_disable') return 'DISABLED';
  return step_type === 'config_update' ? parameters.new_value : parameters.value;
}

function within(value: unknown, bounds: SignedBounds): boolean {
  if ('in' in bounds) return bounds.in.some((one) => same(one, value));
  return typeof value === 'number' && value >= bounds.min && value <= bounds.max;
}

/**
 * Compares values as canonical bytes, as they are signed. A value without them is like no other.
 */
function same(a: unknown, b: unknown): boolean {
  try {
    return canonicalize(a) === canonicalize(b);
  } catch (error) {
    if (error instanceof WritRefusal) return false;
    throw error;
  }
}

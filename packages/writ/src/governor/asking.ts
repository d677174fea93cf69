/**
 * Answers the questions of governors, many at a time, each in its time. What does not answer in
 * time counts as not there, and the governor is told so: it decides what follows.
 */
import type { Authorizer } from '../authorization/authorizer.js';
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { isConnectionLoss, WritError } from '../errors/index.js';
import { asError } from '../errors/thrown.js';
import type {
  Answers,
  CheckAnswers,
  Entitlement,
  Failure,
  Permission,
  QuotaRead,
} from './events.js';
import type { ActionRule, Doing } from './policy-document.js';
import type { Question } from './questions.js';
import { jobKind } from './turn.js';

export interface Asked {
  readonly id: string;
  readonly tenant: string;
  readonly question: Question;
}

/** Times that a host goes by, from the settings. */
export interface HostBounds {
  readonly receipt_slo_ms: number;
  readonly entitlement_ms: number;
  readonly policy_ms: number;
  readonly ping_ms: number;
  readonly ping_every_ms: number;
  readonly crashes: number;
}

interface Looked {
  readonly tenants: Record<
    string,
    { entitlement: Entitlement | null; quota: QuotaRead; recent: number }
  >;
  readonly bounds: NonNullable<CheckAnswers['bounds']>;
}

const unreachable = (why: string): Answers => ({
  act: {
    action: { unreachable: why },
    inverse: { unreachable: why },
    quota: nothingRead,
    known: true,
  },
});

const nothingRead: QuotaRead = { month: '0000-00', used: 0 };
const notAsked: Permission = { allowed: false, policy_set_hash: '0'.repeat(64) };

export class Asking {
  readonly #db: Queryable;
  readonly #authorizer: Authorizer;
  readonly #bounds: () => HostBounds;

  constructor(db: Queryable, authorizer: Authorizer, bounds: () => HostBounds) {
    this.#db = db;
    this.#authorizer = authorizer;
    this.#bounds = bounds;
  }

  /** Of each that asks, by its id. Who is not among them asks again. */
  async answer(asked: readonly Asked[]): Promise<Map<string, Answers>> {
    const tenants = [...new Set(asked.map(({ tenant }) => tenant))];
    const checks = asked.some(({ question }) => question.kind === 'check');
    const [looked, ledger, known] = await Promise.all([
      this.#look(
        tenants,
        asked.some(({ question }) => question.kind === 'recent'),
      ),
      checks ? this.ping() : undefined,
      this.#known(
        asked.flatMap(({ question }) =>
          'rule' in question && question.rule ? [question.rule, question.rule.inverse] : [],
        ),
      ),
    ]);
    const answers = new Map<string, Answers>();
    await Promise.all(
      asked.map(async ({ id, tenant, question }) => {
        const answer = await this.#one(tenant, question, looked, ledger, known);
        if (answer) answers.set(id, storable(answer));
      }),
    );
    return answers;
  }

  async #one(
    tenant: string,
    question: Question,
    looked: Looked | { readonly failed: string },
    ledger: Failure | undefined,
    known: ReadonlySet<string>,
  ): Promise<Answers | undefined> {
    // What could not be read must not look like nothing used or nothing sent.
    if ('failed' in looked && question.kind !== 'check')
      return question.kind === 'act' ? unreachable(looked.failed) : undefined;
    const found = 'failed' in looked ? undefined : looked.tenants[tenant];
    const quota = found?.quota ?? nothingRead;
    const isKnown = (rule: ActionRule) => kindsOf(rule).every((kind) => known.has(kind));
    switch (question.kind) {
      case 'recent':
        return { recent: found?.recent ?? 0 };
      case 'check':
        return {
          check: {
            entitlement:
              'failed' in looked ? { failed: looked.failed } : (found?.entitlement ?? null),
            quota,
            failures: ledger ? [ledger] : [],
            ...(!('failed' in looked) && { bounds: looked.bounds }),
          },
        };
      case 'act': {
        const { rule } = question;
        if (!rule) return { act: { action: notAsked, inverse: notAsked, quota, known: false } };
        const [action, inverse] = await this.#permissions(tenant, question.principal, rule);
        return { act: { action, inverse, quota, known: isKnown(rule) } };
      }
      case 'recheck': {
        if (!question.rule) return { recheck: { quota } };
        const { principal, rule } = question;
        const [permission, inverse] = await this.#permissions(tenant, principal, rule);
        return { recheck: { quota, permission, inverse, known: isKnown(rule) } };
      }
    }
  }

  async #look(
    tenants: readonly string[],
    recent: boolean,
  ): Promise<Looked | { readonly failed: string }> {
    try {
      return await gate<Looked>(
        this.#db,
        'fn_governor_check($1::text::text[], $2::text::boolean)',
        [textArray(tenants), String(recent)],
        this.#bounds().entitlement_ms,
      );
    } catch (error) {
      if (isGone(error)) throw error;
      return { failed: wordsOf(error) };
    }
  }

  /** Whether the ledger answers, once per host and not per governor. */
  async ping(): Promise<Failure | undefined> {
    const { ping_ms } = this.#bounds();
    try {
      await gate(this.#db, 'fn_ledger_health()', [], ping_ms);
      return undefined;
    } catch (error) {
      if (isGone(error)) throw error;
      return {
        cause: 'ledger',
        component: 'ledger',
        failure_type: failureType(error),
        message: wordsOf(error),
      };
    }
  }

  async #known(doings: readonly Doing[]): Promise<ReadonlySet<string>> {
    const kinds = [
      ...new Set(doings.map(({ actuator, action_type }) => jobKind(actuator.kind, action_type))),
    ];
    if (kinds.length === 0) return new Set();
    const rows = await readRows(
      this.#db,
      'select job_kind from writ.job_kind where job_kind = any ($1::text::text[])',
      [textArray(kinds)],
    );
    return new Set(rows.map(({ job_kind }) => String(job_kind)));
  }

  #permissions(
    tenant: string,
    principal: string,
    rule: ActionRule,
  ): Promise<[Permission, Permission]> {
    return Promise.all([
      this.#permits(tenant, principal, rule),
      this.#permits(tenant, principal, rule.inverse),
    ]);
  }

  async #permits(
    tenant: string,
    principal: string,
    { permission, action_type, target }: Doing,
  ): Promise<Permission> {
    const { entitlement_ms } = this.#bounds();
    let late: NodeJS.Timeout | undefined;
    try {
      const asked = this.#authorizer.permits({
        tenant,
        principal,
        permission,
        action_type,
        target,
      });
      const tooLate = new Promise<never>((_, reject) => {
        late = setTimeout(
          () => reject(new Error(`no answer within ${entitlement_ms} ms`)),
          entitlement_ms,
        );
      });
      asked.catch(() => undefined); // heard below, unless it is too late
      const { allowed, policy_set_hash } = await Promise.race([asked, tooLate]);
      return { allowed, policy_set_hash };
    } catch (error) {
      // Our own database is away. Whatever else cannot be reached is the authorizer's affair, and
      // an answer.
      if (error instanceof WritError && isGone(error)) throw error;
      return { unreachable: wordsOf(error) };
    } finally {
      clearTimeout(late);
    }
  }
}

const kindsOf = (rule: ActionRule) =>
  [rule, rule.inverse].map(({ actuator, action_type }) => jobKind(actuator.kind, action_type));

/** Without what a row cannot hold: an authorizer's words are its own. */
function storable<Value>(value: Value): Value {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed() as Value;
  if (Array.isArray(value)) return value.map(storable) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, storable(one)]),
  ) as Value;
}

export const textArray = (texts: readonly string[]) =>
  `{${texts.map((text) => JSON.stringify(text)).join(',')}}`;

const isLate = (error: unknown) => (error as { code?: string }).code === 'WRITE_BUDGET_EXCEEDED';

/** The database is away: nothing can be said about anything. Being late is an answer. */
export const isGone = (error: unknown) => isConnectionLoss(error) && !isLate(error);

const failureType = (error: unknown) => (isLate(error) ? 'timeout' : 'read_error');

/** What went wrong, for a receipt: short, and on one line. */
export const wordsOf = (error: unknown) =>
  asError(error)
    .message.replace(/[\s\0]+/g, ' ')
    .trim()
    .slice(0, 500)
    .toWellFormed() || 'unknown';

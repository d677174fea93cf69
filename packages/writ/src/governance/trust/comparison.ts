/**
 * `writ.trust`: a trust file beside what a database knows, and the edits of such a file. Nothing
 * here reads or writes the file.
 */
import type { Queryable } from '../../database/connection.js';
import { readJson } from '../../database/gate.js';
import { WritError } from '../../errors/index.js';
import type { Deployment } from '../deployment.js';
import { signedBy } from '../keys.js';
import type { KnownPrincipal } from '../principals.js';
import {
  type TrustDocument,
  type TrustKey,
  type TrustPerson,
  type TrustRight,
  trustRights,
} from './file.js';
import { isFinding, type SignatureRow, weigh } from './judge.js';

/** Times in the file are whole seconds. */
export const timeText = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');

const rightsOf = (rights: readonly string[]): readonly TrustRight[] =>
  trustRights.filter((right) => rights.includes(right));

const mayDecide = ({ rights }: Pick<KnownPrincipal, 'rights'>): boolean =>
  rightsOf(rights).length > 0;

/** A person who may decide now. */
export const isDeciding = (known: KnownPrincipal): boolean =>
  known.disabled_at === null && mayDecide(known);

const keyFrom = (publicKey: string, since: Date): TrustKey => ({
  scheme: 'ed25519',
  public_key: publicKey,
  since: timeText(since),
});

/**
 * A person of the database, as the file has it. The key counts from when the person was added, so
 * that older approvals can be verified.
 */
export const personFrom = ({
  tenant_id,
  rights,
  public_key,
  added_at,
}: KnownPrincipal): TrustPerson => ({
  tenants: [tenant_id ?? '*'],
  rights: rightsOf(rights),
  keys: [keyFrom(public_key, new Date(added_at))],
});

export interface Addition {
  readonly publicKey: string;
  readonly since: Date;
  readonly tenants?: readonly string[] | undefined;
  readonly rights?: readonly TrustRight[] | undefined;
}

/** Adds a person, or a key to one. Without tenants and rights a person keeps those it has. */
export function withPerson(
  trust: TrustDocument,
  name: string,
  { publicKey, since, tenants, rights }: Addition,
): TrustDocument {
  const before = personIn(trust, name);
  const known = before?.keys.some((key) => key.public_key === publicKey);
  const person: TrustPerson = {
    tenants: tenants ?? before?.tenants ?? ['*'],
    rights: rights ?? before?.rights ?? ['approve'],
    keys: [...(before?.keys ?? []), ...(known ? [] : [keyFrom(publicKey, since)])],
  };
  return { ...trust, persons: { ...trust.persons, [name]: person } };
}

export const personIn = ({ persons }: TrustDocument, name: string): TrustPerson | undefined =>
  Object.hasOwn(persons, name) ? persons[name] : undefined;

export const isOpen = ({ until, compromised_since }: TrustKey): boolean =>
  until === undefined && compromised_since === undefined;

/**
 * Returns the file for another id of the deployment; the one that it had counts for verification,
 * until the deployment was renewed.
 */
export function withDeployment(
  trust: TrustDocument,
  { deployment, since }: { readonly deployment: string; readonly since: string },
): TrustDocument {
  if (trust.deployment === deployment) return trust;
  const { writ, deployment: former, former_deployments: formers = [], ...others } = trust;
  const until = new Date(since).toISOString();
  return {
    ...{ writ, deployment },
    former_deployments: [...formers, { deployment: former, until }],
    ...others,
  };
}

/**
 * Ends keys of a person: those that begin with one of the texts, or all that have no end. They stay
 * in the file.
 */
export function withoutKeys(
  trust: TrustDocument,
  name: string,
  end: Pick<TrustKey, 'until' | 'compromised_since'>,
  beginnings: readonly string[] = [],
): { readonly trust: TrustDocument; readonly ended: readonly TrustKey[] } {
  const person = personIn(trust, name);
  if (!person)
    throw new WritError(
      'invalid_argument',
      `the file has no person ${name}; it has ${Object.keys(trust.persons).join(', ') || 'none'}`,
    );
  const missing = beginnings.find(
    (beginning) => !person.keys.some(({ public_key }) => public_key.startsWith(beginning)),
  );
  if (missing !== undefined)
    throw new WritError('invalid_argument', `${name} has no key that begins with ${missing}`);
  const isMeant = (key: TrustKey) =>
    beginnings.length === 0
      ? isOpen(key)
      : beginnings.some((beginning) => key.public_key.startsWith(beginning));
  const ended = person.keys.filter(isMeant);
  if (ended.length === 0)
    throw new WritError(
      'invalid_argument',
      `every key of ${name} has ended already: name one to change its end`,
    );
  const keys = person.keys.map((key) => (isMeant(key) ? { ...key, ...end } : key));
  return { trust: { ...trust, persons: { ...trust.persons, [name]: { ...person, keys } } }, ended };
}

/** An open contract or template that a change of the file leaves with too few approvals. */
export interface Loss {
  readonly contract_id: string;
  readonly title: string;
  readonly status: string;
  readonly template: boolean;
  readonly lost: readonly string[];
  readonly persons: readonly string[];
  readonly quorum: number;
}

/**
 * What is wrong with a file, alone or beside a database. `problem`: an approval would not count, or
 * one could count that should not.
 */
export interface Difference {
  readonly level: 'problem' | 'note';
  readonly about: string;
  readonly detail: string;
}

/** Finds risks that the persons of the file cannot reach. */
export function withinFile({ persons, quorum }: TrustDocument, at: Date): Difference[] {
  const able = Object.values(persons).filter(
    ({ rights, keys }) => rights.includes('approve') && keys.some((key) => isValid(key, at)),
  ).length;
  const missing = Object.entries(quorum).filter(([, needed]) => needed > able);
  return missing.map(([risk, needed]) => ({
    level: 'note',
    about: `quorum/${risk}`,
    detail: `It needs ${needed} persons, and ${able} may approve: no such change can be approved.`,
  }));
}

const isValid = ({ until, compromised_since }: TrustKey, at: Date) =>
  [until, compromised_since].every((end) => end === undefined || Date.parse(end) > at.getTime());

/** What a database knows of those who decide, and of who signs its ledger. */
export interface KnownTrust {
  readonly deployment: string;
  readonly persons: readonly KnownPrincipal[];
  /** The public keys that sign the ledger; none where this login may not see them. */
  readonly ledgerKeys: readonly string[];
}

interface Open {
  readonly contract_id: string;
  readonly title: string;
  readonly status: string;
  readonly template: boolean;
  readonly document: string;
  readonly signatures: readonly SignatureRow[];
}

export class Trust {
  readonly #db: Queryable;
  readonly #deployment: Deployment;

  constructor(db: Queryable, deployment: Deployment) {
    this.#db = db;
    this.#deployment = deployment;
  }

  async known(): Promise<KnownTrust> {
    const { deployment_id: deployment } = await this.#deployment.get();
    const persons = await readJson<KnownPrincipal>(
      this.#db,
      `select * from writ.principal where kind = 'person' order by principal_id`,
    );
    const [may] = await readJson<{ yes: boolean }>(
      this.#db,
      `select has_table_privilege('writ.ledger_key', 'select') as yes`,
    );
    const keys = may?.yes
      ? await readJson<{ key: string }>(this.#db, 'select key from writ.ledger_key order by key_no')
      : [];
    return { deployment, persons, ledgerKeys: keys.map(({ key }) => key) };
  }

  /**
   * A new trust file with the persons that the database knows and who may decide: all of them, or
   * those among the names.
   */
  async document(names?: readonly string[]): Promise<TrustDocument> {
    const { deployment, persons, ledgerKeys } = await this.known();
    const trusted = persons
      .filter(isDeciding)
      .filter(({ principal_id }) => names?.includes(principal_id) ?? true);
    return {
      writ: 'trust 1',
      deployment,
      persons: Object.fromEntries(trusted.map((each) => [each.principal_id, personFrom(each)])),
      quorum: { low: 1, medium: 1, high: 2, critical: 2 },
      risk_floors: [],
      ledger_keys: ledgerKeys,
    };
  }

  /** Compares a file with what the database knows. */
  async differences(trust: TrustDocument, at: Date): Promise<Difference[]> {
    return differencesOf(await this.known(), trust, at);
  }

  /**
   * Finds the open contracts and templates that `after` leaves with too few approvals, at a time.
   */
  async losses(before: TrustDocument, after: TrustDocument, at: Date): Promise<Loss[]> {
    const open = await readJson<Open>(
      this.#db,
      `select c.contract_id, c.title, c.status, c.template is not null as template, d.document,
         jsonb_agg(jsonb_build_object('by', r.by, 'scheme', r.scheme, 'signature', r.signature, 'public_key', r.public_key)
           order by r.review_no) as signatures
       from writ.system_contracts c
       join writ.contract_document d on d.contract_id = c.contract_id and d.hash = c.approval_hash
       join writ.contract_review r on r.contract_id = c.contract_id and r.hash = d.hash
       where c.status in ('ELIGIBLE', 'APPROVED', 'ACTIVE') and r.action in ('APPROVE', 'BREAK_GLASS') and r.verdict is distinct from 'wrong'
       group by 1, 2, 3, 4, 5
       order by 1`,
    );
    return lossesOf(open, before, after, at);
  }
}

function lossesOf(
  open: readonly Open[],
  before: TrustDocument,
  after: TrustDocument,
  at: Date,
): Loss[] {
  const weighed = (trust: TrustDocument, { document, signatures }: Open) => {
    const answer = weigh({
      trust: { source: 'file', sha256: '', ...trust },
      document,
      signatures,
      at,
      signedBy,
    });
    return isFinding(answer) ? undefined : answer;
  };
  return open.flatMap((each) => {
    const had = weighed(before, each);
    const has = weighed(after, each);
    if (!had || !has || has.persons.length >= has.quorum) return [];
    const lost = had.persons.filter((name) => !has.persons.includes(name));
    if (lost.length === 0) return [];
    const { contract_id, title, status, template } = each;
    return [
      { contract_id, title, status, template, lost, persons: has.persons, quorum: has.quorum },
    ];
  });
}

function differencesOf(database: KnownTrust, trust: TrustDocument, at: Date): Difference[] {
  const { deployment, persons: known, ledgerKeys: ledger } = database;
  const found: Difference[] = [];
  const say = (level: Difference['level'], about: string, detail: string) =>
    void found.push({ level, about, detail });
  if (deployment !== trust.deployment)
    say(
      'problem',
      'deployment',
      `The database is deployment ${deployment}; the file is for ${trust.deployment}.`,
    );
  for (const { principal_id: name, ...person } of known.filter(mayDecide)) {
    const listed = personIn(trust, name);
    const key = listed?.keys.find(({ public_key }) => public_key === person.public_key);
    if (person.disabled_at !== null) {
      if (listed?.keys.some((each) => isValid(each, at)))
        say(
          'problem',
          name,
          'The database has disabled this person, and the file still has a valid key.',
        );
    } else if (!listed)
      say(
        'problem',
        name,
        'The database lets this person decide, and the file does not have the person.',
      );
    else if (!key)
      say(
        'problem',
        name,
        'The key that the database knows is not in the file. Ask its owner which is right.',
      );
    else if (!isValid(key, at))
      say('problem', name, 'The file has ended the key that the database still knows.');
    else {
      const missing = rightsOf(person.rights).filter((right) => !listed.rights.includes(right));
      if (missing.length > 0)
        say(
          'problem',
          name,
          `The database gives the right ${missing.join(' and ')}, and the file does not.`,
        );
      if (!listed.tenants.includes('*') && !listed.tenants.includes(person.tenant_id ?? '*'))
        say(
          'problem',
          name,
          `The database lets this person act in ${person.tenant_id ?? 'every tenant'}; the ` +
            `file in ${listed.tenants.join(', ') || 'none'}.`,
        );
    }
  }
  for (const [name, { keys }] of Object.entries(trust.persons))
    if (
      keys.some((key) => isValid(key, at)) &&
      !known.some((person) => person.principal_id === name && mayDecide(person))
    )
      say('note', name, 'The file has this person, and the database lets no such person decide.');
  for (const key of ledger.filter((each) => !trust.ledger_keys.includes(each)))
    say(
      'note',
      'ledger_keys',
      `The ledger was signed with a key that the file does not have: ${key}`,
    );
  return found;
}

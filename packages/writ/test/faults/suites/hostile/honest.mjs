// @ts-check
// The honest work beside the attack, of two tenants: what the workers do, and who asks for it. The
// books say what each piece of work owes.
import { randomUUID } from 'node:crypto';
import {
  configure,
  defineAction,
  defineJob,
  definePlan,
  definePolicy,
  defineStep,
  enable,
  handler,
  PermanentFailure,
} from '../../../../dist/index.js';

/** @typedef {import('../../../../dist/index.js').Writ} Writ */

export const tenants = ['alpha', 'beta'];
const patient = {
  attempts: 60,
  base: /** @type {const} */ ('50ms'),
  cap: /** @type {const} */ ('500ms'),
};

/** @type {import('../../../../dist/index.js').JobKind<{ n: number }>} */
const effect = defineJob('honest.effect', { retry: patient });
/** @type {import('../../../../dist/index.js').JobKind<{ n: number }>} */
const step = defineJob('honest.step', { retry: patient });
const chain = definePlan('honest-chain', { version: '1.0.0' }, (/** @type {any} */ p) => {
  const first = p.step('first', step, { input: { n: p.input.n } });
  const word = p.waitFor('word', { after: first });
  const rest = p.sleep('rest', '50ms', { after: word });
  p.step('last', step, { input: { n: p.input.n }, after: rest });
});
/** A change that fails: everything before it is rolled back. */
const broken = defineStep('honest_broken', {
  target: (/** @type {{ key: string }} */ { key }) => `broken:${key}`,
  read: async () => 0,
  apply: async () => {
    throw new PermanentFailure('it is broken');
  },
  revert: async () => undefined,
});
const relieve = defineAction('honest.relieve', {
  run: async () => ({ baseline: /** @type {const} */ ('restored') }),
  undo: async () => ({ baseline: /** @type {const} */ ('restored') }),
});
export const policyFor = (/** @type {string} */ tenant) =>
  definePolicy('load', {
    when: { load: { above: 80, clearBelow: 60, cooldown: '1s' } },
    then: handler(relieve, { target: 'pool', baselineWithin: '1s', notRestored: 'keep' }),
    requires: 'pool:write',
    as: `${tenant}-service`,
  });

/** @param {Writ} _writ @param {(line: string) => void} note */
export function handlers(_writ, note) {
  process.on('warning', (warning) =>
    note(`warning: ${warning.name} ${warning.message} ${warning.stack?.split('\n')[3] ?? ''}`),
  );
  const write = async (/** @type {any} */ { input, job, commit }) => {
    await commit((/** @type {any} */ tx) =>
      tx.query('insert into fault.effect (n, job_id) values ($1, $2)', [input.n, job.id]),
    );
  };
  return [effect.handle(write), step.handle(write)];
}
export const governance = [broken];
export const governor = { actions: [relieve], onError: () => undefined };

/** @typedef {{ n: number, what: 'job' | 'run' | 'contract' | 'signal', tenant: string, id: string | null, ends: string, before?: object, after?: object }} Entry */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

export class Honest {
  /** @type {Entry[]} */
  books = [];
  open = 0;
  n = 0;

  /** @param {Writ} writ @param {Record<string, Record<string, string>>} keys by tenant and name @param {(what: string) => void} onFinding */
  constructor(writ, keys, onFinding) {
    this.writ = writ;
    this.keys = keys;
    this.onFinding = onFinding;
    writ.governance.use(/** @type {any} */ (broken));
  }

  async prepare() {
    await this.writ.runs.register(chain);
    for (const tenant of tenants) {
      const as = String(this.keys[tenant]?.ops);
      await this.writ.governors.entitle(tenant, { tier: 'enterprise' }, { as });
      const governor = await this.writ.governor({ tenant, sku: 'default' });
      await governor.publish(policyFor(tenant), { as });
    }
  }

  /** One more piece of each kind of work. @param {boolean} heavy with a contract and a run */
  place(heavy) {
    const tenant = tenants[++this.n % tenants.length] ?? 'alpha';
    const n = this.n;
    const works = [this.#job(n, tenant), this.#signal(n, tenant)];
    if (heavy) works.push(this.#run(n, tenant), this.#contract(n, tenant, n % 3 === 0));
    this.open += works.length;
    for (const work of works)
      work
        .catch((error) =>
          this.onFinding(
            `honest work ${n} of ${tenant} failed: ${error?.stack ?? error} ${error?.detail ?? ''}`,
          ),
        )
        .finally(() => {
          this.open--;
        });
  }

  /** @param {number} n @param {string} tenant */
  async #job(n, tenant) {
    const entry = this.#book({ n, what: 'job', tenant, id: null, ends: 'succeeded' });
    const { id } = /** @type {any} */ (await this.writ.enqueue(effect, { n }, { tenant }));
    entry.id = String(id);
  }

  /** @param {number} n @param {string} tenant */
  async #run(n, tenant) {
    const entry = this.#book({ n, what: 'run', tenant, id: null, ends: 'COMPLETED' });
    const run = await this.writ.runs.start(
      /** @type {any} */ (chain),
      { n: n + 1_000_000 },
      { tenant },
    );
    entry.id = run.runId;
    await pause(300);
    await this.writ.runs.deliver(run.runId, 'word', { said: n }, { id: randomUUID(), tenant });
  }

  /** @param {number} n @param {string} tenant @param {boolean} fails */
  async #contract(n, tenant, fails) {
    const keys = this.keys[tenant] ?? {};
    const as = (/** @type {string} */ who) => ({ as: String(keys[who]) });
    const cap = `${tenant}-cap-${n}`;
    const conf = `${tenant}-conf-${n}`;
    const entry = this.#book({
      ...{ n, tenant, id: /** @type {string | null} */ (null) },
      what: 'contract',
      ends: fails ? 'ROLLED_BACK' : 'COMPLETED',
      before: { [cap]: 'DISABLED', [`${conf}#max`]: n },
      after: fails
        ? { [cap]: 'DISABLED', [`${conf}#max`]: n }
        : { [cap]: 'LAUNCHED', [`${conf}#max`]: n + 1 },
    });
    const things = [
      { capability_name: cap, domain: 'd' },
      { scope: conf, owner_capability: cap, values: { max: n } },
    ];
    await this.writ.governance.put(things, { ...as('ops'), tenant });
    const steps = [
      configure(conf, 'max', n + 1),
      enable(cap),
      ...(fails ? [broken({ key: conf })] : []),
    ];
    const scope = [cap, conf, ...(fails ? [`broken:${conf}`] : [])];
    const contract = await this.writ.contracts.propose(
      { title: `honest ${n}`, scope, steps: /** @type {any} */ (steps), risk: 'low' },
      { ...as('ops'), tenant },
    );
    entry.id = contract.id;
    const { hash } = await contract.preview(as('ada'));
    await contract.approve({ ...as('ada'), hash });
    await contract.activate(as('service'));
  }

  /** @param {number} n @param {string} tenant */
  async #signal(n, tenant) {
    const entry = this.#book({ n, what: 'signal', tenant, id: null, ends: 'settled' });
    const governor = await this.writ.governor({ tenant, sku: 'default' });
    await governor.signal({ id: `honest-${n}`, type: 'load', value: n % 5 === 0 ? 90 : 30 });
    entry.id = `honest-${n}`;
  }

  /** @param {Entry} entry @returns {Entry} */
  #book(entry) {
    this.books.push(entry);
    return entry;
  }
}

/** Puts the books into the database, for the checker. @param {import('pg').Pool} admin @param {Entry[]} books */
export async function keepBooks(admin, books) {
  await admin.query(
    `insert into fault.owed select * from jsonb_to_recordset($1::jsonb)
     o(n integer, what text, tenant text, id text, ends text, before jsonb, after jsonb)`,
    [JSON.stringify(books)],
  );
}

// @ts-check
// Proposes, approves and activates changes, also while the server is down, and does to them what their kind says; and keeps the books: how each may end, and what has to stand there then. A call
// that was not answered is repeated until it is, so that what was decided is known.
import { randomUUID } from 'node:crypto';
import { principal } from '../../../../dist/index.js';
import { isOutage } from '../../outage.mjs';
import { shown } from '../../shown.mjs';
import { flag } from './steps.mjs';

/** @typedef {import('./orders.mjs').Order} Order */
/**
 * @typedef {{ contract_id: string, job_id: string | null, name: string, n: number, ends: string[],
 * person: boolean, meddled: boolean, retried: boolean, before: object, after: object }} Entry
 */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));
const people = /** @type {const} */ ({
  ops: { kind: 'person', rights: ['propose', 'approve', 'activate', 'operate', 'break_glass'] },
  ada: { kind: 'person' },
  bob: { kind: 'person' },
  eve: { kind: 'person' },
  deployer: { kind: 'service' },
  agent: { kind: 'agent', onBehalfOf: 'ops' },
});

export class Proposer {
  /** @type {Entry[]} */
  books = [];
  open = 0;
  answered = 0;
  thrown = 0;
  /** What was done to jobs besides. @type {Record<string, number>} */
  injected = {};
  /** Keys of principals by their names. @type {Record<string, string>} */
  keys = {};

  /**
   * @param {import('../../../../dist/index.js').Writ} writ @param {import('pg').Pool} admin @param
   * {import('./outside.mjs').OutsideWorld} world
   */
  constructor(writ, admin, world) {
    this.writ = writ;
    this.admin = admin;
    this.world = world;
    writ.contracts.use(/** @type {any} */ (flag));
  }

  async prepare() {
    for (const [id, who] of Object.entries(people))
      this.keys[id] = await this.writ.principals.add({ id, ...who });
  }

  #as(/** @type {keyof typeof people} */ who) {
    return { as: String(this.keys[who]) };
  }

  #count(/** @type {string} */ what) {
    this.injected[what] = (this.injected[what] ?? 0) + 1;
  }

  /** @param {Order} order @param {() => void} onActivated */
  async place(order, onActivated) {
    const { n, name, kind, steps, scope, before, after } = order;
    this.open++;
    try {
      const entry = {
        contract_id: randomUUID(),
        job_id: /** @type {string | null} */ (null),
        name,
        n,
        ends: kind.ends,
        person: kind.person === true,
        meddled: false,
        retried: false,
        before,
        after,
      };
      this.books.push(entry);
      const cap = `cap-${n}`;
      const things = [
        { capability_name: cap, domain: `d${n % 7}` },
        { scope: `conf-${n}`, owner_capability: cap, values: { max: n, gone: 'x' } },
      ];
      await this.#sure(() => this.writ.capabilities.put(things, this.#as('ops')));
      if (kind.trouble === 'probe' || kind.trouble === 'falls' || kind.trouble === 'flaps')
        await this.#probe(cap, n);
      const proposal = {
        title: `${name} ${n}`,
        scope,
        steps,
        risk: /** @type {'high' | 'low'} */ (order.twoApprove ? 'high' : 'low'),
        ...(kind.maxDuration && { maxDuration: kind.maxDuration }),
      };
      const contract = await this.#sure(() =>
        this.writ.contracts.propose(proposal, { ...this.#as('agent'), id: entry.contract_id }),
      );
      const { hash, approvals_needed } = await this.#sure(() => shown(contract, this.#as('ada')));
      for (const who of /** @type {const} */ (['ada', 'bob']).slice(0, approvals_needed))
        await this.#sure(
          () => contract.approve({ ...this.#as(who), hash }),
          ['invalid_transition'],
        );
      // Appliers that are killed verify it later.
      await this.#until(async () => (await contract.get()).status !== 'ELIGIBLE');
      await this.#sure(() => contract.activate(this.#as('deployer')), ['already_activated']);
      entry.job_id = String((await this.#sure(() => contract.get())).job_id);
      this.answered++;
      onActivated();
      await this.#trouble(order, entry);
    } finally {
      this.open--;
    }
  }

  /**
   * A probe that has answered once, so that the change may be proposed. @param {string} capability
   * @param {number} n
   */
  async #probe(capability, n) {
    const probe = {
      name: `up-${n}`,
      capability,
      type: /** @type {const} */ ('http'),
      config: { url: `${this.world.url}/health/${n}` },
      every_ms: 5_000,
    };
    await this.#sure(() => this.writ.probes.put(probe, this.#as('ops')));
    // As a worker writes down what it was answered.
    const said = JSON.stringify([{ name: probe.name, status: 'HEALTHY' }]);
    await this.#sure(() =>
      this.admin.query(`select writ.fn_probes_take(0, 'default', $1)`, [[capability]]),
    );
    await this.#sure(() => this.admin.query(`select writ.fn_probes_report($1, 'faults')`, [said]));
  }

  /** @param {Order} order @param {Entry} entry */
  async #trouble({ n, kind: { trouble, maxDuration }, afterMs, resolve }, entry) {
    const job = this.writ.changes.handle(String(entry.job_id));
    if (maxDuration) this.#count('too long');
    if (trouble === 'falls' || trouble === 'flaps') {
      await pause(afterMs);
      this.world.health.set(String(n), trouble === 'falls' ? 'sick' : 'flapping');
      this.#count(trouble === 'falls' ? 'health falls' : 'health flaps');
    } else if (trouble === 'stop') {
      await pause(afterMs);
      const { run_id } = await this.#sure(() => job.get());
      const signal = {
        type: /** @type {const} */ ('EMERGENCY_STOP'),
        reason: 'faults',
        signalId: randomUUID(),
      };
      const answer = await this.#sure(
        () => this.writ.runs.signal(String(run_id), signal),
        ['RUN_TERMINAL', 'SIGNAL_NOT_APPLICABLE'],
      );
      this.#count(answer ? 'emergency stop' : 'emergency stop, too late');
    } else if (trouble === 'cancel') {
      await pause(afterMs);
      const cancel = () => job.cancel({ ...this.#as('ops'), reason: 'faults' });
      const refused = await this.#sure(
        () => cancel().then(() => 'cancelled'),
        ['job_running', 'job_terminal'],
      );
      this.#count(refused ? 'cancelled' : 'cancelled, too late');
    } else if (trouble === 'meddle') {
      await this.#until(
        async () => Number((await job.get()).completed_steps) >= 2 || this.#rests(await job.get()),
      );
      const { rowCount } = await this.#sure(() =>
        this.admin.query(
          `update writ_data.configuration set value = '-1', version = nextval('writ_data.target_version') + 1, updated_by = 'meddler' where scope = $1 and key = 'max'`,
          [`conf-${n}`],
        ),
      );
      entry.meddled = rowCount === 1;
      this.#count('another hand');
    } else if (trouble === 'withhold') {
      this.#count('inconclusive');
      await this.#until(
        async () =>
          (
            await this.admin.query(
              'select from writ_data.governance_job where job_id = $1 and audits = 2',
              [job.id],
            )
          ).rowCount === 1,
      );
      if (!resolve) return;
      const answer = await this.#sure(
        async () =>
          (
            await this.admin.query('select writ.fn_audit_resolve($1, $2, $3, $4) as answer', [
              principal(String(this.keys.eve)).credential,
              job.id,
              resolve,
              'looked at every graph',
            ])
          ).rows[0].answer,
      );
      this.#count(`a person decides ${resolve}`);
      entry.ends = [resolve === 'PASS' ? 'COMPLETED' : 'ROLLED_BACK'];
      if (answer.refused && answer.reason !== 'invalid_transition')
        throw new Error(`the audit of ${job.id} could not be resolved: ${JSON.stringify(answer)}`);
    } else if (trouble === 'stuck') {
      this.#count('rollback is stuck');
      await this.#until(async () => (await job.get()).status === 'ROLLBACK_FAILED');
      if (!resolve) return;
      this.world.freed.add(`stuck-${n}`);
      const { credential } = principal(String(this.keys.ops));
      const answer = await this.#sure(
        async () =>
          (
            await this.admin.query('select writ.fn_rollback_retry($1, $2) as answer', [
              credential,
              job.id,
            ])
          ).rows[0].answer,
      );
      if (answer.refused && answer.reason !== 'job_running')
        throw new Error(
          `the rollback of ${job.id} could not be tried again: ${JSON.stringify(answer)}`,
        );
      entry.retried = true;
      this.#count('a person has a rollback tried again');
    }
  }

  /** @param {import('../../../../dist/index.js').Change} job */
  #rests({ status }) {
    return ['COMPLETED', 'ROLLED_BACK', 'ROLLBACK_FAILED', 'CANCELLED'].includes(String(status));
  }

  /** @param {() => Promise<boolean>} holds */
  async #until(holds) {
    for (const giveUpAt = Date.now() + 600_000; !(await this.#sure(holds)); await pause(100))
      if (Date.now() > giveUpAt) throw new Error(`it did not come to that: ${holds}`);
  }

  /**
   * Repeats a call until the server answers it. A refusal that says that it was done before is an
   * answer, too. @template T @param {() => Promise<T>} call @param {string[]} [done] @returns
   * {Promise<T>}
   */
  async #sure(call, done = []) {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (done.includes(String(/** @type {{ code?: string }} */ (error).code)))
          return /** @type {any} */ (undefined);
        if (!isOutage(error)) throw error;
        this.thrown++;
        await pause(100);
      }
    }
  }
}

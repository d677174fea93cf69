// @ts-check
// Reads what governance says, and sends signals to governors, over a connection that is cut again and
// again. A read has one right answer; a signal has one id and is repeated until it is answered.
import { isDeepStrictEqual } from 'node:util';
import { isOutage } from '../../outage.mjs';
import { standstill } from '../../standstill.mjs';

/** @typedef {import('../../../../dist/index.js').Writ} Writ */

const names = Array.from({ length: 12 }, (_, n) => `cap-${String(n).padStart(2, '0')}`);
const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

export class Asker {
  /** What a signal was answered. @type {{ id: string, tenant: string, arrival_seq: number }[]} */
  sent = [];
  answered = 0;
  thrown = 0;
  asking = true;

  /**
   * @param {Writ} writ
   * @param {readonly string[]} tenants
   * @param {(what: string) => void} onFinding
   */
  constructor(writ, tenants, onFinding) {
    this.writ = writ;
    this.tenants = tenants;
    this.onFinding = onFinding;
  }

  /** Capabilities to read. @param {Writ} writ over a good connection @param {string} key */
  static async prepare(writ, key) {
    await writ.capabilities.put(
      names.map((capability_name, n) => ({ capability_name, domain: `d${n % 3}` })),
      { as: key },
    );
  }

  /** Reads until it is told to end. */
  async read() {
    /** @type {[string, () => Promise<unknown>, unknown][]} */
    const questions = [
      [
        'governance.health',
        async () =>
          (await this.writ.health.get()).capabilities.map((one) => one.capability_name).sort(),
        names,
      ],
      [
        'governors.list',
        async () => (await this.writ.governors.list()).items.map((one) => one.tenant_id),
        [...this.tenants].sort(),
      ],
      ['health', async () => (await this.writ.jobs.health()).enabled, true],
    ];
    for (let n = 0; this.asking; n++) {
      const [what, ask, right] = /** @type {typeof questions[number]} */ (
        questions[n % questions.length]
      );
      const answer = await this.#sure(ask, () => !this.asking);
      if (answer !== undefined && !isDeepStrictEqual(answer, right))
        this.onFinding(`${what} answered ${JSON.stringify(answer)}`);
      await pause(15);
    }
  }

  /** Sends signals until it is told to end. */
  async signal() {
    for (let n = 0; this.asking; n++) {
      const tenant = String(this.tenants[n % this.tenants.length]);
      const id = `wire-${n}`;
      const answer = await this.#sure(async () => {
        const governor = await this.writ.governors.find({ tenant, sku: 'default' });
        return governor.signal({ type: 'load', value: n % 60, id });
      });
      if (answer) this.sent.push({ id, tenant, arrival_seq: answer.arrival_seq });
      await pause(25);
    }
  }

  /**
   * Repeats a call until it is answered, or until nobody wants the answer.
   * @template T @param {() => Promise<T>} call @param {() => boolean} [enough]
   * @returns {Promise<T | undefined>}
   */
  async #sure(call, enough = () => false) {
    while (!enough()) {
      try {
        const answer = await call();
        this.answered++;
        return answer;
      } catch (error) {
        if (!isOutage(error)) {
          const { stack, detail } = /** @type {Error & { detail?: string }} */ (error);
          this.onFinding(`a call failed in a way that is not an outage: ${stack} ${detail ?? ''}`);
          return undefined;
        }
        this.thrown++;
        await pause(20);
      }
    }
    return undefined;
  }
}

/**
 * Signals that were answered and are not in their mailbox exactly once, at the place that was told.
 * @param {import('pg').Pool} admin
 * @param {Asker['sent']} sent
 */
export async function misplaced(admin, sent) {
  const { rows } = await admin.query(
    `select s.*, count(m.signal_id)::integer as times, min(m.arrival_seq)::integer as is
     from jsonb_to_recordset($1::jsonb) s(id text, tenant text, arrival_seq integer)
     join writ_data.governor g on g.tenant_id = s.tenant
     left join writ_data.governor_mail m on m.governor_id = g.governor_id and m.signal_id = s.id
     group by s.id, s.tenant, s.arrival_seq
     having count(m.signal_id) <> 1 or min(m.arrival_seq) <> s.arrival_seq`,
    [JSON.stringify(sent)],
  );
  return rows;
}

/**
 * Whether every mailbox was emptied, and that did not stand still before.
 * @param {import('pg').Pool} admin @param {number} patienceMs
 */
export async function settled(admin, patienceMs) {
  for (const still = standstill(patienceMs); ; await pause(200)) {
    const { rows } = await admin.query(
      `select coalesce(sum(in_mailbox + buffered + postponed), 0)::integer as waiting
       from writ.governor`,
    );
    if (rows[0].waiting === 0) return true;
    if (still(rows[0].waiting)) return false;
  }
}

// @ts-check
// One attacker: a login with one role and nothing else, that calls gates. Each call is a transaction
// of its own with a short statement timeout.
import pg from 'pg';
import { generator } from '../faults/plan.mjs';
import { byGate, byName } from './grammar.mjs';
import { Known } from './spy.mjs';
import { mutateJson, ofType } from './values.mjs';

/** @typedef {import('./catalogue.mjs').Gate} Gate */
/**
 * @typedef {{ gate: string, outcome: string, ms: number, seed: number, call: number, text: string,
 * values: unknown[] }} Outcome
 */

/**
 * Errors that a caller's arguments may never cause: internal errors, a crash, an exhausted server,
 * or a gate that does not know its own tables.
 */
const grave = /^(XX|58|57P0|53|F0|42(?!501|P13|P22))/;
/** A call that takes this long on a busy machine does more than its arguments ask for. */
const slowMs = 15_000;

/**
 * Whether an answer is a refusal; one of a batch counts if every item is refused. @param {any}
 * answer @returns {boolean}
 */
export function isRefusal(answer) {
  if (answer === null || typeof answer !== 'object') return false;
  if (Array.isArray(answer))
    return (
      answer.length > 0 &&
      answer.every(
        // A list in a list is no item: fn_request_end answers whatever it was sent, however deep.
        (item) => (!Array.isArray(item) && isRefusal(item)) || (item?.reason && !item.done),
      )
    );
  // Nothing was done: the caller has to take another way.
  if (answer.refused === true || answer.unusual === true) return true;
  const items = answer.jobs ?? answer.runs;
  return (
    Array.isArray(answer.refused) &&
    answer.refused.length > 0 &&
    (!Array.isArray(items) || items.length === 0)
  );
}

export class Attacker {
  calls = 0;
  /** How often each gate answered what. @type {Map<string, Record<string, number>>} */
  outcomes = new Map();
  /** @type {string[]} */
  findings = [];
  /** Gates that have done what they were asked to. @type {Set<string>} */
  succeeded = new Set();

  /**
   * @param {{ url: string, login: string, role: string, tenant: string, seed: number, gates:
   * Gate[], views: string[],
   *   people: Record<string, import('../../dist/governance/keys.js').Principal>, names?: boolean,
   *   bound?: boolean, spare?: string }} options
   */
  constructor(options) {
    this.options = options;
    this.login = options.login;
    this.role = options.role;
    this.tenant = options.tenant;
    this.people = options.people;
    this.names = options.names ?? false;
    this.bound = options.bound ?? false;
    /**
     * A turn that it has decided about governors that it holds, in an open transaction. @type {any}
     */
    this.turn = undefined;
    /** A login without a role, which administrators register and forget. */
    this.spare = options.spare ?? 'hostile_nobody';
    this.gates = options.gates;
    this.random = generator(options.seed);
    this.known = new Known(this.random, options.tenant);
    /** @type {pg.Client | undefined} */
    this.client = undefined;
  }

  async #connection() {
    if (this.client) return this.client;
    const client = new pg.Client({
      connectionString: this.options.url,
      statement_timeout: slowMs,
      application_name: this.login,
      options: '-c lock_timeout=3000 -c idle_in_transaction_session_timeout=5000',
    });
    client.on('error', () => {
      this.client = undefined;
    });
    await client.connect();
    this.client = client;
    return client;
  }

  /**
   * Arguments for a gate: plausible ones, some or all of them made hostile. @param {Gate} gate
   * @param {number} [hostility] @returns {Record<string, unknown>}
   */
  argumentsFor(gate, hostility = this.random.next()) {
    const { random, known } = this;
    known.chooseLease();
    const given = byGate[gate.name]?.(this) ?? {};
    const chosen = gate.args.filter(
      ({ name, optional }) => !optional || name in given || random.next() < 0.7,
    );
    /** @type {Record<string, unknown>} */
    const args = {};
    for (const { name, type } of chosen) {
      const plausible =
        name in given
          ? given[name]
          : byName[name]
            ? byName[name](this)
            : ofType(random, type, known);
      args[name] = plausible === undefined ? null : plausible;
    }
    if (hostility < 0.4 || chosen.length === 0) return args;
    const times = hostility < 0.8 ? 1 : hostility < 0.95 ? random.between(2, 4) : chosen.length;
    for (let n = 0; n < times; n++) {
      const { name, type } = random.pick(chosen);
      const before = args[name];
      const isJson = type === 'json' || type === 'jsonb';
      if (isJson && typeof before === 'object' && before !== null && random.next() < 0.85) {
        let value = mutateJson(random, before, known);
        for (let more = random.between(0, 2); more > 0; more--)
          value = mutateJson(random, value, known);
        args[name] = value;
      } else if (type === 'text' && name.startsWith('p_tenant') && random.next() < 0.7) {
        args[name] = known.foreign('tenant') ?? 'alpha';
      } else if (
        type === 'text' &&
        name === 'p_content' &&
        typeof before === 'string' &&
        before.startsWith('{') &&
        random.next() < 0.8
      ) {
        args[name] = JSON.stringify(mutateJson(random, JSON.parse(before), known));
      } else
        args[name] = isJson ? new Raw(ofType(random, type, known)) : ofType(random, type, known);
    }
    return args;
  }

  /**
   * @param {Gate} gate @param {Record<string, unknown>} args @returns {{ text: string, values:
   * unknown[] }}
   */
  statement(gate, args) {
    const values = [];
    const parts = [];
    for (const { name, type } of gate.args) {
      if (!(name in args)) continue;
      values.push(asParameter(args[name], type));
      parts.push(`${name} => $${values.length}::${type}`);
    }
    return { text: `select * from writ.${gate.name}(${parts.join(', ')}) as answer`, values };
  }

  /** Calls a gate once. @param {Gate} gate @param {number} [hostility] @returns {Promise<any>} */
  async call(gate, hostility) {
    const { text, values } = this.statement(gate, this.argumentsFor(gate, hostility));
    return this.send(gate.name, text, values);
  }

  /**
   * Calls a gate by its name with arguments over plausible ones. @param {string} name @param
   * {Record<string, unknown>} [over] @returns {Promise<any>}
   */
  async act(name, over = {}) {
    const gate = this.gates.find((one) => one.name === name);
    if (!gate) return undefined;
    const args = this.argumentsFor(gate, 0);
    for (const [key, value] of Object.entries(over))
      if (gate.args.some((arg) => arg.name === key)) args[key] = value;
    const { text, values } = this.statement(gate, args);
    return this.send(name, text, values);
  }

  /**
   * Sends a statement and keeps what came of it. Answers the answer, or undefined if it was refused
   * or raised. @param {string} name @param {string} text @param {unknown[]} [values] @returns
   * {Promise<any>}
   */
  async send(name, text, values = []) {
    let client;
    try {
      client = await this.#connection();
    } catch (error) {
      this.find(`cannot connect: ${error}`, '', [], this.calls);
      await new Promise((resume) => setTimeout(resume, 500));
      return undefined;
    }
    const call = ++this.calls;
    const began = performance.now();
    let outcome = 'ok';
    let answer;
    try {
      const { rows } = await client.query({ text, values });
      const row = rows?.[0];
      answer = row && Object.keys(row).length === 1 ? (row.answer ?? Object.values(row)[0]) : rows;
      if (typeof answer === 'string' && /^[[{]/.test(answer)) answer = JSON.parse(answer);
      if (isRefusal(answer)) {
        outcome = 'refused';
        this.note(name, String(answer.reason ?? answer[0]?.reason ?? 'refused'));
      } else {
        this.succeeded.add(name);
        this.known.told(name, answer);
      }
    } catch (error) {
      const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
      outcome = code ?? message;
      if (code === undefined || grave.test(code) || code === '57014')
        this.find(`${name} raised ${code ?? ''} ${message}`, text, values, call);
      if (code === undefined) this.client = undefined;
    }
    const ms = performance.now() - began;
    if (ms > slowMs) this.find(`${name} took ${Math.round(ms)} ms`, text, values, call);
    this.note(name, outcome);
    return outcome === 'ok' ? answer : undefined;
  }

  /** @param {string} gate @param {string} outcome */
  note(gate, outcome) {
    const counts = this.outcomes.get(gate) ?? {};
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    this.outcomes.set(gate, counts);
  }

  /** @param {string} what @param {string} text @param {unknown[]} values @param {number} call */
  find(what, text, values, call) {
    if (this.findings.length > 20) return;
    const { seed } = this.options;
    const given = JSON.stringify(values, (_, value) =>
      typeof value === 'string' && value.length > 300
        ? `${value.slice(0, 300)}… (${value.length})`
        : value,
    );
    this.findings.push(
      `${this.login} (seed ${seed}, call ${call}): ${what}: ${text} with ${given.slice(0, 1500)}`,
    );
  }

  /** Reads what it can see in views, and keeps the ids. @param {string} view */
  async look(view) {
    const rows = await this.send(`view ${view}`, `select * from writ.${view} limit 50`);
    if (rows) this.known.reads(JSON.stringify(rows));
  }

  async close() {
    await this.client?.end().catch(() => undefined);
  }
}

/** JSON as text that is not to be encoded once more. */
class Raw {
  /** @param {string | null} text */
  constructor(text) {
    this.text = text;
  }
}

/** @param {unknown} value @param {string} type */
function asParameter(value, type) {
  if (value === null || value === undefined) return null;
  if (value instanceof Raw) return value.text;
  if (type === 'json' || type === 'jsonb') return JSON.stringify(value);
  if (Array.isArray(value)) return type.endsWith('[]') ? value : JSON.stringify(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

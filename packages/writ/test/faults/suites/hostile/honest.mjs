// @ts-check
// The honest work beside the attack, of two tenants: what the workers do, and who asks for it. The
// books say what each piece of work owes. A relay tells a receiver of each tenant's runs.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  action,
  configure,
  defineAction,
  defineJob,
  definePlan,
  definePolicy,
  defineStep,
  enable,
  PermanentFailure,
  webhooks,
} from '../../../../dist/index.js';
import { newWebhookSecret, verifyWebhook } from '../../../../dist/outbox/webhooks.js';
import { shown } from '../../shown.mjs';

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
    then: action.handler(relieve, { target: 'pool', baselineWithin: '1s', notRestored: 'keep' }),
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

/**
 * @typedef {{ n: number, what: 'job' | 'run' | 'contract' | 'signal' | 'schedule', tenant: string,
 * id: string | null, ends: string, before?: object, after?: object }} Entry
 */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/**
 * Every half hour, and begun two hours ago: four or five ticks fire at once, and one now and then.
 */
const halfHour = 30 * 60_000;
const cron = '*/30 * * * *';

/** Where a tenant's facts are told. @param {string} tenant */
export const destinationOf = (tenant) => `honest-${tenant}`;

export class Honest {
  /** @type {Entry[]} */
  books = [];
  open = 0;
  n = 0;
  /** When it was last looked whether anything is left to do. */
  restedAt = new Date(0);

  /**
   * @param {Writ} writ @param {import('pg').Pool} admin @param {Record<string, Record<string,
   * string>>} keys by tenant and name @param {(what: string) => void} onFinding
   */
  constructor(writ, admin, keys, onFinding) {
    this.writ = writ;
    this.admin = admin;
    this.keys = keys;
    this.onFinding = onFinding;
    writ.contracts.use(/** @type {any} */ (broken));
  }

  async prepare() {
    await this.writ.runs.register(chain);
    await this.#job(++this.n, 'alpha'); // which registers its kind
    for (const tenant of tenants) {
      const as = String(this.keys[tenant]?.ops);
      await this.writ.governors.entitlements.put({ tier: 'enterprise' }, { tenant, as });
      const governor = await this.writ.governor({ tenant, sku: 'default' });
      await governor.publish(policyFor(tenant), { as });
    }
  }

  /** One more piece of each kind of work. @param {boolean} heavy with a contract and a run */
  place(heavy) {
    const tenant = tenants[++this.n % tenants.length] ?? 'alpha';
    const n = this.n;
    const works = [this.#job(n, tenant), this.#signal(n, tenant)];
    if (heavy)
      works.push(
        this.#run(n, tenant),
        this.#contract(n, tenant, n % 3 === 0),
        this.#schedule(n, tenant),
      );
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
    const { jobId } = await this.writ.enqueue(effect, { n }, { tenant });
    entry.id = jobId;
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
    await this.writ.capabilities.put(things, { ...as('ops'), tenant });
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
    const { hash } = await shown(contract, as('ada'));
    await contract.approve({ ...as('ada'), hash });
    // Appliers that are killed verify it later.
    while ((await contract.get()).status === 'ELIGIBLE')
      await new Promise((resolve) => setTimeout(resolve, 100));
    await contract.activate(as('service'));
  }

  /** @param {number} n @param {string} tenant */
  async #signal(n, tenant) {
    const entry = this.#book({ n, what: 'signal', tenant, id: null, ends: 'settled' });
    const governor = await this.writ.governor({ tenant, sku: 'default' });
    await governor.signal({ id: `honest-${n}`, type: 'load', value: n % 5 === 0 ? 90 : 30 });
    entry.id = `honest-${n}`;
  }

  /** @param {number} n @param {string} tenant */
  async #schedule(n, tenant) {
    const id = `honest-${n}`;
    const first = new Date(Math.floor(Date.now() / halfHour - 3) * halfHour).toISOString();
    const entry = this.#book({
      n,
      what: 'schedule',
      tenant,
      id: null,
      ends: 'fired',
      before: { first },
    });
    const definition = {
      cron,
      time_zone: 'UTC',
      catch_up: 'all',
      kind: effect.kind,
      job: { input: { n: n + 2_000_000 } },
    };
    const given = [id, JSON.stringify(definition), first, 'honest', tenant];
    const { rows } = await this.admin.query(
      'select writ.fn_schedule_put($1, $2, $3, $4, $5) as answer',
      given,
    );
    if (rows[0].answer.refused) throw new Error(JSON.stringify(rows[0].answer));
    entry.id = id;
  }

  /** @param {Entry} entry @returns {Entry} */
  #book(entry) {
    this.books.push(entry);
    return entry;
  }
}

/**
 * @typedef {{ destination: string, id: string, run: string, seq: number, type: string }} Arrival
 */

/** A receiver on loopback, a destination at it for each tenant, and the relay that tells it. */
export class Told {
  /** In the order in which they came. @type {Arrival[]} */
  arrivals = [];

  /** @param {Writ} writ */
  constructor(writ) {
    this.writ = writ;
    this.secret = newWebhookSecret();
    this.server = createServer((request, response) => void this.#take(request, response));
    /** @type {{ stop(): Promise<void> } | undefined} */
    this.relay = undefined;
  }

  async start() {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    for (const tenant of tenants) {
      const config = {
        url: `http://127.0.0.1:${port}/${destinationOf(tenant)}`,
        secrets: ['honest'],
      };
      await this.writ.destinations.put(destinationOf(tenant), {
        bus: 'webhook',
        tenant,
        types: ['dot.run.*'],
        config,
      });
    }
    const webhook = webhooks({ secretOf: () => this.secret, allowPrivate: true, allowHttp: true });
    this.relay = await this.writ.relay({ buses: { webhook }, onError: () => undefined });
  }

  /**
   * @param {import('node:http').IncomingMessage} request @param
   * {import('node:http').ServerResponse} response
   */
  async #take(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const event = /** @type {any} */ (
        verifyWebhook(request.headers, Buffer.concat(chunks), this.secret)
      );
      const { id, partitionkey: run, sequence, type } = event;
      this.arrivals.push({
        destination: String(request.url).slice(1),
        id,
        run,
        seq: Number(sequence),
        type,
      });
      response.writeHead(204).end();
    } catch {
      response.writeHead(400).end();
    }
  }

  /**
   * Resumes what is paused, as an operator does who reads the alert. A relay may pause a webhook.
   */
  async resume() {
    const paused = (await this.writ.destinations.list({ limit: 1_000 })).items.filter(
      ({ name, state }) => state === 'paused' && name.startsWith('honest-'),
    );
    for (const { name } of paused) await this.writ.destinations.resume(name);
  }

  async stop() {
    await this.relay?.stop();
    this.server.close();
    this.server.closeAllConnections();
  }
}

/**
 * Puts the books into the database, for the checker. @param {import('pg').Pool} admin @param
 * {Entry[]} books @param {Arrival[]} arrivals @param {Date} restedAt
 */
export async function keepBooks(admin, books, arrivals, restedAt) {
  await admin.query(
    `insert into fault.owed select * from jsonb_to_recordset($1::jsonb)
     o(n integer, what text, tenant text, id text, ends text, before jsonb, after jsonb)`,
    [JSON.stringify(books)],
  );
  await admin.query(
    `insert into fault.arrival select row_number() over (), a.* from jsonb_to_recordset($1::jsonb)
     a(destination text, id uuid, run uuid, seq integer, type text)`,
    [JSON.stringify(arrivals)],
  );
  await admin.query('insert into fault.rested values ($1)', [restedAt]);
}

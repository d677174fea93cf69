// @ts-check
// The service that actions of the governors are carried out by: a small HTTP server in the memory of its process. It writes down everything that it is asked for, and knows idempotency keys: what is
// asked for again is done once. How it answers follows from the first word of the tenant: `failing` fails now and then, before or after it has done it; `hanging` does not answer; `forbidden` answers 403.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { generator } from '../../plan.mjs';

/**
 * `of`: of an undoing, what is undone. @typedef {{ tenant: string, key: string, of: string | null,
 * did: boolean, status: number }} Call
 */

/** @param {import('node:http').IncomingMessage} request */
async function bodyOf(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

export class Service {
  /** @param {number} seed */
  constructor(seed) {
    /** In order. @type {Call[]} */
    this.calls = [];
    /** How often it answered what; 0: not at all. @type {Record<string, number>} */
    this.answered = {};
    /** Once the faults are over it only does what it is asked for. */
    this.calm = false;
    /** What it has done. @type {Set<string>} */
    this.done = new Set();
    this.random = generator(seed);
    this.server = createServer(async (request, response) => {
      try {
        const asked = await bodyOf(request);
        const { did, status } = this.#mood(asked.tenant.split('-')[0], asked.of !== null);
        this.calls.push({ ...asked, did: did && !this.done.has(asked.key), status });
        if (did) this.done.add(asked.key);
        this.answered[status] = (this.answered[status] ?? 0) + 1;
        if (status === 0) return; // until whoever asked goes away
        const baseline = this.random.pick(['restored', 'restored', 'not_restored', 'unknown']);
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ baseline }));
      } catch {
        response.destroy(); // whoever asked has died: it did not arrive
      }
    });
  }

  /** @param {string} kind @param {boolean} undo */
  #mood(kind, undo) {
    const dice = this.random.next();
    if (!this.calm && kind === 'failing' && dice < 0.25) return { did: false, status: 500 };
    if (!this.calm && kind === 'failing' && dice < 0.45) return { did: true, status: 502 };
    if (!this.calm && kind === 'hanging' && dice < (undo ? 0.1 : 0.3))
      return { did: dice < 0.15, status: 0 };
    if (!this.calm && kind === 'forbidden' && !undo && dice < 0.3)
      return { did: false, status: 403 };
    return { did: true, status: 200 };
  }

  /** @param {number} seed */
  static async open(seed) {
    const service = new Service(seed);
    service.server.listen(0, '127.0.0.1');
    await once(service.server, 'listening');
    return service;
  }

  get url() {
    const address = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    return `http://127.0.0.1:${address.port}`;
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }
}

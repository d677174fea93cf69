// @ts-check
// What governance changes and watches outside of the database: a small HTTP server that keeps flags, and says how each capability is, in the memory of its process. How it
// answers follows from the name of a flag: `flaky-` fails once per effect, `lost-` does it once and fails, `refused-` and `half-` never take a change, `stuck-` takes
// no undoing until somebody frees it, `slow-` answers a change later than its job may take.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { generator } from '../../plan.mjs';

/** @typedef {{ key: string, effect: string, value: unknown, undo: boolean }} Put */

/** @param {import('node:http').IncomingMessage} request */
async function bodyOf(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

export class OutsideWorld {
  /** @param {number} seed */
  constructor(seed) {
    /** @type {Map<string, unknown>} */
    this.flags = new Map();
    /** Everything that was done, in order. @type {Put[]} */
    this.puts = [];
    /** @type {Map<string, 'sick' | 'flapping'>} */
    this.health = new Map();
    /** @type {Set<string>} */
    this.freed = new Set();
    /** How often it answered what. @type {Record<string, number>} */
    this.answered = {};
    this.random = generator(seed);
    /** @type {Set<string>} */
    this.troubled = new Set();
    this.server = createServer((request, response) => {
      this.#answer(request).then(
        ([status, value]) => {
          const what = `${request.url?.split('/')[1]} ${status}`;
          this.answered[what] = (this.answered[what] ?? 0) + 1;
          response
            .writeHead(status, { 'content-type': 'application/json' })
            .end(JSON.stringify(value));
        },
        () => response.destroy(), // whoever asked has died: it did not arrive
      );
    });
  }

  /** @param {number} seed */
  static async open(seed) {
    const world = new OutsideWorld(seed);
    world.server.listen(0, '127.0.0.1');
    await once(world.server, 'listening');
    return world;
  }

  get url() {
    const address = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    return `http://127.0.0.1:${address.port}`;
  }

  /**
   * @param {import('node:http').IncomingMessage} request @returns {Promise<[status: number, value:
   * unknown]>}
   */
  async #answer(request) {
    const [, place, name = ''] = String(request.url).split('/');
    if (place === 'health') {
      const state = this.health.get(name);
      return state === 'sick' || (state === 'flapping' && this.random.next() < 0.15)
        ? [500, {}]
        : [200, { status: 'up' }];
    }
    if (request.method === 'GET') return [200, { value: this.flags.get(name) ?? null }];
    const { effect, value, undo } = await bodyOf(request);
    const kind = name.split('-')[0];
    const first = !this.troubled.has(effect);
    this.troubled.add(effect);
    if (kind === 'flaky' && first) return [503, {}];
    if (kind === 'refused' && !undo) return [409, {}];
    if (kind === 'stuck' && undo && !this.freed.has(name)) return [409, {}];
    this.puts.push({ key: name, effect, value, undo });
    if (value === null) this.flags.delete(name);
    else this.flags.set(name, value);
    if (value === 'sick') this.health.set(name, 'sick');
    else if (undo && this.health.get(name) === 'sick') this.health.delete(name);
    if (kind === 'half' && !undo) return [409, {}];
    if (kind === 'slow' && !undo) await new Promise((resume) => setTimeout(resume, 1_500));
    return kind === 'lost' && first ? [500, {}] : [200, {}];
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }
}

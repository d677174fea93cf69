// @ts-check
// A TCP proxy before PostgreSQL that acts per statement: it reads the messages of both sides, and
// decides for each statement whether it arrives, and whether its answer does. A statement ends with
// Query or Sync, its answer with ReadyForQuery. Whoever connects through it sees what a bad network
// does: no statement is changed, none arrives twice.
//
// What it does: `before`: cuts the connection, the server never sees the statement. `after`: the
// server has answered, the client is cut off without it. `half`: the client reads the first message
// of the answer and is cut off. `drop`: the answer is swallowed, the connection stays for a while
// and is cut then. `delay`: the statement comes late. `slow`: the answer comes late. `refuse`: a
// new connection is cut before its first message.
//
// Callers: the suite `wire`. The decisions of a connection follow from the seed, the number of the
// connection, and the order of its statements.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { generator } from './plan.mjs';

/** @typedef {'before' | 'after' | 'half' | 'drop' | 'delay' | 'slow' | 'refuse'} Cut */
/** @typedef {{ action: Cut | undefined, label: string, holdMs: number, held: Buffer[] }} Answer */
/**
 * @typedef {Record<Exclude<Cut, 'refuse'>, number> & { seen: number, exposed: number }} Statement
 */

/** How many of a hundred faults do what. @type {[Exclude<Cut, 'refuse'>, number][]} */
const mix = [
  ['before', 22],
  ['after', 24],
  ['half', 8],
  ['drop', 10],
  ['delay', 20],
  ['slow', 16],
];
const bag = mix.flatMap(([action, share]) => Array(share).fill(action));
const cuts = /** @type {const} */ (['before', 'after', 'half', 'drop']);

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/** A number that a client sends in the place of its version to ask for TLS, or to cancel. */
const tlsRequest = 80877103;

/**
 * Cuts a stream into messages of the protocol. The first ones of a client have no type.
 * @param {boolean} typed
 */
function reader(typed) {
  /** @type {Buffer} */
  let rest = Buffer.alloc(0);
  const self = {
    typed,
    /** @param {Buffer} chunk @param {(message: Buffer, type: string) => void} take */
    read(chunk, take) {
      rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      for (;;) {
        const at = self.typed ? 1 : 0;
        if (rest.length < at + 4) return;
        const end = at + rest.readUInt32BE(at);
        if (rest.length < end) return;
        const message = rest.subarray(0, end);
        rest = rest.subarray(end);
        take(message, self.typed ? String.fromCharCode(message[0] ?? 0) : '');
      }
    },
  };
  return self;
}

/** What a statement is called in the figures: its gate, or how it begins. @param {string} sql */
export function labelOf(sql) {
  const name = /\b(?:writ|writ_data|fault)\.[a-z_]+/.exec(sql)?.[0];
  const verb = /^\s*([a-z]+)/i.exec(sql)?.[1]?.toLowerCase() ?? 'nothing';
  return name ? `${verb} ${name}` : verb;
}

/** The strings of a message, each ended by a zero. @param {Buffer} message @param {number} from */
function textAt(message, from) {
  const end = message.indexOf(0, from);
  return { text: message.toString('utf8', from, end), next: end + 1 };
}

export class CuttingProxy {
  /** What was done, and how often. @type {Partial<Record<Cut, number>>} */
  counts = {};
  /** What was seen, and what was done to it. @type {Map<string, Statement>} */
  statements = new Map();
  /** No more faults. */
  calm = false;
  #connections = 0;
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set();
  #server;
  #options;

  /** @param {{ url: string, seed: number, rate: number }} options `rate`: faults per statement */
  constructor(options) {
    this.#options = { ...options, port: Number(new URL(options.url).port) };
    this.#server = createServer((client) => this.#accept(client));
  }

  /** @param {{ url: string, seed: number, rate: number }} options */
  static async open(options) {
    const proxy = new CuttingProxy(options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The same database, through here. @param {string} url */
  through(url) {
    const address = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    const own = new URL(url);
    own.port = String(address.port);
    return own.toString();
  }

  get faults() {
    return Object.values(this.counts).reduce((sum, times) => sum + times, 0);
  }

  /** Statements that were never cut. */
  get spared() {
    return [...this.statements].flatMap(([label, one]) =>
      cuts.some((action) => one[action] > 0) ? [] : [label],
    );
  }

  /**
   * Gates that were never cut although they were called so often while faults happened: after 150
   * calls that has a chance of less than one in a million. @param {number} [often]
   */
  uncutGates(often = 150) {
    return this.spared.filter(
      (label) =>
        / writ\./.test(label) &&
        /** @type {Statement} */ (this.statements.get(label)).exposed >= often,
    );
  }

  close() {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #count(/** @type {Cut} */ action) {
    this.counts[action] = (this.counts[action] ?? 0) + 1;
  }

  /** @param {string} label */
  #seen(label) {
    const known = this.statements.get(label);
    if (known) return known;
    const one = { seen: 0, exposed: 0, before: 0, after: 0, half: 0, drop: 0, delay: 0, slow: 0 };
    this.statements.set(label, one);
    return one;
  }

  /**
   * What is rare is hit more often, so that no statement is spared. @param {ReturnType<typeof
   * generator>} random @param {string} label
   */
  #decide(random, label) {
    const one = this.#seen(label);
    one.seen++;
    if (!this.calm) one.exposed++;
    const [chance, action] = [random.next(), random.pick(bag)];
    const rate = cuts.some((cut) => one[cut] === 0) ? 0.15 : this.#options.rate;
    if (this.calm || chance >= rate) return undefined;
    one[/** @type {Exclude<Cut, 'refuse'>} */ (action)]++;
    this.#count(action);
    return /** @type {Cut} */ (action);
  }

  /** @param {import('node:net').Socket} client */
  #accept(client) {
    const random = generator(this.#options.seed + ++this.#connections * 7_919);
    const server = connect(this.#options.port, '127.0.0.1');
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    if (!this.calm && random.next() < this.#options.rate / 2) {
      this.#count('refuse');
      cut();
      return;
    }
    this.#converse(client, server, random, cut);
  }

  /**
   * @param {import('node:net').Socket} client
   * @param {import('node:net').Socket} server
   * @param {ReturnType<typeof generator>} random
   * @param {() => void} cut
   */
  #converse(client, server, random, cut) {
    /** Statements on their way, in order. @type {Answer[]} */
    const open = [];
    /** Labels of prepared statements, by name. @type {Map<string, string>} */
    const prepared = new Map();
    /** @type {Buffer[]} */
    let gathered = [];
    let label = 'nothing';
    // What is late holds up what comes after it, in each direction.
    let up = Promise.resolve();
    let down = Promise.resolve();
    const fromClient = reader(false);
    const fromServer = reader(true);

    const send = (/** @type {Buffer} */ bytes, /** @type {Answer | undefined} */ answer) => {
      if (answer?.action === 'before') return cut();
      if (answer) open.push(answer);
      if (server.writable) server.write(bytes);
    };
    const statement = () => {
      const bytes = Buffer.concat(gathered);
      gathered = [];
      const action = this.#decide(random, label);
      const holdMs = random.between(5, action === 'drop' ? 300 : 120);
      const answer = { action, label, holdMs, held: [] };
      label = 'nothing';
      up = up
        .then(() => (action === 'delay' ? pause(holdMs) : undefined))
        .then(() => send(bytes, answer));
    };
    client.on('data', (chunk) =>
      fromClient.read(chunk, (message, type) => {
        if (type === '') {
          if (message.length === 8 && message.readUInt32BE(4) === tlsRequest) {
            client.write('N');
            return;
          }
          fromClient.typed = true;
          server.write(message);
          return;
        }
        if (type === 'Q') label = labelOf(textAt(message, 5).text);
        if (type === 'P') {
          const name = textAt(message, 5);
          label = labelOf(textAt(message, name.next).text);
          prepared.set(name.text, label);
        }
        if (type === 'B')
          label = prepared.get(textAt(message, textAt(message, 5).next).text) ?? label;
        const ofStatement = 'PBDECHQSF'.includes(type);
        if (!ofStatement) up = up.then(() => send(message, undefined));
        else {
          gathered.push(message);
          if (type === 'Q' || type === 'S' || type === 'F') statement();
        }
      }),
    );

    const deliver = (/** @type {Buffer} */ bytes) => {
      if (client.writable) client.write(bytes);
    };
    server.on('data', (chunk) =>
      fromServer.read(chunk, (message, type) => {
        const answer = open[0];
        const action = answer?.action;
        const ends = type === 'Z' && answer !== undefined;
        if (ends) open.shift();
        if (action === 'half' && answer?.held.length === 0) {
          answer.held.push(message);
          down = down.then(() => deliver(message));
        } else if (action === 'slow') answer?.held.push(message);
        else if (action !== 'after' && action !== 'drop' && action !== 'half')
          down = down.then(() => deliver(message));
        if (!ends) return;
        if (action === 'after' || action === 'half') down = down.then(cut);
        else if (action === 'drop') down = down.then(() => pause(answer.holdMs)).then(cut);
        else if (action === 'slow')
          down = down
            .then(() => pause(answer.holdMs))
            .then(() => deliver(Buffer.concat(answer.held)));
      }),
    );
  }
}

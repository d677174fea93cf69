// @ts-check
/**
 * A connection pool in transaction mode that is as unkind as the mode allows. A client has a
 * backend from the first message of a transaction to the end of it; then the backend runs DISCARD
 * ALL, and the client's next transaction gets another one. So nothing that a session remembers
 * (SET, LISTEN, prepared statements, advisory locks, temporary tables) is there the next time, and
 * a program that counts on it fails at once, not on a busy day.
 *
 * One process of its own: `node pool.mjs HOST PORT`, told its own port by message to the parent,
 * ended by the parent's end. It passes messages on as they are and reads as much of PostgreSQL's
 * protocol (version 3) as that takes: where a message ends, what begins a transaction (anything),
 * and what ends one (ReadyForQuery with status `I`). Backends are opened with what the client gave
 * at its start, password included, and shared by clients that gave the same; a password is all that
 * the server may ask for. Requests to cancel are dropped.
 */
import { connect, createServer } from 'node:net';

const [host, port] = process.argv.slice(2);
/**
 * Idle backends go soon: one that stays is in the way of who wants to drop or copy its database.
 */
const idleMs = 500;
const sslRequest = 80877103;
const gssRequest = 80877104;
const cancelRequest = 80877102;

/** @param {string} type @param {...Buffer} parts */
function message(type, ...parts) {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
/** @param {number} value */
function int32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
/** @param {string} text */
const cstring = (text) => Buffer.from(`${text}\0`);
const discardAll = message('Q', cstring('discard all'));
const terminate = message('X');
/** @param {string} code @param {string} text */
const fatal = (code, text) =>
  message(
    'E',
    ...['SFATAL', 'VFATAL', `C${code}`, `M${text}`].map((field) => cstring(field)),
    Buffer.from('\0'),
  );

/** Cuts a stream of bytes into messages. The first of a client has no type. */
class Messages {
  /** @type {Buffer} */
  #rest = Buffer.alloc(0);

  /** @param {Buffer} bytes */
  add(bytes) {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }

  /** @param {{ typed: boolean }} how */
  next({ typed }) {
    const lengthAt = typed ? 1 : 0;
    if (this.#rest.length < lengthAt + 4) return undefined;
    const length = lengthAt + this.#rest.readInt32BE(lengthAt);
    if (this.#rest.length < length) return undefined;
    const bytes = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return {
      type: typed ? String.fromCharCode(bytes[0] ?? 0) : '',
      bytes,
      body: bytes.subarray(lengthAt + 4),
    };
  }
}

/** One connection to the server: opening, then idle, lent to a client, or being cleaned. */
class Backend {
  #messages = new Messages();
  /** @type {Client | undefined} */
  client;
  /** @type {NodeJS.Timeout | undefined} */
  #idle;
  #ready = false;
  /** What the server said at the start, as it said it: the client has to hear it too. */
  greeting = Buffer.alloc(0);

  /** @param {Pool} pool @param {(error?: Buffer) => void} opened */
  constructor(pool, opened) {
    this.pool = pool;
    this.opened = opened;
    this.socket = connect(Number(port), host);
    this.socket.setNoDelay(true);
    const parameters = Object.entries(pool.parameters).flatMap(([name, value]) => [
      cstring(name),
      cstring(value),
    ]);
    const start = Buffer.concat([int32(196608), ...parameters, Buffer.from('\0')]);
    this.socket.write(Buffer.concat([int32(start.length + 4), start]));
    this.socket.on('data', (bytes) => this.#hear(bytes));
    this.socket.on('error', () => undefined); // 'close' follows
    this.socket.on('close', () => this.#gone());
  }

  /** @param {Buffer} bytes */
  #hear(bytes) {
    this.#messages.add(bytes);
    for (
      let next = this.#messages.next({ typed: true });
      next;
      next = this.#messages.next({ typed: true })
    ) {
      if (!this.#ready) this.#start(next);
      else if (this.client) this.client.answer(next);
      else if (next.type === 'Z') this.pool.free(this); // the answer to DISCARD ALL
    }
  }

  /** @param {{ type: string, bytes: Buffer, body: Buffer }} next */
  #start({ type, bytes, body }) {
    if (type === 'R' && body.readInt32BE(0) === 3)
      this.socket.write(message('p', cstring(this.pool.password)));
    else if (type === 'R' && body.readInt32BE(0) !== 0)
      this.#refuse(fatal('28000', 'this pool can give the server a plain password only'));
    else if (type === 'S') this.greeting = Buffer.concat([this.greeting, bytes]);
    else if (type === 'E') this.#refuse(bytes);
    else if (type === 'Z') {
      this.#ready = true;
      this.opened();
    }
  }

  /** @param {Buffer} error */
  #refuse(error) {
    this.opened(error);
    this.opened = () => undefined;
    this.socket.destroy();
  }

  #gone() {
    clearTimeout(this.#idle);
    if (!this.#ready) this.opened(fatal('08006', 'the server closed the connection'));
    this.pool.forget(this);
    this.client?.lost();
  }

  /** The transaction is over. */
  clean() {
    this.client = undefined;
    this.socket.write(discardAll);
  }

  wake() {
    clearTimeout(this.#idle);
    return this;
  }

  rest() {
    this.#idle = setTimeout(() => {
      this.pool.forget(this);
      this.socket.end(terminate);
    }, idleMs);
  }
}

/** The backends of clients that gave the same at their start. */
class Pool {
  /** @type {Backend[]} */
  #free = [];
  /** @type {Buffer | undefined} */
  greeting;

  /** @param {Record<string, string>} parameters @param {string} password */
  constructor(parameters, password) {
    this.parameters = parameters;
    this.password = password;
  }

  /**
   * Another backend than the client had last, and of those the one that has rested longest. @param
   * {Backend | undefined} last @returns {Promise<Backend>}
   */
  take(last) {
    const index = this.#free.findIndex((backend) => backend !== last);
    const [rested] = index < 0 ? [] : this.#free.splice(index, 1);
    if (rested) return Promise.resolve(rested.wake());
    return new Promise((done, failed) => {
      const backend = new Backend(this, (error) => {
        this.greeting = backend.greeting;
        if (error) failed(error);
        else done(backend);
      });
    });
  }

  /** @param {Backend} backend */
  free(backend) {
    this.#free.push(backend);
    backend.rest();
  }

  /** @param {Backend} backend */
  forget(backend) {
    this.#free = this.#free.filter((other) => other !== backend);
  }
}

/** @type {Map<string, Pool>} */
const pools = new Map();
/** @param {Record<string, string>} parameters @param {string} password */
function poolOf(parameters, password) {
  const key = JSON.stringify([parameters, password]);
  const pool = pools.get(key) ?? new Pool(parameters, password);
  pools.set(key, pool);
  return pool;
}

class Client {
  #messages = new Messages();
  /** @type {Record<string, string> | undefined} */
  #parameters;
  /** @type {Pool | undefined} */
  #pool;
  /** @type {Backend | undefined} */
  #backend;
  /** @type {Backend | undefined} */
  #last;
  #taking = false;
  /**
   * ReadyForQuery is due. Until it is here nothing more is passed on, because what follows may
   * belong to another backend.
   */
  #answering = false;
  /** @type {{ type: string, bytes: Buffer }[]} */
  #waiting = [];
  #closed = false;

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#hear(bytes));
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => this.#gone());
  }

  /** @param {Buffer} bytes */
  #hear(bytes) {
    this.#messages.add(bytes);
    for (;;) {
      const next = this.#messages.next({ typed: this.#parameters !== undefined });
      if (!next || this.#closed) return;
      if (!this.#parameters) this.#start(next.body);
      else if (!this.#pool) this.#enter(next.body);
      else {
        this.#waiting.push(next);
        this.#pass();
      }
    }
  }

  /** @param {Buffer} body */
  #start(body) {
    const code = body.readInt32BE(0);
    if (code === sslRequest || code === gssRequest) {
      this.socket.write('N');
    } else if (code === cancelRequest) {
      this.socket.destroy();
    } else {
      const texts = body.subarray(4).toString().split('\0');
      this.#parameters = {};
      for (let at = 0; texts[at]; at += 2)
        this.#parameters[String(texts[at])] = String(texts[at + 1]);
      this.socket.write(message('R', int32(3))); // the password, please
    }
  }

  /**
   * The server judges the password: the first backend of these parameters is opened before the
   * client is let in. @param {Buffer} body
   */
  #enter(body) {
    const pool = poolOf(
      /** @type {Record<string, string>} */ (this.#parameters),
      body.subarray(0, -1).toString(),
    );
    this.#pool = pool;
    const welcome = () =>
      this.socket.write(
        Buffer.concat([
          message('R', int32(0)),
          pool.greeting ?? Buffer.alloc(0),
          message('K', int32(0), int32(0)),
          message('Z', Buffer.from('I')),
        ]),
      );
    pool.take(undefined).then(
      (backend) => {
        pool.free(backend);
        if (!this.#closed) welcome();
      },
      (error) => this.socket.end(error),
    );
  }

  #pass() {
    for (let next = this.#waiting[0]; next && !this.#closed; next = this.#waiting[0]) {
      const isCopyData = 'dcf'.includes(next.type);
      if (next.type === 'X') return void this.socket.end();
      if (this.#answering && !isCopyData) return;
      if (!this.#backend) return this.#take();
      this.#waiting.shift();
      this.#backend.socket.write(next.bytes);
      if ('QSF'.includes(next.type)) this.#answering = true;
    }
  }

  #take() {
    if (this.#taking || !this.#pool) return;
    this.#taking = true;
    const pool = this.#pool;
    pool.take(this.#last).then(
      (backend) => {
        this.#taking = false;
        if (this.#closed) return pool.free(backend);
        this.#backend = backend;
        backend.client = this;
        this.#pass();
      },
      (error) => this.socket.end(error),
    );
  }

  /** @param {{ type: string, bytes: Buffer, body: Buffer }} next */
  answer({ type, bytes, body }) {
    this.socket.write(bytes);
    if (type !== 'Z') return;
    this.#answering = false;
    if (body.toString() === 'I') {
      this.#backend?.clean();
      this.#last = this.#backend;
      this.#backend = undefined;
    }
    this.#pass();
  }

  /**
   * The backend is gone, and with it the transaction. What the server said last has been passed on.
   */
  lost() {
    this.#backend = undefined;
    this.socket.end();
  }

  /** A transaction that its client left is rolled back by ending its backend. */
  #gone() {
    this.#closed = true;
    if (!this.#backend) return;
    this.#backend.client = undefined;
    this.#backend.socket.destroy();
  }
}

const listener = createServer((socket) => new Client(socket));
listener.listen(0, '127.0.0.1', () => {
  const address = listener.address();
  process.send?.({ port: address && typeof address === 'object' ? address.port : 0 });
});
process.on('disconnect', () => process.exit(0));

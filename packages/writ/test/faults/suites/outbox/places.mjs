// @ts-check
// The places outside of an outbox fault run, each a process of its own that can be killed and started again: a receiver of webhooks, which writes down what arrives before it answers, and nats-server.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const env = { ...process.env, PATH: `${process.env.PATH}${delimiter}/usr/sbin` };
const script = fileURLToPath(new URL('../../../outbox/receiver.mjs', import.meta.url));

export const natsMissing = spawnSync('nats-server', ['--version'], { env }).status !== 0;

/**
 * @typedef {{ id: string, run: string, seq: number, type: string, accepted: boolean, verified:
 * boolean }} Arrival
 */

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}

/** A process that takes connections at a port as soon as it is ready. */
class Place {
  /** @param {number} port @param {() => import('node:child_process').ChildProcess} launch */
  constructor(port, launch) {
    this.port = port;
    this.launch = launch;
    /** @type {import('node:child_process').ChildProcess | undefined} */
    this.child = undefined;
  }

  async start() {
    const child = this.launch();
    this.child = child;
    while (child.exitCode === null) {
      const socket = connect(this.port, '127.0.0.1');
      const open = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'error').then(() => false),
      ]).catch(() => false);
      socket.destroy();
      if (open) return;
      await new Promise((resume) => setTimeout(resume, 20));
    }
    throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
  }

  /** At once, without a word to anybody. */
  async kill() {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

export class Receiver extends Place {
  /** @param {string} folder @param {string} secret */
  static async open(folder, secret) {
    const port = await freePort();
    const log = join(folder, 'arrivals.log');
    const receiver = new Receiver(port, () =>
      spawn(process.execPath, [script, log, String(port), secret], {
        stdio: ['pipe', 'ignore', 'inherit'],
      }),
    );
    receiver.log = log;
    await receiver.start();
    return receiver;
  }

  log = '';

  /** @param {object[]} rules */
  async answer(rules) {
    await fetch(`http://127.0.0.1:${this.port}/control`, {
      method: 'PUT',
      body: JSON.stringify(rules),
    });
  }

  /** What came to this path, in its order. @param {string} path @returns {Promise<Arrival[]>} */
  async arrivals(path) {
    const lines = (await readFile(this.log, 'utf8')).split('\n').filter(Boolean);
    return lines
      .map((line) => JSON.parse(line))
      .filter(({ url }) => url === path)
      .map(({ id, partitionkey, sequence, type, rule, status, verified }) => ({
        id,
        run: partitionkey,
        seq: Number(sequence),
        type,
        verified,
        accepted: (rule === 'status' && status < 300) || rule === 'slow',
      }));
  }
}

export class Nats extends Place {
  /** @param {string} folder */
  static async open(folder) {
    const port = await freePort();
    const flags = ['-js', '-sd', join(folder, 'nats'), '-a', '127.0.0.1', '-p', String(port)];
    const place = new Nats(port, () => spawn('nats-server', flags, { env, stdio: 'ignore' }));
    await place.start();
    return place;
  }

  get url() {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** What the stream has, in its order. @param {string} stream @returns {Promise<Arrival[]>} */
  async arrivals(stream) {
    const [{ connect: open }, { jetstream }] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    const connection = await open({ servers: this.url });
    const manager = await jetstream(connection).jetstreamManager();
    const { messages } = (await manager.streams.info(stream)).state;
    const consumer = await jetstream(connection).consumers.get(stream);
    /** @type {Arrival[]} */
    const arrivals = [];
    while (arrivals.length < messages) {
      for await (const message of await consumer.fetch({ max_messages: 5_000, expires: 5_000 })) {
        const { id, partitionkey, sequence, type } = /** @type {any} */ (message.json());
        arrivals.push({
          id,
          run: partitionkey,
          seq: Number(sequence),
          type,
          verified: true,
          accepted: true,
        });
        if (arrivals.length === messages) break;
      }
    }
    await connection.close();
    return arrivals;
  }
}

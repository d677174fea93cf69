/**
 * The probes of `writ worker --health-port`. GET /live and GET /ready answer 200 or 503, and
 * nothing but that word: whoever reaches the port learns no name, address or figure. The server
 * listens on all interfaces, because a kubelet asks at the address of the pod. It shares the event
 * loop with the handlers: a handler that blocks the loop also blocks the probes.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WorkerHealth } from '../queue/worker/options.js';
import { cannotListen } from './failure.js';

const atOnce = 32;
const withinMs = 5_000;
const nothingYet: WorkerHealth = { live: true, ready: false };

export class HealthPort {
  /** What the worker says of itself; until it has started, it is live and not ready. */
  of: () => WorkerHealth = () => nothingYet;
  readonly #server: Server;

  constructor() {
    this.#server = createServer(
      { headersTimeout: withinMs, requestTimeout: withinMs },
      (request, response) => {
        const { live, ready } = this.of();
        const answers: Record<string, object> = { '/live': { live }, '/ready': { ready } };
        const path = (request.url ?? '').split('?')[0] ?? '';
        const isAsking = request.method === 'GET' || request.method === 'HEAD';
        const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
        const status = !isAsking
          ? 405
          : answer === undefined
            ? 404
            : Object.values(answer)[0]
              ? 200
              : 503;
        response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
        response.end(isAsking && answer ? `${JSON.stringify(answer)}\n` : undefined);
      },
    );
    this.#server.maxConnections = atOnce;
  }

  /** Resolves with the port that it listens on. */
  async listen(port: number): Promise<number> {
    await new Promise<void>((done, failed) => {
      this.#server.once('error', (error) =>
        failed(cannotListen(`port ${port}`, error, 'Give another --health-port.')),
      );
      this.#server.listen(port, done);
    });
    // a failed accept is no fault of the worker
    this.#server.removeAllListeners('error').on('error', () => undefined);
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
  }
}

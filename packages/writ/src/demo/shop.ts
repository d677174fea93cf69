/**
 * The shop of the demo, as far as its health goes: a server on this machine that answers 200, and
 * 503 when the story makes it ill.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class Shop {
  readonly #server: Server;
  #ill = false;

  private constructor() {
    this.#server = createServer((_, response) => response.writeHead(this.#ill ? 503 : 200).end());
  }

  static async open(): Promise<Shop> {
    const shop = new Shop();
    await new Promise<void>((up) => shop.#server.listen(0, '127.0.0.1', up));
    return shop;
  }

  get healthUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/health`;
  }

  fallIll(): void {
    this.#ill = true;
  }

  async close(): Promise<void> {
    await new Promise((closed) => {
      this.#server.close(closed);
      this.#server.closeAllConnections();
    });
  }
}

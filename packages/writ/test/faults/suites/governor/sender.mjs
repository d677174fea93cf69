// @ts-check
// Whoever sends signals: signs each, and sends it again with the same id until it is answered for good, to whichever listener is there. It keeps books of what it was answered.
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';

/**
 * What it was answered in the end: 200, 202, 429, or 503 with a receipt. @typedef {{ id: string,
 * tenant: string, sku: string, status: number, receipt_id: string | null, arrival_seq: number |
 * null, tries: number }} Entry
 */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

export class Sender {
  /**
   * @param {{ ports: number[], secret: string, token: string, onFinding: (what: string) => void }}
   * options
   */
  constructor({ ports, secret, token, onFinding }) {
    this.ports = ports;
    this.secret = secret;
    this.token = token;
    this.onFinding = onFinding;
    this.agent = new Agent({ keepAlive: true, maxSockets: 64 });
    /** @type {Entry[]} */
    this.books = [];
    this.open = 0;
    /** By status, each answer; 0: there was none. @type {Record<string, number>} */
    this.heard = {};
  }

  get answered() {
    return this.books.length;
  }

  /**
   * @param {{ tenant: string, sku: string }} governor @param {string} id @param {number} value
   * @param {() => void} done
   */
  async place({ tenant, sku }, id, value, done) {
    this.open++;
    const body = Buffer.from(
      JSON.stringify({
        source: 'monitoring',
        type: 'load',
        severity: value > 80 ? 'HIGH' : 'LOW',
        value,
        timestamp: new Date().toISOString(),
      }),
    );
    for (let tries = 1; ; tries++) {
      const port = Number(
        this.ports[(tries + id.length + id.charCodeAt(id.length - 1)) % this.ports.length],
      );
      const { status, answer } = await this.#post(
        port,
        `/v1/governors/${tenant}/${sku}/signals`,
        id,
        body,
      );
      this.heard[status] = (this.heard[status] ?? 0) + 1;
      const receipt_id = answer?.receipt?.receipt_id ?? null;
      if ([200, 202, 429].includes(status) || (status === 503 && receipt_id)) {
        this.books.push({
          id,
          tenant,
          sku,
          status,
          receipt_id,
          arrival_seq: answer?.arrival_seq ?? answer?.receipt?.context?.arrival_seq ?? null,
          tries,
        });
        break;
      }
      if (status !== 0 && status < 500) {
        this.onFinding(
          `signal ${id} was answered ${status}: ${JSON.stringify(answer).slice(0, 300)}`,
        );
        break;
      }
      await pause(Math.min(50 * 2 ** tries, 1_000));
    }
    this.open--;
    done();
  }

  /**
   * @param {number} port @param {string} path @param {string} id @param {Buffer} body @returns
   * {Promise<{ status: number, answer?: any }>}
   */
  #post(port, path, id, body) {
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', this.secret)
      .update(`${id}.${at}.`)
      .update(body)
      .digest('base64');
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      authorization: `Bearer ${this.token}`,
      'webhook-signature': `v1,${signature}`,
      'webhook-id': id,
      'webhook-timestamp': at,
    };
    return new Promise((resolve) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method: 'POST',
          headers,
          agent: this.agent,
          timeout: 15_000,
        },
        async (response) => {
          try {
            let text = '';
            for await (const chunk of response) text += chunk;
            resolve({ status: Number(response.statusCode), answer: JSON.parse(text) });
          } catch {
            resolve({ status: 0 }); // it died while it answered
          }
        },
      );
      sent.on('timeout', () => sent.destroy());
      sent.on('error', () => resolve({ status: 0 }));
      sent.end(body);
    });
  }

  close() {
    this.agent.destroy();
  }
}

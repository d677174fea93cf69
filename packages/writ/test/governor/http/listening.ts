/**
 * A listener on a port of this machine, with an intake that does as it is told, and what it was
 * told of. It ends with the test.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { HttpListener, type HttpListenerOptions } from '../../../src/governor/http/listener.js';
import type { IncomingSignal } from '../../../src/governor/incoming.js';
import type {
  EntitlementNotice,
  GovernorName,
  Missed,
  SignalIntake,
  Signalled,
} from '../../../src/governor/intake.js';
import type { Receipt } from '../../../src/ledger/receipt.js';
import { secret, token } from './sender.js';

export interface Scene {
  readonly listener: HttpListener;
  readonly port: number;
  /** What reached the intake. */
  readonly took: { governor: GovernorName; signal: IncomingSignal }[];
  readonly notices: { tenant: string; notice: EntitlementNotice }[];
  readonly missed: Missed[];
  readonly rejected: string[];
  readonly faults: unknown[];
  readonly counted: string[];
  post(
    path: string,
    request: { headers: Record<string, string>; body: Buffer | ReadableStream },
  ): Promise<Response>;
  /** A connection that says what it is told to. */
  socket(): Promise<Socket & { heard(): Promise<string> }>;
}

export const signalsOf = '/v1/governors/acme/web/signals';
export const alertsOf = '/v1/governors/acme/web/alerts';
export const entitlementOf = '/v1/governors/acme/entitlement';

export const receipt = (status = 'accept', reason = 'signal_received') =>
  ({ receipt_id: 'r-1', status, reason, context: {} }) as unknown as Receipt;
export const decided: Signalled = { status: 'decided', arrival_seq: 1, receipt: receipt() };

type Take = (signal: IncomingSignal) => Signalled | Promise<Signalled>;

export async function listening(
  take: Take = () => decided,
  options: Partial<HttpListenerOptions> & { entitlement?: SignalIntake['entitlement'] } = {},
): Promise<Scene> {
  const scene = {
    took: [] as Scene['took'],
    notices: [] as Scene['notices'],
    missed: [] as Missed[],
    rejected: [] as string[],
    faults: [] as unknown[],
    counted: [] as string[],
  };
  const { entitlement, ...rest } = options;
  const listener = new HttpListener({
    intake: {
      take: async (governor, signal) => {
        scene.took.push({ governor, signal });
        return take(signal);
      },
      entitlement: async (tenant, notice) => {
        scene.notices.push({ tenant, notice });
        await entitlement?.(tenant, notice);
      },
    },
    secretsOf: async (tenant) => (tenant === 'acme' ? [secret] : []),
    tokensOf: async (tenant) => (tenant === 'acme' ? [token] : []),
    onOutage: async (missed) => void scene.missed.push(missed),
    onRejected: (code) => scene.rejected.push(code),
    onTaken: (status) => scene.counted.push(status),
    onFault: (error) => scene.faults.push(error),
    ...rest,
  });
  const { port } = await listener.listen();
  onTestFinished(() => listener.close());
  return {
    ...scene,
    listener,
    port,
    post: (path, { headers, body }) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers,
        body,
        ...(!Buffer.isBuffer(body) && { duplex: 'half' }),
      } as RequestInit),
    socket: async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      onTestFinished(() => void socket.destroy());
      let text = '';
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      const heard = async () => {
        if (!socket.closed) await once(socket, 'close');
        return text;
      };
      return Object.assign(socket, { heard });
    },
  };
}

/** Something that is awaited until the test lets it go. */
export function gateway(): { readonly passed: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/**
 * A wire between Writ and PostgreSQL that a test can break on purpose: answers can be held back (the server works on, the client hears
 * nothing), requests can be held back (the server hears nothing), and every connection can be cut. That is how an answer gets lost at a
 * place of the test's choosing, which killing a backend cannot do: what it has answered is delivered first.
 */
import { connect, createServer, type Socket } from 'node:net';

export interface Wire {
  readonly connectionString: string;
  holdAnswers(): void;
  holdRequests(): void;
  /** Cuts every connection; new ones are forwarded again. */
  cut(): void;
  close(): Promise<void>;
}

export async function wireTo(connectionString: string): Promise<Wire> {
  const server = new URL(connectionString);
  const sockets = new Set<Socket>();
  let held: 'answers' | 'requests' | undefined;

  const listener = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => held !== 'requests' && upstream.write(bytes));
    upstream.on('data', (bytes) => held !== 'answers' && client.write(bytes));
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const address = listener.address();
  const through = new URL(connectionString);
  through.port = String(address && typeof address === 'object' ? address.port : 0);

  const cut = () => {
    held = undefined;
    for (const socket of sockets) socket.destroy();
  };
  return {
    connectionString: through.toString(),
    holdAnswers: () => {
      held = 'answers';
    },
    holdRequests: () => {
      held = 'requests';
    },
    cut,
    close: () => {
      cut();
      return new Promise((done) => listener.close(() => done()));
    },
  };
}

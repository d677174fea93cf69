/**
 * A wire between Writ and PostgreSQL that a test can break on purpose: answers can be held back
 * (the server works on, the client hears nothing), requests can be held back (the server hears
 * nothing), and let go again; and every connection can be cut. That is how an answer gets lost at a
 * place of the test's choosing, which killing a backend cannot do: what it has answered is
 * delivered first.
 */
import { connect, createServer, type Socket } from 'node:net';

export interface Wire {
  readonly connectionString: string;
  holdAnswers(): void;
  holdRequests(): void;
  /** Holds answers back as soon as a request has this text in it. */
  holdAnswersTo(text: string): void;
  /** What was held back arrives. */
  letGo(): void;
  /** Cuts every connection; new ones are forwarded again. */
  cut(): void;
  close(): Promise<void>;
}

export async function wireTo(connectionString: string): Promise<Wire> {
  const server = new URL(connectionString);
  const sockets = new Set<Socket>();
  let held: 'answers' | 'requests' | undefined;
  let trigger: string | undefined;
  let waiting: (() => void)[] = [];
  const send = (to: Socket, bytes: Buffer, back: boolean) => {
    if (back) waiting.push(() => to.write(bytes));
    else to.write(bytes);
  };

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
    client.on('data', (bytes) => {
      if (trigger !== undefined && bytes.includes(trigger)) held = 'answers';
      send(upstream, bytes, held === 'requests');
    });
    upstream.on('data', (bytes) => send(client, bytes, held === 'answers'));
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const address = listener.address();
  const through = new URL(connectionString);
  through.port = String(address && typeof address === 'object' ? address.port : 0);

  const cut = () => {
    held = undefined;
    trigger = undefined;
    waiting = [];
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
    holdAnswersTo: (text) => {
      trigger = text;
    },
    letGo: () => {
      held = undefined;
      trigger = undefined;
      for (const arrive of waiting.splice(0)) arrive();
    },
    cut,
    close: () => {
      cut();
      return new Promise((done) => listener.close(() => done()));
    },
  };
}

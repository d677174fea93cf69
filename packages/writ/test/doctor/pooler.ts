/**
 * A pooler as small as one can be: it lends each of its server connections for one transaction, the
 * most recently used first, and keeps what the server says to nobody to itself. That is what
 * PgBouncer does in transaction mode; in session mode a connection keeps what it was lent.
 */
import { createServer, type Socket } from 'node:net';
import pg from 'pg';

export interface Pooler {
  readonly connectionString: string;
  close(): Promise<void>;
}

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

const welcome = (): Buffer => {
  const key = Buffer.alloc(8);
  // a process id that no process has
  key.writeInt32BE(Math.floor(Math.random() * 2 ** 30) + 2 ** 30, 0);
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('K', key),
    message('Z', Buffer.from('I')),
  ]);
};

/** Takes whole messages off the front of what has arrived, and answers what is left. */
function split(bytes: Buffer, each: (type: string, whole: Buffer) => void): Buffer {
  let rest = bytes;
  while (rest.length >= 5 && rest.length >= rest.readInt32BE(1) + 1) {
    const length = rest.readInt32BE(1) + 1;
    each(String.fromCharCode(rest[0] as number), rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return rest;
}

interface Lent {
  readonly stream: Socket;
  to: Socket | undefined;
}

export async function poolerTo(
  connectionString: string,
  options: { size: number; mode: 'transaction' | 'session' },
): Promise<Pooler> {
  const clients = Array.from({ length: options.size }, () => new pg.Client({ connectionString }));
  // its stream is taken away from it
  for (const client of clients) client.on('error', () => undefined);
  await Promise.all(clients.map((client) => client.connect()));
  const free: Lent[] = [];
  const waiting: (() => void)[] = [];
  const sockets = new Set<Socket>();
  const giveBack = (lent: Lent) => {
    lent.to = undefined;
    free.push(lent);
    waiting.shift()?.();
  };
  for (const client of clients) {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    stream.removeAllListeners('data');
    const lent: Lent = { stream, to: undefined };
    let rest: Buffer = Buffer.alloc(0);
    stream.on('data', (bytes: Buffer) => {
      rest = split(Buffer.concat([rest, bytes]), (type, whole) => {
        lent.to?.write(whole);
        if (type === 'Z' && whole[5] === 'I'.charCodeAt(0) && options.mode === 'transaction')
          giveBack(lent);
      });
    });
    free.push(lent);
  }

  const listener = createServer((socket) => {
    sockets.add(socket);
    let greeted = false;
    let arrived: Buffer = Buffer.alloc(0);
    let lent: Lent | undefined;
    const forward = () => {
      if (arrived.length === 0 || arrived[0] === 'X'.charCodeAt(0)) return;
      if (lent?.to !== socket) lent = undefined;
      if (!lent) {
        lent = free.pop();
        if (!lent) return void waiting.push(forward);
        lent.to = socket;
      }
      lent.stream.write(arrived);
      arrived = Buffer.alloc(0);
    };
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (lent?.to === socket) giveBack(lent);
    });
    socket.on('data', (bytes) => {
      if (!greeted) {
        greeted = true;
        socket.write(welcome());
        return;
      }
      arrived = Buffer.concat([arrived, bytes]);
      forward();
    });
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const address = listener.address();
  const through = new URL(connectionString);
  through.port = String(address && typeof address === 'object' ? address.port : 0);
  return {
    connectionString: through.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((done) => listener.close(() => done()));
      for (const client of clients)
        (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
    },
  };
}

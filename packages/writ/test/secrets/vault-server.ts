/**
 * A server that speaks as much of Vault as a reader of its key-value engine, version 2, hears; on
 * loopback, for tests.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface VaultServer {
  readonly address: string;
  /** Documents by mount and path, such as `secret/app`. Null: its last version was deleted. */
  readonly documents: Map<string, Record<string, unknown> | null>;
  /** What was asked for: path, namespace. */
  readonly requests: { readonly path: string; readonly namespace: string | undefined }[];
  token: string;
  /** Answers in the place of the server, once. */
  once: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  stop(): Promise<void>;
}

export async function startVault(): Promise<VaultServer> {
  const documents: VaultServer['documents'] = new Map();
  const requests: { path: string; namespace: string | undefined }[] = [];
  const answer = (response: ServerResponse, status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://vault').pathname);
    requests.push({ path, namespace: request.headers['x-vault-namespace'] as string | undefined });
    const { once } = vault;
    vault.once = undefined;
    if (once) return once(request, response);
    if (request.headers['x-vault-token'] !== vault.token)
      return answer(response, 403, { errors: ['permission denied'] });
    const [, mount, document] = /^\/v1\/([^/]+)\/data\/(.+)$/.exec(path) ?? [];
    const data = documents.get(`${mount}/${document}`);
    const metadata = {
      created_time: '2026-01-01T00:00:00Z',
      deletion_time: data === null ? '2026-01-02T00:00:00Z' : '',
      version: 3,
    };
    if (data === undefined) return answer(response, 404, { errors: [] });
    answer(response, data === null ? 404 : 200, {
      request_id: 'r',
      lease_id: '',
      renewable: false,
      data: { data, metadata },
      auth: null,
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const vault: VaultServer = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    documents,
    requests,
    token: 'hvs-of-the-tests',
    once: undefined,
    stop: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return vault;
}

// @ts-check
// A place outside the database that answers with the newest checkpoint it was sent and forgets none: what anybody may have seen has to be true for ever.
import { once } from 'node:events';
import { createServer } from 'node:http';

export async function openPlace() {
  /** @type {string[]} */
  const published = [];
  const server = createServer(async (request, answer) => {
    if (request.method === 'PUT') {
      let note = '';
      try {
        for await (const chunk of request) note += chunk;
      } catch {
        return; // whoever sent it has died: it did not arrive
      }
      published.push(note);
      answer.writeHead(204).end();
    } else if (published.length === 0) answer.writeHead(404).end();
    else answer.end(published.at(-1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}/checkpoint`,
    published,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

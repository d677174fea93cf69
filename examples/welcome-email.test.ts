import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type TestDatabase, testDatabase } from 'writ/testing';
import { welcomeByEmail } from './welcome-email.js';

/**
 * A mail service that knows Idempotency-Key. It takes the first request, and cuts the connection
 * instead of answering.
 */
const requests: string[] = [];
const sent = new Map<string, string>();
const service = createServer(async (request, response) => {
  const key = String(request.headers['idempotency-key']);
  let body = '';
  for await (const part of request) body += part;
  requests.push(key);
  sent.set(key, sent.get(key) ?? JSON.parse(body).text);
  if (requests.length === 1) response.destroy();
  else response.writeHead(202, { 'x-message-id': 'm-1' }).end();
});
let db: TestDatabase;

beforeEach(async () => {
  db = await testDatabase();
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  await new Promise((done) => service.close(done));
  await db.drop();
});

test('an answer that was lost leads to a second request with the same key, and to one mail', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const { port } = service.address() as AddressInfo;
  await welcomeByEmail(db.connectionString, `http://127.0.0.1:${port}/`, 'ada@example.com');
  expect(warn).toHaveBeenCalledTimes(1);
  expect(requests).toHaveLength(2);
  expect([...sent.values()]).toEqual(['Welcome, friend!']);
});

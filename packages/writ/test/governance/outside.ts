/**
 * Something outside the database that steps of one's own change, and probes that say what a test
 * wants.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { defineStep } from '../../src/index.js';

/** Something outside: a map, with a way to make it fail. */
export function outside(values: Record<string, unknown>) {
  const calls: string[] = [];
  const trouble: { apply?: (key: string) => void; revert?: (key: string) => void } = {};
  const flag = defineStep<{ key: string; percent: number }>('flag', {
    target: ({ key }) => `flag:${key}`,
    read: async ({ key }) => values[key] ?? null,
    apply: async ({ key, percent }, { effectKey }) => {
      calls.push(`apply ${key} ${percent} ${effectKey.length}`);
      trouble.apply?.(key);
      values[key] = percent;
    },
    revert: async (found, { key }) => {
      calls.push(`revert ${key} ${String(found)}`);
      trouble.revert?.(key);
      if (found === null) delete values[key];
      else values[key] = found;
    },
    retry: { attempts: 3, base: '5ms', cap: '10ms' },
  });
  return { flag, calls, trouble, values };
}

/** Addresses that answer the status a test wants, until it is over. */
export function probes(): (answer: () => number) => Promise<string> {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0))
      await new Promise((closed) => server.close(closed).closeAllConnections());
  });
  return async (answer) => {
    const server = createServer((_, response) => response.writeHead(answer()).end('{}'));
    servers.push(server);
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`;
  };
}

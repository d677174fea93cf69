/** The API server: Fastify with its limits, and the operations. */
import { randomUUID } from 'node:crypto';
import type { ServerOptions as TlsOptions } from 'node:https';
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import type { Writ } from 'writ';
import { type MountOptions, mount } from './mount.js';

export interface ServerOptions extends MountOptions {
  /** Fastify's; none unless given. */
  readonly logger?: FastifyServerOptions['logger'];
  /** Whether a proxy in front is believed about addresses. */
  readonly trustProxy?: FastifyServerOptions['trustProxy'];
  /** Encrypts with this certificate; a proxy in front does it otherwise. */
  readonly https?: TlsOptions;
}

/** Makes the server. `listen` starts it; `close` lets requests that have begun end. */
export function writServer(writ: Writ, options: ServerOptions = {}): FastifyInstance {
  const { logger = false, trustProxy = false, https, ...mounted } = options;
  const app: FastifyInstance = fastify({
    logger,
    trustProxy,
    ...(https && { https }),
    bodyLimit: mounted.bodyLimit ?? 1_048_576,
    requestTimeout: 30_000, // to receive a request
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 300 },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
    },
  });
  mount(app, writ, mounted);
  app.get('/healthz', (_, reply) => reply.send({ status: 'ok' }));
  app.get('/readyz', async (_, reply) => {
    try {
      await writ.now();
    } catch {
      return reply.code(503).header('retry-after', '1').send({ status: 'no database' });
    }
    return reply.send({ status: 'ready' });
  });
  return app;
}

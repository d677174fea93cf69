/** `writ serve`: the API server, until it is stopped. The package @writ/server has it. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Writ } from '../../writ.js';
import { wholeNumber } from '../command.js';
import { exitCodes, Failure, wrongUsage } from '../failure.js';
import { action, type Call } from '../shapes.js';
import { interruption } from '../signals.js';

interface Options extends Record<string, unknown> {
  readonly host: string;
  readonly port: number;
  readonly basePath?: string;
  readonly readOnly?: boolean;
  readonly behindProxy?: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** The part of @writ/server that this command uses. That package is built after this one. */
interface ServerPackage {
  writServer(
    writ: Writ,
    options: object,
  ): { listen(at: { host: string; port: number }): Promise<string>; close(): Promise<void> };
}

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('answer REST requests, until it is stopped; its login has the role writ_server')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <n>', 'which port; 0: any', wholeNumber(0, 65_535), 8_080)
    .option('--base-path <path>', 'what a proxy leaves before /api/v1')
    .option('--read-only', 'refuse every operation that changes something')
    .option('--behind-proxy', 'a proxy in front encrypts, and names the caller’s address')
    .option('--tls-cert <file>', 'certificate chain, in PEM')
    .option('--tls-key <file>', 'its key, in PEM')
    .action(action<Options>(serve));
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

async function serve(writ: Writ, { options, output }: Call<Options>): Promise<void> {
  const { host, port, basePath, readOnly = false, behindProxy = false, tlsCert, tlsKey } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw wrongUsage('TLS needs a certificate and its key.', 'Give --tls-cert and --tls-key.');
  if (!loopback.test(host) && tlsCert === undefined && !behindProxy)
    throw wrongUsage(
      `Keys would travel to ${host} in the clear.`,
      'Give --tls-cert and --tls-key, or --behind-proxy where a proxy encrypts.',
    );
  const { writServer } = await load();
  const server = writServer(writ, {
    readOnly,
    trustProxy: behindProxy,
    ...(basePath !== undefined && { basePath }),
    ...(tlsCert !== undefined &&
      tlsKey !== undefined && {
        https: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) },
      }),
  });
  const { first, release } = interruption();
  try {
    const address = await server.listen({ host, port });
    if (output.json) output.data({ address });
    else output.line(`Listening on ${address}${basePath ?? ''}/api/v1.`);
    await first;
  } finally {
    await server.close();
    release();
  }
}

async function load(): Promise<ServerPackage> {
  const name = '@writ/server';
  try {
    return (await import(name)) as ServerPackage;
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Failure(
      exitCodes.failed,
      'package_missing',
      `The package ${name} is not installed.`,
      `npm install ${name}`,
      { cause: error },
    );
  }
}

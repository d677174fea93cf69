/**
 * `writ governor listen`: takes signals, alerts and entitlements in by HTTP, until it is told to
 * stop.
 */
import type { Command } from 'commander';
import { Writ } from '../../writ.js';
import { notBlank, repeated, wholeNumber } from '../command.js';
import { connectionString } from '../connection.js';
import { wrongUsage } from '../failure.js';
import { type KeyOptions, keyOf, withKey } from '../governance/session.js';
import { Credentials } from '../governor/credentials.js';
import { listenUntilStopped } from '../governor/listening.js';
import { outputOf } from '../shapes.js';
import { withWrit } from '../writ.js';

interface Options extends KeyOptions {
  readonly port: number;
  readonly host: string;
  readonly secret?: readonly string[];
  readonly token?: readonly string[];
  readonly spool: string;
  readonly legacySignatures?: boolean;
}

const places =
  'env:NAME, file:PATH or vault:MOUNT/PATH#KEY; TENANT=… for one tenant, which then has no other; several are good at once';

export function addListen(group: Command): void {
  withKey(group.command('listen'))
    .description(
      'take signals, alerts of Alertmanager and entitlements in by HTTP, until it is stopped; any number of listeners share the work',
    )
    .option(
      '--port <n>',
      'the port to listen on; 0 for any that is free',
      wholeNumber(0, 65_535),
      8787,
    )
    .option(
      '--host <address>',
      'the address to listen on; put a proxy with TLS before it for others than this machine',
      notBlank,
      '127.0.0.1',
    )
    .option('--token <place>', `where the token is that senders send: ${places}`, repeated)
    .option(
      '--secret <place>',
      `where the secret is that signals and entitlements are signed with: ${places}`,
      repeated,
    )
    .option(
      '--legacy-signatures',
      'take the older X-Webhook-* signatures in place of Standard Webhooks; a captured request can then be sent again under another id',
    )
    .requiredOption(
      '--spool <folder>',
      'a folder of its own, for what comes while the database is away',
      notBlank,
    )
    .action(
      async ({ host, port, spool, legacySignatures, ...options }: Options, command: Command) => {
        const output = outputOf(command);
        const { databaseUrl } = command.optsWithGlobals<{ databaseUrl?: string }>();
        const tokens = new Credentials('--token', options.token ?? []);
        const secrets = new Credentials('--secret', options.secret ?? []);
        const key = keyOf(options);
        if (tokens.size === 0)
          throw wrongUsage(
            'No token is given, so that nobody could send anything.',
            'Give --token env:NAME, for instance.',
          );
        await tokens.assertThere();
        await secrets.assertThere();
        // says at once when the database is not there or not ready
        await withWrit({ databaseUrl }, (writ) => writ.login());
        if (secrets.size === 0)
          output.note(
            'Without --secret, alerts are all that is taken: signals and entitlements are signed.',
          );
        else if (key === undefined)
          output.note(
            'Without --key-file or WRIT_KEY, no entitlements are taken: somebody has to have the right to operate.',
          );
        const writ = await Writ.connect({
          connectionString: connectionString(databaseUrl),
          actor: 'listener',
          ...(key !== undefined && { key }),
        });
        try {
          await listenUntilStopped(
            {
              intake: writ.governors.intake(),
              drive: (onError) => writ.drive({ onError }),
              host,
              port,
              spool,
              ...(legacySignatures && { legacySignatures }),
              tokensOf: (tenant) => tokens.of(tenant),
              secretsOf: (tenant) => secrets.of(tenant),
            },
            output,
          );
        } finally {
          await writ.close();
        }
      },
    );
}

/** `writ webhooks secret`: a fresh secret, on standard output and nowhere else. */
import type { Command } from 'commander';
import { newWebhookSecret } from '../../../outbox/webhooks.js';
import { contextOf } from '../../command.js';
import { nameOf } from '../../outbox/destinations.js';
import { placesOf, secretVariable } from '../../outbox/secrets.js';

export function addSecret(webhooks: Command): void {
  webhooks
    .command('secret')
    .description('make a secret; it is printed once, and kept nowhere')
    .argument('[name]', 'the name that the secret will have', nameOf)
    .action((name: string | undefined, _options: unknown, command: Command) => {
      const { output } = contextOf(command);
      const secret = newWebhookSecret();
      if (output.json)
        return output.data({
          secret,
          ...(name !== undefined && { variable: secretVariable(name) }),
        });
      output.line(secret);
      output.note(`Keep it where the relay finds it: in ${placesOf(name ?? 'NAME')}.`);
      output.note('The receiver verifies with the same secret. The database has its name only.');
    });
}

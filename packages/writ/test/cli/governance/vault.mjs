// A type of step that needs a secret to see what stands there: a value in a file, which only opens
// to the right word.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineStep } from '../../../dist/index.js';

const path = () => join(process.env.FLAGS, 'vault.json');
const open = async (secret) => {
  const vault = JSON.parse(readFileSync(path(), 'utf8'));
  if ((await secret('vault-word')) !== vault.word) throw new Error('the vault does not open');
  return vault;
};

export const vault = defineStep('vault', {
  target: () => 'vault:door',
  read: async (_, { secret }) => (await open(secret)).value,
  apply: async (value, { secret }) =>
    writeFileSync(path(), JSON.stringify({ ...(await open(secret)), value })),
  revert: async (value, _, { secret }) =>
    writeFileSync(path(), JSON.stringify({ ...(await open(secret)), value })),
  retry: { attempts: 1 },
});

export default { title: 'Open the vault', scope: ['vault:door'], steps: [vault(2)] };

/** The files of docs/governance.md: YAML, and TypeScript where Node loads it. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { stepsOf } from '../../../src/governance/steps.js';
import { scene } from './scene.js';

const s = scene();
const root = fileURLToPath(new URL('../../../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/governance.md'), 'utf8');
const blockOf = (language: 'yaml' | 'ts') =>
  new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\``).exec(page)?.[1] ?? '';

async function targets(): Promise<void> {
  await s.people();
  await s.db.query(`update writ_data.configuration set key = 'perMinute' where key = 'max'`);
}

test('a change in YAML is proposed as the page shows it', async () => {
  await targets();
  const { status, contract_id: contractId } = await s.jsonAs(
    'robo',
    'contracts',
    'propose',
    s.file('change.yaml', blockOf('yaml')),
  );
  expect(status).toBe('ELIGIBLE');
  const { stdout } = await s.as('ada', 'contracts', 'preview', String(contractId));
  expect(stdout).toMatch(/set limits#perMinute +100 → 200 +undo: 100\n/);
});

test('the same in TypeScript, or, on a Node that does not load it, what to do', async () => {
  await targets();
  mkdirSync(join(s.folder, 'node_modules'));
  symlinkSync(join(root, 'packages/writ'), join(s.folder, 'node_modules', 'writ'));
  const ended = await s.as(
    'robo',
    'contracts',
    'propose',
    s.file('change.mts', blockOf('ts')),
    '--json',
  );
  if (!(process.features as { typescript?: unknown }).typescript) {
    expect([ended.code, ended.stderr]).toEqual([
      2,
      expect.stringContaining('run a newer Node for TypeScript'),
    ]);
    return;
  }
  const { contract_id: contractId } = JSON.parse(ended.stdout) as { contract_id: string };
  const [row] = await s.db.query('select steps from writ.system_contracts where contract_id = $1', [
    contractId,
  ]);
  expect(row?.steps).toEqual(stepsOf(parse(blockOf('yaml')).steps));
});

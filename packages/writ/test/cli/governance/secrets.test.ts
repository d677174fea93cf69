/**
 * What a step type needs to read what stands outside, a preview is told in the same way as a
 * worker: with --secrets.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Preview } from '../../../src/index.js';
import { fixture } from '../run.js';
import { scene } from './scene.js';

const s = scene();

test('a preview, an approval and an activation find secrets where --secrets says, and print none', async () => {
  await s.people();
  const word = 'open-sesame-4711';
  s.file('vault.json', JSON.stringify({ word, value: 1 }));
  s.env.MINE_VAULT_WORD = word;
  const module = fixture('governance/vault.mjs');
  const id = String((await s.jsonAs('robo', 'contracts', 'propose', module)).contract_id);
  const reading = ['--steps', module, '--secrets', 'env:MINE_'];

  const blind = await s.as('ada', 'contracts', 'preview', id, '--steps', module);
  expect([blind.code, blind.stderr]).toEqual([
    1,
    expect.stringMatching(/not told where they are[\s\S]*--secrets/),
  ]);
  const wrong = await s.as(
    'ada',
    'contracts',
    'preview',
    id,
    '--steps',
    module,
    '--secrets',
    'somewhere',
  );
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Write env, env:PREFIX')]);

  const { hash, steps } = await s.jsonAs<Preview>('ada', 'contracts', 'preview', id, ...reading);
  expect(steps).toMatchObject([{ before: 1, after: 2 }]);
  const approved = await s.as(
    'ada',
    'contracts',
    'approve',
    id,
    '--yes',
    '--hash',
    hash,
    ...reading,
  );
  expect(approved.code).toBe(0);
  await s.work(module, '--secrets', 'env:MINE_');
  const done = await s.as('deployer', 'contracts', 'activate', id, '--yes', '--wait', ...reading);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('COMPLETED')]);
  expect(JSON.parse(readFileSync(join(s.folder, 'vault.json'), 'utf8'))).toMatchObject({
    value: 2,
  });
  for (const { stdout, stderr } of [blind, wrong, approved, done])
    expect(stdout + stderr).not.toContain(word);
}, 120_000);

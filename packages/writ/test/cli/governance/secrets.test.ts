/**
 * What a step type needs to read what stands outside, only the worker is told, with --secrets. It
 * reads for previews, too.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Preview } from '../../../src/index.js';
import { fixture } from '../run.js';
import { scene } from './scene.js';

const s = scene();

test('a preview and an approval show what a worker has read with its secrets, and print none', async () => {
  await s.people();
  const word = 'open-sesame-4711';
  s.file('vault.json', JSON.stringify({ word, value: 1 }));
  s.env.MINE_VAULT_WORD = word;
  const module = fixture('governance/vault.mjs');
  const id = String((await s.jsonAs('robo', 'contracts', 'propose', module)).contract_id);

  const early = await s.as('ada', 'contracts', 'preview', id);
  expect([early.code, early.stdout]).toEqual([
    0,
    expect.stringMatching(
      /! vault:door was not read yet\nNo running worker has the step type vault: `writ worker FILE`[\s\S]*cannot be approved/,
    ),
  ]);
  const refused = await s.as('ada', 'contracts', 'approve', id, '--yes', '--hash', '0'.repeat(64));
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      /No applier has read a value[\s\S]*vault:door: no applier has read it yet/,
    ),
  ]);

  await s.work(module, '--secrets', 'env:MINE_');
  const read = await s.as('ada', 'contracts', 'preview', id, '--read');
  expect([read.code, read.stdout]).toEqual([
    0,
    expect.stringMatching(/vault:door was read .* ago/),
  ]);
  const { hash, steps } = await s.jsonAs<Preview>('ada', 'contracts', 'preview', id);
  expect(steps).toMatchObject([{ before: 1, after: 2 }]);
  const approved = await s.as('ada', 'contracts', 'approve', id, '--yes', '--hash', hash);
  expect(approved.code).toBe(0);
  const done = await s.as('deployer', 'contracts', 'activate', id, '--yes', '--wait');
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('COMPLETED')]);
  expect(JSON.parse(readFileSync(join(s.folder, 'vault.json'), 'utf8'))).toMatchObject({
    value: 2,
  });
  for (const { stdout, stderr } of [early, read, approved, done])
    expect(stdout + stderr).not.toContain(word);
}, 120_000);

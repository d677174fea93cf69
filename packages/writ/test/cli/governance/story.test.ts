/**
 * From nobody to a change that is done, audited, or undone: by processes alone, as people and
 * scripts run them.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Preview } from '../../../src/index.js';
import { fixture, json, writ } from '../run.js';
import { launch, scene, things } from './scene.js';

const s = scene();

/** Each is twenty processes or so, one after the other. */
const longest = 120_000;

test(
  'a change from `principals add` to `changes watch`',
  async () => {
    // People: a key in a file is for its owner alone; one that is shown is all that standard output
    //         has.
    const add = (...args: string[]) => writ(['principals', 'add', ...args], { env: s.env });
    expect(
      (
        await add(
          'ops',
          '--kind',
          'person',
          '--right',
          'propose,approve,operate',
          '--key-file',
          s.keyOf('ops'),
        )
      ).code,
    ).toBe(0);
    expect(statSync(s.keyOf('ops')).mode & 0o777).toBe(0o600);
    const shown = await add('ada', '--kind', 'person');
    expect(shown.stdout).toMatch(/^writ_key_ada_[0-9a-f]{64}\n$/);
    expect(shown.stderr).toContain('shown this once');
    s.file('ada.key', shown.stdout);
    await add('bob', '--kind', 'person', '--key-file', s.keyOf('bob'));
    const agent = await add(
      'robo',
      '--kind',
      'agent',
      '--on-behalf-of',
      'ops',
      '--key-file',
      s.keyOf('robo'),
    );
    expect([agent.stdout, agent.stderr]).toEqual(['', expect.stringContaining('Added agent robo')]);
    const again = await add(
      'robo',
      '--kind',
      'agent',
      '--on-behalf-of',
      'ops',
      '--key-file',
      join(s.folder, 'other.key'),
    );
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining('There is a principal of this name. (robo)'),
    ]);
    expect(existsSync(join(s.folder, 'other.key'))).toBe(false);

    // What can be changed, and the proposal of an agent.
    expect(
      (await s.as('ops', 'capabilities', 'put', '--file', s.file('things.yaml', things))).stdout,
    ).toContain('checkout, search, limits');
    const proposed = await s.as('robo', 'contracts', 'propose', s.file('launch.yaml', launch));
    const [, id = ''] = /^Proposed (\S+): Launch checkout, ELIGIBLE\./.exec(proposed.stdout) ?? [];
    expect([proposed.code, proposed.stderr, id]).toEqual([
      0,
      '',
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);

    // The preview says everything, and changes nothing.
    const { stdout: preview } = await s.as('ada', 'contracts', 'preview', id);
    expect(preview).toMatch(/^Launch checkout {2}ELIGIBLE\n│ After the tests of last week\.\n/);
    expect(preview).toMatch(
      /asked by +robo, on behalf of ops\nscope +checkout, limits\nrisk +high\n/,
    );
    expect(preview).toMatch(/ 1 {2}enable checkout +DISABLED → PREVIEW +undo: DISABLED\n/);
    expect(preview).toMatch(/ 2 {2}set limits#max +100 → 200 +undo: 100\n/);
    expect(preview).toMatch(/ 3 {2}set limits#burst +none → 5 +undo: none\n/);
    expect(preview).toMatch(/ 4 {2}soak for 200 ms +health is watched/);
    expect(preview).toMatch(/ 5 {2}enable checkout +PREVIEW → LAUNCHED +undo: PREVIEW\n/);
    const [, hash = ''] = /approvals +0 of 2\nhash +([0-9a-f]{64})\n/.exec(preview) ?? [];
    expect(await s.jsonAs<Preview>('bob', 'contracts', 'preview', id)).toMatchObject({
      hash,
      approvals_needed: 2,
    });

    // Two persons approve what they have seen. A worker verifies their signatures.
    await s.verifying();
    const first = await s.as('ada', 'contracts', 'approve', id, '--yes', '--hash', hash);
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('1 of 2 approvals')]);
    // ada's key, which she put there by hand
    expect(first.stderr).toContain('can be read by others: chmod 600');
    expect(first.stdout).toContain('100 → 200');
    const second = await s.as('bob', 'contracts', 'approve', id, '--yes', '--hash', hash);
    expect(second.stdout).toContain('Approved by ada, bob.');

    // It is done, watched and audited.
    const activated = await s.as('ada', 'contracts', 'activate', id, '--yes');
    const [, job = ''] = /Activated: job (\S+)\./.exec(activated.stdout) ?? [];
    expect(activated.stderr).toContain('No worker serves governance.audit, governance.change');
    expect(activated.stdout).toContain('100 → 200');
    await s.work();
    const watched = await writ(['changes', 'watch', job], { env: s.env });
    expect([watched.code, watched.stderr]).toEqual([0, '']);
    expect(watched.stdout).toMatch(
      /PENDING\n[\s\S]*RUNNING\n[\s\S]*✓ 1 {2}enable checkout {2}DISABLED → PREVIEW\n[\s\S]*✓ 4 {2}soak for 200 ms\n[\s\S]*✓ 5 {2}enable checkout {2}PREVIEW → LAUNCHED\n.*AUDIT_PENDING\n.*COMPLETED\n✓ COMPLETED, and audited: 7 checks passed\n$/,
    );
    const events = (await writ(['changes', 'watch', job, '--json'], { env: s.env })).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.filter(({ status }) => status === 'COMPLETED').map(({ event }) => event)).toEqual(
      ['step', 'step', 'step', 'step', 'step', 'moved'],
    );
    expect((await writ(['contracts', 'show', id], { env: s.env })).stdout).toMatch(
      /Launch checkout {2}COMPLETED\n[\s\S]*approved by +ada, bob\n[\s\S]*audit +PASS/,
    );
    expect((await writ(['contracts', 'history', id], { env: s.env })).stdout).toMatch(
      new RegExp(
        `APPROVE +ada +hash ${hash}\\n[^]*ELIGIBLE → APPROVED +\\S+ +approved by ada, bob[^]*ACTIVE → COMPLETED`,
      ),
    );
    expect(await json(['capabilities', 'list'], { env: s.env })).toMatchObject({
      capabilities: [
        { capability_name: 'checkout', lifecycle: 'LAUNCHED' },
        { capability_name: 'search' },
      ],
      configuration: [
        { key: 'burst', value: 5 },
        { key: 'max', value: 200 },
      ],
    });
  },
  longest,
);

test(
  'a step of one’s own from a module: what fails is undone, and the watch shows that and exits with 1',
  async () => {
    await s.people();
    const module = fixture('governance/flag.mjs');
    await s.work(module);
    const { contract_id: contractId } = await s.jsonAs('robo', 'contracts', 'propose', module);
    const id = String(contractId);
    const shown = await s.as('ada', 'contracts', 'preview', id);
    expect([shown.code, shown.stdout]).toEqual([
      0,
      expect.stringMatching(/flag:a was read .* ago\n {2}flag:stuck was read/),
    ]);
    const { hash, steps } = await s.jsonAs<Preview>('ada', 'contracts', 'preview', id);
    expect(steps.map(({ before }) => before)).toEqual([null, 'LAUNCHED', null]);
    expect((await s.as('ada', 'contracts', 'approve', id, '--yes', '--hash', hash)).code).toBe(0);
    const { code, stdout } = await s.as('deployer', 'contracts', 'activate', id, '--yes', '--wait');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /✓ 1 {2}flag flag:a {2}none → 5\n[\s\S]*✗ 3 {2}flag flag:stuck {2}no such flag\n/,
    );
    expect(stdout).toMatch(
      /ROLLBACK_PENDING[\s\S]*↩ .*restore search {2}DISABLED → LAUNCHED\n[\s\S]*✗ ROLLED_BACK: .*no such flag.*everything is what it was before/,
    );
    expect(existsSync(join(s.folder, 'a'))).toBe(false);
    const [job] = await json<{ job_id: string; kind: string }[]>(
      ['changes', 'list', '--status', 'ROLLED_BACK'],
      { env: s.env },
    );
    const { stdout: show } = await writ(['changes', 'show', String(job?.job_id)], { env: s.env });
    expect(show).toMatch(
      /Two flags {2}\S+ {2}ROLLED_BACK[\s\S]*\nrollback {2}\S+ {2}COMPLETED[\s\S]*restore flag:a .*undoes step 1/,
    );
  },
  longest,
);

test(
  'a file names a step of one’s own by its type and value',
  async () => {
    await s.people();
    const module = fixture('governance/flag.mjs');
    await s.work(module);
    const file = s.file(
      'flag.yaml',
      'title: One flag\nscope: ["flag:a"]\nsteps: [{ type: flag, value: { key: a, percent: 9 } }]\n',
    );
    const { contract_id: contractId } = await s.jsonAs(
      'robo',
      'contracts',
      'propose',
      file,
      '--steps',
      module,
    );
    const id = String(contractId);
    const { hash } = await s.jsonAs<Preview>('ada', 'contracts', 'preview', id);
    await s.as('ada', 'contracts', 'approve', id, '--yes', '--hash', hash);
    const lines = (
      await writ(
        [
          'contracts',
          'activate',
          id,
          '--yes',
          '--wait',
          '--json',
          '--key-file',
          s.keyOf('deployer'),
        ],
        {
          env: s.env,
        },
      )
    ).stdout;
    expect(JSON.parse(lines.trim().split('\n').at(-1) as string)).toMatchObject({
      event: 'moved',
      status: 'COMPLETED',
    });
    expect(readFileSync(join(s.folder, 'a'), 'utf8')).toBe('9');
  },
  longest,
);

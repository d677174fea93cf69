/** What the doctor finds in a spool. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeSpool as spoolJudge } from '../../src/doctor/spool.js';
import { Spool } from '../../src/spool/spool.js';
import { testDatabase } from '../../src/testing/index.js';
import { writ } from '../cli/run.js';
import { spoolFolder } from '../spool/folder.js';
import { advises } from './advised.js';

const judgeSpool = advises(spoolJudge);

const nothing = { waiting: 0, refused: 0, damaged: [] };

test('nothing is ok, what waits or was refused is a warning, what is damaged an error', () => {
  expect(judgeSpool('s', nothing)).toEqual([
    { check: 'spool', level: 'ok', says: 'Nothing waits in s' },
  ]);
  const now = Date.parse('2026-01-05T10:00:30Z');
  const found = judgeSpool(
    's',
    { waiting: 2, oldest: '2026-01-05T10:00:00Z', refused: 1, damaged: ['x.damaged'] },
    now,
  );
  expect(found.map(({ level, says }) => [level, says])).toEqual([
    ['error', '1 file in s not as written: x.damaged'],
    ['warning', '1 event in s refused for good'],
    ['warning', '2 events in s, the oldest for 30.0 s'],
  ]);
  expect(found.every(({ remedy }) => remedy)).toBe(true);
});

test('the command looks when it is given the folder', async () => {
  const db = await testDatabase();
  try {
    const folder = spoolFolder();
    const spool = new Spool<unknown>(folder);
    await spool.append({ waits: true });
    await spool.close();
    writeFileSync(join(folder, 'x.damaged'), '');
    const doctor = async (...options: string[]) => {
      const { stdout } = await writ(['doctor', '--json', ...options], {
        env: { DATABASE_URL: db.connectionString },
      });
      return (
        JSON.parse(stdout) as { findings: { check: string; level: string }[] }
      ).findings.filter(({ check }) => check === 'spool');
    };
    expect((await doctor('--spool', folder)).map(({ level }) => level)).toEqual([
      'error',
      'warning',
    ]);
    expect(await doctor()).toEqual([]);
  } finally {
    await db.drop();
  }
});

/**
 * What a spool promises: what it has answered for is handed over, in order, at least once, whoever
 * was killed; and nothing else is.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lineOf, readLines } from '../../src/spool/entry.js';
import { Spool } from '../../src/spool/spool.js';
import { until } from '../races/sessions.js';
import { fileIn, linesIn, namesIn, spoolFolder } from './folder.js';

/** Takes everything, and remembers it. */
function taker() {
  const taken: unknown[] = [];
  const take = async ({ payload }: { payload: unknown }) => {
    taken.push(payload);
    return undefined;
  };
  return { taken, take };
}

const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );

const nothing = { waiting: 0, refused: 0, damaged: [] };

async function spoolWith(...payloads: unknown[]): Promise<{ folder: string; path: string }> {
  const folder = spoolFolder();
  const spool = new Spool<unknown>(folder);
  for (const payload of payloads) await spool.append(payload);
  await spool.close();
  return { folder, path: fileIn(folder, '.spool') };
}

describe('what is appended', () => {
  test('is on the disk when append answers, a line each, with host, number, time and the hash of the line before', async () => {
    const { path } = await spoolWith({ a: 1 }, 'two\n', null);
    const lines = linesIn(path).map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      {
        spool_seq: 1,
        payload: { a: 1 },
        host: expect.any(String),
        at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      { spool_seq: 2, payload: 'two\n', previous: lines[0].hash },
      { spool_seq: 3, payload: null, previous: lines[1].hash },
    ]);
  });

  test('is nobody else’s to read', async () => {
    const { folder, path } = await spoolWith(1);
    expect([statSync(folder).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test('is handed over in order, and the folder is empty then', async () => {
    const folder = spoolFolder();
    const spool = new Spool<number>(folder);
    const { taken, take } = taker();
    const numbers = Array.from({ length: 2_500 }, (_, n) => n);
    await Promise.all(numbers.map((n) => spool.append(n)));
    expect(await spool.state()).toMatchObject({
      waiting: 2_500,
      oldest: expect.any(String),
      refused: 0,
      damaged: [],
    });
    expect(await spool.merge(take)).toEqual({ merged: 2_500, refused: 0, damaged: [] });
    expect([taken, namesIn(folder), await spool.state()]).toEqual([numbers, [], nothing]);
    await spool.close();
  });

  test('is in files of a size that is handed over and removed one by one', async () => {
    const folder = spoolFolder();
    const spool = new Spool<string>(folder);
    for (let n = 0; n < 5; n++) await spool.append('x'.repeat(400_000));
    expect(namesIn(folder)).toHaveLength(2);
    expect(await spool.merge(async () => undefined)).toMatchObject({ merged: 5 });
    await spool.close();
  });

  test('is merged by another process, which need not know whether the first one lives', async () => {
    const { folder } = await spoolWith('left behind');
    const { taken, take } = taker();
    await new Spool<unknown>(folder).merge(take);
    expect(taken).toEqual(['left behind']);
  });

  test('a folder that is not there is empty', async () => {
    const spool = new Spool<unknown>(spoolFolder());
    expect([await spool.state(), await spool.merge(async () => undefined)]).toEqual([
      nothing,
      { merged: 0, refused: 0, damaged: [] },
    ]);
  });
});

describe('a merge that is broken off', () => {
  test('goes on with the line that was not taken, and none before it', async () => {
    const { folder } = await spoolWith(1, 2, 3);
    const spool = new Spool<number>(folder);
    const seen: number[] = [];
    let away = true;
    const take = async ({ payload }: { payload: number }) => {
      if (payload === 2 && away) throw new Error('the database is away');
      seen.push(payload);
      return undefined;
    };
    await expect(spool.merge(take)).rejects.toThrow('the database is away');
    away = false;
    expect(await spool.merge(take)).toMatchObject({ merged: 2 });
    expect(seen).toEqual([1, 2, 3]);
  });

  test('by a crash begins with the file again: what has been taken is handed over twice, and nothing is left out', async () => {
    const { folder } = await spoolWith(1, 2, 3);
    const { taken, take } = taker();
    const killed = new Spool<number>(folder).merge(async (entry) =>
      entry.payload === 3 ? Promise.reject(new Error('killed')) : take(entry),
    );
    await expect(killed).rejects.toThrow('killed');
    await new Spool<number>(folder).merge(take);
    expect(taken).toEqual([1, 2, 1, 2, 3]);
  });
});

describe('what will never be taken', () => {
  test('is kept aside with the reason, and keeps nothing else from being handed over', async () => {
    const { folder } = await spoolWith('gone', 'good');
    const { taken, take } = taker();
    const spool = new Spool<unknown>(folder);
    const merged = await spool.merge(async (entry) =>
      entry.payload === 'gone' ? { code: 'RUN_NOT_FOUND', detail: 'no such run' } : take(entry),
    );
    expect([merged, taken]).toEqual([{ merged: 1, refused: 1, damaged: [] }, ['good']]);
    expect([namesIn(folder), await spool.state()]).toEqual([
      ['refused.jsonl'],
      { ...nothing, refused: 1 },
    ]);
    expect(JSON.parse(readFileSync(join(folder, 'refused.jsonl'), 'utf8'))).toMatchObject({
      refused: 'RUN_NOT_FOUND',
      detail: 'no such run',
      payload: 'gone',
      spoolSeq: 1,
    });
    expect(statSync(join(folder, 'refused.jsonl')).mode & 0o777).toBe(0o600);
  });
});

describe('a file that is not as it was written', () => {
  test('a last line that a crash cut off, wherever, is not a line', async () => {
    const { folder, path } = await spoolWith('first', 'second');
    const whole = statSync(path).size;
    const second = linesIn(path)[1] as string;
    const text = readFileSync(path, 'utf8');
    for (let cut = 1; cut <= second.length; cut++) {
      expect(readLines('x', text.slice(0, text.length - cut)).damaged?.line ?? 0).not.toBe(2);
    }
    truncateSync(path, whole - 10);
    const { taken, take } = taker();
    expect(await new Spool<unknown>(folder).merge(take)).toEqual({
      merged: 1,
      refused: 0,
      damaged: [],
    });
    expect([taken, namesIn(folder)]).toEqual([['first'], []]);
  });

  test('a changed byte, whichever, is found: what stands before it is handed over, the rest is kept and reported', async () => {
    const { folder, path } = await spoolWith('first', 'second', 'third');
    const bytes = readFileSync(path);
    const id = namesIn(folder)[0]?.replace('.spool', '') as string;
    const [first, second] = linesIn(path).map((line) => line.length + 1) as [number, number];
    for (let at = first; at < first + second; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      const { entries, damaged } = readLines(id, changed.toString());
      expect([at, entries.map(({ payload }) => payload), damaged?.line]).toEqual([
        at,
        ['first'],
        2,
      ]);
    }
    const changed = Buffer.from(bytes);
    changed[first + second - 70] = (changed[first + second - 70] as number) ^ 1;
    writeFileSync(path, changed);
    const { taken, take } = taker();
    expect(await new Spool<unknown>(folder).merge(take)).toEqual({
      merged: 1,
      refused: 0,
      damaged: [`${id}.damaged, line 2: its hash is another`],
    });
    expect([taken, namesIn(folder), readFileSync(join(folder, `${id}.damaged`))]).toEqual([
      ['first'],
      [`${id}.damaged`],
      changed,
    ]);
    expect(await new Spool<unknown>(folder).merge(take)).toEqual({
      merged: 0,
      refused: 0,
      damaged: [],
    });
  });

  test('the newline of the last line counts as well', async () => {
    const { path } = await spoolWith('only');
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = 0x0b;
    expect(readLines('x', bytes.toString())).toMatchObject({ entries: [], damaged: { line: 1 } });
  });

  test('a line with a hash of its own does not pass for one that belongs there', async () => {
    const { folder, path } = await spoolWith('first');
    appendFileSync(
      path,
      lineOf('elsewhere', 2, '0'.repeat(64), new Date().toISOString(), '"forged"').line,
    );
    const { taken, take } = taker();
    expect((await new Spool<unknown>(folder).merge(take)).damaged).toEqual([
      expect.stringContaining('line 2: it does not follow'),
    ]);
    expect(taken).toEqual(['first']);
  });

  test('a line that is not JSON is not used, whatever its hash says', async () => {
    const { folder, path } = await spoolWith('first');
    appendFileSync(
      path,
      lineOf('elsewhere', 2, '0'.repeat(64), new Date().toISOString(), '{').line,
    );
    expect((await new Spool<unknown>(folder).merge(async () => undefined)).damaged).toEqual([
      expect.stringContaining('line 2: it is not JSON'),
    ]);
  });

  test('a file under the name of another is not used', async () => {
    const [one, two] = [await spoolWith('one'), await spoolWith('two')];
    writeFileSync(two.path, readFileSync(one.path));
    expect(
      (await new Spool<unknown>(two.folder).merge(async () => undefined)).damaged,
    ).toHaveLength(1);
  });
});

describe('a spool that cannot keep it', () => {
  test('says that it is full, and goes on when there is room', async () => {
    const folder = spoolFolder();
    const spool = new Spool<string>(folder, { maxBytes: 2_000 });
    await spool.append('x'.repeat(1_000));
    expect(await codeOf(spool.append('y'.repeat(1_000)))).toBe('spool_full');
    const { taken, take } = taker();
    await spool.merge(take);
    await spool.append('z'.repeat(1_000));
    await spool.merge(take);
    expect(taken).toEqual(['x'.repeat(1_000), 'z'.repeat(1_000)]);
    await spool.close();
  });

  test('counts what others keep in the same folder', async () => {
    const { folder } = await spoolWith('x'.repeat(1_000));
    expect(
      await codeOf(new Spool<string>(folder, { maxBytes: 2_000 }).append('y'.repeat(1_000))),
    ).toBe('spool_full');
  });

  test('says so when the folder cannot be one', async () => {
    const folder = spoolFolder();
    writeFileSync(folder, 'a file');
    expect(await codeOf(new Spool<unknown>(folder).append(1))).toBe('spool_unavailable');
    expect(await codeOf(new Spool<unknown>(folder).merge(async () => undefined))).toBe(
      'spool_unavailable',
    );
  });
});

describe('several at once', () => {
  test('a merge that is asked for has everything in it that was there before, also while another is on its way', async () => {
    const spool = new Spool<number>(spoolFolder());
    await spool.append(1);
    const taken: number[] = [];
    let go = () => {};
    const told = new Promise<void>((done) => {
      go = done;
    });
    const take = async ({ payload }: { payload: number }) => {
      await told;
      taken.push(payload);
      return undefined;
    };
    const first = spool.merge(take);
    const other = new Spool<number>(spool.folder);
    await other.append(2); // a file that the first has not seen
    await other.close();
    const [second, third] = [spool.merge(take), spool.merge(take)];
    go();
    expect([await first, await second, await third]).toMatchObject([
      { merged: 1 },
      { merged: 1 },
      { merged: 1 },
    ]);
    expect([taken, await spool.state()]).toEqual([[1, 2], nothing]);
    await spool.close();
  });

  test('a merge that takes the file of a writer loses nothing that was answered for', {
    timeout: 60_000,
  }, async () => {
    const folder = spoolFolder();
    const writers = [1, 2, 3].map(() => new Spool<string>(folder));
    const merger = new Spool<string>(folder);
    const taken = new Set<string>();
    const merge = () => merger.merge(async ({ payload }) => void taken.add(payload));
    const answered: string[] = [];
    await Promise.all(
      writers.map(async (spool, writer) => {
        for (let n = 0; n < 100; n++) {
          // Not waited for: it takes the files while others are in the middle of a write.
          const merging = n % 5 === writer ? merge() : undefined;
          await spool.append(`${writer} ${n}`);
          answered.push(`${writer} ${n}`);
          await merging;
        }
        await spool.close();
      }),
    );
    await merge();
    expect([...taken].sort()).toEqual(answered.sort());
    expect(namesIn(folder)).toEqual([]);
  });

  test('processes that are killed while they write to one folder leave everything they were answered for, in order', {
    timeout: 30_000,
  }, async () => {
    const folder = spoolFolder();
    const script = fileURLToPath(new URL('./writer.mjs', import.meta.url));
    const heard: Record<string, number> = {};
    const writers: ChildProcess[] = ['a', 'b'].map((name) => {
      const child = fork(script, {
        env: { ...process.env, WRIT_SPOOL: JSON.stringify({ folder, name }) },
        execArgv: [],
      });
      child.on('message', (n: number) => {
        heard[name] = n;
      });
      return child;
    });
    const ended = writers.map((child) => once(child, 'exit'));
    onTestFinished(() => {
      for (const child of writers)
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    });
    await until(async () => (heard.a ?? 0) >= 50 && (heard.b ?? 0) >= 50);
    for (const child of writers) child.kill('SIGKILL');
    await Promise.all(ended);
    const taken: Record<string, number[]> = { a: [], b: [] };
    const merged = await new Spool<{ name: 'a' | 'b'; n: number }>(folder).merge(
      async ({ payload }) => void taken[payload.name]?.push(payload.n),
    );
    expect(merged.damaged).toEqual([]);
    for (const name of ['a', 'b']) {
      const numbers = taken[name] as number[];
      expect(numbers.length).toBeGreaterThanOrEqual(heard[name] as number);
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    }
    expect(existsSync(folder) && namesIn(folder)).toEqual([]);
  });
});

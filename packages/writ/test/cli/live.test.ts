/** The loop behind every command that watches. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { follow } from '../../src/cli/live.js';
import { Output } from '../../src/cli/output.js';

let printed: string[];
beforeEach(() => {
  printed = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** News in batches; the last batch ends it. */
const batches = (all: readonly (readonly number[])[]) => {
  let at = 0;
  return async () => {
    const news = all[at] ?? [];
    return { news, ended: ++at === all.length };
  };
};
const line = (n: number) => `news ${n}`;
const terminal = () => Object.assign(new Output({}), { live: true, colours: false });

test('prints news line by line between head and end, and answers that it ended', async () => {
  const read = batches([[1, 2], [], [3]]);
  const head = async () => 'head';
  expect(await follow(new Output({}), { read, line, head, end: () => ['end'] })).toBe(true);
  expect(printed.join('')).toBe('head\nnews 1\nnews 2\nnews 3\nend\n');
});

test('prints only the news as lines of JSON for programs', async () => {
  const read = batches([[1], [2]]);
  await follow(new Output({ json: true }), {
    read,
    line,
    head: async () => 'head',
    end: () => ['end'],
  });
  expect(printed.join('')).toBe('1\n2\n');
});

test('reads on without a pause while there is more', async () => {
  let reads = 0;
  const read = async () => ({ news: [], more: ++reads < 50, ended: reads === 50 });
  const from = performance.now();
  await follow(new Output({}), { read, line });
  expect(reads).toBe(50);
  expect(performance.now() - from).toBeLessThan(2_000);
});

test('reads once more when its time is over', async () => {
  let reads = 0;
  const read = async () => ({ news: [++reads] });
  const ended = await follow(new Output({}), { read, line, forMs: 50, pause: () => 60_000 });
  expect([ended, printed.join('')]).toEqual([false, 'news 1\nnews 2\n']);
});

test('stops at the first Ctrl-C', async () => {
  const read = async () => {
    setTimeout(() => process.emit('SIGINT', 'SIGINT'), 10);
    return { news: [] };
  };
  expect(await follow(new Output({}), { read, line, pause: () => 60_000 })).toBe(false);
  expect(process.listenerCount('SIGINT')).toBe(0);
});

test('draws a picture over the last one on a terminal, and goes on drawing between readings', async () => {
  const read = batches([[1], [2]]);
  const seen: number[] = [];
  const lines = ({ now }: { now: number }) => {
    seen.push(now);
    return ['a', 'b'];
  };
  await follow(terminal(), {
    read,
    line,
    picture: { look: async () => ({ now: 0 }), lines },
    pause: () => 250,
  });
  expect(seen.length).toBeGreaterThan(3);
  expect(Math.max(...seen)).toBeGreaterThan(100);
  expect(printed[0]).toBe('\ra\u001b[K\nb\u001b[K\n\u001b[J');
  expect(new Set(printed.slice(1))).toEqual(new Set([`\u001b[2A${printed[0]}`]));
});

test('lets the last picture be larger than the window', async () => {
  const rooms: (number | undefined)[] = [];
  const lines = (_: object, __: unknown, { rows }: { rows?: number }) => {
    rooms.push(rows);
    return ['a'];
  };
  await follow(terminal(), {
    read: batches([[], []]),
    line,
    picture: { look: async () => ({ now: 0 }), lines },
    pause: () => 10,
  });
  expect([rooms[0], rooms.at(-1)]).toEqual([expect.any(Number), undefined]);
});

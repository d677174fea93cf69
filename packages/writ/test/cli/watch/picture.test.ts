import { expect, test } from 'vitest';
import { pause } from '../../../src/cli/commands/queue/watch.js';
import { fit, Output, visible } from '../../../src/cli/output.js';
import { sparkline } from '../../../src/cli/watch/picture.js';

test('rates are drawn from zero, so that a steady one is level', () => {
  expect(sparkline([0, 50, 100])).toBe('▁▅█');
  expect(sparkline([96, 100, 98])).toBe('███');
  expect(sparkline([0, 0])).toBe('▁▁');
});

test('a level is drawn from its least, so that it can be seen to fall', () => {
  expect(sparkline([1_000, 900, 800], 'least')).toBe('█▅▁');
});

test('a level that hardly moves is not drawn as one that does', () => {
  expect(sparkline([1_000_000, 999_999], 'least')).toBe('▁▁');
});

test('watching takes a third of the time at most, and a reading a second where that is possible', () => {
  expect([pause(10), pause(300), pause(400), pause(2_000)]).toEqual([990, 700, 800, 4_000]);
});

test('a line is cut to the width of the terminal, without its colours being counted', () => {
  expect(fit('short', 5)).toBe('short');
  const output = new Output({});
  Object.assign(output, { colours: true });
  expect(visible(fit(output.style('red', 'too long'), 5))).toBe('too …');
});

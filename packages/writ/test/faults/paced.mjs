// @ts-check
import { standstill } from './standstill.mjs';

/**
 * Places work in step with the faults of a plan, until that stands still. The last tenth is kept
 * for after the last fault; a trickle goes on meanwhile, so that no armed fault waits for work that
 * never comes. Answers how much was placed.
 * @param {{ amount: number, atFirst: number, atOnce: number, drip?: number, what: string, left: ()
 * => number, open: () => number, answered: () => number, place: () => void, last: () =>
 * Promise<unknown>,
 *   progress: (line: string) => void, onFinding: (what: string) => void }} run
 */
export async function paced({
  amount,
  atFirst,
  atOnce,
  drip = 0.06,
  what,
  left,
  open,
  answered,
  place,
  last,
  progress,
  onFinding,
}) {
  const faults = left();
  const still = standstill(300_000);
  let placed = 0;
  let trickle = 0;
  while (left() > 0 || placed < amount) {
    if (still(left() + Math.max(0, amount - placed))) {
      onFinding(
        `the plan stands still: ${left()} of ${faults} faults left, ${placed} ${what} asked for`,
      );
      break;
    }
    trickle += drip;
    const target =
      left() === 0
        ? amount
        : Math.max(amount * (atFirst + (0.9 - atFirst) * (1 - left() / faults)), trickle);
    for (; placed < target && open() < atOnce; placed++) place();
    progress(
      `${placed} ${what} asked for, ${answered()} answered, ${faults - left()} of ${faults} faults`,
    );
    await pause(20);
  }
  await last();
  const waiting = standstill(130_000);
  while (open() > 0 && !waiting(open())) await pause(20);
  if (open() > 0) onFinding(`${open()} ${what} still wait for somebody`);
  return placed;
}

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

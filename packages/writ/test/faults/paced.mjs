// @ts-check
/**
 * Places work in step with the faults of a plan. The last tenth is kept for after the last fault; a trickle goes on meanwhile, so that no armed fault waits for
 * work that never comes. Answers how much was placed.
 * @param {{ amount: number, atFirst: number, atOnce: number, drip?: number, what: string, left: () => number, open: () => number, answered: () => number, place: () => void, last: () => Promise<unknown>,
 *   progress: (line: string) => void, onFinding: (what: string) => void, limitMs: number }} run
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
  limitMs,
}) {
  const faults = left();
  const giveUpAt = Date.now() + limitMs;
  let placed = 0;
  let trickle = 0;
  while (left() > 0 || placed < amount) {
    if (Date.now() > giveUpAt) {
      onFinding(
        `the plan was not done in time: ${left()} of ${faults} faults left, ${placed} ${what} asked for`,
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
  for (const until = Date.now() + 130_000; open() > 0 && Date.now() < until; ) await pause(20);
  if (open() > 0) onFinding(`${open()} ${what} still wait for somebody`);
  return placed;
}

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

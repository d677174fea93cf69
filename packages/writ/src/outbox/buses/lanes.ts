/**
 * Sends a batch with order where it counts and without where it does not. Events with one partition
 * key make a lane; a lane's events go one after the other, each after the answer to the one before;
 * lanes go side by side, up to a number at once, in the order of their first events. A lane ends at
 * its first failure. When nothing gets through any more, no lane goes on: what would follow is
 * held, so that a receiver that hangs is not waited for once per event.
 */
import { setMaxListeners } from 'node:events';
import { WritError } from '../../errors/index.js';
import type { CloudEvent } from '../envelope.js';
import { heldByBus, heldByOrder, heldByStop, type Outcome } from './bus.js';

/**
 * So many failures without an answer, with no answer in between, say that nothing gets through, if
 * none says so by itself.
 */
const silencesUntilDown = 3;

/** What a bus is publishing. When it closes, each publish is told to stop, and is waited for. */
export class UnderWay {
  readonly #closing = new AbortController();
  readonly #publishing = new Set<Promise<Outcome[]>>();

  /**
   * The signal is for all that one publish has under way: aborted by the caller or when the bus
   * closes.
   */
  async publish(
    caller: AbortSignal,
    start: (signal: AbortSignal) => Promise<Outcome[]>,
  ): Promise<Outcome[]> {
    const signal = AbortSignal.any([caller, this.#closing.signal]);
    // One listener per event under way is what it is for, and no leak.
    setMaxListeners(0, signal);
    const publishing = start(signal);
    this.#publishing.add(publishing);
    try {
      return await publishing;
    } finally {
      this.#publishing.delete(publishing);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#publishing);
  }
}

/** How many lanes go side by side. */
export function concurrencyOf(asked: number | undefined, usual: number): number {
  const concurrency = asked ?? usual;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new WritError('invalid_bus', 'concurrency is a whole number from 1');
  return concurrency;
}

export async function publishInLanes(
  events: readonly CloudEvent[],
  concurrency: number,
  signal: AbortSignal,
  send: (event: CloudEvent) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = new Array(events.length);
  const waiting = [...lanesOf(events)];
  let next = 0;
  let down = false;
  let silences = 0;

  const follow = async (lane: readonly number[]) => {
    let behind: Outcome | undefined;
    for (const at of lane) {
      if (behind === undefined && signal.aborted) behind = heldByStop;
      if (behind === undefined && down) behind = heldByBus;
      if (behind !== undefined) {
        outcomes[at] = behind;
        continue;
      }
      const outcome = await send(events[at] as CloudEvent);
      outcomes[at] = outcome;
      if (outcome.ok) {
        silences = 0;
        continue;
      }
      const silent = outcome.status === undefined && outcome.retryable && !outcome.held;
      silences = silent ? silences + 1 : outcome.status === undefined ? silences : 0;
      if (silences >= silencesUntilDown) outcomes[at] = { ...outcome, busDown: true };
      if (outcome.busDown || outcome.gone || silences >= silencesUntilDown) down = true;
      behind = outcome.held ? outcome : heldByOrder;
    }
  };
  const work = async () => {
    for (let lane = waiting[next++]; lane !== undefined; lane = waiting[next++]) await follow(lane);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, waiting.length) }, work));
  return outcomes;
}

function lanesOf(events: readonly CloudEvent[]): Iterable<number[]> {
  const lanes = new Map<string, number[]>();
  for (const [at, { partitionkey }] of events.entries()) {
    const lane = lanes.get(partitionkey);
    if (lane) lane.push(at);
    else lanes.set(partitionkey, [at]);
  }
  return lanes.values();
}

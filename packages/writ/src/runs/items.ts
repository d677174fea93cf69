/**
 * The items of an `each`, counted and not listed: ten thousand entries would be copied, stored and
 * sent with every snapshot, for a question that is nearly always “how far is it?”. What an item is,
 * and in which attempt, is one character; blocks of them are shared between snapshots, so that an
 * event costs one block. The log has the rest.
 */
import { type RunStepState, runStepStates } from '../machines/run-step.js';

export interface ItemsSnapshot {
  readonly total: number;
  readonly parallel: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  /** The runSeq at which an item succeeded last. */
  readonly lastSuccessSeq?: number;
  /**
   * Texts of 64 characters, one for each item; what is missing at the end is pending. `itemState`
   * reads them.
   */
  readonly states: readonly string[];
}

const block = 64;
/**
 * Codes of an attempt: its five states, with room. Those of the first attempt are the digits 0 to
 * 4.
 */
const stride = 8;
const base = 48;
/**
 * The last attempt that has a character below the surrogates; beyond it all attempts look like it.
 */
const lastAttempt = Math.floor((0xd7ff - base) / stride);

const stateNumber = Object.fromEntries(runStepStates.map((state, at) => [state, at])) as Record<
  RunStepState,
  number
>;

export interface ItemState {
  readonly status: RunStepState;
  /** The logical attempt; 0 if the item was never started. */
  readonly attempt: number;
}

const pending: ItemState = { status: 'PENDING', attempt: 0 };

function decode(code: number): ItemState {
  const value = code - base;
  return value <= 0
    ? pending
    : {
        status: runStepStates[value % stride] as RunStepState,
        attempt: Math.floor(value / stride) + 1,
      };
}

/** The state of one item. */
export function itemState(items: ItemsSnapshot, index: number): ItemState {
  const text = items.states[Math.floor(index / block)];
  return text === undefined || index % block >= text.length
    ? pending
    : decode(text.charCodeAt(index % block));
}

/** The places of the items that fit, in ascending order, at most `limit`. */
export function itemsThat(
  items: ItemsSnapshot,
  fits: (item: ItemState) => boolean,
  limit = Number.POSITIVE_INFINITY,
): number[] {
  const found: number[] = [];
  for (let index = 0; index < items.total && found.length < limit; index++)
    if (fits(itemState(items, index))) found.push(index);
  return found;
}

/** Items while events are applied to them. */
export class ItemsDraft {
  total: number;
  parallel: number;
  private readonly counts = { RUNNING: 0, SUCCESS: 0, FAILED: 0, SKIPPED: 0 };
  private lastSuccessSeq: number | undefined;
  /** A block is a text until one of its items changes. */
  private readonly blocks: (string | number[])[];
  private readonly changed: number[] = [];

  constructor(total: number, parallel: number, before?: ItemsSnapshot) {
    this.total = total;
    this.parallel = parallel;
    this.blocks = before ? [...before.states] : [];
    if (before) {
      this.counts = {
        RUNNING: before.running,
        SUCCESS: before.succeeded,
        FAILED: before.failed,
        SKIPPED: before.skipped,
      };
      this.lastSuccessSeq = before.lastSuccessSeq;
    }
  }

  static from(items: ItemsSnapshot): ItemsDraft {
    return new ItemsDraft(items.total, items.parallel, items);
  }

  get succeeded(): number {
    return this.counts.SUCCESS;
  }

  state(index: number): ItemState {
    const codes = this.blocks[Math.floor(index / block)];
    const at = index % block;
    if (codes === undefined || at >= codes.length) return pending;
    return decode(typeof codes === 'string' ? codes.charCodeAt(at) : (codes[at] as number));
  }

  move(
    index: number,
    was: RunStepState,
    status: RunStepState,
    attempt: number,
    runSeq: number,
  ): void {
    if (was !== 'PENDING') this.counts[was]--;
    if (status !== 'PENDING') this.counts[status]++;
    if (status === 'SUCCESS') this.lastSuccessSeq = runSeq;
    const codes = this.opened(Math.floor(index / block));
    const at = index % block;
    for (let next = codes.length; next < at; next++) codes.push(base);
    codes[at] = base + (Math.min(attempt, lastAttempt) - 1) * stride + stateNumber[status];
  }

  private opened(at: number): number[] {
    for (let next = this.blocks.length; next <= at; next++) this.blocks.push('');
    const codes = this.blocks[at] as string | number[];
    if (typeof codes !== 'string') return codes;
    const open: number[] = [];
    for (let index = 0; index < codes.length; index++) open.push(codes.charCodeAt(index));
    this.blocks[at] = open;
    this.changed.push(at);
    return open;
  }

  snapshot(): ItemsSnapshot {
    for (const at of this.changed)
      this.blocks[at] = String.fromCharCode(...(this.blocks[at] as number[]));
    const { counts } = this;
    const states = Object.freeze(this.blocks as string[]);
    return Object.freeze({
      total: this.total,
      parallel: this.parallel,
      running: counts.RUNNING,
      succeeded: counts.SUCCESS,
      failed: counts.FAILED,
      skipped: counts.SKIPPED,
      ...(this.lastSuccessSeq === undefined ? undefined : { lastSuccessSeq: this.lastSuccessSeq }),
      states,
    });
  }
}

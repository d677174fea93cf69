import type { CloudEvent } from '../envelope.js';

/**
 * What carries events out of the database. The relay knows this much of a bus and no more; a bus
 * knows nothing of the database.
 */
export interface Bus {
  readonly name: string;
  /**
   * Sends the events and answers for each, in the order in which they were given. Events with one
   * partition key are sent in their order: behind one that failed, the rest with its key is held.
   * Never throws for what a bus or a receiver does. When the signal is aborted, what has no answer
   * yet is held.
   */
  publish(events: readonly CloudEvent[], signal: AbortSignal): Promise<Outcome[]>;
  /** Ends connections. Events that are under way get an outcome first. */
  close(): Promise<void>;
}

export type Outcome = Sent | NotSent;

/** The bus has the event, and has said so. */
export interface Sent {
  readonly ok: true;
  /** How long the bus took to answer. */
  readonly ms: number;
  /** The HTTP status, where the bus has one. */
  readonly status?: number;
  /** The bus already had it, by its id. */
  readonly duplicate?: true;
}

/**
 * The bus has not said that it has the event. It may have it all the same: a receiver goes by the
 * id.
 */
export interface NotSent {
  readonly ok: false;
  /** Whether sending the same event again can help. */
  readonly retryable: boolean;
  /** For people; without secrets. */
  readonly reason: string;
  readonly ms: number;
  readonly status?: number;
  /** Nobody refused it: it was not tried, or it was interrupted. This is no attempt. */
  readonly held?: true;
  /** It is not about this event: nothing gets through now, and the rest of the call was held. */
  readonly busDown?: true;
  /**
   * The receiver has gone for good, and says so: nothing should be sent there until somebody has
   * looked.
   */
  readonly gone?: true;
  /** How long the receiver asks not to be called. */
  readonly retryAfterMs?: number;
}

export const held = (reason: string): NotSent => ({
  ok: false,
  retryable: true,
  reason,
  ms: 0,
  held: true,
});

export const heldByOrder = held(
  'an event before it, with the same partition key, has not been sent',
);
export const heldByBus = held('nothing got through');
export const heldByStop = held('sending was stopped');

export const tooLarge: NotSent = {
  ok: false,
  retryable: false,
  reason: 'the event is longer than the 64 KB that a CloudEvent may have on its way',
  ms: 0,
};

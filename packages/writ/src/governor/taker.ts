/** Who takes signals and entitlements in for the listener, and what it answers. */
import type { SpoolEntry } from '../spool/entry.js';
import type { Refused } from '../spool/spool.js';
import type { IncomingSignal } from './incoming.js';

/** One governor for each of these. */
export interface GovernorName {
  readonly tenant: string;
  readonly sku: string;
}

/** A signal that has come in. `duplicate`: it had come before, and this is the answer that the first one got. */
export type Taken =
  /** Its terminal receipt is there. */
  | { readonly status: 'decided'; readonly receipt: object; readonly duplicate?: boolean }
  /** Its turn has not come; buffered: because its tenant sends more than is taken in. */
  | {
      readonly status: 'accepted' | 'buffered';
      readonly arrival_seq: number;
      readonly duplicate?: boolean;
      readonly retry_after?: number;
    };

/** What a catalogue says of an entitlement. Times are milliseconds since 1970. */
export interface EntitlementNotice {
  /** The id of the notice, and when it was sent by the sender's clock: one that is sent twice, or overtakes another, can be told by them. */
  readonly webhook_id: string;
  readonly sent_at: number;
  readonly entitlement_id: string;
  readonly state: 'ACTIVE' | 'CANCELLED';
  readonly expires_at?: number;
  /** In lower case. */
  readonly tier?: string;
  /** Actions per UTC month; null: without limit; left out: as the tier says. */
  readonly quota?: number | null;
}

/** What could not be taken in while the database was away, as it is kept on this machine: whom it was for, and the id that its sender knows it by. It was never accepted. */
export type Missed =
  | {
      readonly kind: 'signal';
      readonly tenant: string;
      readonly sku: string;
      readonly signal_id: string;
    }
  | { readonly kind: 'entitlement'; readonly tenant: string; readonly webhook_id: string };

export interface SignalTaker {
  /** Throws WritRefusal for what it will not take, and whatever the database throws when it is away. */
  take(governor: GovernorName, signal: IncomingSignal): Promise<Taken>;
  entitlement(tenant: string, notice: EntitlementNotice): Promise<void>;
  /** How many requests were turned away, and with which codes: what was no signal is counted, and nothing of it is kept. */
  rejected?(codes: ReadonlyMap<string, number>, from: Date, to: Date): Promise<void>;
  /** What was missed, once the database is back: in order for each machine, and sometimes twice. Answers why it will never be taken; throws, and is asked again. */
  missed?(entry: SpoolEntry<Missed>): Promise<Refused | undefined>;
}

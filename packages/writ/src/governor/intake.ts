/**
 * What an HTTP listener hands over: signals, entitlements, rejections and what an outage missed.
 */
import { hostname } from 'node:os';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import type { Receipt } from '../ledger/receipt.js';
import type { SpoolEntry } from '../spool/entry.js';
import type { Refused } from '../spool/spool.js';
import type { EntitlementChange } from './entitlements.js';
import type { Governors } from './governors.js';
import type { IncomingSignal } from './incoming.js';

/** One governor for each of these. */
export interface GovernorName {
  readonly tenant: string;
  readonly sku: string;
}

/** The answer to a signal. A duplicate gets the answer that the first signal of its id got. */
export type Signalled = { readonly arrival_seq: number; readonly duplicate?: true } & (
  | { readonly status: 'decided'; readonly receipt: Receipt }
  /** Not decided within a tenth of a second; buffered: its tenant sends more than is taken in. */
  | { readonly status: 'accepted' | 'buffered'; readonly retry_after?: number | undefined }
);

/** What a catalogue says of an entitlement. Times are milliseconds since 1970. */
export interface EntitlementNotice {
  /**
   * The id of the notice, and when it was sent by the sender's clock: one that is sent twice, or
   * overtakes another, can be told by them.
   */
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

/**
 * What could not be taken in while the database was away, as it is kept on this machine: whom it
 * was for, and the id that its sender knows it by. It was never accepted.
 */
export type Missed =
  | {
      readonly kind: 'signal';
      readonly tenant: string;
      readonly sku: string;
      readonly signal_id: string;
    }
  | { readonly kind: 'entitlement'; readonly tenant: string; readonly webhook_id: string };

export interface SignalIntake {
  /**
   * Throws WritRefusal for what it will not take, and whatever the database throws when it is away.
   */
  take(governor: GovernorName, signal: IncomingSignal): Promise<Signalled>;
  entitlement(tenant: string, notice: EntitlementNotice): Promise<void>;
  /**
   * How many requests were turned away, and with which codes: what was no signal is counted, and
   * nothing of it is kept.
   */
  rejected?(codes: ReadonlyMap<string, number>, from: Date, to: Date): Promise<void>;
  /**
   * What was missed, once the database is back: in order for each machine, and sometimes twice.
   * Answers why it will never be taken; throws, and is asked again.
   */
  missed?(entry: SpoolEntry<Missed>): Promise<Refused | undefined>;
}

/** Entitlements are put with the key of the connection. */
export function intakeOf(governors: Governors, db: Queryable): SignalIntake {
  return {
    async take(governor, signal) {
      const taken = await governors.take(governor, signal);
      if (taken.status !== 'buffered') return taken;
      return { ...taken, retry_after: await governors.retrySeconds() };
    },
    async entitlement(tenant, { entitlement_id, state, sent_at, expires_at, tier, quota }) {
      const change = {
        entitlementId: entitlement_id,
        status: state,
        toldAt: new Date(sent_at),
        ...(expires_at !== undefined && { expiresAt: new Date(expires_at) }),
        ...(tier !== undefined && { tier: tier as NonNullable<EntitlementChange['tier']> }),
        ...(quota !== undefined && { quota }),
      };
      await governors.entitlements.put(change, { tenant });
    },
    async rejected(codes, from, to) {
      await gate(
        db,
        'fn_requests_rejected($1, $2::text::jsonb, $3::text::timestamptz, $4::text::timestamptz)',
        [
          `${hostname()}:${process.pid}`,
          JSON.stringify(Object.fromEntries(codes)),
          from.toISOString(),
          to.toISOString(),
        ],
      );
    },
    async missed({ host, spoolSeq, at, payload }) {
      if (payload.kind !== 'signal') return undefined; // its sender was told, and sends it again
      const { tenant, sku, signal_id } = payload;
      await gate(db, 'fn_governor_outage($1, $2::text::jsonb, $3::text::timestamptz, writ.now())', [
        host,
        JSON.stringify([{ seq: spoolSeq, tenant, sku, signal_id, at }]),
        at,
      ]);
      governors.poke();
      return undefined;
    },
  };
}

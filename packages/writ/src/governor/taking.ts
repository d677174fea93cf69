/** What the listener takes in goes to the governors of a connection. Entitlements are put by the connection's own key. */
import { hostname } from 'node:os';
import { gate } from '../database/gate.js';
import type { EntitlementChange, Governors, GovernorsHost } from './governors.js';
import type { SignalTaker } from './taker.js';

export function takerOf(governors: Governors, { db }: Pick<GovernorsHost, 'db'>): SignalTaker {
  return {
    async take(governor, signal) {
      const { arrivalSeq, ...taken } = await governors.take(governor, signal);
      if (taken.status === 'decided') return taken;
      return {
        ...taken,
        arrival_seq: arrivalSeq,
        ...(taken.status === 'buffered' && { retry_after: await governors.retrySeconds() }),
      };
    },
    async entitlement(tenant, { entitlement_id, state, sent_at, expires_at, tier, quota }) {
      await governors.entitle(tenant, {
        entitlementId: entitlement_id,
        status: state,
        toldAt: new Date(sent_at),
        ...(expires_at !== undefined && { expiresAt: new Date(expires_at) }),
        ...(tier !== undefined && { tier: tier as NonNullable<EntitlementChange['tier']> }),
        ...(quota !== undefined && { quota }),
      });
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

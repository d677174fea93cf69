// @ts-check
// How fast the events of a governor are decided again. The log is made in memory, by the machine itself and generated signals, so that nothing is measured but the replay; it is done by
// one thread, as `writ ledger verify` does it. `node bench/measurements/replay.mjs [events]` prints a line per kind of traffic.
import { fileURLToPath } from 'node:url';
import { redecide } from '../../packages/writ/dist/governor/redecision.js';
import { action, definePolicy } from '../../packages/writ/dist/index.js';
import { generateSignals, Simulation } from '../../packages/writ/dist/testing/index.js';

const policy = definePolicy('scale-up', {
  when: {
    cpu_utilization: { above: 75, clearBelow: 60, cooldown: '20s' },
    billing_spend: { above: 100, then: false },
  },
  then: action.handler('scale_up_cloud_run', {
    target: 'catalog',
    parameters: { replicas_delta: 3 },
  }),
});
const types = { cpu_utilization: { calm: 40, high: 95 }, billing_spend: { calm: 20, high: 200 } };

/** @typedef {'calm' | 'spikes' | 'storm'} Profile */

/**
 * The median of some rounds over a log of about `n` events. By the clock, and by the processor's
 * time, which tells more on a machine that others use as well.
 * @param {number} n @param {Profile} [profile] @param {number} [rounds]
 */
export function replayRate(n, profile = 'spikes', rounds = 5) {
  let attempts = 0;
  const simulation = new Simulation({
    carry: () =>
      attempts++ % 5 === 4
        ? { after: 100, ok: false, failure_reason: 'service_error' }
        : { after: 80 },
  });
  simulation.publish(policy);
  for (const signal of generateSignals(1, { types, n, profile })) simulation.signal(signal);
  const { id, tenant, sku } = simulation.governor;
  const rates = Array.from({ length: rounds }, () => {
    const [began, used] = [performance.now(), process.cpuUsage()];
    const result = redecide(
      { governor_id: id, tenant, sku },
      simulation.events,
      simulation.receipts,
    );
    const { user, system } = process.cpuUsage(used);
    if (!result.ok) throw new Error(result.differences[0]?.message);
    return {
      events: result.events,
      receipts: result.receipts,
      perS: (result.events * 1e3) / (performance.now() - began),
      perCpuS: (result.events * 1e6) / (user + system),
    };
  });
  /** @param {'perS' | 'perCpuS'} by */
  const median = (by) =>
    Math.round(rates.map((rate) => rate[by]).sort((a, b) => a - b)[rounds >> 1] ?? 0);
  const { events = 0, receipts = 0 } = rates[0] ?? {};
  return {
    profile,
    events,
    receipts,
    eventsPerS: median('perS'),
    eventsPerCpuS: median('perCpuS'),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const profile of /** @type {Profile[]} */ (['calm', 'spikes', 'storm']))
    console.log(JSON.stringify(replayRate(Number(process.argv[2] ?? 50_000), profile)));

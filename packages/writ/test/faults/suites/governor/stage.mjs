// @ts-check
// Who is governed in the fault run: tenants of several kinds, by the first word of their names, and what is set so that hours pass in seconds.
import { action, definePolicy } from '../../../../dist/index.js';
import { relieve } from './actions.mjs';

/** @typedef {import('../../../../dist/index.js').Writ} Writ */
/** @typedef {{ tenant: string, sku: string, kind: string }} Subject */

/**
 * Each tenant is of the kind that its number says. `two` has two products, which share its quota;
 * `bare` has no policy.
 */
export const kinds = [
  'storming',
  'plain',
  'two',
  'failing',
  'hanging',
  'forbidden',
  'shadow',
  'bare',
  'changing',
  'plain',
];

export const settings = {
  'governor.boot_ms': 5_000,
  'governor.action_ms': 1_500,
  'governor.rollback_ms': 3_000,
  'governor.recheck_ms': 1_000,
  'governor.recovery_ms': 3_000,
  'governor.recovery_max_ms': 6_000,
  'governor.backoff_ms': [300, 600, 1_500],
  'governor.storm_limit': 60,
  'governor.storm_window_ms': 4_000,
  'governor.storm_every_ms': 300,
  'governor.storm_retry_ms': 1_000,
  'governor.capacity': 150,
  // Everything is slow here now and then: what has to be shown is that nothing is lost, not that
  // nobody waits.
  'governor.receipt_slo_ms': 2_000,
  'governor.entitlement_ms': 3_000,
  'governor.policy_ms': 3_000,
  'governor.ping_ms': 3_000,
  'governor.ping_every_ms': 1_000,
  'governor.crashes': 100,
  // The harness kills, not the jobs.
  'queue.poison.crashes': 10_000,
};

/** @param {number} tenants @returns {Subject[]} */
export function subjectsOf(tenants) {
  return Array.from({ length: tenants }, (_, n) => {
    const kind = String(kinds[n % kinds.length]);
    const tenant = `${kind}-${n}`;
    const first = { tenant, sku: 'default', kind };
    return kind === 'two' ? [first, { ...first, sku: 'second' }] : [first];
  }).flat();
}

/**
 * Of a kind; versions differ by where the threshold is. @param {string} kind @param {number}
 * version
 */
export function policyFor(kind, version) {
  const keeps = kind === 'plain' || kind === 'shadow';
  return definePolicy('load', {
    when: { load: { above: 80 + (version % 3), clearBelow: 60, cooldown: '1s' } },
    then: action.handler(relieve, {
      target: 'pool',
      baselineWithin: '1s',
      notRestored: keeps ? 'keep' : 'rollback',
    }),
    requires: 'pool:write',
    as: 'acting',
  });
}

/**
 * @param {Writ} writ @param {import('pg').Pool} admin @param {readonly Subject[]} subjects @param
 * {object} [others] settings @returns {Promise<string>} the key of the operator
 */
export async function prepareStage(writ, admin, subjects, others = {}) {
  for (const [key, value] of Object.entries({ ...settings, ...others }))
    await admin.query(`select writ.fn_setting_set($1, $2, 'faults')`, [key, JSON.stringify(value)]);
  const key = await writ.principals.add({
    id: 'olga',
    kind: 'person',
    rights: ['operate'],
  });
  await writ.principals.add({ id: 'acting', kind: 'service' });
  await admin.query(
    `update writ_data.principal set permissions = '{pool:write}' where principal_id = 'acting'`,
  );
  for (const { tenant, sku, kind } of subjects) {
    if (sku === 'default')
      await writ.governors.entitlements.put({ tier: 'enterprise' }, { tenant, as: key });
    const governor = await writ.governor({ tenant, sku });
    if (kind !== 'bare')
      await governor.publish(policyFor(kind, 1), { as: key, shadow: kind === 'shadow' });
  }
  return key;
}

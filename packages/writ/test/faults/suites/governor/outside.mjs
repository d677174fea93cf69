// @ts-check
// What happens around the governors, one after the other, each after a number of answered signals: PostgreSQL is stopped at once, or is away for longer; connections are cut; the database's clock is set back; policies and
// entitlements change. And a person who looks at what only a person can clear.
import { isOutage } from '../../outage.mjs';
import { InTurn } from '../../outside.mjs';
import { policyFor } from './stage.mjs';

/** @typedef {import('../../plan.mjs').Fault} Fault */
/**
 * @typedef {{ server: { crash(downMs: number): Promise<void> }, admin: import('pg').Pool, writ:
 * import('../../../../dist/index.js').Writ, key: string, subjects: readonly
 * import('./stage.mjs').Subject[], awayMs: number, backMs: number,
 *   random: ReturnType<typeof import('../../plan.mjs').generator>, onFault: (fault: Fault) => void,
 *   onFinding: (what: string) => void }} Stage
 */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/**
 * The clock of the gates, which is ahead of the machine's by so much. @param {import('pg').Pool}
 * admin @param {number} aheadMs
 */
export const setClock = (admin, aheadMs) =>
  admin.query(
    `create or replace function writ.now() returns timestamptz language sql volatile as $$ select pg_catalog.clock_timestamp() + interval '${aheadMs} milliseconds' $$`,
  );

/**
 * The server may be down at this moment. @template T @param {() => Promise<T>} call @returns
 * {Promise<T>}
 */
export async function insistently(call) {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!isOutage(error) || tries === 1_000) throw error;
      await pause(100);
    }
  }
}

/** @extends {InTurn<Stage>} */
export class Outside extends InTurn {
  /** @param {Fault[]} faults @param {Stage} stage @param {number} aheadMs */
  constructor(faults, stage, aheadMs) {
    super(faults, stage, (fault) => this.#strike(fault));
    this.aheadMs = aheadMs;
    this.version = 1;
    /** What a person has seen to, by cause. @type {Record<string, number>} */
    this.acknowledged = {};
  }

  /** @param {Fault} fault */
  async #strike({ action, holdMs }) {
    const { server, admin, awayMs, backMs } = this.stage;
    if (action === 'crash') return server.crash(holdMs);
    if (action === 'away') return server.crash(awayMs);
    if (action === 'disconnect')
      return void (await insistently(() =>
        admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'writ%'`,
        ),
      ));
    if (action === 'clock') {
      this.aheadMs -= backMs;
      return void (await insistently(() => setClock(admin, this.aheadMs)));
    }
    await this.#change();
  }

  /** One of those that change is told something new. */
  async #change() {
    const { writ, key, subjects, random } = this.stage;
    const changing = subjects.filter(({ kind }) => kind === 'changing');
    const { tenant, sku } = random.pick(changing);
    const what = random.pick([
      'publish',
      'publish',
      'shadow',
      'withdraw',
      'cancel',
      'activate',
      'act',
    ]);
    await insistently(async () => {
      const governor = await writ.governor({ tenant, sku });
      try {
        if (what === 'publish' || what === 'shadow')
          await governor.publish(policyFor('changing', ++this.version), {
            as: key,
            shadow: what === 'shadow',
          });
        else if (what === 'withdraw') await governor.withdraw({ as: key });
        else if (what === 'act') await governor.act('relieve', {}, { as: key });
        else
          await writ.governors.entitlements.put(
            { status: what === 'cancel' ? 'CANCELLED' : 'ACTIVE' },
            { tenant, as: key },
          );
      } catch (error) {
        // it was withdrawn before
        if (/** @type {{ code?: string }} */ (error).code !== 'policy_not_found') throw error;
      }
    });
  }

  /** Those that change are as all others again. */
  async restore() {
    const { writ, key, subjects } = this.stage;
    for (const { tenant, sku, kind } of subjects) {
      if (kind !== 'changing') continue;
      await insistently(async () => {
        await writ.governors.entitlements.put({ status: 'ACTIVE' }, { tenant, as: key });
        await (await writ.governor({ tenant, sku })).publish(
          policyFor('changing', ++this.version),
          { as: key },
        );
      });
    }
  }

  /**
   * A person who looks now and then. What was given up is seen to when nothing undoes it any more.
   */
  async look() {
    const { admin, writ, key } = this.stage;
    const { rows } = await admin.query(
      `select tenant_id as tenant, sku_id as sku, c as cause from writ.governor cross join lateral jsonb_array_elements_text(causes) c
       where c in ('rollback_failed', 'crash', 'nondeterminism') or c = 'action_timeout' and causes ? 'rollback_failed' and in_flight = 'null'`,
    );
    for (const { tenant, sku, cause } of rows) {
      try {
        await (await writ.governor({ tenant, sku })).acknowledge(cause, {
          as: key,
          reason: 'it was looked at, and is over',
        });
        this.acknowledged[cause] = (this.acknowledged[cause] ?? 0) + 1;
      } catch (error) {
        // the last word has been heard meanwhile
        if (/** @type {{ code?: string }} */ (error).code !== 'cause_not_found') throw error;
      }
    }
  }
}

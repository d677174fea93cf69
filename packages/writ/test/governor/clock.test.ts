/** The clock of the database is moved forward and back, and governors go on by what it says. */
import { describe, expect, test } from 'vitest';
import type { GovernorHandle } from '../../src/governor/governors.js';
import { redecide } from '../../src/governor/redecision.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { until } from '../races/sessions.js';
import { governorScene, scaling } from './scene.js';

const s = governorScene();
const cpu = (value: number) => ({ type: 'cpu_utilization', value });

/** Every event is decided again, in its order, and every receipt compared. */
async function agrees({ id, name: { tenant, sku } }: GovernorHandle): Promise<void> {
  const events = await s.sql(
    'select document from writ.fn_governor_events($1::text::uuid, 0, 10000)',
    [id],
  );
  const entries = await s.sql(
    `select entry from writ_data.receipt where log_id = $1 and stream = $2 order by stream_seq`,
    [tenant, `governor:${sku}`],
  );
  const lines = events.map(({ document }) => canonicalize(JSON.parse(String(document))));
  const told = redecide(
    { governor_id: id, tenant, sku },
    lines,
    entries.map(({ entry }) => String(entry)),
  );
  expect(told.differences).toEqual([]);
  expect(told.events).toBe(lines.length);
}

const actions = async (governor: GovernorHandle) =>
  (await s.reasons(governor)).filter((reason) => reason === 'action_succeeded').length;

describe.each(['10m', '40d'] as const)('a clock that was %s ahead and is set right', (ahead) => {
  test('crashes no governor: it acts before, meanwhile and after', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    s.answers.push(...Array.from({ length: 3 }, () => () => ({ baseline: 'restored' })));
    await s.decided(governor, cpu(90));
    await until(async () => (await actions(governor)) === 1);
    await s.db.clock.advance(ahead);
    await s.decided(governor, cpu(91));
    await until(async () => (await actions(governor)) === 2);
    await s.inState(governor, 'stable');
    await s.db.clock.reset();
    await s.decided(governor, cpu(10));
    // Its cooldown is over in a second by the clock as it is now.
    await until(
      async () =>
        (await governor.get()).state !== 'stable' ||
        (await s.decided(governor, cpu(92))) === undefined,
    );
    await until(async () => (await actions(governor)) === 3);
    await s.inState(governor, 'stable');
    expect(s.errors).toEqual([]);
    expect(await s.reasons(governor)).not.toContain('event_failed');
    await agrees(governor);
  });

  test('leaves no timer behind: what was to be in a moment is not to be when the time is there again', async () => {
    await s.setting('governor.backoff_ms', [4_000]);
    const worker = await s.work();
    const governor = await s.stable(scaling());
    await worker.stop();
    await s.db.clock.advance(ahead);
    const failure = { cause: 'ledger', failure_type: 'timeout', message: 'late' };
    const early = await s.work();
    await s.sql('select writ.fn_governor_tell($1::text::uuid[], $2::text::jsonb)', [
      `{${governor.id}}`,
      JSON.stringify(failure),
    ]);
    await s.receipt(governor, 'health_check_failed');
    await early.stop();
    await s.db.clock.reset();
    await s.work();
    await s.inState(governor, 'stable');
    await agrees(governor);
  });

  test('buffers nobody: what came while it was ahead is not counted for the time after', async () => {
    await s.setting('governor.storm_limit', 4);
    await s.work();
    const governor = await s.stable(scaling());
    await s.db.clock.advance(ahead);
    for (let n = 1; n <= 4; n++) await s.decided(governor, cpu(10));
    await s.db.clock.reset();
    expect((await s.decided(governor, cpu(11))).status).toBe('decided');
    expect(await s.reasons(governor)).not.toContain('signal_storm_detected');
  });
});

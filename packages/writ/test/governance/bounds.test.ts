/** What comes from outside has limits, and a probe cannot do more than look. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { credentialOf } from '../../src/governance/actor.js';
import { configure, defineStep, enable, principal } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { scene } from './scene.js';

const s = scene();
const long = 'x'.repeat(201);

test.each([
  ['a name in the scope that is too long', { scope: [long], steps: [enable(long)] }],
  ['a name in the scope that is empty', { scope: ['checkout', ''], steps: [enable('checkout')] }],
  ['a key that is too long', { scope: ['limits'], steps: [configure('limits', long, 1)] }],
  [
    'a duration of more than a day',
    { scope: ['checkout'], steps: [enable('checkout')], maxDuration: '25h' as const },
  ],
  [
    'an issue with too long a name',
    { scope: ['checkout'], steps: [enable('checkout')], issueId: long },
  ],
])('%s is refused or rejected', async (_, proposal) => {
  const refused = await s.propose(proposal).then(
    async (contract) => (await contract.get()).status,
    ({ code }) => code,
  );
  expect(['REJECTED', 'invalid_contract']).toContain(refused);
  expect(await s.sql(`select from writ.system_contracts where status not in ('REJECTED')`)).toEqual(
    [],
  );
});

test.each([
  ['two statements', `commit; update writ_data.configuration set value = '7'`],
  [
    'a write',
    `with w as (update writ_data.configuration set value = '7' returning 1) select count(*) from w`,
  ],
])('a SQL probe of %s changes nothing, and is unhealthy', async (_, query) => {
  await s.writ.probes.put(
    { name: 'sly', capability: 'checkout', type: 'sql', config: { query } },
    { as: s.keys.ops },
  );
  await s.work();
  await until(
    async () => (await s.sql(`select from writ.probe where checked_at is not null`)).length > 0,
  );
  expect(await s.sql('select status from writ.probe')).toEqual([{ status: 'UNHEALTHY' }]);
  expect((await s.state())['limits#max']).toBe(100);
});

test('an HTTP probe that never stops talking is cut off', async () => {
  let sent = 0;
  const server = createServer((_, response) => {
    const more = () => {
      sent += 65_536;
      if (!response.destroyed) response.write(Buffer.alloc(65_536, 97), () => setImmediate(more));
    };
    more();
  });
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await s.writ.probes.put(
      { name: 'endless', capability: 'checkout', type: 'http', config: { url } },
      { as: s.keys.ops },
    );
    await s.work();
    await until(
      async () => (await s.sql(`select from writ.probe where status = 'UNHEALTHY'`)).length > 0,
    );
    expect((await s.sql('select detail from writ.probe'))[0]?.detail).toContain('too large');
    expect(sent).toBeLessThan(50_000_000);
  } finally {
    await new Promise((closed) => server.close(closed).closeAllConnections());
  }
});

test('the gate has the bounds of constraints too', async () => {
  for (const constraints of [
    { max_duration_ms: 0.5 },
    { max_duration_ms: 86_400_001 },
    { step_timeout_ms: '1; drop' },
    { other: 1 },
    [1],
  ]) {
    const { credential } = principal(s.keys.agent);
    const content = `{"scope":["checkout"],"steps":[${JSON.stringify(enable('checkout'))}]}`;
    const [row] = await s.sql<{ answer: { reason: string } }>(
      `select writ.fn_contract_propose($1, $2, $3::jsonb, 'default') as answer`,
      [credential, content, JSON.stringify({ title: 'X', constraints })],
    );
    expect(row?.answer.reason).toBe('invalid_contract');
  }
  expect(await codeOf(s.propose({ maxDuration: '1d' as const }))).toBeUndefined();
});

test.each([
  ['a text', 'a\0b'],
  ['a name', { 'a\0b': 1 }],
  ['half a character', ['\ud800']],
])('what a type reads and the database cannot hold is refused in words: %s', async (_, value) => {
  const flag = defineStep<string>('flag', {
    target: (key) => `flag:${key}`,
    read: async () => value,
    apply: async () => undefined,
    revert: async () => undefined,
  });
  await s.use(flag);
  const contract = await s.propose({ scope: ['flag:a'], steps: [flag('a')] });
  expect(await contract.preview({ as: s.keys.ada, timeoutMs: 60_000 })).toMatchObject({
    hash: '',
    outside: [{ code: 'invalid_text', detail: expect.stringContaining('flag:a') }],
  });
});

describe.each(['infinity', '-infinity', '4714-11-24 BC', '1999-12-31', '294000-01-01'])(
  'the time %s',
  (time) => {
    const call = async (gate: string, given: object) => {
      const credential = credentialOf({ key: s.keys.ops } as never, { as: s.keys.ops } as never);
      const [row] = await s.sql<{ answer: { reason?: string } }>(
        `select writ.${gate}($1, $2::jsonb) as answer`,
        [credential, JSON.stringify(given)],
      );
      return row?.answer.reason;
    };

    test.each(['begins_at', 'ends_at'])('is refused as %s of a freeze', async (field) => {
      expect(await call('fn_freeze_put', { reason: 'x', [field]: time })).toBe('invalid_argument');
      expect((await s.writ.freezes.list()).items).toEqual([]);
    });

    test('is refused as the end of a health signal', async () => {
      await s.writ.principals.change('ops', { rights: ['report'] });
      const signal = { signal_type: 't', scope: 'x', decision: 'WARN', reason: 'r' };
      expect(await call('fn_signal_record', { ...signal, expires_at: time })).toBe(
        'invalid_signal',
      );
      expect(await s.sql('select from writ_data.governance_signal')).toEqual([]);
    });

    test('is refused as the end of an entitlement, and as the time it was told', async () => {
      for (const field of ['expires_at', 'told_at']) {
        const put = `select writ.fn_entitlement_put(
          p_key => $1, p_tenant => 'acme', p_entitlement => $2::jsonb) as answer`;
        const [row] = await s.sql<{ answer: { reason?: string } }>(put, [
          credentialOf({ key: s.keys.ops } as never, { as: s.keys.ops } as never),
          JSON.stringify({ tier: 'starter', [field]: time }),
        ]);
        expect(row?.answer.reason).toBe('invalid_entitlement');
      }
    });
  },
);

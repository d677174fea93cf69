import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Writ } from 'writ';
import { type TestDatabase, testDatabase } from 'writ/testing';
import { launch, launchDarkly } from './launchdarkly.ts';
import { carryOut, meet, type People } from './people.ts';

const [yes, no] = ['86208e6e-468f-4425-b334-7f318397f95c', '7b32de80-f346-4276-bb77-28dfa7ddc2d8'];
const token = 'api-11112222-3333-4444-5555-666677778888';
let db: TestDatabase;
let writ: Writ;
let people: People;
let url: string;
let health: number;
/** Weights that were put, and what was on, one after the other. */
let puts: unknown[];
let refusals: number;
let fallthrough: {
  variation?: number;
  rollout?: { variations: { variation: number; weight: number }[] };
};
let on: boolean;
let version: number;

/**
 * As LaunchDarkly speaks: semantic patches, variations by id in what is asked, by number in what is
 * answered.
 */
const server = createServer(async (request, response) => {
  if (request.url === '/health') return void response.writeHead(health).end('{}');
  const answer = (status: number, body: object) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));
  if (request.headers.authorization !== token)
    return answer(401, { code: 'unauthorized', message: 'Invalid access token' });
  const variations = [
    { _id: yes, value: true },
    { _id: no, value: false },
  ];
  if (request.url !== '/api/v2/flags/default/checkout-v2?env=production')
    return answer(404, { code: 'not_found', message: 'Unknown resource' });
  if (request.method === 'PATCH') {
    if (
      request.headers['content-type'] !==
      'application/json; domain-model=launchdarkly.semanticpatch'
    )
      return answer(400, { code: 'invalid_request' });
    if (refusals-- > 0) return answer(429, { code: 'rate_limited' });
    let text = '';
    for await (const chunk of request) text += chunk;
    const { environmentKey, instructions } = JSON.parse(text);
    if (environmentKey !== 'production') return answer(400, { code: 'invalid_request' });
    for (const { kind, variationId, rolloutWeights } of instructions) {
      if (kind === 'turnFlagOn' || kind === 'turnFlagOff') on = kind === 'turnFlagOn';
      else if (variationId !== undefined)
        fallthrough = { variation: variations.findIndex(({ _id }) => _id === variationId) };
      else
        fallthrough = {
          rollout: {
            variations: variations.map(({ _id }, variation) => ({
              variation,
              weight: rolloutWeights[_id] ?? 0,
            })),
          },
        };
    }
    puts.push(fallthrough.rollout?.variations[0]?.weight ?? fallthrough.variation, on);
  }
  answer(200, {
    key: 'checkout-v2',
    kind: 'boolean',
    _version: version++,
    variations,
    environments: {
      production: { on, fallthrough, offVariation: 1, version, lastModified: Date.now() },
    },
  });
});

beforeEach(async () => {
  [on, fallthrough, version, health, puts, refusals] = [false, { variation: 1 }, 1, 200, [], 0];
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  db = await testDatabase();
  writ = await db.connect({ secrets: { resolve: async () => ({ 'launchdarkly-token': token }) } });
  people = await meet(writ);
});
afterEach(async () => {
  await db.drop();
  await new Promise((down) => server.close(down).closeAllConnections());
});

test('an agent proposes it, a person approves it, and everybody gets the flag: five percent first', async () => {
  const rollout = launchDarkly({ url, project: 'default', environment: 'production' });
  await writ.work([], { governance: [rollout] });
  refusals = 1; // what is refused for the moment is tried again
  expect(await carryOut(writ, people, launch(rollout, 'checkout-v2', '50ms'))).toMatchObject({
    status: 'COMPLETED',
  });
  expect(puts).toEqual([5000, true, 0, true]);
  expect({ on, fallthrough }).toEqual({ on: true, fallthrough: { variation: 0 } });
  expect(JSON.stringify(await db.query('select * from writ_data.governance_step'))).not.toContain(
    token,
  );
});

test('its health fails while it is watched: the flag is off again, as it was', async () => {
  const rollout = launchDarkly({ url, project: 'default', environment: 'production' });
  // Known as a capability by the name of the target, so that it has probes.
  await writ.capabilities.put([{ capability_name: 'flag:checkout-v2', domain: 'shop' }], {
    as: people.operator,
  });
  await writ.probes.put(
    {
      name: 'orders',
      capability: 'flag:checkout-v2',
      type: 'http',
      config: { url: `${url}/health` },
      every_ms: 200,
    },
    { as: people.operator },
  );
  await writ.work([], { governance: [rollout], probes: { allowPrivate: true } });
  while ((await writ.health.get()).system !== 'HEALTHY')
    await new Promise((resume) => setTimeout(resume, 20));
  const ending = carryOut(writ, people, launch(rollout, 'checkout-v2', '30s'));
  const watching = async () =>
    (await db.query('select from writ.governance_jobs where completed_steps = 1')).length > 0;
  while (!(await watching())) await new Promise((resume) => setTimeout(resume, 10));
  expect(puts).toEqual([5000, true]);
  health = 500;
  const end = await ending;
  expect(end).toMatchObject({ status: 'ROLLED_BACK', state_after: end.state_before });
  expect({ on, fallthrough }).toEqual({ on: false, fallthrough: { variation: 1 } });
});

test('a person has changed the flag by hand since it was approved: nothing is done', async () => {
  const rollout = launchDarkly({ url, project: 'default', environment: 'production' });
  await writ.work([], { governance: [rollout] });
  const contract = await writ.contracts.propose(launch(rollout, 'checkout-v2'), {
    as: people.agent,
  });
  const { hash } = await contract.preview({ as: people.ada });
  await contract.approve({ as: people.ada, hash });
  on = true;
  // The worker reads the flag again before it touches it.
  const job = await contract.activate({ as: people.deployer });
  const { status, status_reason } = await job.finished();
  expect(status).not.toBe('COMPLETED');
  expect(status_reason).toContain('is not what it was when it was approved');
  expect(puts).toEqual([]);
  expect({ on, fallthrough }).toEqual({ on: true, fallthrough: { variation: 1 } });
});

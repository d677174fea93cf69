import { createServer, type Socket, connect as tcp } from 'node:net';
import { type Client, OpenFeature, ProviderEvents } from '@openfeature/server-sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { configure, disable, enable, soak, Writ } from '../../writ/src/index.js';
import { scene } from '../../writ/test/governance/scene.js';
import { WritProvider } from '../src/index.js';

const s = scene();
const opened: { close(): Promise<unknown> | unknown }[] = [];
afterEach(async () => {
  await OpenFeature.clearProviders();
  OpenFeature.clearHandlers();
  for (const one of opened.splice(0).reverse()) await one.close();
});

const within = <T>(check: () => Promise<T> | T, timeout = 20_000) =>
  vi.waitFor(check, { timeout, interval: 5 });

/** An application of its own: with a connection that is nobody else's, and what it was told. */
async function application(options: { tenant?: string; poll?: string; writ?: Writ } = {}) {
  const { writ = s.writ, ...rest } = options;
  await OpenFeature.setProviderAndWait('app', new WritProvider(writ, rest as never));
  const client: Client = OpenFeature.getClient('app');
  const told: { event: string; flags?: string[]; tenant?: unknown; at: number }[] = [];
  for (const event of [
    ProviderEvents.ConfigurationChanged,
    ProviderEvents.Stale,
    ProviderEvents.Ready,
  ])
    client.addHandler(event, (details) => {
      const { flagsChanged, metadata } = (details ?? {}) as {
        flagsChanged?: string[];
        metadata?: { tenant?: unknown };
      };
      told.push({
        event,
        at: performance.now(),
        ...(flagsChanged && { flags: flagsChanged }),
        ...(metadata && { tenant: metadata.tenant }),
      });
    });
  await within(() => expect(told).toHaveLength(1)); // READY is told to whoever asks afterwards
  told.splice(0);
  return { client, told };
}

test('a capability is on or off, and its variant says which lifecycle; a value is asked for by scope#key', async () => {
  await s.writ.capabilities.put(
    [
      { capability_name: 'beta', lifecycle: 'PREVIEW' },
      { capability_name: 'old', lifecycle: 'DEPRECATED' },
      {
        scope: 'texts',
        owner_capability: 'search',
        values: { hello: 'Hi', dark: true, sizes: { s: 1 }, list: [1, 'a'], 'a#b': 2 },
      },
    ],
    { as: s.keys.ops },
  );
  const { client } = await application();
  const lifecycles = await Promise.all(
    ['checkout', 'beta', 'search', 'old'].map((name) => client.getBooleanDetails(name, false)),
  );
  expect(lifecycles.map(({ value, variant, reason }) => [value, variant, reason])).toEqual([
    [false, 'DISABLED', 'STATIC'],
    [true, 'PREVIEW', 'STATIC'],
    [true, 'LAUNCHED', 'STATIC'],
    [true, 'DEPRECATED', 'STATIC'],
  ]);
  expect(await client.getNumberValue('limits#max', 0)).toBe(100);
  expect(await client.getStringValue('texts#hello', '')).toBe('Hi');
  expect(await client.getBooleanValue('texts#dark', false)).toBe(true);
  expect(await client.getObjectValue('texts#sizes', {})).toEqual({ s: 1 });
  expect(await client.getObjectValue('texts#list', [])).toEqual([1, 'a']);
  expect(await client.getNumberValue('texts#a#b', 0)).toBe(2);
  expect((await client.getNumberDetails('limits#max', 0)).flagMetadata).toEqual({
    tenant: 'default',
    version: expect.any(Number),
  });
});

test('what is not there, or of another type, is the default, and says why', async () => {
  const { client } = await application();
  expect(await client.getBooleanDetails('nothing', true)).toMatchObject({
    value: true,
    reason: 'ERROR',
    errorCode: 'FLAG_NOT_FOUND',
  });
  expect(await client.getNumberDetails('limits#nothing', 7)).toMatchObject({
    value: 7,
    errorCode: 'FLAG_NOT_FOUND',
  });
  expect(await client.getStringDetails('limits#max', 'x')).toMatchObject({
    value: 'x',
    errorCode: 'TYPE_MISMATCH',
  });
  expect(await client.getStringDetails('checkout', 'x')).toMatchObject({
    value: 'x',
    errorCode: 'TYPE_MISMATCH',
  });
  expect(await client.getBooleanDetails('checkout', true, { tenant: 5 })).toMatchObject({
    value: true,
    errorCode: 'INVALID_CONTEXT',
  });
});

test('whose flag it is says the context, else the provider; a change of one tenant is none of another', async () => {
  await s.writ.capabilities.put([{ capability_name: 'checkout', lifecycle: 'LAUNCHED' }], {
    as: s.keys.ops,
    tenant: 'acme',
  });
  const { client, told } = await application();
  expect(await client.getBooleanDetails('checkout', true)).toMatchObject({
    value: false,
    reason: 'STATIC',
  });
  expect(await client.getBooleanDetails('checkout', false, { tenant: 'acme' })).toMatchObject({
    value: true,
    reason: 'TARGETING_MATCH',
  });
  expect(await client.getBooleanDetails('search', false, { tenant: 'acme' })).toMatchObject({
    errorCode: 'FLAG_NOT_FOUND',
  });
  expect(await client.getBooleanDetails('search', false, { tenant: 'nobody' })).toMatchObject({
    errorCode: 'FLAG_NOT_FOUND',
  });

  await s.work();
  const contract = await s.writ.contracts.propose(
    { title: 'Off', scope: ['checkout'], steps: [disable('checkout', 'too early')] },
    { as: s.keys.agent, tenant: 'acme' },
  );
  await s.approve(contract);
  await (await contract.activate({ as: s.keys.service })).finished();
  await within(() =>
    expect(told.map(({ flags, tenant }) => [flags, tenant])).toEqual([[['checkout'], 'acme']]),
  );
  expect(await client.getBooleanValue('checkout', true, { tenant: 'acme' })).toBe(false);
});

test('an approved change is seen within a second, with its names; what was rolled back is seen, too', async () => {
  const { client, told } = await application({ poll: '1h' });
  await s.work();
  const latencies: number[] = [];
  for (let n = 1; n <= 20; n++) {
    const contract = await s.approved({
      title: `To ${n}`,
      scope: ['limits'],
      steps: [configure('limits', 'max', 1000 + n)],
    });
    const job = await contract.activate({ as: s.keys.service });
    const seen = within(async () =>
      expect(await client.getNumberValue('limits#max', 0)).toBe(1000 + n),
    );
    const committed = within(async () =>
      expect(await s.sql(`select value from writ.configuration where key = 'max'`)).toEqual([
        { value: 1000 + n },
      ]),
    );
    await Promise.all([seen, committed]);
    const [step] = await job.steps();
    await job.finished();
    const at = told.at(-1)?.at ?? Number.NaN;
    latencies.push(performance.timeOrigin + at - Date.parse(String(step?.completed_at)));
  }
  latencies.sort((a, b) => a - b);
  console.log(
    `from the effect's own time to the application: median ${latencies[10]?.toFixed(0)} ms, most ${latencies[19]?.toFixed(0)} ms`,
  );
  expect(latencies[19]).toBeLessThan(1_000);
  expect(told.map(({ event, flags }) => [event, flags])).toEqual(
    Array.from({ length: 20 }, () => [ProviderEvents.ConfigurationChanged, ['limits#max']]),
  );

  const undone = await s.approved({
    title: 'Too far',
    scope: ['limits'],
    steps: [configure('limits', 'max', 9), soak('60s')],
  });
  const job = await undone.activate({ as: s.keys.service });
  await within(async () => expect(await client.getNumberValue('limits#max', 0)).toBe(9));
  await s.writ.runs.signal(String((await job.get()).run_id), {
    type: 'EMERGENCY_STOP',
    reason: 'it burns',
  });
  await within(async () => expect(await client.getNumberValue('limits#max', 0)).toBe(1020));
  expect(await job.finished()).toMatchObject({ status: 'ROLLED_BACK' });

  // Several values and a capability in one contract, then one that takes a value away.
  told.splice(0);
  expect((await s.done()).end).toMatchObject({ status: 'COMPLETED' });
  await within(async () => expect(await client.getBooleanValue('checkout', false)).toBe(true));
  expect(new Set(told.flatMap(({ flags }) => flags))).toEqual(
    new Set(['checkout', 'limits#max', 'limits#burst']),
  );
  await s.done({ title: 'Away', scope: ['limits'], steps: [configure('limits', 'burst', null)] });
  await within(async () =>
    expect(await client.getNumberDetails('limits#burst', 9)).toMatchObject({
      errorCode: 'FLAG_NOT_FOUND',
    }),
  );
});

test('something new is seen as it is made known', async () => {
  const { client, told } = await application({ poll: '1h' });
  await s.writ.capabilities.put([{ capability_name: 'fresh', lifecycle: 'LAUNCHED' }], {
    as: s.keys.ops,
  });
  await within(async () => expect(await client.getBooleanValue('fresh', false)).toBe(true));
  expect(told).toMatchObject([{ flags: ['fresh'] }]);
});

test('without notifications the fingerprint finds it, and says nothing where nothing is new', async () => {
  const db = new (await import('pg')).default.Pool({
    connectionString: s.db.connectionString,
    max: 1,
  });
  opened.push({ close: () => db.end() });
  const queries: string[] = [];
  const writ = await Writ.connect({
    db: {
      query: (sql: string, params?: unknown[]) => {
        queries.push(sql);
        return db.query(sql, params);
      },
    },
  });
  opened.push(writ);
  const { client, told } = await application({ writ, poll: '50ms' });
  queries.splice(0);
  await within(() => expect(queries.length).toBeGreaterThan(3));
  expect(told).toEqual([]);
  await s.work();
  await s.done({ scope: ['checkout'], steps: [enable('checkout')] });
  await within(async () => expect(await client.getBooleanValue('checkout', false)).toBe(true));
  expect(told).toMatchObject([{ flags: ['checkout'] }]);
});

test('with the database away the last that is known stands, and says so; back again, what changed meanwhile is told once', async () => {
  const door = await doorTo(s.db.directConnectionString);
  opened.push(door);
  const writ = await Writ.connect({ connectionString: door.connectionString });
  opened.push(writ);
  const { client, told } = await application({ writ });
  await door.shut();
  await within(() => expect(told.map(({ event }) => event)).toEqual([ProviderEvents.Stale]));
  expect(await client.getNumberDetails('limits#max', 0)).toMatchObject({
    value: 100,
    reason: 'STALE',
  });
  expect(client.providerStatus).toBe('STALE');
  expect(await client.getBooleanDetails('checkout', true, { tenant: 'never asked' })).toMatchObject(
    { value: true, reason: 'ERROR' },
  );
  await s.work();
  await s.done();
  expect(await client.getNumberValue('limits#max', 0)).toBe(100);
  await door.open();
  await within(() => expect(told.at(-1)?.event).toBe(ProviderEvents.Ready));
  expect(client.providerStatus).toBe('READY');
  expect(await client.getNumberDetails('limits#max', 0)).toMatchObject({
    value: 300,
    reason: 'STATIC',
  });
  expect(told.map(({ event, flags }) => [event, flags && [...flags].sort()])).toEqual([
    [ProviderEvents.Stale, undefined],
    [ProviderEvents.ConfigurationChanged, ['checkout', 'limits#burst', 'limits#max']],
    [ProviderEvents.Ready, undefined],
  ]);
});

test('connections that a server has ended are made again, and nothing that changed in between is missed', async () => {
  const { client } = await application({ poll: '1h' });
  await s.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'writ flags' and datname = current_database()`,
  );
  await s.work();
  await s.done({ scope: ['checkout'], steps: [enable('checkout')] });
  await within(async () => expect(await client.getBooleanValue('checkout', false)).toBe(true));
});

test('begun while the database is away it says so, and is ready when that is back', async () => {
  const door = await doorTo(s.db.directConnectionString);
  opened.push(door);
  const writ = await Writ.connect({ connectionString: door.connectionString });
  opened.push(writ);
  await door.shut();
  await expect(OpenFeature.setProviderAndWait('app', new WritProvider(writ))).rejects.toThrow(
    /reached/,
  );
  const client = OpenFeature.getClient('app');
  await door.open();
  await within(() => expect(client.providerStatus).toBe('READY'));
  expect(await client.getNumberValue('limits#max', 0)).toBe(100);
});

/** A way to a server that can be shut: as if the server were restarting. */
async function doorTo(connectionString: string) {
  const to = new URL(connectionString);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = tcp(Number(to.port), to.hostname);
    for (const [one, another] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => another.destroy());
      one.on('close', () => {
        another.destroy();
        sockets.delete(one);
      });
      one.pipe(another);
    }
  });
  const open = (port = 0) => new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  await open();
  const { port } = server.address() as { port: number };
  const shut = () =>
    new Promise<void>((done) => {
      if (!server.listening) return done();
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    });
  const here = new URL(connectionString);
  here.host = `127.0.0.1:${port}`;
  return { connectionString: here.toString(), shut, open: () => open(port), close: shut };
}

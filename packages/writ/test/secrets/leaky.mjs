/**
 * Handlers that do with a secret whatever must not be done with one: for the test that nothing of
 * it is found anywhere afterwards.
 */
import { defineJob, definePlan, PermanentFailure, Writ } from '../../dist/index.js';

const once = { retry: { attempts: 2, base: '1ms', cap: '1ms' } };
const kinds = Object.fromEntries(
  ['returns', 'commits', 'passes', 'throws', 'undoes', 'asks', 'receives'].map((kind) => [
    kind,
    defineJob(kind, once),
  ]),
);
export const { asks } = kinds;

const key = { $secret: 'leak-key' };
export const leaky = definePlan('leaky', { version: '1' }, (p) => {
  const returned = p.step('returns', kinds.returns, {
    input: { key, canary: p.input.canary },
    compensate: kinds.undoes,
  });
  const committed = p.step('commits', kinds.commits, {
    input: { deep: [{ key }], echo: returned.output },
  });
  const passed = p.step('passes', kinds.passes, { after: committed, input: { key } });
  p.step('throws', kinds.throws, { after: passed, input: { key } });
});

const forms = (value) => ({
  raw: value,
  name: { [value]: 1 },
  basic: `Basic ${Buffer.from(`ada:${value}`).toString('base64')}`,
  base64: Buffer.from(value).toString('base64'),
  hex: Buffer.from(value).toString('hex'),
  url: `https://api.example/?key=${encodeURIComponent(value)}`,
  form: new URLSearchParams({ key: value }).toString(),
  json: JSON.stringify({ inner: JSON.stringify({ value }) }),
});

function failure(value) {
  const cause = Object.assign(new Error(`inner: ${JSON.stringify(forms(value))}`), {
    config: { headers: { authorization: value } },
  });
  return Object.assign(new Error(`401 for ${value} at ${forms(value).url}`, { cause }), {
    code: value.slice(0, 90),
    request: forms(value),
  });
}

export default [
  kinds.returns.handle(({ input }) => ({ ...forms(input.key), canary: input.canary })),
  kinds.commits.handle(async ({ input, commit, progress }) => {
    const [{ key: value }] = input.deep;
    await progress(value);
    await commit(() => forms(value));
  }),
  kinds.passes.handle(async ({ input }) => {
    const writ = await Writ.connect({ connectionString: process.env.DATABASE_URL });
    try {
      const tried = await Promise.allSettled(
        Object.values(forms(input.key)).map((form) =>
          writ.enqueue(kinds.receives, { form }, { labels: { note: form } }),
        ),
      );
      return tried.map(({ status, reason }) => `${status} ${reason?.code} ${reason?.message}`);
    } finally {
      await writ.close();
    }
  }),
  kinds.throws.handle(({ input }) => {
    throw failure(input.key);
  }),
  kinds.undoes.handle(({ input }) => {
    throw input.key; // not even an error
  }),
  kinds.asks.handle(async ({ secret, input }) => {
    const value = await secret('leak-key');
    if (input.permanently) throw new PermanentFailure(`no: ${value}`, { cause: failure(value) });
    throw new AggregateError([failure(value)], value);
  }),
];

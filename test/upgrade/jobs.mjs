// @ts-check
// The jobs of the upgrade tests, defined with whichever version of the package is given. Each leaves its input in the table effect, in the transaction of
// its commit: a job whose effect is there twice was done twice.

/** @param {typeof import('../../src/index.js')} writ */
export function jobs({ defineJob, PermanentFailure }) {
  /** @type {() => void} */
  let letGo = () => undefined;
  const mayEnd = new Promise((done) => {
    letGo = () => done(undefined);
  });
  const kinds = {
    /** @type {import('../../src/index.js').JobKind<{ n: number }>} */
    plain: defineJob('plain'),
    /** @type {import('../../src/index.js').JobKind<{ n: number }>} */
    slow: defineJob('slow'),
    /** @type {import('../../src/index.js').JobKind<{ n: number }>} */
    flaky: defineJob('flaky', { retry: { attempts: 3, base: '1h', cap: '1h' } }),
    /** @type {import('../../src/index.js').JobKind<{ n: number }>} */
    doomed: defineJob('doomed', { retry: { attempts: 1 } }),
  };
  /** @param {string} worker @param {(word: object) => void} say */
  const handlers = (worker, say) => {
    const insert = 'insert into effect (job_id, input, worker) values ($1, $2, $3)';
    /** @param {import('../../src/index.js').JobContext<{ n: number }>} context */
    const leave = ({ commit, job, input }) => commit((tx) => tx.query(insert, [job.id, JSON.stringify(input), worker]));
    return [
      kinds.plain.handle(leave),
      kinds.slow.handle(async (context) => {
        say({ type: 'begun', jobId: context.job.id });
        await mayEnd;
        await leave(context);
      }),
      kinds.flaky.handle(async (context) => {
        if (context.job.attempt === 1) throw new Error('not the first time');
        await leave(context);
      }),
      kinds.doomed.handle(({ input }) => {
        throw new PermanentFailure(`never ${input.n}`);
      }),
    ];
  };
  return { kinds, handlers, letGo };
}

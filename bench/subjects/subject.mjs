// @ts-check
// What every subject of a benchmark offers. `mode` is 'throughput' or 'latency': a peer may be
// configured at its best for each; ours has one configuration and ignores it. `variant` names a
// way of using the subject that is shown beside its default.

/** @typedef {'throughput' | 'latency'} Mode */
/** @typedef {Record<string, unknown>} Input */

/**
 * @typedef {object} Producer
 * @property {(input: Input) => Promise<unknown>} enqueue one job; resolves when it is durable
 * @property {((inputs: Input[]) => Promise<unknown>) | null} enqueueMany many jobs in one call,
 * where the subject has such a call
 * @property {() => Promise<unknown>} close
 */

/**
 * What a step does, given its name and the run's input; it returns a small object, the step's
 * output. @typedef {(step: string, input: any) => Promise<object>} OnStep
 */

/**
 * @typedef {object} Runner a process that starts runs and works on them
 * @property {(input: Input) => Promise<unknown>} run starts a run of ten steps in a row; resolves
 * when the run has ended
 * @property {() => Promise<unknown>} close
 */

/**
 * @typedef {object} Subject
 * @property {string} name the name used in tables and JSON
 * @property {() => string} version
 * @property {(url: string, mode: Mode) => Promise<void>} setup its own migration, in an empty
 * database
 * @property {(url: string, options: { connections: number, mode: Mode, variant?: string }) =>
 * Promise<Producer>} producer
 * @property {(url: string, options: { mode: Mode, variant?: string }, onJob: (input: any) =>
 * Promise<void>) => Promise<{ close: () => Promise<unknown> }>} [worker]
 * @property {string} [unfinished] a statement answering `n`, the jobs that are not finished
 * @property {(query: (text: string) => Promise<any[]>, jobs: number) => Promise<string | null>}
 * [verify]
 *   after a drain: what is missing in the database, or null
 * @property {(url: string, onStep: OnStep) => Promise<Runner>} [runs]
 * @property {(query: (text: string) => Promise<any[]>, runs: number) => Promise<string | null>}
 * [verifyRuns]
 *   after so many runs of ten steps: what is missing in the database, or null
 */

/** The steps of a run, in their order. */
export const stepNames = Array.from({ length: 10 }, (_, n) => `step-${n + 1}`);

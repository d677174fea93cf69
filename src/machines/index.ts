import { execution } from './execution.js';
import { job } from './job.js';
import type { Machine } from './machine.js';

export { diagram } from './diagram.js';
export { type ExecutionState, execution } from './execution.js';
export { guardSql } from './guard.js';
export { type JobFact, type JobState, job, jobFacts } from './job.js';
export { type Machine, nextStates } from './machine.js';

export const machines: readonly Machine<string, string>[] = [job, execution];

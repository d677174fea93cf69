import { contract } from './contract.js';
import { execution } from './execution.js';
import { governanceJob } from './governance-job.js';
import { governor } from './governor.js';
import { job } from './job.js';
import type { Machine } from './machine.js';
import { run } from './run.js';
import { runStep } from './run-step.js';

export { type ContractState, contract, contractStates } from './contract.js';
export { diagram } from './diagram.js';
export { type ExecutionState, execution } from './execution.js';
export { type GovernanceJobState, governanceJob, governanceJobStates } from './governance-job.js';
export {
  type GovernorMove,
  type GovernorState,
  governor,
  governorMovesSql,
  governorStates,
} from './governor.js';
export { guardSql } from './guard.js';
export { type JobFact, type JobState, job, jobFacts } from './job.js';
export { type Machine, nextStates } from './machine.js';
export { type RunMove, type RunState, run, runStates } from './run.js';
export { type RunStepMove, type RunStepState, runStep } from './run-step.js';

export const machines: readonly Machine<string, string>[] = [
  job,
  execution,
  run,
  runStep,
  contract,
  governanceJob,
  governor,
];

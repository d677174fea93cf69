/** Every operation of the service. */
import type { Operation } from './operation.js';
import { changes } from './operations/changes.js';
import { contracts } from './operations/contracts.js';
import { queue } from './operations/queue.js';
import { runs } from './operations/runs.js';
import { service } from './operations/service.js';

export const operations: readonly Operation[] = [
  ...service,
  ...runs,
  ...queue,
  ...contracts,
  ...changes,
];

/** Every operation of the service. */
import type { Operation } from './operation.js';
import { changes } from './operations/changes.js';
import { contracts } from './operations/contracts.js';
import { destinations } from './operations/destinations.js';
import { fleet } from './operations/fleet.js';
import { governance } from './operations/governance.js';
import { governors } from './operations/governors.js';
import { ledger } from './operations/ledger.js';
import { queue } from './operations/queue.js';
import { runs } from './operations/runs.js';
import { schedules } from './operations/schedules.js';
import { service } from './operations/service.js';

export const operations: readonly Operation[] = [
  ...service,
  ...runs,
  ...queue,
  ...contracts,
  ...changes,
  ...governance,
  ...governors,
  ...fleet,
  ...schedules,
  ...destinations,
  ...ledger,
];

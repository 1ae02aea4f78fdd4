import { runOperations } from './areas/runs/operations.js';
import { installationOperations } from './areas/installation/operations.js';
import { toolOperations } from './areas/tools/operations.js';
import { approvalOperations } from './areas/approvals/operations.js';
import { auditOperations } from './areas/audit/operations.js';
import { subscriptionOperations } from './areas/subscriptions/operations.js';
import { consoleOperations } from './areas/console/operations.js';
import { configurationOperations } from './areas/configurations/operations.js';
import { descriptionOperations } from './areas/description/operations.js';
import { hookOperations } from './areas/hooks/operations.js';
import { scheduleOperations } from './areas/schedules/operations.js';
import type { Operation } from './operation.js';

/** Parameters of `GET /v1/tools` that are lists, with commas between. */
export const listedParameters: Readonly<Record<string, readonly string[]>> = { listTools: ['group', 'connections'] };

/** Parameters of the query that may not be left out. */
export const requiredParameters: Readonly<Record<string, readonly string[]>> = {
  recommendGroups: ['question'],
};

/** Every route: handlers take method, path and status from here (`route.ts`), and a test asks Nest for each. */
export const operations: readonly Operation[] = [
  ...runOperations,
  ...installationOperations,
  ...toolOperations,
  ...approvalOperations,
  ...auditOperations,
  ...subscriptionOperations,
  ...consoleOperations,
  ...configurationOperations,
  ...descriptionOperations,
  ...hookOperations,
  ...scheduleOperations,
];

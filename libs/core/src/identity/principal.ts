import type { Principal } from '@sluice/records';
import { wildcard } from '../rules/defaults.js';

export type { Principal };

/** Who everybody is while no identity is configured (without a permission source nothing is refused). */
export const localPrincipal: Principal = Object.freeze({
  actorId: 'user:local',
  tenantId: 'local',
  subjectId: null,
  groups: Object.freeze([wildcard]),
  connections: Object.freeze([wildcard]),
});

/** How a principal is written: `user:ann`, `agent:planner`, `service:billing`. */
export const principalKinds = ['user', 'agent', 'service'] as const;

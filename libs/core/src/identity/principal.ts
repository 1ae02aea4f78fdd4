import { wildcard } from '../rules/defaults.js';

/** Who asks: references, no secrets. Structurally the Principal of the wire. */
export interface Principal {
  /** Who acts, as `user:<id>`. */
  readonly actorId: string;
  readonly tenantId: string;
  /** On whose behalf, as `user:<id>`; null: on the actor’s own. */
  readonly subjectId: string | null;
  /** The groups the actor may ask for; `*` for all. */
  readonly groups: readonly string[];
  /** The connections the actor may use; `*` for all. */
  readonly connections: readonly string[];
}

/** Who everybody is while no identity is configured (without a permission source nothing is refused). */
export const localPrincipal: Principal = Object.freeze({
  actorId: 'user:local',
  tenantId: 'local',
  subjectId: null,
  groups: Object.freeze([wildcard]),
  connections: Object.freeze([wildcard]),
});

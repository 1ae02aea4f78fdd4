import { logNames, noGroupsReasons, whyNoGroups } from '@sluice/core';
import type { Authentication } from '@sluice/core';
import type { Runtime } from '../runtime.js';

/** Callers whose last line is remembered, and for how long, so that a client that asks all day makes a line an hour. */
const mostRemembered = 1_000;
const quietMs = 3_600_000;

/** Counts credentials that hold and give none of the configuration’s groups, and logs why. */
export class GroupNotes {
  private readonly logged = new Map<string, number>();

  constructor(private readonly runtime: Pick<Runtime, 'clock' | 'configurations' | 'log' | 'metrics'>) {}

  note(sender: Authentication): void {
    if (!sender.ok) return;
    const { clock, configurations, log, metrics } = this.runtime;
    const { configuration, evaluator } = configurations.current();
    if (configuration.identity.provider !== 'jwt') return;
    const { principal, claims } = sender;
    const reason = whyNoGroups(principal, claims, configuration.identity, evaluator.rules.knownGroups);
    if (reason === null) return;
    metrics.credentialsWithoutGroups.inc({ reason });
    const { actorId: actor, tenantId: tenant, groups } = principal;
    const key = JSON.stringify([tenant, actor, reason]);
    const now = clock.now();
    if (now - (this.logged.get(key) ?? -Infinity) < quietMs) return;
    if (this.logged.size >= mostRemembered) this.logged.clear();
    this.logged.set(key, now);
    const about = { actor, tenant, reason, claim: configuration.identity.claims.groups };
    const named = groups.length === 0 ? {} : { names: logNames(groups) };
    log.warn({ ...about, ...named }, `a credential gives its caller no group: ${noGroupsReasons[reason]}`);
  }
}

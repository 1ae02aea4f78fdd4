import { Inject, Injectable } from '@nestjs/common';
import { refusedGroupsSentence, normaliseGroups, normaliseState } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { judgeRequest, loadedFor } from '@sluice/run';
import { countDenial, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Denials } from './denials.js';
import { Refusal } from './refusal.js';
import type { NamedRequest } from './requests.js';

/** Where a request came in. */
export type PermittedRoute = 'POST /v1/runs' | 'GET /v1/tools' | 'POST /v1/toolsets' | DoorRoute;

/** The routes of doors that begin a run. */
export type DoorRoute =
  'POST /openai/v1/chat/completions' | 'POST /openai/v1/responses' | 'POST /anthropic/v1/messages';

/**
 * Refuses what the filter would refuse, by the same rule, before anything is published; counts it in the filter's
 * place and writes it down for the audit. The filter still decides about what reaches the log, under the
 * configuration that it has then.
 */
@Injectable()
export class Permission {
  private readonly denials: Denials;

  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {
    this.denials = new Denials(runtime);
  }

  /** Throws Refusal(403). */
  async require(request: NamedRequest, caller: Principal, route: PermittedRoute): Promise<void> {
    const loaded = loadedFor(this.runtime.configurations.current(), request);
    const { configuration } = loaded;
    const { group, permission } = judgeRequest(request, caller, configuration);
    const groups = normaliseGroups(request.group ?? group);
    if (permission.ok) return;
    const { refusedGroups, message: reason, escalation } = permission;
    // A listing is of no run and no session.
    const isListing = route === 'GET /v1/tools' || route === 'POST /v1/toolsets';
    countDenial(isListing ? null : request.requestId, caller, permission, loaded, this.runtime);
    const code = refusedGroups.length > 0 ? 'insufficient_permissions' : 'authz_denied';
    await this.denials.write({
      ...{ route, code, reason },
      kind: escalation ? 'escalation' : 'groups',
      requestId: isListing ? '' : request.requestId,
      sessionId: isListing ? '' : request.sessionId,
      ...{ tenantId: caller.tenantId, actorId: caller.actorId, subjectId: caller.subjectId },
      ...{ permittedGroups: caller.groups, requestedGroups: groups, refusedGroups },
      state: normaliseState(request.state),
      configVersion: configuration.version,
      at: this.runtime.clock.now(),
    });
    throw new Refusal(403, code, reason, {}, refusedGroups.length === 0 ? {} : this.named(refusedGroups, caller));
  }

  /**
   * The refused groups, and those of the caller’s own that are most like them: nothing that the caller may not know.
   */
  private named(refused: readonly string[], caller: Principal): Readonly<Record<string, string>> {
    const { configuration } = this.runtime.configurations.current().evaluator;
    return { detail: refusedGroupsSentence(refused, caller.groups, configuration.groupTree) };
  }
}

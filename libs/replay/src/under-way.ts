import { localPrincipal } from '@sluice/core';
import type { Tenant } from '@sluice/core';
import { isRequestTopic, positionOf, topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { requestIdOf, tenantOf } from '@sluice/run';
import type { Gathered } from './run-records.js';

/**
 * The runs that are gathered now. A request_id names a run of its tenant alone, and not every record says its tenant:
 * one that does not goes to each run that it can be of.
 */
export class UnderWay {
  private readonly byRequest = new Map<string, Gathered[]>();

  /** The runs that the record may be of; begun here if none is. None for a record that is of no run. */
  of(message: Incoming): readonly Gathered[] {
    const requestId = requestIdOf(message);
    if (requestId === null) return [];
    const tenant = tenantOf(message);
    if (tenant !== null) return [this.find(requestId, tenant) ?? this.ofTenant(requestId, tenant)];
    const open = this.byRequest.get(requestId) ?? [];
    const possible = open.filter((run) => mayBeOf(message, run));
    if (possible.length > 0) return possible;
    // A decision on what was never asked belongs to nothing, and is kept where it does no harm.
    if (message.topic === topics.approvals && open.length === 1) return open;
    return [this.find(requestId, null) ?? this.begin(requestId, null)];
  }

  find(requestId: string, tenant: Tenant): Gathered | undefined {
    return this.byRequest.get(requestId)?.find((run) => run.tenant === tenant);
  }

  has(run: Gathered): boolean {
    return this.byRequest.get(run.requestId)?.includes(run) === true;
  }

  drop(run: Gathered): void {
    const others = (this.byRequest.get(run.requestId) ?? []).filter((one) => one !== run);
    if (others.length === 0) this.byRequest.delete(run.requestId);
    else this.byRequest.set(run.requestId, others);
  }

  *all(): Generator<Gathered, void, undefined> {
    for (const runs of this.byRequest.values()) yield* runs;
  }

  /** What came before the first record that says the tenant is of the tenant’s run, as far as can be known. */
  private ofTenant(requestId: string, tenant: Tenant): Gathered {
    const unsaid = this.find(requestId, null);
    if (unsaid === undefined || unsaid.endedAt !== null) return this.begin(requestId, tenant);
    unsaid.tenant = tenant;
    return unsaid;
  }

  private begin(requestId: string, tenant: Tenant): Gathered {
    const others = this.byRequest.get(requestId) ?? [];
    const requests = others.flatMap(({ messages }) => messages.filter(({ topic }) => isRequestTopic(topic)));
    const messages = [...new Map(requests.map((message) => [positionOf(message), message])).values()];
    const letters = new Map();
    const run = {
      requestId,
      tenant,
      messages,
      asked: new Set<string>(),
      selected: 0,
      endedAt: null,
      isError: false,
      letters,
    };
    this.byRequest.set(requestId, [...others, run]);
    return run;
  }
}

function mayBeOf({ topic, record }: Incoming, { tenant, asked }: Gathered): boolean {
  // An end without a tenant is that of a request whose sender is not known, or there is one tenant alone.
  if (topic === topics.responses) return tenant === null || tenant === localPrincipal.tenantId;
  if (topic !== topics.approvals) return true;
  const { decided, outcome } = record;
  return asked.has((decided ?? outcome)?.approvalId ?? '');
}

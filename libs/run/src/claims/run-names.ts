import { localPrincipal, runName } from '@sluice/core';
import type { Ledger, Principal, Tenant } from '@sluice/core';
import type { AgentResponse, RequestTopic } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { RunParts } from '../parts.js';

/** A run, by the tenant that it is of and the id that this one gave it. */
export interface NamedRun {
  readonly requestId: string;
  readonly tenant: Tenant;
}

type Looking = Pick<RunParts, 'ledger' | 'clock'>;

/** What a record on the loop says of its run. */
export function runOfRecord(record: {
  readonly requestId: string;
  readonly run: { readonly principal: Pick<Principal, 'tenantId'> | null } | null;
}): NamedRun {
  return { requestId: record.requestId, tenant: record.run?.principal?.tenantId ?? null };
}

/**
 * The run that ended so. An end that says no tenant is of an installation without an identity, or of no run that
 * anything waits for.
 */
export function runOfEnd(end: Pick<AgentResponse, 'requestId' | 'run' | 'tenantId'>): NamedRun {
  if (end.run !== null) return runOfRecord(end);
  return { requestId: end.requestId, tenant: end.tenantId ?? localPrincipal.tenantId };
}

/** The key under which the ledger says who has the run. */
export function requestKey(name: string): string {
  return `request/${name}`;
}

/** Names that are in use, so that the ledger is asked about each once. */
const mostNamed = 10_000;
const inUse = new WeakMap<Ledger, Set<string>>();

/**
 * The name that all claims of the run are kept under. Former versions named the runs of all tenants by their
 * request_id alone: a run whose id was claimed so keeps that name, so that an upgrade makes nothing of it happen
 * twice. No two tenants have such a run, since an id was taken once among all of them.
 */
export async function claimedName({ requestId, tenant }: NamedRun, { ledger, clock }: Looking): Promise<string> {
  const name = runName(requestId, tenant);
  const former = runName(requestId, localPrincipal.tenantId);
  if (name === former) return name;
  const known = inUse.get(ledger) ?? new Set();
  inUse.set(ledger, known);
  if (known.has(name)) return name;
  const claim = await ledger.find(requestKey(former));
  if (claim !== undefined && claim.expiresAt > clock.now()) return former;
  if (known.size >= mostNamed) known.clear();
  known.add(name);
  return name;
}

const senders = new WeakMap<Incoming, Tenant>();

/**
 * Keeps for which tenant a request was found to be, for as long as it is handled: nothing in the record itself proves
 * it.
 */
export function keepSender(request: Incoming<RequestTopic>, tenant: Tenant): void {
  senders.set(request, tenant);
}

/** The tenant that the request was found to be for; undefined if it became a dead letter before that. */
export function senderOf(request: Incoming): Tenant | undefined {
  return senders.get(request);
}

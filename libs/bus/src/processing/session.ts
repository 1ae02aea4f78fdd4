import { isRequest, tenantOf as recordTenant } from '@sluice/contracts';
import { sessionName } from '@sluice/core';
import type { AgentRequest, DirectCall, Run } from '@sluice/contracts';
import type { Incoming } from '../port.js';
import { credentialOf, sealedScheme, senderHeader } from './credential.js';

/**
 * The session whose lane a record runs in: the one the decoded record names, else its key. The log's own key is not
 * asked first, because producers partition by different hashes and some give no key at all. A session is its user's:
 * callers choose the name, and what another tenant or user does under the same one must not hold it up.
 */
export function sessionOf(message: Incoming): string {
  switch (message.topic) {
    case 'agent.requests':
    case 'agent.calls': {
      const { sessionId, requestId, call } = message.record;
      // A request that names nothing starts a run of its own, so it waits for no other.
      const place = `${message.topic}/${message.partition}/${message.offset}`;
      const named = isBeside(call) ? beside(requestId || place) : sessionId || message.key || requestId || place;
      // The sender is not verified yet. Only who has a user’s credential gets into that user’s lane.
      const credential = credentialOf(message.headers);
      if (credential === undefined) return named;
      // One that is sealed is another text each time; whose it is stands beside it, and its door says that.
      const whose = credential.startsWith(sealedScheme) ? (message.headers[senderHeader] ?? credential) : credential;
      return `${JSON.stringify(named)} ${whose}`;
    }
    case 'agent.approvals': {
      const { requested, decided, outcome, escalated } = message.record;
      // A decision and its outcome do not say whose session it is. A run’s turn goes on with one of them at a time.
      const about = requested ?? decided ?? outcome ?? escalated;
      return about?.requestId || about?.approvalId || message.key;
    }
    case 'agent.toolsets':
    case 'agent.tool-calls':
      return laneOfRun(message, message.record.request);
    case 'agent.steps':
      return laneOfRun(message, message.record.next);
    case 'agent.responses':
      return laneOfRun(message, null);
    case 'agent.progress':
    case 'agent.audit':
      return message.record.sessionId || message.key;
    default:
      return message.key;
  }
}

/** A run of one call that waits for no other has a lane of its own; what is of that run is in order all the same. */
function laneOfRun(
  { key, record: { requestId, sessionId, run } }: OfRun,
  request: Pick<AgentRequest, 'call'> | null,
): string {
  const named = isBeside(request?.call) ? beside(requestId) : sessionId || key;
  return sessionName(named, run?.principal ?? null);
}

interface OfRun {
  readonly key: string;
  readonly record: { readonly requestId: string; readonly sessionId: string; readonly run: Run | null };
}

function isBeside(call: DirectCall | null | undefined): boolean {
  return call?.order === 'none';
}

/** As no session is likely to be called: where one is, its records wait for a single call at most. */
function beside(requestId: string): string {
  return `beside ${requestId}`;
}

/**
 * The tenant for whose request a door has verified the caller. It decides about the order of work alone, and about no
 * right.
 */
export const tenantHeader = 'sluice-tenant';

/** Begins what stands for a tenant that is not known yet. */
const unknown = 'unknown ';

/**
 * The tenant in whose turn a record is handled: its run’s. Of a request nothing is verified yet: what a door says of
 * it, else its credential, stands for the tenant. Those that have neither share one turn.
 */
export function tenantOf(message: Incoming): string {
  if (!isRequest(message)) return recordTenant(message) ?? unknown;
  const { headers } = message;
  return headers[tenantHeader] ?? unknown + (headers[senderHeader] ?? credentialOf(headers) ?? '');
}

/** Whether a turn is that of a tenant that is known, and not of what stands for it. */
export function isKnownTenant(turn: string): boolean {
  return turn !== '' && !turn.startsWith(unknown);
}

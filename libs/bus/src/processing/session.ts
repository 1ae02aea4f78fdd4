import { sessionName } from '@sluice/core';
import type { Incoming } from '../port.js';
import { credentialOf } from './credential.js';

/**
 * The session whose lane a record runs in: the one the decoded record names, else its key. The log's own key is not
 * asked first, because producers partition by different hashes and some give no key at all. A session is its user's: callers choose the name,
 * and what another tenant or user does under the same one must not hold it up.
 */
export function sessionOf(message: Incoming): string {
  switch (message.topic) {
    case 'agent.requests': {
      const { sessionId, requestId } = message.record;
      // A request that names nothing starts a run of its own, so it waits for no other.
      const named = sessionId || message.key || requestId || `${message.topic}/${message.partition}/${message.offset}`;
      // The sender is not verified yet. Only who has a user’s credential gets into that user’s lane.
      const credential = credentialOf(message.headers);
      return credential === undefined ? named : `${JSON.stringify(named)} ${credential}`;
    }
    case 'agent.approvals': {
      const { requested, decided, outcome } = message.record;
      // A decision and its outcome do not say whose session it is, and an approval is of one call of one run.
      return (requested ?? decided ?? outcome)?.approvalId || message.key;
    }
    case 'agent.toolsets':
    case 'agent.tool-calls':
    case 'agent.steps':
    case 'agent.responses': {
      const { sessionId, run } = message.record;
      return sessionName(sessionId || message.key, run?.principal ?? null);
    }
    case 'agent.progress':
    case 'agent.audit':
      return message.record.sessionId || message.key;
    default:
      return message.key;
  }
}

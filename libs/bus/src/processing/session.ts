import type { Incoming } from '../port.js';

/**
 * The session whose lane a record runs in: the one the decoded record names, else its key. The log's own key is not
 * asked first, because producers partition by different hashes and some give no key at all.
 */
export function sessionOf(message: Incoming): string {
  switch (message.topic) {
    case 'agent.requests': {
      const { sessionId, requestId } = message.record;
      // A request that names nothing starts a run of its own, so it waits for no other.
      return sessionId || message.key || requestId || `${message.topic}/${message.partition}/${message.offset}`;
    }
    case 'agent.approvals': {
      const { requested, decided, outcome } = message.record;
      return (requested ?? decided ?? outcome)?.sessionId || message.key;
    }
    case 'agent.toolsets':
    case 'agent.tool-calls':
    case 'agent.steps':
    case 'agent.responses':
    case 'agent.progress':
    case 'agent.audit':
      return message.record.sessionId || message.key;
    case 'agent.dead-letters':
    case 'agent.config':
      return message.key;
  }
}

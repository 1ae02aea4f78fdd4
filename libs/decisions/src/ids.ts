import type { Incoming } from '@sluice/bus';
import { requestIds } from '@sluice/contracts';

/** The run a record belongs to; null if it belongs to none, or that is unknown. */
export function runOf(message: Incoming): string | null {
  switch (message.topic) {
    case 'agent.requests':
      return requestIds(message, message.record).requestId;
    case 'agent.approvals': {
      const { requested, decided, outcome } = message.record;
      return (requested ?? decided ?? outcome)?.requestId ?? null;
    }
    case 'agent.toolsets':
    case 'agent.tool-calls':
    case 'agent.steps':
    case 'agent.responses':
    case 'agent.progress':
    case 'agent.audit':
      return message.record.requestId === '' ? null : message.record.requestId;
    case 'agent.dead-letters':
    case 'agent.config':
      return null;
  }
}

/** The tenant a record says it is of; null where it does not say. */
export function tenantOf(message: Incoming): string | null {
  switch (message.topic) {
    case 'agent.toolsets':
    case 'agent.tool-calls':
    case 'agent.steps':
      return message.record.run.principal?.tenantId ?? null;
    case 'agent.responses':
      return message.record.run?.principal?.tenantId ?? message.record.tenantId;
    case 'agent.progress':
      return message.record.tenantId;
    case 'agent.approvals':
      return message.record.requested?.tenantId || null;
    case 'agent.requests':
    case 'agent.audit':
    case 'agent.dead-letters':
    case 'agent.config':
      return null;
  }
}

import { conversationRoles, utf8Length } from '@sluice/core';
import type { AgentRequest } from '@sluice/contracts';

/** What of a client’s conversation a request has room for: each record of the run carries it. */
export const conversationLimits = { messages: 500, bytes: 131_072 } as const;

/** What is wrong with the conversation that a request brings, as a sentence; null if nothing is. */
export function conversationProblem(conversation: AgentRequest['conversation']): string | null {
  if (conversation === null) return null;
  const { messages, bytes } = conversationLimits;
  if (conversation.length > messages)
    return `conversation has ${conversation.length} messages and the limit is ${messages}. Leave out the oldest.`;
  const odd = conversation.findIndex(({ role }) => !(conversationRoles as readonly string[]).includes(role));
  if (odd !== -1) return `conversation[${odd}].role is not known: write ${conversationRoles.join(', ')}.`;
  const size = conversation.reduce((sum, { text }) => sum + utf8Length(text), 0);
  if (size > bytes) return `conversation has ${size} bytes of text and the limit is ${bytes}. Leave out the oldest.`;
  return null;
}

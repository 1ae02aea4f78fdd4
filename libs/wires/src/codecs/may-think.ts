import type { Message, WireName, WireRequest } from '../types.js';
import { isOwn } from './dropped.js';

/**
 * Whether Anthropic's models may be asked to think in this request. They refuse it where the tool is chosen for them,
 * and where the turn that is going on has calls without the thoughts before them, as when another model made these.
 */
export function mayThink(
  { toolChoice, messages }: Pick<WireRequest, 'toolChoice' | 'messages'>,
  wire: WireName,
): boolean {
  if (toolChoice?.type === 'tool' || toolChoice?.type === 'required') return false;
  return messages.slice(beginningOf(messages)).every(({ role, parts }) => {
    if (role === 'user' || !parts.some(({ type }) => type === 'call')) return true;
    const [first] = parts.filter(({ type }) => type !== 'other');
    return first?.type === 'reasoning' && isOwn(first, wire);
  });
}

/** Where the turn that is going on begins: behind what the user asked last. */
function beginningOf(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role, parts }) => role === 'user' && parts.some(({ type }) => type === 'text')) + 1;
}

/**
 * The last two messages of the user, at which a cache of the history ends: the one before is where that of the turn
 * before ended.
 */
export function markedMessages(messages: readonly { readonly role: Message['role'] }[]): ReadonlySet<number> {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []));
  return new Set(users.slice(-2));
}

import type { ToolInvocationContext } from './types.js';

/** Every member a context may have: references, with which authorized code looks up the rest. */
const references = {
  runId: true,
  sessionId: true,
  toolCallId: true,
  actorId: true,
  tenantId: true,
  subjectId: true,
  graphId: true,
  connectionId: true,
} as const satisfies Record<keyof Required<ToolInvocationContext>, true>;

/**
 * The same context, frozen, for the tool. Throws, without repeating a value, if it holds anything but references: a token or a header in it
 * would reach every tool and whatever that writes (C-14).
 */
export function referencesOnly(context: ToolInvocationContext): ToolInvocationContext {
  for (const [name, value] of Object.entries(context) as [string, unknown][]) {
    if (!Object.hasOwn(references, name) || (typeof value !== 'string' && value !== undefined))
      throw new TypeError(`A tool’s context may not hold "${name}": it holds references only.`);
  }
  if (context.actorId === '' || context.tenantId === '')
    throw new TypeError('A tool’s context names its actor and its tenant: nobody runs a tool anonymously.');
  return Object.freeze({ ...context });
}

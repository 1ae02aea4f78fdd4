import { requestFieldsOfTools } from '../generated/request-views.js';
import type { RequestOfTool } from '../generated/request-views.js';
import type { ToolInvocationContext } from './types.js';

/**
 * Every member a context may have beside those of the request: references, with which authorized code looks up the
 * rest.
 */
const references = {
  runId: true,
  sessionId: true,
  toolCallId: true,
  actorId: true,
  tenantId: true,
  subjectId: true,
  graphId: true,
  connectionId: true,
} as const satisfies Record<Exclude<keyof Required<ToolInvocationContext>, keyof RequestOfTool>, true>;
const members: ReadonlySet<string> = new Set([...Object.keys(references), ...requestFieldsOfTools]);

/**
 * The same context, frozen, for the tool. Throws, without repeating a value, if it holds anything but references: a
 * token or a header in it would reach every tool and whatever that writes (C-14).
 */
export function referencesOnly(context: ToolInvocationContext): ToolInvocationContext {
  for (const [name, value] of Object.entries(context) as [string, unknown][]) {
    if (!members.has(name) || (typeof value !== 'string' && value !== undefined))
      throw new TypeError(`A tool’s context may not hold "${name}": it holds references only.`);
  }
  // Callers may be JavaScript, so what has no text there is looked at too.
  const named: readonly unknown[] = [context.actorId, context.tenantId];
  if (!named.every((id) => typeof id === 'string' && id.trim() !== ''))
    throw new TypeError('A tool’s context names its actor and its tenant: no tool runs anonymously.');
  return Object.freeze({ ...context });
}

import { allowedConnections } from '@sluice/core';
import type { BoundTool, Evaluator, RunState, ToolInvocationContext, Verdict } from '@sluice/core';
import type { AgentRequest, ToolCall } from '@sluice/contracts';

/**
 * Whether the call may use the connection of its context: it is the tool's under every configuration, and each of
 * them, the signed grant and the request allow it. No broker is asked before this says yes.
 */
export function judgeConnection(
  tool: Pick<BoundTool, 'id' | 'requiresConnection'>,
  { connectionId }: Pick<ToolInvocationContext, 'connectionId'>,
  record: Pick<ToolCall, 'request' | 'run'>,
  judges: readonly Evaluator[],
): Verdict {
  if (!tool.requiresConnection) return { ok: true };
  if (connectionId === undefined) {
    const message = `The tool ${tool.id} needs a connection and none is configured.`;
    return { ok: false, code: 'policy_denied', reason: 'connection_missing', message };
  }
  const allowed = judges.every(
    (evaluator) =>
      evaluator.byId(tool.id)?.connection === connectionId && connectionsOf(record, evaluator).includes(connectionId),
  );
  if (allowed) return { ok: true };
  const message = `The connection of the tool ${tool.id} may not be used for this request. Use another tool, or answer without it.`;
  return { ok: false, code: 'policy_denied', reason: 'connection_not_allowed', message };
}

/** The connections that a request may use under a configuration. */
export function connectionsOf(
  { request, run }: { readonly request: Pick<AgentRequest, 'connections'>; readonly run: Pick<RunState, 'principal'> },
  { configuration }: Evaluator,
): readonly string[] {
  return allowedConnections(configuration.connections, run.principal, request.connections);
}

import { canonicalJson, isJsonObject, wildcard } from '@sluice/core';
import type { ConfiguredTool, JsonObject, JsonValue, Principal } from '@sluice/core';
import { make, sha256 } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';

type Ids = { readonly requestId: string; readonly sessionId: string };

/** A request of an MCP caller: every group and connection that its credential permits, and the state of its session. */
export function callerRequest(
  { groups, connections }: Pick<Principal, 'groups' | 'connections'>,
  state: string | null,
  question: string,
  ids: Ids,
): AgentRequest & Ids {
  const request = make.agentRequest({
    question,
    state,
    group: groups.includes(wildcard) ? [wildcard] : [...groups],
    connections: connections.includes(wildcard) ? [wildcard] : [...connections],
  });
  return { ...request, ...ids };
}

/** What the run of a call is asked, which rules may go by. */
export function callQuestion({ key }: Pick<ConfiguredTool, 'key'>): string {
  return `Call ${key} over MCP`;
}

/** The request of a `tools/call`: a run that makes this one call, and asks no model. */
export function callRequest(
  caller: Principal,
  state: string | null,
  tool: Pick<ConfiguredTool, 'id' | 'key' | 'mcp' | 'target'>,
  args: JsonValue,
  ids: Ids,
): AgentRequest & Ids {
  // What cannot move the state of the session waits for no other call of it, and holds none up.
  const order = tool.target === null ? 'none' : null;
  const call = { tool: tool.id, arguments: JSON.stringify(args), order };
  // What is passed on beside tools has to be named, or it is not there.
  const toolIds = tool.mcp?.kind === undefined ? null : [tool.id];
  return { ...callerRequest(caller, state, callQuestion(tool), ids), toolIds, call };
}

/** What names a call among those of its session: the same tool with the same arguments. */
export function callDigest(toolId: string, args: JsonValue): string {
  return sha256(`${toolId}\n${canonicalJson(args)}`);
}

/** The member of `_meta` that names a call, so that repeating it repeats nothing. */
export const idempotencyKey = 'sluice/idempotency_key';

/** The key that a client gave to the call of this message; null where it gave none. */
export function idempotencyKeyOf({ params }: JsonObject): string | null {
  const meta = isJsonObject(params ?? null) ? (params as JsonObject)['_meta'] : null;
  const key = isJsonObject(meta ?? null) ? (meta as JsonObject)[idempotencyKey] : null;
  return typeof key === 'string' ? key : null;
}

type KeyOfCall = { readonly kind: 'key' | 'message'; readonly text: string };

/**
 * The request_id of a call that its client may repeat: from the key that the client gave, or from the id of the
 * message where the protocol keeps that unique within the session. The same key of the same caller in the same
 * session is the same run, so its effect happens once.
 */
export function requestIdOf(session: string, caller: Principal, { kind, text }: KeyOfCall): string {
  const { tenantId, actorId, subjectId } = caller;
  return named([tenantId, actorId, subjectId, session, kind, text]);
}

/**
 * As former versions named it, for calls that are repeated after an upgrade: keys of two callers without a session
 * were one.
 */
export function formerRequestIdOf(session: string, { kind, text }: KeyOfCall): string {
  return named([session, kind, text]);
}

function named(parts: readonly (string | null)[]): string {
  return `mcp-${sha256(JSON.stringify(parts)).slice(0, 40)}`;
}

import type { HookSettings, JsonValue } from '@sluice/core';
import { make, sha256 } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';

/** Characters of a part of a delivery in a question, and of a body that a run is given. */
const longestPart = 500;
const longestBody = 16_000;
const place = /\{(\/[^{}\n]{0,200})\}/g;

/** The ids that follow from a delivery’s own: one that is sent again is the same run. */
function hookRequestId(hook: string, deliveryId: string): string {
  return `hook-${hook}-${sha256(deliveryId).slice(0, 32)}`;
}

/**
 * What a delivery asks. Its parts are strangers’ words: they stand in the question as JSON, in which no text ends its
 * own quotation, and the body is what a client says.
 */
export function hookRequest(
  hook: HookSettings,
  { id, body }: { readonly id: string; readonly body: string },
): AgentRequest {
  const { name, question, groups = null, connections = null, agent = null, state = null, givesBody } = hook;
  const value = JSON.parse(body) as JsonValue;
  const requestId = hookRequestId(name, id);
  return make.agentRequest({
    question: question.replaceAll(place, (_, pointer: string) => shown(partAt(value, pointer))),
    conversation: givesBody ? [{ role: 'user', text: cut(body, longestBody) }] : null,
    ...{ group: groups === null ? null : [...groups], agent, state, requestId, sessionId: requestId },
    connections: connections === null ? null : [...connections],
  });
}

/** By JSON Pointer (RFC 6901); undefined where there is none. */
function partAt(value: JsonValue, pointer: string): JsonValue | undefined {
  let part: unknown = value;
  for (const step of pointer.slice(1).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, name)) return undefined;
    part = (part as Readonly<Record<string, unknown>>)[name];
  }
  return part as JsonValue;
}

function shown(part: JsonValue | undefined): string {
  if (part === undefined) return 'null';
  if (typeof part === 'string') return JSON.stringify(cut(part, longestPart));
  const text = JSON.stringify(part);
  return text.length <= longestPart ? text : JSON.stringify(cut(text, longestPart));
}

function cut(text: string, most: number): string {
  return (text.length <= most ? text : `${text.slice(0, most)}…`).toWellFormed();
}

import type { JsonValue } from '@sluice/core';
import { type Body, JsonSpan, type Message, type MessagePart, readBody } from '@sluice/wires';
import { withoutInjected } from './injected.js';

/** What the person asked last; what the last text is, where no text of a person’s stands in the request. */
export function questionIn(messages: readonly Message[], lastText: string): string {
  for (const { role, parts } of messages.toReversed()) {
    const said = role === 'user' ? textOf(parts) : '';
    if (said !== '') return said;
  }
  return lastText;
}

/** Names of the tools that the conversation has used. */
export function usedTools(messages: readonly Message[]): ReadonlySet<string> {
  const parts = messages.flatMap((message) => message.parts);
  return new Set(
    parts.flatMap((part) =>
      part.type === 'call' || (part.type === 'result' && part.name !== null) ? (part.name ?? '') : [],
    ),
  );
}

/**
 * By what it says a conversation is known again: clients send the whole of it with each request, and mark it
 * otherwise each time. The text and the images of the first message in which a person said something; without marks
 * for caches, ids, and what clients put in. Null where there is none.
 */
export function firstSaid(messages: readonly Message[]): JsonValue {
  for (const { role, parts } of messages) {
    if (role !== 'user') continue;
    const text = textOf(parts).replace(/\s+/g, ' ');
    const images = parts.flatMap((part) => (part.type === 'other' ? imageIn(part.raw, part.kind) : []));
    if (text !== '' || images.length > 0) return { text, images };
  }
  return null;
}

function textOf(parts: readonly MessagePart[]): string {
  return parts
    .flatMap((part) => (part.type === 'text' ? [withoutInjected(part.text)] : []))
    .filter((text) => text !== '')
    .join('\n');
}

/** Members of a block that say nothing of what it shows, and change from request to request. */
const marks: ReadonlySet<string> = new Set(['cache_control', 'cachePoint', 'id', 'status']);

function imageIn(raw: string, kind: string): readonly JsonValue[] {
  // Instructions in the middle of a conversation, and marks that are blocks.
  if (kind.startsWith('message ') || kind === 'cachePoint') return [];
  const members = JsonSpan.of(raw).members.filter(({ name }) => !marks.has(name));
  return [Object.fromEntries(members.map(({ name, value }) => [name, value.value]))];
}

/** Headers in which clients send the id of their conversation. */
export const conversationHeaders = [
  ...['x-claude-code-session-id', 'session_id', 'session-id', 'conversation_id', 'conversation-id', 'thread-id'],
  ...['x-session-id', 'x-conversation-id', 'x-session-affinity'],
] as const;

/** Members of the body, or of its `metadata`, in which they do. */
export const conversationMembers = ['session_id', 'conversation_id', 'thread_id', 'prompt_cache_key'] as const;

const longestId = 1_000;

/** The client’s own id of its conversation, in the first place of the lists where there is one; null for none. */
export function conversationId(body: Body, header: (name: string) => string | undefined): string | null {
  const root = readBody(body);
  const metadata = root.member('metadata');
  const candidates = [
    ...conversationHeaders.map((name) => header(name)),
    ...conversationMembers.flatMap((name) => [root.member(name)?.string, metadata?.member(name)?.string]),
    claudeSession(metadata?.member('user_id')?.string),
  ];
  return candidates.find((id) => id !== undefined && id !== '' && id.length <= longestId) ?? null;
}

/** Claude Code puts it behind the user’s, as `user_…_session_<id>`, or as JSON. */
function claudeSession(userId: string | undefined): string | undefined {
  if (userId === undefined) return undefined;
  const [, plain] = /_session_([\w-]{8,100})$/.exec(userId) ?? [];
  const [, inJson] = /"session_id"\s*:\s*"([\w-]{8,100})"/.exec(userId.slice(0, longestId)) ?? [];
  return plain ?? inJson;
}

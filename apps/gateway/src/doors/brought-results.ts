import { canonicalJson, deepestJson, isDeeperThan } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { DecodedRequest, Message, MessagePart, ResultPart } from '@sluice/wires';

/** A part of a message, and whose it is. */
export interface SaidPart {
  readonly role: Message['role'];
  readonly part: MessagePart;
}

/** Results at the end of a request, and all that stands before them. */
interface BroughtResults {
  readonly results: readonly ResultPart[];
  readonly before: readonly SaidPart[];
}

export function partsOf(messages: readonly Message[]): readonly SaidPart[] {
  return messages.flatMap(({ role, parts }) => parts.map((part) => ({ role, part })));
}

/** The results that a request ends with; null where it ends with anything else. */
export function resultsIn({ messages }: Pick<DecodedRequest, 'messages'>): BroughtResults | null {
  const parts = partsOf(messages);
  const at = parts.findLastIndex(({ part }) => part.type !== 'result') + 1;
  const results = parts.slice(at).map(({ part }) => part as ResultPart);
  return results.length === 0 ? null : { results, before: parts.slice(0, at) };
}

/** Identifies what a client said: the same words again, however they are cut into messages, are the same. */
export function saidBy(
  { model, instructions }: Pick<DecodedRequest, 'model' | 'instructions'>,
  said: readonly Message[] | readonly SaidPart[],
): string {
  const parts = said.flatMap((one) => ('parts' in one ? partsOf([one]) : [one]));
  return sha256(canonicalJson([model, instructions, ...parts.flatMap(wordsOf)] as JsonValue));
}

function wordsOf({ role, part }: SaidPart): readonly JsonValue[] {
  switch (part.type) {
    // Not every client sends back what was thought.
    case 'reasoning':
      return [];
    case 'text':
      return part.text === '' ? [] : [[role, part.text]];
    case 'call':
      return [[role, part.toolCallId, part.name, parsed(part.args)]];
    case 'result':
      return [[role, part.toolCallId, part.text, part.isError]];
    case 'media':
      return [[role, part.mediaType, part.data]];
    case 'other':
      return [[role, part.kind, parsed(part.raw)]];
  }
}

/** Clients write the same JSON in several ways. */
function parsed(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isDeeperThan(value, deepestJson) ? text : value;
  } catch {
    return text;
  }
}

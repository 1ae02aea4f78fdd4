import type { JsonValue } from '@sluice/core';
import { isJsonObject } from '@sluice/core';
import type { MessagePart } from './types.js';

/** What a part of an answer is known by when it comes back. */
export interface PartKey {
  readonly text: string;
  /** False for an id that others may have as well: local servers number their calls. */
  readonly isUnique: boolean;
}

/** The keys of a thought: what its provider signed or enciphered, with its text; then the ids of its item. */
export function thoughtKeys(part: MessagePart): readonly PartKey[] {
  if (part.type !== 'reasoning') return [];
  const { fields = {} } = part.echo ?? {};
  return [
    ...key('signature', fields['signature'], part.text),
    ...['data', 'redactedContent', 'encrypted_content'].flatMap((name) => key('cipher', fields[name])),
    ...key('item', fields['id']),
    ...detailsOf(part).flatMap(detailKeys),
  ];
}

/** The keys of any part that its client cannot make up. */
export function partKeys(part: MessagePart): readonly PartKey[] {
  switch (part.type) {
    case 'reasoning':
      return thoughtKeys(part);
    case 'call':
      return part.toolCallId === '' ? [] : [{ text: `call ${part.toolCallId}`, isUnique: false }];
    case 'text':
      return key('item', part.echo?.fields['id']);
    case 'result':
    case 'media':
    case 'other':
      return [];
  }
}

function key(kind: string, value: JsonValue | undefined, beside = ''): readonly PartKey[] {
  return typeof value === 'string' && value !== ''
    ? [{ text: `${kind} ${value}\n${beside}`, isUnique: kind !== 'item' }]
    : [];
}

/** OpenRouter’s blocks of reasoning in Chat Completions. */
export function detailsOf(part: MessagePart): readonly JsonValue[] {
  const details = part.type === 'reasoning' ? part.echo?.fields['reasoning_details'] : undefined;
  return Array.isArray(details) ? (details as readonly JsonValue[]) : [];
}

export function detailKeys(detail: JsonValue): readonly PartKey[] {
  if (!isJsonObject(detail)) return [];
  return [...key('detail', detail['signature']), ...key('detail', detail['data'])];
}

/** Whether a provider takes this part back only beside those that it came with. */
export function isBound(part: MessagePart): boolean {
  if (part.type === 'reasoning') return part.echo !== undefined;
  return part.type === 'call' && part.echo?.fields['extra_content'] !== undefined;
}

import type { JsonObject } from '@sluice/core';
import type { Slot } from '../../turn-builder.js';

export const itemFields = new Set([
  ...['id', 'type', 'role', 'status', 'content', 'phase', 'call_id', 'name', 'arguments', 'namespace'],
  ...['summary', 'encrypted_content'],
]);

/** Events that say nothing of the turn, or what others say again. */
export const redundant = new Set([
  ...['response.created', 'response.in_progress', 'response.queued', 'response.content_part.added'],
  ...['response.content_part.done', 'response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'],
  'keepalive',
]);

/** Events that say a part again when it is whole: the kind of part, and the field that has it. */
export const wholes: Readonly<Record<string, readonly [Slot['type'], string]>> = {
  'response.output_text.done': ['text', 'text'],
  'response.refusal.done': ['text', 'refusal'],
  'response.reasoning_summary_text.done': ['reasoning', 'text'],
  'response.reasoning_text.done': ['reasoning', 'text'],
  'response.function_call_arguments.done': ['call', 'arguments'],
};

/** The items that deltas belong to; a server may not say that one begins. */
export const itemTypes = { text: 'message', reasoning: 'reasoning', call: 'function_call', other: 'other' } as const;

/** Deltas by type, with the kind of part that they belong to. */
export const deltas: Readonly<Record<string, Slot['type']>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'text',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'call',
};

/** Names a part of a reasoning by the places that an event says. */
export function partOfReasoning(event: JsonObject): string {
  return `${String(event['output_index'] ?? event['item_id'])}/${String(event['summary_index'] ?? event['content_index'])}`;
}

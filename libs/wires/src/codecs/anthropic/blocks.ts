import { type Writable } from '../../json/json-text.js';
import type { MediaPart, TurnPart } from '../../types.js';
import { argumentsAsObject } from '../arguments.js';
import { echoed } from '../dropped.js';
import { isPdf } from '../media.js';
import { wire } from './wire.js';

/** Who made a call of a turn, in the API’s words: the model itself, and no program of it. */
export const caller = { type: 'direct' };

/** Members of a message that say nothing here, and that the API’s schema asks for. */
export const ownMembers = { stop_details: null, container: null };

/** A text, with the member of citations where the answer has each member of the schema. */
export function textOut(text: string, isWhole: boolean): Record<string, Writable> {
  return { type: 'text', text, ...(isWhole ? { citations: null } : {}) };
}

export function callOut(part: Extract<TurnPart, { type: 'call' }>): Record<string, Writable> {
  return { type: 'tool_use', id: part.toolCallId, name: part.name, input: argumentsAsObject(part.args) };
}

export function reasoningOut(part: Extract<TurnPart, { type: 'reasoning' }>): Record<string, Writable> {
  const { data, signature = '' } = echoed(part, wire) as Record<string, Writable>;
  if (data !== undefined) return { type: 'redacted_thinking', data };
  return { type: 'thinking', thinking: part.text, signature };
}

export function mediaOut(part: MediaPart): Writable {
  const source = { type: 'base64', media_type: part.mediaType, data: part.data };
  return isPdf(part) ? { type: 'document', source, title: part.name } : { type: 'image', source };
}

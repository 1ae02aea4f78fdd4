import { type Writable } from '../../json/json-text.js';
import type { MediaPart, TurnPart } from '../../types.js';
import { argumentsAsObject } from '../arguments.js';
import { echoed } from '../dropped.js';
import { wire } from './wire.js';

export function own(part: TurnPart): Record<string, Writable> {
  return part.type === 'other' ? {} : (echoed(part, wire) as Record<string, Writable>);
}

export function callOut(part: Extract<TurnPart, { type: 'call' }>): Record<string, Writable> {
  const id = part.toolCallId === '' ? {} : { id: part.toolCallId };
  return { functionCall: { ...id, name: part.name, args: argumentsAsObject(part.args) }, ...own(part) };
}

export function mediaOut({ mediaType, data }: MediaPart): Writable {
  return { inlineData: { mimeType: mediaType, data } };
}

import { type Writable } from '../../json/json-text.js';
import type { MediaPart, TurnPart } from '../../types.js';
import { argumentsAsObject } from '../arguments.js';
import { echoed } from '../dropped.js';
import { isPdf } from '../media.js';
import { wire } from './wire.js';

export function callOut(part: Extract<TurnPart, { type: 'call' }>): Writable {
  return { toolUse: { toolUseId: part.toolCallId, name: part.name, input: argumentsAsObject(part.args) } };
}

export function reasoningOut(part: Extract<TurnPart, { type: 'reasoning' }>): Writable {
  const { redactedContent, signature } = echoed(part, wire) as Record<string, Writable>;
  if (redactedContent !== undefined) return { reasoningContent: { redactedContent } };
  return { reasoningContent: { reasoningText: { text: part.text, signature } } };
}

export function mediaOut(part: MediaPart): Writable {
  const source = { bytes: part.data };
  if (!isPdf(part)) return { image: { format: part.mediaType.slice('image/'.length), source } };
  return { document: { format: 'pdf', name: documentName(part.name), source } };
}

/** Letters, digits, single spaces, hyphens and brackets are all that Converse takes. */
function documentName(name: string): string {
  return name.replace(/[^A-Za-z0-9()[\]-]+/g, '-').slice(0, 200);
}

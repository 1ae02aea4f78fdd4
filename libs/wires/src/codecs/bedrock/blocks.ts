import { type Writable } from '../../json/json-text.js';
import { type TurnPart } from '../../types.js';
import { argumentsAsObject } from '../arguments.js';
import { echoed } from '../dropped.js';
import { wire } from './wire.js';

export function callOut(part: Extract<TurnPart, { type: 'call' }>): Writable {
  return { toolUse: { toolUseId: part.toolCallId, name: part.name, input: argumentsAsObject(part.args) } };
}

export function reasoningOut(part: Extract<TurnPart, { type: 'reasoning' }>): Writable {
  const { redactedContent, signature } = echoed(part, wire) as Record<string, Writable>;
  if (redactedContent !== undefined) return { reasoningContent: { redactedContent } };
  return { reasoningContent: { reasoningText: { text: part.text, signature } } };
}

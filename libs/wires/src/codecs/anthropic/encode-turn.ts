import type { JsonObject } from '@sluice/core';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import { type Encoded, type Turn } from '../../types.js';
import { Dropped } from '../dropped.js';
import { caller, callOut, ownMembers, reasoningOut, textOut } from './blocks.js';
import { words } from './finish.js';
import { usageIn } from './usage.js';
import { wire } from './wire.js';

export function encodeTurn(turn: Turn, _createdAtMs: number, beside?: JsonObject): Encoded {
  const isWhole = beside !== undefined;
  const dropped = new Dropped();
  if (turn.usage.reasoningTokens > 0) dropped.add('the count of reasoning tokens');
  const content = turn.parts.flatMap((part): readonly Writable[] => {
    if (part.type === 'text') return [textOut(part.text, isWhole)];
    if (part.type === 'call') return [{ ...callOut(part), ...(isWhole ? { caller } : {}) }];
    if (part.type === 'reasoning') return [reasoningOut(part)];
    if (part.wire === wire) return [new JsonText(part.raw)];
    dropped.part(part);
    return [];
  });
  const body = writeJson({
    id: turn.id,
    type: 'message',
    role: 'assistant',
    model: turn.model,
    content,
    stop_reason: words[turn.finish],
    stop_sequence: null,
    ...(isWhole ? ownMembers : {}),
    usage: usageIn(turn.usage, isWhole),
  });
  return { body, dropped: dropped.list() };
}

import type { TurnHead } from '../../codec.js';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import type { Encoded, Finish, Turn, TurnPart } from '../../types.js';
import { Dropped, echoed } from '../dropped.js';
import { callItem, outputText, reasoningItem } from './encode-request.js';
import { usageIn } from './usage.js';
import { wire } from './wire.js';

/** An item of a turn. Items have ids; one that came from another wire gets one of its place. */
export function outputItem(part: TurnPart, index: number, dropped: Dropped): Writable | null {
  switch (part.type) {
    case 'text': {
      const { id = `msg_${String(index)}`, ...rest } = echoed(part, wire) as Record<string, Writable>;
      return { id, type: 'message', status: 'completed', role: 'assistant', content: [outputText(part.text)], ...rest };
    }
    case 'reasoning':
      return { id: `rs_${String(index)}`, ...reasoningItem(part) };
    case 'call':
      return { id: `fc_${String(index)}`, ...callItem(part), status: 'completed' };
    case 'other':
      if (part.wire === wire) return new JsonText(part.raw);
      dropped.part(part);
      return null;
  }
}

export function responseOf(head: TurnHead, output: Writable, status: string, rest: Record<string, Writable>): Writable {
  return {
    id: head.id,
    object: 'response',
    created_at: Math.floor(head.createdAtMs / 1_000),
    status,
    error: null,
    incomplete_details: null,
    model: head.model,
    output,
    ...rest,
  };
}

export function endOf(finish: Finish): { readonly status: string; readonly incomplete_details: Writable } {
  if (finish === 'length') return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (finish === 'filtered') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  if (finish === 'error') return { status: 'cancelled', incomplete_details: null };
  if (finish === 'stop' || finish === 'calls') return { status: 'completed', incomplete_details: null };
  return { status: 'incomplete', incomplete_details: { reason: finish } };
}

export function encodeTurn(turn: Turn, createdAtMs: number): Encoded {
  const dropped = new Dropped();
  if (turn.usage.cacheWriteTokens > 0) dropped.add('tokens written to a cache');
  const output = turn.parts.flatMap((part, index) => outputItem(part, index, dropped) ?? []);
  const { status, incomplete_details } = endOf(turn.finish);
  const head = { id: turn.id, model: turn.model, createdAtMs };
  const body = writeJson(responseOf(head, output, status, { incomplete_details, usage: usageIn(turn.usage) }));
  return { body, dropped: dropped.list() };
}

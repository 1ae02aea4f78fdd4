import type { JsonObject } from '@sluice/core';
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

/** What a response repeats of its request, as the API has it where a request says nothing. */
const settings: Record<string, Writable> = {
  ...{ completed_at: null, previous_response_id: null, instructions: null, tools: [], tool_choice: 'auto' },
  ...{
    truncation: 'disabled',
    parallel_tool_calls: true,
    text: { format: { type: 'text' } },
    top_p: 1,
    temperature: 1,
  },
  ...{ presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, reasoning: { effort: null, summary: null } },
  ...{ usage: null, max_output_tokens: null, max_tool_calls: null, store: true, background: false },
  ...{ service_tier: 'default', metadata: {}, safety_identifier: null, prompt_cache_key: null },
};

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
    ...(head.beside === undefined ? {} : { ...settings, ...(head.beside as Record<string, Writable>) }),
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

export function encodeTurn(turn: Turn, createdAtMs: number, beside?: JsonObject): Encoded {
  const dropped = new Dropped();
  if (turn.usage.cacheWriteTokens > 0) dropped.add('tokens written to a cache');
  const output = turn.parts.flatMap((part, index) => outputItem(part, index, dropped) ?? []);
  const { status, incomplete_details } = endOf(turn.finish);
  const head = { id: turn.id, model: turn.model, createdAtMs, ...(beside === undefined ? {} : { beside }) };
  const body = writeJson(responseOf(head, output, status, { incomplete_details, usage: usageIn(turn.usage) }));
  return { body, dropped: dropped.list() };
}

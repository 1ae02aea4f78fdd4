import type { JsonObject } from '@sluice/core';
import type { Finish } from '../../types.js';
import type { StreamEncoder, TurnHead } from '../../codec.js';
import { writeJson, type Writable } from '../../json/json-text.js';
import { sseFrame } from '../../stream/frames.js';
import { type Encoded, type Turn, type TurnPart } from '../../types.js';
import { Dropped, echoed } from '../dropped.js';
import { usageIn } from './usage.js';
import { wire } from './wire.js';

export function encodeTurn(turn: Turn, createdAtMs: number, beside?: JsonObject): Encoded {
  const dropped = new Dropped();
  const message: Record<string, Writable> = {
    ...{ role: 'assistant', content: null, refusal: null, ...(beside === undefined ? {} : { annotations: [] }) },
  };
  const calls: Writable[] = [];
  for (const part of turn.parts) {
    if (part.type === 'text') message['content'] = `${(message['content'] as string | null) ?? ''}${part.text}`;
    else if (part.type === 'call') calls.push(callOut(part));
    else if (part.type === 'reasoning') addReasoning(message, part);
    else dropped.part(part);
  }
  if (calls.length > 0) message['tool_calls'] = calls;
  if (turn.usage.cacheWriteTokens > 0) dropped.add('tokens written to a cache');
  const body = writeJson({
    id: turn.id,
    object: 'chat.completion',
    created: Math.floor(createdAtMs / 1_000),
    model: turn.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: words[turn.finish] }],
    usage: usageIn(turn.usage),
    ...(beside as Record<string, Writable>),
  });
  return { body, dropped: dropped.list() };
}

function callOut(part: Extract<TurnPart, { type: 'call' }>): Record<string, Writable> {
  return {
    id: part.toolCallId,
    type: 'function',
    function: { name: part.name, arguments: part.args },
    ...(echoed(part, wire) as Record<string, Writable>),
  };
}

function reasoningOut(part: Extract<TurnPart, { type: 'reasoning' }>): Record<string, Writable> {
  const { as = 'reasoning_content', ...rest } = echoed(part, wire) as Record<string, Writable>;
  return { [as as string]: part.text, ...rest };
}

/** A message has one thought: parts of a turn are put together, texts and details alike. */
function addReasoning(message: Record<string, Writable>, part: Extract<TurnPart, { type: 'reasoning' }>): void {
  for (const [name, value] of Object.entries(reasoningOut(part))) {
    const before = message[name];
    if (typeof before === 'string' && typeof value === 'string') message[name] = `${before}${value}`;
    else if (Array.isArray(before) && Array.isArray(value))
      message[name] = [...(before as Writable[]), ...(value as Writable[])]; // prettier-ignore
    else message[name] = value;
  }
}

export function streamEncoder({ id, model, createdAtMs, beside = {} }: TurnHead): StreamEncoder {
  const created = Math.floor(createdAtMs / 1_000);
  let calls = 0;
  const chunk = (choices: Writable, rest: Record<string, Writable> = {}) =>
    sseFrame(writeJson({ id, object: 'chat.completion.chunk', created, model, choices, ...rest }));
  const delta = (value: Writable, reason: string | null = null) =>
    chunk([{ index: 0, delta: value, logprobs: null, finish_reason: reason }]);
  return {
    start: () => delta({ role: 'assistant', content: '' }),
    part(part) {
      if (part.type === 'text') return delta({ content: part.text });
      if (part.type === 'call') return delta({ tool_calls: [{ index: calls++, ...callOut(part) }] });
      return part.type === 'reasoning' ? delta(reasoningOut(part)) : new Uint8Array(0);
    },
    end: (reason, usage, more = {}) =>
      Buffer.concat([
        delta({}, words[reason]),
        chunk([], { usage: usageIn(usage), ...({ ...beside, ...more } as Record<string, Writable>) }),
        sseFrame('[DONE]'),
      ]),
  };
}

const words: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  calls: 'tool_calls',
  length: 'length',
  filtered: 'content_filter',
  error: 'error',
  paused: 'length',
  other: 'other',
};

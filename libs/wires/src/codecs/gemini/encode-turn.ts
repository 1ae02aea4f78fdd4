import type { Finish } from '../../types.js';
import type { StreamEncoder, TurnHead } from '../../codec.js';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import { sseFrame } from '../../stream/frames.js';
import type { Encoded, Turn, TurnPart } from '../../types.js';
import { Dropped } from '../dropped.js';
import { callOut, own } from './parts.js';
import { usageIn } from './usage.js';
import { wire } from './wire.js';

function partOut(part: TurnPart): readonly Writable[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...own(part) }];
    case 'reasoning':
      return [{ text: part.text, thought: true, ...own(part) }];
    case 'call':
      return [callOut(part)];
    case 'other':
      return part.wire === wire ? [new JsonText(part.raw)] : [];
  }
}

export function encodeTurn(turn: Turn): Encoded {
  const dropped = new Dropped();
  for (const part of turn.parts) if (part.type === 'other' && part.wire !== wire) dropped.part(part);
  if (turn.usage.cacheWriteTokens > 0) dropped.add('tokens written to a cache');
  const content = { role: 'model', parts: turn.parts.flatMap(partOut) };
  const body = writeJson({
    candidates: [{ content, finishReason: words[turn.finish], index: 0 }],
    usageMetadata: usageIn(turn.usage),
    modelVersion: turn.model,
    responseId: turn.id,
  });
  return { body, dropped: dropped.list() };
}

export function streamEncoder({ id, model }: TurnHead): StreamEncoder {
  const head = { modelVersion: model, responseId: id };
  const chunk = (
    parts: readonly Writable[],
    rest: Record<string, Writable> = {},
    usage: Record<string, Writable> = {},
  ) =>
    sseFrame(writeJson({ candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }], ...usage, ...head }));
  return {
    start: () => new Uint8Array(0),
    part: (part) => {
      const parts = partOut(part);
      return parts.length === 0 ? new Uint8Array(0) : chunk(parts);
    },
    end: (reason, usage) => chunk([], { finishReason: words[reason] }, { usageMetadata: usageIn(usage) }),
  };
}

const words: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filtered: 'SAFETY',
  error: 'MALFORMED_RESPONSE',
  paused: 'OTHER',
  other: 'OTHER',
};

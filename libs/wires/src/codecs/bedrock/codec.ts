import type { Codec } from '../../codec.js';
import { Dropped } from '../dropped.js';
import { ConverseAssembler } from './assembler.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { decodeTurn } from './decode-turn.js';
import { encodeRequest, encodeTool, messagesOf } from './encode-request.js';
import { streamEncoder } from './encode-stream.js';
import { errorFrame } from './error-frame.js';
import { mergeAnswers } from './merge-answers.js';
import { ConverseScreen } from './screen.js';
import { wire } from './wire.js';
import { JsonText, writeJson } from '../../json/json-text.js';
import type { Writable } from '../../json/json-text.js';
import type { Encoded, Turn } from '../../types.js';
import { callOut, reasoningOut } from './blocks.js';
import { words } from './finish.js';
import { usageIn } from './usage.js';

/** Amazon Bedrock’s Converse. */
export const bedrock: Codec = {
  name: wire,
  contentType: 'application/vnd.amazon.eventstream',
  partsOf: wire,
  framing: 'aws',
  messagesName: 'messages',
  encodeRequest,
  decodeRequest,
  encodeTool,
  encodeMessages: (messages) => messagesOf(messages, new Dropped()),
  toolLocations,
  encodeTurn,
  decodeTurn,
  streamEncoder,
  assembler: (builder) => new ConverseAssembler(builder),
  errorFrame,
  hasBlocks: true,
  pastAnswers: { sign: /"reasoningContent"/, thoughts: 'blocks' },
  keepsAnswers: false,
  rounds: { screen: (screening) => new ConverseScreen(screening), mergeAnswers, repeatsTools: false },
  nativeSearch: () => 'unsupported_wire',
  countTokens: null,
};

function encodeTurn(turn: Turn): Encoded {
  const dropped = new Dropped();
  if (turn.id !== '' || turn.model !== '') dropped.add('the turn’s id and model');
  if (turn.usage.reasoningTokens > 0) dropped.add('the count of reasoning tokens');
  const content = turn.parts.flatMap((part): readonly Writable[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type === 'call') return [callOut(part)];
    if (part.type === 'reasoning') return [reasoningOut(part)];
    if (part.wire === wire) return [new JsonText(part.raw)];
    dropped.part(part);
    return [];
  });
  const body = writeJson({
    output: { message: { role: 'assistant', content } },
    stopReason: words[turn.finish],
    usage: usageIn(turn.usage),
    metrics: { latencyMs: 0 },
  });
  return { body, dropped: dropped.list() };
}

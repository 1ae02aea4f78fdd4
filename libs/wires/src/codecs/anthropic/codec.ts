import type { Codec } from '../../codec.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { type Message, type WireTool } from '../../types.js';
import { Dropped } from '../dropped.js';
import { MessagesAssembler } from './assembler.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { decodeTurn } from './decode-turn.js';
import { encodeRequest, encodeTool, messagesOf } from './encode-request.js';
import { chunks, sse, streamEncoder } from './encode-stream.js';
import { encodeTurn } from './encode-turn.js';
import { wire } from './wire.js';

const both = {
  // A signature is Anthropic’s at either address.
  partsOf: wire,
  messagesName: 'messages',
  decodeRequest,
  encodeTool: (tool: WireTool) => encodeTool(tool),
  encodeMessages: (messages: readonly Message[]) => messagesOf(messages, new Dropped()),
  toolLocations,
  encodeTurn,
  decodeTurn,
  assembler: (builder: TurnBuilder) => new MessagesAssembler(builder),
} as const;

/** Anthropic’s Messages API. */
export const anthropic: Codec = {
  ...both,
  name: 'anthropic',
  contentType: 'text/event-stream',
  framing: 'sse',
  encodeRequest: (request, options) => encodeRequest(request, false, options),
  streamEncoder: (head) => streamEncoder(head, sse),
};

/** The same bodies over Bedrock’s InvokeModel. */
export const bedrockAnthropic: Codec = {
  ...both,
  name: 'bedrock-anthropic',
  contentType: 'application/vnd.amazon.eventstream',
  framing: 'aws-chunks',
  encodeRequest: (request, options) => encodeRequest(request, true, options),
  streamEncoder: (head) => streamEncoder(head, chunks),
};

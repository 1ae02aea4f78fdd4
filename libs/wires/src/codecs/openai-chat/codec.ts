import type { Codec } from '../../codec.js';
import { Dropped } from '../dropped.js';
import { ChatAssembler } from './assembler.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { decodeTurn } from './decode-turn.js';
import { encodeRequest, encodeTool, messagesOf } from './encode-request.js';
import { encodeTurn, streamEncoder } from './encode-turn.js';
import { wire } from './wire.js';

/** OpenAI’s Chat Completions, and the many servers that speak it. */
export const openaiChat: Codec = {
  name: wire,
  contentType: 'text/event-stream',
  partsOf: wire,
  framing: 'sse',
  messagesName: 'messages',
  encodeRequest,
  decodeRequest,
  encodeTool,
  encodeMessages: (messages) => messagesOf(messages, new Dropped()),
  toolLocations,
  encodeTurn,
  decodeTurn,
  streamEncoder,
  assembler: (builder) => new ChatAssembler(builder),
};

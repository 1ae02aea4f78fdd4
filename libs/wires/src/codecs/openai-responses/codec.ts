import type { Codec } from '../../codec.js';
import { Dropped } from '../dropped.js';
import { ResponsesAssembler } from './assembler.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { decodeTurn } from './decode-turn.js';
import { encodeRequest, encodeTool, itemsOf } from './encode-request.js';
import { streamEncoder } from './encode-stream.js';
import { encodeTurn } from './encode-turn.js';
import { wire } from './wire.js';

/** OpenAI’s Responses. */
export const openaiResponses: Codec = {
  name: wire,
  contentType: 'text/event-stream',
  partsOf: wire,
  framing: 'sse',
  messagesName: 'input',
  encodeRequest,
  decodeRequest,
  encodeTool,
  encodeMessages: (messages) => itemsOf(messages, new Dropped()),
  toolLocations,
  encodeTurn,
  decodeTurn,
  streamEncoder,
  assembler: (builder) => new ResponsesAssembler(builder),
};

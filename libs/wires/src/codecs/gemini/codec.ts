import type { Codec } from '../../codec.js';
import { Dropped } from '../dropped.js';
import { GeminiAssembler } from './assembler.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { decodeTurn } from './decode-turn.js';
import { contentsOf, encodeRequest, encodeTool } from './encode-request.js';
import { encodeTurn, streamEncoder } from './encode-turn.js';
import { wire } from './wire.js';

/** Google’s Gemini, generateContent and streamGenerateContent. */
export const gemini: Codec = {
  name: wire,
  contentType: 'text/event-stream',
  partsOf: wire,
  framing: 'sse',
  messagesName: 'contents',
  encodeRequest,
  decodeRequest,
  encodeTool,
  encodeMessages: (messages) => contentsOf(messages, new Dropped()),
  toolLocations,
  encodeTurn,
  decodeTurn,
  streamEncoder,
  assembler: (builder) => new GeminiAssembler(builder),
};

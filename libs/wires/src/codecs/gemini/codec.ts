import type { Codec } from '../../codec.js';
import { Dropped } from '../dropped.js';
import { GeminiAssembler } from './assembler.js';
import { countTokens } from './count-tokens.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { decodeTurn } from './decode-turn.js';
import { contentsOf, encodeRequest, encodeTool } from './encode-request.js';
import { encodeTurn, streamEncoder } from './encode-turn.js';
import { errorFrame } from './error-frame.js';
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
  errorFrame,
  hasBlocks: false,
  // Its requests have one round, and their tools are not changed.
  pastAnswers: null,
  keepsAnswers: false,
  rounds: null,
  nativeSearch: () => 'unsupported_wire',
  countTokens,
};

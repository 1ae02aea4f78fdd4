import type { Codec } from '../../codec.js';
import { Dropped } from '../dropped.js';
import { ConverseAssembler } from './assembler.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { decodeTurn } from './decode-turn.js';
import { encodeRequest, encodeTool, messagesOf } from './encode-request.js';
import { streamEncoder } from './encode-stream.js';
import { encodeTurn } from './encode-turn.js';
import { wire } from './wire.js';

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
};

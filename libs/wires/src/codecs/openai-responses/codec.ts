import type { Codec } from '../../codec.js';
import { Dropped } from '../dropped.js';
import { ResponsesAssembler } from './assembler.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { encodeRequest, encodeTool, itemsOf } from './encode-request.js';
import { streamEncoder } from './encode-stream.js';
import { encodeTurn } from './encode-turn.js';
import { errorFrame } from './error-frame.js';
import { mergeAnswers } from './merge-answers.js';
import { nativeSearch } from './native-search.js';
import { ResponsesScreen } from './screen.js';
import { wire } from './wire.js';
import { faults } from '../../diagnosis.js';
import { object } from '../../json/read.js';
import { TurnBuilder } from '../../turn-builder.js';
import type { DecodedTurn } from '../../types.js';
import { parseWhole } from '../parse-whole.js';

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
  errorFrame,
  hasBlocks: false,
  pastAnswers: { sign: /"reasoning"/, thoughts: 'items' },
  keepsAnswers: true,
  rounds: { screen: (screening) => new ResponsesScreen(screening), mergeAnswers, repeatsTools: true },
  nativeSearch,
  countTokens: null,
};

function decodeTurn(body: string): DecodedTurn {
  const whole = parseWhole(body);
  const error = object(whole, 'error', '');
  if (error !== undefined) throw faults.provider(error);
  if (!Array.isArray(whole['output'])) throw faults.wrongShape('`output`');
  const builder = new TurnBuilder(wire);
  new ResponsesAssembler(builder).whole(whole, body);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn(false);
}

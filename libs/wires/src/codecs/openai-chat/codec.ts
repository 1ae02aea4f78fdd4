import type { Codec } from '../../codec.js';
import { Dropped } from '../dropped.js';
import { ChatAssembler, throwError } from './assembler.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { encodeRequest, encodeTool, messagesOf } from './encode-request.js';
import { encodeTurn, streamEncoder } from './encode-turn.js';
import { errorFrame } from './error-frame.js';
import { mergeAnswers } from './merge-answers.js';
import { ChatScreen } from './screen.js';
import { wire } from './wire.js';
import { faults } from '../../diagnosis.js';
import { object, objects } from '../../json/read.js';
import { TurnBuilder } from '../../turn-builder.js';
import type { DecodedTurn } from '../../types.js';
import { parseWhole } from '../parse-whole.js';

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
  errorFrame,
  hasBlocks: false,
  pastAnswers: { sign: /"tool_calls"/, thoughts: 'details' },
  keepsAnswers: false,
  rounds: { screen: (screening) => new ChatScreen(screening), mergeAnswers, repeatsTools: false },
  nativeSearch: () => 'unsupported_wire',
  countTokens: null,
};

function decodeTurn(body: string): DecodedTurn {
  const builder = new TurnBuilder(wire);
  const whole = parseWhole(body);
  throwError(whole['error']);
  const [choice] = objects(whole, 'choices', '');
  if (choice === undefined || object(choice, 'message', 'choices[0]') === undefined)
    throw faults.wrongShape('`choices[0].message`');
  const assembler = new ChatAssembler(builder);
  const appended = assembler.event(whole);
  if (appended !== null) builder.append(appended.slot, appended.piece);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn();
}

import type { Codec } from '../../codec.js';
import { TurnBuilder } from '../../turn-builder.js';
import type { Message, WireTool, DecodedTurn } from '../../types.js';
import { errorFrame as amazonErrorFrame } from '../bedrock/error-frame.js';
import { Dropped } from '../dropped.js';
import { MessagesAssembler, throwError } from './assembler.js';
import { countTokens } from './count-tokens.js';
import { decodeRequest } from './decode-request.js';
import { toolLocations } from './decode-tools.js';
import { encodeRequest, encodeTool, messagesOf } from './encode-request.js';
import { chunks, sse, streamEncoder } from './encode-stream.js';
import { encodeTurn } from './encode-turn.js';
import { errorFrame } from './error-frame.js';
import { mergeAnswers } from './merge-answers.js';
import { nativeSearch, nativeSearchOverBedrock } from './native-search.js';
import { chunkFrame, eventFrame, MessagesScreen } from './screen.js';
import { wire } from './wire.js';
import { faults } from '../../diagnosis.js';
import { objects } from '../../json/read.js';
import { JsonSpan } from '../../json/span.js';
import { parseWhole } from '../parse-whole.js';

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
  hasBlocks: true,
  pastAnswers: { sign: /"(?:redacted_)?thinking"/, thoughts: 'blocks' },
  keepsAnswers: false,
} as const;

/** Anthropic’s Messages API. */
export const anthropic: Codec = {
  ...both,
  name: 'anthropic',
  contentType: 'text/event-stream',
  framing: 'sse',
  encodeRequest: (request, options) => encodeRequest(request, false, options),
  streamEncoder: (head) => streamEncoder(head, sse),
  errorFrame,
  rounds: { screen: (screening) => new MessagesScreen(screening, eventFrame), mergeAnswers, repeatsTools: false },
  nativeSearch,
  countTokens,
};

/** The same bodies over Bedrock’s InvokeModel. */
export const bedrockAnthropic: Codec = {
  ...both,
  name: 'bedrock-anthropic',
  contentType: 'application/vnd.amazon.eventstream',
  framing: 'aws-chunks',
  encodeRequest: (request, options) => encodeRequest(request, true, options),
  streamEncoder: (head) => streamEncoder(head, chunks),
  errorFrame: amazonErrorFrame,
  rounds: { screen: (screening) => new MessagesScreen(screening, chunkFrame), mergeAnswers, repeatsTools: false },
  nativeSearch: nativeSearchOverBedrock,
  countTokens: null,
};

function decodeTurn(body: string): DecodedTurn {
  const whole = parseWhole(body);
  throwError(whole);
  if (!Array.isArray(whole['content'])) throw faults.wrongShape('`content`');
  const builder = new TurnBuilder(wire);
  const assembler = new MessagesAssembler(builder);
  assembler.start(whole);
  let items: readonly JsonSpan[] | undefined;
  objects(whole, 'content', '').forEach((block, index) => {
    const source = () => (items ??= JsonSpan.of(body).member('content')?.items ?? [])[index];
    assembler.block(block, source, `content[${String(index)}]`);
  });
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn();
}

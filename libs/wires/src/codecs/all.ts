import type { Codec } from '../codec.js';
import type { WireName } from '../types.js';
import { anthropic, bedrockAnthropic } from './anthropic/codec.js';
import { bedrock } from './bedrock/codec.js';
import { gemini } from './gemini/codec.js';
import { openaiChat } from './openai-chat/codec.js';
import { openaiResponses } from './openai-responses/codec.js';

export const codecs: Readonly<Record<WireName, Codec>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
  bedrock,
  'bedrock-anthropic': bedrockAnthropic,
};

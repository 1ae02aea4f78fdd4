import { anthropic } from './anthropic.js';
import { bedrock, frame } from './bedrock.js';
import type { Wire } from './wire.js';

/** Anthropic’s events, each as base64 in a chunk of Amazon’s stream. */
export const bedrockAnthropic: Wire = {
  settings: { provider: 'bedrock-anthropic', name: 'anthropic.claude-test-v1:0', region: 'eu-central-1' },
  contentType: bedrock.contentType,
  encode: (script) => anthropic.encode(script).map(chunk),
  error: bedrock.error,
  streamError: bedrock.streamError,
};

function chunk(event: Buffer): Buffer {
  const data = /^data: (.*)$/m.exec(event.toString())?.[1] ?? '{}';
  return frame('chunk', { bytes: Buffer.from(data).toString('base64') });
}

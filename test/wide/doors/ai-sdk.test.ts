import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText } from 'ai';
import { startDoors } from '../../doors/with-doors.js';
import type { DoorSystem } from '../../doors/with-doors.js';

describe('the AI SDK at the doors', () => {
  let doors: DoorSystem;
  beforeAll(async () => {
    doors = await startDoors();
  });
  afterAll(() => doors.close());

  it.each(['chat', 'responses', 'messages'])('reads whole and streamed answers over %s', async (wire) => {
    const { url } = doors.gateway;
    const openai = createOpenAI({ apiKey: 'any', baseURL: `${url}/openai/v1` });
    const anthropic = createAnthropic({ apiKey: 'any', baseURL: `${url}/anthropic/v1` });
    const name = 'sluice/default';
    const model = wire === 'chat' ? openai.chat(name) : wire === 'responses' ? openai.responses(name) : anthropic(name);
    const asked = { model, prompt: 'Look', maxRetries: 0 };
    const { text, usage } = await generateText(asked);
    expect([text, usage.totalTokens]).toEqual(['I look.\n\nFound.', 4]);
    expect(await streamText(asked).text).toBe(text);
  });
});

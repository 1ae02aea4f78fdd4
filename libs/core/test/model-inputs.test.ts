import { describe, expect, it } from '@jest/globals';
import { inputsOf } from '@sluice/core';
import type { ModelProvider } from '@sluice/core';

const own = 'https://api.openai.com/v1';
const other = 'http://127.0.0.1:11434/v1';

describe('what a model reads', () => {
  it.each<readonly [ModelProvider, string, string | null, string]>([
    ['anthropic', 'claude-sonnet-4-5', null, 'text image pdf'],
    ['anthropic', 'claude-2.1', null, 'text'],
    ['anthropic', 'deepseek-chat', other, 'text'],
    ['bedrock-anthropic', 'eu.anthropic.claude-opus-4-1-20250805-v1:0', null, 'text image pdf'],
    ['bedrock', 'anthropic.claude-v2:1', null, 'text'],
    ['bedrock', 'us.amazon.nova-pro-v1:0', null, 'text image pdf'],
    ['bedrock', 'us.amazon.nova-micro-v1:0', null, 'text'],
    ['bedrock', 'meta.llama3-2-90b-instruct-v1:0', null, 'text'],
    ['google', 'gemini-2.5-pro', null, 'text image pdf'],
    ['google', 'gemini-2.5-flash-preview-tts', null, 'text'],
    ['google', 'gemma-3-27b-it', null, 'text'],
    ['openai-responses', 'gpt-5.1', null, 'text image pdf'],
    ['openai-responses', 'o3-mini', null, 'text'],
    ['openai-responses', 'o3', null, 'text image pdf'],
    ['openai-compatible', 'gpt-4o-mini', own, 'text image pdf'],
    ['openai-compatible', 'gpt-4o-audio-preview', own, 'text'],
    ['openai-compatible', 'openai/gpt-4.1', 'https://openrouter.example/api/v1', 'text image'],
    ['openai-compatible', 'claude-sonnet-4-5', other, 'text image'],
    ['openai-compatible', 'qwen2.5-vl:7b', other, 'text image'],
    ['openai-compatible', 'qwen2.5:7b', other, 'text'],
    ['openai-compatible', 'qwen3-vl-30b', other, 'text image'],
    ['openai-compatible', 'llama3.2-vision', other, 'text image'],
    ['openai-compatible', 'gemma3:1b', other, 'text'],
    ['openai-compatible', 'gemma3:27b', other, 'text image'],
    ['openai-compatible', 'gpt-oss:20b', other, 'text'],
    ['openai-compatible', 'mistral-large', other, 'text'],
    ['rules', '', null, 'text'],
  ])('is known of %s %s at %s', (provider, name, baseUrl, reads) => {
    expect(inputsOf({ provider, name, baseUrl }).join(' ')).toBe(reads);
  });

  it('is what its settings say, where they do', () => {
    expect(inputsOf({ provider: 'openai-compatible', name: 'mine', baseUrl: other, inputs: ['text', 'pdf'] })).toEqual([
      'text',
      'pdf',
    ]);
    expect(inputsOf({ provider: 'anthropic', name: 'claude-sonnet-4-5', baseUrl: null, inputs: ['text'] })).toEqual([
      'text',
    ]);
  });
});

import { expect, it } from '@jest/globals';
import { usage } from '@sluice/host';

it('a span of a turn has the tokens that came from a cache, where there were any', () => {
  const tokens = { inputTokens: 90, outputTokens: 3 };
  const attributes = { 'gen_ai.usage.input_tokens': 90, 'gen_ai.usage.output_tokens': 3 };
  expect(usage(tokens)).toEqual(attributes);
  expect(usage({ ...tokens, cachedInputTokens: 64 })).toEqual({
    ...attributes,
    'gen_ai.usage.cache_read.input_tokens': 64,
  });
});

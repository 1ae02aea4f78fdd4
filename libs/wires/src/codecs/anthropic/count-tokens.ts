import type { TokenCount } from '../../codec.js';
import { JsonText, writeJson } from '../../json/json-text.js';
import { encodeTool } from './encode-request.js';

export const countTokens: TokenCount = {
  path: () => '/messages/count_tokens',
  body: (model, tools) =>
    writeJson({
      model,
      messages: [{ role: 'user', content: 'Hello' }],
      ...(tools.length === 0 ? {} : { tools: tools.map((tool) => new JsonText(encodeTool(tool))) }),
    }),
  member: 'input_tokens',
};

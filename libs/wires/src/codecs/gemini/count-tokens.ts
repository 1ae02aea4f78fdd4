import type { TokenCount } from '../../codec.js';
import { JsonText, writeJson } from '../../json/json-text.js';
import { encodeTool } from './encode-request.js';

export const countTokens: TokenCount = {
  path: (model) => `/${pathOf(model)}:countTokens`,
  body: (model, tools) =>
    writeJson({
      generateContentRequest: {
        model: pathOf(model),
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        ...(tools.length === 0
          ? {}
          : { tools: [{ functionDeclarations: tools.map((tool) => new JsonText(encodeTool(tool))) }] }),
      },
    }),
  member: 'totalTokens',
};

/** A tuned model is named with its collection. */
function pathOf(model: string): string {
  return model.includes('/') ? model : `models/${model}`;
}

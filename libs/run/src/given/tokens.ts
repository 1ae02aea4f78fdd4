import { bytesPerToken } from '@sluice/core';
import type { ModelSettings } from '@sluice/core';
import { isPdf, mostCharacters, planContent } from './plan.js';
import type { NamingRequest } from './plan.js';

/** Providers count from 85 to some thousand tokens for an image, and by page for a PDF. These are low guesses. */
const ofImage = 300;
const ofPdf = { least: 1_000, most: 6_000, bytesPerToken: 100 } as const;

/** About how many tokens the content of a request is for the model, by names alone. */
export function contentTokens(request: NamingRequest, settings: ModelSettings): number {
  let tokens = 0;
  for (const { kind, content } of planContent(request, settings).values()) {
    if (kind === 'text') tokens += Math.ceil(Math.min(content.size, mostCharacters) / bytesPerToken);
    else if (kind === 'media')
      tokens += isPdf(content)
        ? Math.min(ofPdf.most, Math.max(ofPdf.least, Math.ceil(content.size / ofPdf.bytesPerToken)))
        : ofImage;
  }
  return tokens;
}

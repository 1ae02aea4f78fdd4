import type { Request } from 'express';
import { prefers } from './prefers.js';
import type { Preference } from './prefers.js';
import { Refusal } from './refusal.js';

/** The formats of a stream. */
export const streamFormats = ['assistant-transport', 'ui-message'] as const;

/** How a stream of a run is written. */
export type StreamFormat = (typeof streamFormats)[number];

export const streamFormatParameter = {
  stream_format:
    '`ui-message` streams the run as the AI SDK’s `useChat` reads it, whatever `accept` says; `assistant-transport` as without it.',
} as const;

/** How the caller wants to hear of its run, and in which format. Throws Refusal(400). */
export function preferenceIn(http: Request): { readonly preference: Preference; readonly format: StreamFormat | null } {
  const { stream_format: named } = http.query;
  if (named === undefined) return { preference: prefers(http), format: null };
  const format = streamFormats.find((one) => one === named);
  if (format === undefined)
    throw new Refusal(400, 'invalid_request', `stream_format must be one of ${streamFormats.join(', ')}.`);
  return { preference: { kind: 'stream' }, format };
}

import type { ModelSettings } from '@sluice/core';

/** What a provider is to say in one turn, before it is put on its wire. */
export interface Script {
  /** Its reasoning, which comes before everything else. */
  readonly thinking?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id?: string; readonly tool: string; readonly pieces: readonly string[] }[];
  /** What Gemini signs each call with, at its own address or at that which speaks Chat Completions. */
  readonly signature?: string;
  /** Of the input tokens, those read from a cache, and those written into one where the wire says so. */
  readonly cached?: { readonly read: number; readonly written: number };
  readonly finish?: 'stop' | 'calls' | 'length' | 'filtered';
  /** The provider’s own word for the end, in place of that of `finish`. */
  readonly finishAs?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** One provider's wire format, spoken by the test's own server. */
export interface Wire {
  readonly settings: Pick<ModelSettings, 'provider' | 'name'> & Partial<ModelSettings>;
  readonly contentType: string;
  /** The bytes of a whole turn, one element an event. */
  encode(script: Script): Buffer[];
  /** The body of an error response that says this message. */
  error(message: string): unknown;
  /** An error in the middle of the stream that may pass. */
  readonly streamError: Buffer;
}

export function serverSentEvent(data: unknown, event?: string): Buffer {
  return Buffer.from(
    `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  );
}

export function argumentsOf(pieces: readonly string[]): unknown {
  return JSON.parse(pieces.join('') || '{}');
}

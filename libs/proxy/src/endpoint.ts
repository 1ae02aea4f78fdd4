import type { ProxyApi } from '@sluice/core';
import type { WireName } from '@sluice/wires';

/** A path at which a model is asked. */
export interface Endpoint {
  readonly api: ProxyApi;
  readonly wire: WireName;
  /** On wires whose bodies do not say it: the model, and where it stands in the path. */
  readonly model: { readonly name: string; readonly start: number; readonly end: number } | null;
  /** Whether the path says that the answer is streamed; null where the body does. */
  readonly stream: boolean | null;
  /**
   * Whether a streamed answer is one of server-sent events: Gemini’s is a list in JSON unless `alt=sse` is asked for.
   */
  readonly isFramed: boolean;
}

/** What is asked at a path; null where it is none at which a model is asked, whose requests pass unread. */
export function endpointOf(method: string, target: string): Endpoint | null {
  if (method !== 'POST') return null;
  const [path = '', query = ''] = target.split('?');
  const said = { model: null, stream: null, isFramed: true };
  if (/\/chat\/completions\/?$/i.test(path)) return { api: 'openai', wire: 'openai-chat', ...said };
  if (/\/responses\/?$/i.test(path)) return { api: 'openai', wire: 'openai-responses', ...said };
  if (/\/v1\/messages\/?$/i.test(path)) return { api: 'anthropic', wire: 'anthropic', ...said };
  const gemini = /\/models\/([^/:]+):(generateContent|streamGenerateContent)\/?$/di.exec(path);
  if (gemini !== null) {
    const stream = gemini[2]?.toLowerCase() === 'streamgeneratecontent';
    const isFramed = /(^|&)alt=sse(&|$)/.test(query);
    return { api: 'gemini', wire: 'gemini', model: modelIn(gemini), stream, isFramed };
  }
  const bedrock = /^\/model\/([^/]+)\/(converse|converse-stream|invoke|invoke-with-response-stream)\/?$/di.exec(path);
  if (bedrock === null) return null;
  const wire = bedrock[2]?.toLowerCase().startsWith('converse') === true ? 'bedrock' : 'bedrock-anthropic';
  return {
    api: 'bedrock',
    wire,
    model: modelIn(bedrock),
    stream: bedrock[2]?.toLowerCase().endsWith('stream') === true,
    isFramed: true,
  };
}

/**
 * Paths that ask no model and are sent a conversation all the same, to count its tokens or to shorten it: there, too,
 * it has to be one that its provider takes.
 */
export function historyWire(method: string, target: string): WireName | null {
  if (method !== 'POST') return null;
  const [path = ''] = target.split('?');
  if (/\/v1\/messages\/count_tokens$/.test(path)) return 'anthropic';
  return /\/responses\/(?:compact|input_tokens)$/.test(path) ? 'openai-responses' : null;
}

function modelIn(match: RegExpExecArray): Endpoint['model'] {
  const [start = 0, end = 0] = match.indices?.[1] ?? [];
  const written = match[1] ?? '';
  try {
    return { name: decodeURIComponent(written), start, end };
  } catch {
    return { name: written, start, end };
  }
}

/** Whose API a request is of that asks no model, such as one for the list of models. */
export function apiOf(target: string, header: (name: string) => string | undefined): ProxyApi {
  if (header('anthropic-version') !== undefined || header('anthropic-beta') !== undefined) return 'anthropic';
  if (/^\/(v1beta|v1alpha|upload\/v1beta)\//.test(target) || header('x-goog-api-key') !== undefined) return 'gemini';
  if (/^\/(model|guardrail|async-invoke)\//.test(target)) return 'bedrock';
  return 'openai';
}

/** The target with another model in its path. */
export function withModel(target: string, { model }: Endpoint, name: string): string {
  return model === null
    ? target
    : `${target.slice(0, model.start)}${encodeURIComponent(name)}${target.slice(model.end)}`;
}

import { isJsonObject } from '@sluice/core';
import type { SelectorSettings } from '@sluice/core';
import type { OfferedTool } from './tool.js';

/** Why a search by API gave all tools. */
export const failOpenReasons = [
  'missing_endpoint',
  'http_error',
  'missing_field',
  'timeout',
  'empty',
  'not_meaningful',
  'unknown_names',
] as const;
export type FailOpenReason = (typeof failOpenReasons)[number];

interface SelectorQuestion {
  readonly pattern: string;
  readonly topK: number;
  readonly alwaysKeep: readonly string[];
  readonly tools: readonly OfferedTool[];
}

/** Indexes of the selected tools, in the selector’s order; or why all tools are given. */
type SelectorAnswer =
  | { readonly selected: readonly number[]; readonly failOpen: null }
  | { readonly selected: null; readonly failOpen: FailOpenReason };

const failOpen = (reason: FailOpenReason): SelectorAnswer => ({ selected: null, failOpen: reason });

/** Bytes of an answer: names alone are far fewer. */
const largestAnswer = 1_000_000;

/**
 * Asks the service of the strategy `api` which tools suit a search. The key goes to it alone. Never rejects, except
 * with the reason of a signal that aborted: a service that does not answer as it should is a reason to give all
 * tools.
 */
export async function askSelector(
  settings: SelectorSettings,
  key: string | undefined,
  question: SelectorQuestion,
  signal?: AbortSignal,
): Promise<SelectorAnswer> {
  const { endpoint, timeoutMs } = settings;
  if (endpoint === null) return failOpen('missing_endpoint');
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), timeoutMs);
  const stop = (): void => patience.abort();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    const answer = await post(endpoint, key, question, patience.signal);
    return answer === null ? failOpen('http_error') : selectedBy(answer, question);
  } catch {
    signal?.throwIfAborted();
    return failOpen(patience.signal.aborted ? 'timeout' : 'http_error');
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** The answer’s JSON; null for what is no success. */
async function post(
  endpoint: string,
  key: string | undefined,
  { pattern, topK, alwaysKeep, tools }: SelectorQuestion,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ pattern, top_k: topK, always_keep: alwaysKeep, tools: tools.map(written) }),
    // The key must not follow to another address.
    redirect: 'error',
    signal,
  });
  const text = await boundedText(response);
  return response.ok && text !== null ? (JSON.parse(text) as unknown) : null;
}

function written({ name, description, parameters }: OfferedTool): object {
  return { name, description, parameters };
}

async function boundedText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > largestAnswer) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function selectedBy(answer: unknown, { tools, topK }: SelectorQuestion): SelectorAnswer {
  const names = isJsonObject(answer) ? answer['selected_names'] : undefined;
  if (!Array.isArray(names)) return failOpen('missing_field');
  if (names.length === 0) return failOpen('empty');
  const texts = names.map((name) => (typeof name === 'string' ? name.trim() : '')).filter((name) => name !== '');
  const distinct = [...new Set(texts)];
  // Only blanks, or one name again and again, which says nothing of the search.
  if (distinct.length === 0 || (texts.length > 1 && distinct.length === 1)) return failOpen('not_meaningful');
  const places = new Map(tools.map(({ name }, index) => [name, index]));
  const selected = distinct.flatMap((name) => places.get(name) ?? []).slice(0, topK);
  return selected.length === 0 ? failOpen('unknown_names') : { selected, failOpen: null };
}

import { fetch } from 'undici';
import type { Response } from 'undici';
import { ToolUnavailableError } from '@sluice/core';
import type { WebSearchSettings } from '@sluice/core';

export interface SearchRequest {
  readonly query: string;
  /** At most so many hits. */
  readonly count: number;
}

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  /** What the service shows of the page. */
  readonly text: string;
  /** When it was published, where the service says so. */
  readonly published?: string;
}

export type WebSearch = (request: SearchRequest, signal: AbortSignal) => Promise<readonly SearchHit[]>;

const answerBytes = 2_097_152;

/** Where each service answers if the configuration names no other address. */
const addresses = {
  tavily: 'https://api.tavily.com/search',
  brave: 'https://api.search.brave.com/res/v1/web/search',
} as const;

/** The search that the settings name. `key` is asked for at each search, and undefined where none is set. */
export function openSearch(settings: WebSearchSettings, key: () => string | undefined): WebSearch {
  const { provider } = settings;
  return async (request, signal) => {
    switch (provider) {
      case 'tavily': {
        const body = { query: request.query, max_results: request.count, search_depth: 'basic' };
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${required(key(), settings)}` };
        const url = settings.url ?? addresses.tavily;
        const found = await ask(url, { method: 'POST', headers, body: JSON.stringify(body) }, settings, signal);
        return hits(found, ['results'], { text: 'content', published: 'published_date' }, request.count);
      }
      case 'brave': {
        const url = withQuery(settings.url ?? addresses.brave, {
          q: request.query,
          count: String(Math.min(20, request.count)),
        });
        const headers = { accept: 'application/json', 'x-subscription-token': required(key(), settings) };
        const found = await ask(url, { headers }, settings, signal);
        return hits(found, ['web', 'results'], { text: 'description', published: 'page_age' }, request.count);
      }
      case 'searxng': {
        const url = withQuery(`${(settings.url ?? '').replace(/\/$/, '')}/search`, {
          q: request.query,
          format: 'json',
        });
        const given = key();
        const headers = {
          accept: 'application/json',
          ...(given === undefined ? {} : { authorization: `Bearer ${given}` }),
        };
        const found = await ask(url, { headers }, settings, signal);
        return hits(found, ['results'], { text: 'content', published: 'publishedDate' }, request.count);
      }
    }
  };
}

function required(key: string | undefined, { apiKeyEnv, provider }: WebSearchSettings): string {
  if (key !== undefined && key !== '') return key;
  throw new ToolUnavailableError(`The search ${provider} has no key: ${apiKeyEnv ?? 'its variable'} is not set.`);
}

function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(query)) whole.searchParams.set(name, value);
  return whole.href;
}

async function ask(
  url: string,
  init: { method?: string; headers: Record<string, string>; body?: string },
  { provider }: WebSearchSettings,
  signal: AbortSignal,
): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, redirect: 'error', signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason as Error;
    throw new ToolUnavailableError(`The search ${provider} does not answer.`, { cause: error });
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new ToolUnavailableError(
      `The search ${provider} answers ${response.status}: ${meaning(response.status, provider)}`,
    );
  }
  try {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of response.body ?? []) {
      length += (part as Uint8Array).byteLength;
      if (length > answerBytes) throw new Error('too long');
      parts.push(part as Uint8Array);
    }
    return JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown;
  } catch (error) {
    if (signal.aborted) throw signal.reason as Error;
    throw new ToolUnavailableError(`The answer of the search ${provider} cannot be read.`, { cause: error });
  }
}

function meaning(status: number, provider: string): string {
  if (status === 403 && provider === 'searxng') return 'its settings must list json under search.formats.';
  if (status === 401 || status === 403) return 'it does not accept the key.';
  if (status === 429 || status === 432 || status === 433) return 'its limit is used up; try again later.';
  return 'try again later.';
}

/** The hits at the path in the answer, whatever else is there. */
function hits(
  answer: unknown,
  path: readonly string[],
  names: { readonly text: string; readonly published: string },
  most: number,
): readonly SearchHit[] {
  let at: unknown = answer;
  for (const name of path) at = (at as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  if (!Array.isArray(at)) return [];
  return at
    .flatMap((each: Readonly<Record<string, unknown>> | null) => {
      const url = each?.['url'];
      if (typeof url !== 'string' || !/^https?:\/\//i.test(url)) return [];
      const published = each?.[names.published];
      const hit = {
        title: plain(each?.['title'], 200),
        url: url.slice(0, 1_000),
        text: plain(each?.[names.text], 1_000),
      };
      return [{ ...hit, ...(typeof published === 'string' ? { published: published.slice(0, 40) } : {}) }];
    })
    .slice(0, most);
}

/** Without the marks that services put around the words that were looked for. */
function plain(text: unknown, most: number): string {
  if (typeof text !== 'string') return '';
  return text
    .replace(/<\/?(?:strong|em|b|mark)>/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, most)
    .toWellFormed();
}

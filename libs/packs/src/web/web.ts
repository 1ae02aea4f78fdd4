import { createHash } from 'node:crypto';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { Clock } from '@sluice/core';
import type { DocumentFormat, ReadDocument } from '../document/document.js';
import type { ParsedDocuments } from '../document/reader.js';
import { GuardedFetch } from './guarded-fetch.js';
import type { Resolve } from '@sluice/isolation';
import { Robots } from './robots.js';
import type { SearchHit, SearchRequest, WebSearch } from './search.js';

/** Search, and pages of the public internet. */
export interface WebAccess {
  /** Throws ToolUnavailableError if no search is configured or its service gives no answer. */
  search(request: SearchRequest, signal: AbortSignal): Promise<readonly SearchHit[]>;
  /** A page as text; `path` is the address to which redirects led. */
  page(url: string, signal: AbortSignal): Promise<ReadDocument>;
  close(): Promise<void>;
}

interface WebOptions {
  readonly privateHosts: readonly string[];
  readonly search: WebSearch | null;
  readonly parsed: ParsedDocuments;
  readonly clock: Clock;
  /** In place of the system’s own. */
  readonly resolve?: Resolve;
}

const pageLimits = { bytes: 5_242_880, ms: 15_000 };

const formats: Readonly<Record<string, DocumentFormat>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'text',
  'text/markdown': 'text',
  'application/pdf': 'pdf',
};

export function openWeb({ privateHosts, search, parsed, clock, resolve }: WebOptions): WebAccess {
  const web = new GuardedFetch(privateHosts, resolve);
  const robots = new Robots(web, clock);
  return {
    search: (request, signal) => {
      if (search === null)
        throw new ToolUnavailableError('No search is configured here: web.search in the configuration names one.');
      return search(request, signal);
    },
    page: async (url, signal) => {
      const asked = web.checked(url);
      if (!(await robots.mayFetch(asked, signal)))
        throw new ToolUserError(`The robots.txt of ${asked.host} does not let programs fetch this page.`);
      const fetched = await web.get(url, pageLimits, signal);
      if (fetched.url !== asked.href && !(await robots.mayFetch(new URL(fetched.url), signal)))
        throw new ToolUserError(
          `The page leads to ${new URL(fetched.url).host}, whose robots.txt does not let programs fetch it.`,
        );
      if (fetched.status !== 200)
        throw new ToolUserError(`The page cannot be read: its server answers ${fetched.status}.`);
      const format = formats[fetched.contentType];
      if (format === undefined)
        throw new ToolUserError(
          `The page is ${fetched.contentType.slice(0, 60) || 'of no known type'}; HTML, text and PDF can be read.`,
        );
      const sha256 = createHash('sha256').update(fetched.bytes).digest('hex');
      return {
        path: fetched.url,
        format,
        sha256,
        ...(await parsed.of(sha256, format, fetched.bytes, signal, fetched.charset)),
      };
    },
    close: () => web.close(),
  };
}

import { sha256 } from './digest.js';
import { jsonObjectIn } from './json-object.js';

/** A resource of an MCP server whose changes clients want to hear of. */
export interface WatchedResource {
  readonly server: string;
  readonly uri: string;
}

/**
 * Documents of the ledger under this prefix say which resources are watched: doors write one for each, and keep it
 * from expiring; executors subscribe at the servers to those that are there.
 */
export const watchedPrefix = 'mcp/watched/';

/** As many resources may be watched at a time, by all sessions of all tenants. */
export const mostWatched = 1_000;

/** The key of a resource’s document. */
export function watchedKey({ server, uri }: WatchedResource): string {
  return `${watchedPrefix}${sha256(JSON.stringify([server, uri]))}`;
}

/** The resource that a document names; null for any other text. */
export function watchedIn(text: string): WatchedResource | null {
  const { server, uri } = jsonObjectIn(text) ?? {};
  return typeof server === 'string' && typeof uri === 'string' ? { server, uri } : null;
}
